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
from recuse.sql.equalities import Name
from recuse.sql.measure import Measure
from recuse.sql.ownership import PublicTable
from recuse.sql.position import called, refusal
from recuse.sql.query import Block, BlockSource, Own, Scalar, Scan, SetOf
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


def growing_joins(joins: Iterable[tuple[str, ...]], sizes: Sizes) -> Iterator[JoinGrowth]:
    """Yield the joins that can have too many rows; each is known by the tables that multiply its rows."""
    for tables in joins:
        known = [sizes(table) for table in tables]
        counts = [count for count in known if count is not None]
        if len(tables) > 1 and len(counts) == len(known) and prod(counts) > MOST_ROWS:
            yield JoinGrowth(prod(counts), tables)


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


@dataclass(frozen=True, slots=True)
class JoinSide:
    """One side of a join: whose columns it has, which sets of these no two of its rows share, and the tables
    that multiply its rows."""

    aliases: frozenset[str]
    keys: tuple[frozenset[Name], ...]
    tables: tuple[str, ...]


def multiplying(block: Block, keys: UniqueKeys) -> list[JoinSide]:
    """Return the fewest sources, the first of them, that all others are tied to by unique keys.

    There are no more rows than those of these sources multiplied; with one there are no more than it has.
    """
    return fewest(sides_of(block.sources, keys), block.conditions)


def multiplied(sides: Iterable[JoinSide]) -> tuple[str, ...]:
    """Return the tables that multiply the rows of a join of these."""
    return tuple(table for side in sides for table in side.tables)


def sides_of(sources: Iterable[BlockSource], keys: UniqueKeys) -> list[JoinSide]:
    """Return sources as sides of a join; a LEFT JOIN by a key has no rows of its own."""
    return [_side(s, keys) for s in sources if not (isinstance(s, Scan) and s.preserving is not None)]


def _side(source: BlockSource, keys: UniqueKeys) -> JoinSide:
    unique = tuple(frozenset((source.alias, fold(name)) for name in key) for key in keys_of(source, keys))
    tables: tuple[str, ...] = ()
    if isinstance(source, Scan):
        tables = (source.table.name,)
    elif isinstance(source, SetOf) and len(source.branches) == 1:  # a set counts as its branch does
        tables = multiplied(multiplying(source.branches[0], keys))
    return JoinSide(frozenset({source.alias}), unique, tables)


def fewest(sides: Sequence[JoinSide], conditions: Iterable[Scalar]) -> list[JoinSide]:
    """Return the fewest sides, the first of them, that conditions tie all others to by their keys."""
    found, ties = list(sides), _ties(conditions)
    for side in sides:
        others = [other for other in found if other is not side]
        if side.aliases <= _tied(ties, others, sides):
            found = others
    return found


def keys_of(source: BlockSource, keys: UniqueKeys) -> Iterable[tuple[str, ...]]:
    """Return the columns of a source that no two of its rows share."""
    if isinstance(source, Scan):
        return keys(source)
    if isinstance(source, Own):
        return () if source.unique is None else (source.unique,)
    return (tuple(output.name for output in source.branches[0].outputs),)


def _ties(conditions: Iterable[Scalar]) -> list[tuple[Name, str | None]]:
    """Return the columns that conditions make equal to a constant or to another source, by its alias."""
    found: list[tuple[Name, str | None]] = []
    for condition in conditions:
        node = condition.unnest()
        if isinstance(node, exp.EQ):
            sides = (node.this.unnest(), node.expression.unnest())
            for mine, other in (sides, sides[::-1]):
                if isinstance(mine, exp.Column) and isinstance(other, exp.Column):
                    found.append(((mine.table, fold(mine.name)), other.table))
                elif isinstance(mine, exp.Column) and isinstance(other, exp.Literal):
                    found.append(((mine.table, fold(mine.name)), None))
    return found


def _tied(
    ties: Sequence[tuple[Name, str | None]], given: Iterable[JoinSide], sides: Sequence[JoinSide]
) -> frozenset[str]:
    """Return the aliases of the sides of which a row of those given meets at most one row."""
    found: frozenset[str] = frozenset().union(*(side.aliases for side in given))
    known = -1
    while found and len(found) > known:
        known = len(found)
        for side in sides:
            if not side.aliases <= found:
                fixed = {name for name, by in ties if name[0] in side.aliases and (by is None or by in found)}
                found |= side.aliases if any(key <= fixed for key in side.keys) else frozenset()
    return found
