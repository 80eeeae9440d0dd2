"""How many rows a join can have, from the sizes of tables that are stated or public: never from private rows.

A bound: a table whose unique key is fixed by the others adds no row; any other may multiply them all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod

from sqlglot import exp

from recuse.fold import fold
from recuse.policy import Policy
from recuse.policy.terms import LinkChoice
from recuse.sql.measure import Measure
from recuse.sql.ownership import PublicTable
from recuse.sql.position import called, refusal
from recuse.sql.query import Block, BlockSource, Own, Scan, SetOf
from recuse.sql.schema import Schema
from recuse.sql.walk import aliases, below

MOST_ROWS = 10**9
"""of a join that an engine can be expected to go through"""

MOST_UNTIED = 8
"""private tables side by side, of which every row goes with every other: with ten rows each 10⁸ rows"""

Sizes = Callable[[str], int | None]
"""returns how many rows a table has, if that is stated or public"""
UniqueKeys = Callable[[Scan], Iterable[tuple[str, ...]]]
"""returns the unique keys of a table"""


def enforced(scan: Scan) -> tuple[tuple[str, ...], ...]:
    """Return the keys that the database enforces."""
    return scan.table.keys


def unique_keys(policy: Policy) -> UniqueKeys:
    """Return the keys that the database enforces, or that the policy declares."""

    def keys(scan: Scan) -> Iterator[tuple[str, ...]]:
        yield from enforced(scan)
        yield from policy.keys_of(scan.table.name)
        protect = policy.protected_table(scan.table.name)
        if protect is not None and all(item.choice is LinkChoice.ITSELF for item in protect.key):
            yield tuple(item.columns[0] for item in protect.key)

    return keys


@dataclass(frozen=True, slots=True)
class JoinGrowth:
    """A join that can have too many rows: how many, and of which tables."""

    rows: int
    tables: tuple[str, ...]

    def __str__(self) -> str:
        named = " × ".join(self.tables)
        return (
            f"a join of {named} can have {self.rows:,} rows, more than an engine goes through: "
            "join by a key, or narrow it with WHERE"
        )


def growing_joins(blocks: Sequence[Block], sizes: Sizes, keys: UniqueKeys) -> Iterator[JoinGrowth]:
    """Yield the joins of a question that can have too many rows."""
    for block in below(blocks):
        found = list(_scans(block, keys))
        known = [sizes(scan.table.name) for scan in found]
        counts = [count for count in known if count is not None]
        if len(found) > 1 and len(counts) == len(known) and prod(counts) > MOST_ROWS:
            yield JoinGrowth(prod(counts), tuple(scan.table.name for scan in found))


def refuse_untied(measure: Measure, schema: Schema) -> None:
    """Refuse a join of many private tables that nothing ties together: no engine ends it.

    It follows from the text and the policy alone. How many rows it has is a product, so people can have it.
    """
    for block in below(measure.blocks):
        apart = [one for one in _components(block) if _is_private(one, schema)]
        if len(apart) > MOST_UNTIED:
            raise refusal(
                f"{len(apart)} private tables that nothing ties together are too many for a join",
                schema.text,
                called(measure.aggregate.word, schema.text),
                accepted=f"up to {MOST_UNTIED}",
                hint="tie them together in WHERE; or ask for the rows of each table, and multiply",
            )


def _components(block: Block) -> list[list[BlockSource]]:
    """Return the sources of a block, those that a condition speaks of together in one list."""
    found = [([source], {source.alias}) for source in block.sources]
    for used in (aliases([condition]) for condition in block.conditions):
        tied = [one for one in found if one[1] & used]
        if len(tied) > 1:
            found = [one for one in found if not one[1] & used]
            found.append(([s for one in tied for s in one[0]], {a for one in tied for a in one[1]}))
    return [sources for sources, _ in found]


def _is_private(sources: Iterable[BlockSource], schema: Schema) -> bool:
    return any(
        not isinstance(schema.ownership.of(source.table.name), PublicTable)
        if isinstance(source, Scan)
        else not (isinstance(source, Own) and source.public)
        for source in sources
    )


def _scans(block: Block, keys: UniqueKeys) -> Iterator[Scan]:
    """Yield the tables that may multiply the rows of a block; a set counts as its branch does."""
    for source in multiplying(block, keys):
        if isinstance(source, Scan):
            yield source
        elif isinstance(source, SetOf) and len(source.branches) == 1:
            yield from _scans(source.branches[0], keys)


def multiplying(block: Block, keys: UniqueKeys) -> list[BlockSource]:
    """Return the fewest sources, the first of them, that all others are tied to by unique keys.

    There are no more rows than those of these sources multiplied; with one there are no more than it has.
    """
    sources = [s for s in block.sources if not (isinstance(s, Scan) and s.preserving is not None)]
    found = list(sources)
    for source in sources:
        others = [other for other in found if other is not source]
        if source.alias in _tied(block, others, sources, keys):
            found = others
    return found


def keys_of(source: BlockSource, keys: UniqueKeys) -> Iterable[tuple[str, ...]]:
    """Return the columns of a source that no two of its rows share."""
    if isinstance(source, Scan):
        return keys(source)
    if isinstance(source, Own):
        return () if source.unique is None else (source.unique,)
    return (tuple(output.name for output in source.branches[0].outputs),)


def _tied(
    block: Block, given: Iterable[BlockSource], sources: Sequence[BlockSource], keys: UniqueKeys
) -> set[str]:
    """Return the aliases of the sources of which a row of those given meets at most one row."""
    found, fixed = {source.alias for source in given}, -1
    while found and len(found) > fixed:
        fixed = len(found)
        for source in sources:
            if source.alias not in found:
                one = any(_is_fixed(source, key, block, found) for key in keys_of(source, keys))
                found |= {source.alias} if one else set()
    return found


def _is_fixed(source: BlockSource, key: tuple[str, ...], block: Block, others: set[str]) -> bool:
    """Return whether the columns of a key are each equal to a column of another source, or to a constant."""
    fixed = set()
    for condition in block.conditions:
        node = condition.unnest()
        if isinstance(node, exp.EQ):
            sides = (node.this.unnest(), node.expression.unnest())
            for mine, other in (sides, sides[::-1]):
                tied = isinstance(other, exp.Literal) or (
                    isinstance(other, exp.Column) and other.table in others
                )
                if isinstance(mine, exp.Column) and mine.table == source.alias and tied:
                    fixed.add(fold(mine.name))
    return {fold(name) for name in key} <= fixed
