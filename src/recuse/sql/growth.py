"""How many rows a join can have, from the sizes of tables that are stated or public: never from private rows.

A bound: a table whose unique key is fixed by the others adds no row; any other may multiply them all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod

from sqlglot import exp

from recuse.fold import fold
from recuse.sql.query import Block, Scan, SetOf
from recuse.sql.walk import below

MOST_ROWS = 10**9
"""of a join that an engine can be expected to go through"""

Sizes = Callable[[str], int | None]
"""returns how many rows a table has, if that is stated or public"""
UniqueKeys = Callable[[Scan], Iterable[tuple[str, ...]]]
"""returns the unique keys of a table"""


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
        found = _multiplying(block, keys)
        known = [sizes(scan.table.name) for scan in found]
        counts = [count for count in known if count is not None]
        if len(found) > 1 and len(counts) == len(known) and prod(counts) > MOST_ROWS:
            yield JoinGrowth(prod(counts), tuple(scan.table.name for scan in found))


def _multiplying(block: Block, keys: UniqueKeys) -> list[Scan]:
    """Return the tables of a block that no unique key ties to the others; sets count as their branches do."""
    scans = [source for source in block.sources if isinstance(source, Scan) and source.preserving is None]
    for source in block.sources:
        if isinstance(source, SetOf) and len(source.branches) == 1:
            scans += _multiplying(source.branches[0], keys)
    for scan in tuple(scans):
        others = {other.alias for other in scans} - {scan.alias}
        if len(scans) > 1 and any(_is_fixed(scan, key, block, others) for key in keys(scan)):
            scans.remove(scan)
    return scans


def _is_fixed(scan: Scan, key: tuple[str, ...], block: Block, others: set[str]) -> bool:
    """Return whether the columns of a key are each equal to a column of another table, or to a constant."""
    fixed = set()
    for condition in block.conditions:
        node = condition.unnest()
        if isinstance(node, exp.EQ):
            sides = (node.this.unnest(), node.expression.unnest())
            for mine, other in (sides, sides[::-1]):
                tied = isinstance(other, exp.Literal) or (
                    isinstance(other, exp.Column) and other.table in others
                )
                if isinstance(mine, exp.Column) and mine.table == scan.alias and tied:
                    fixed.add(fold(mine.name))
    return {fold(name) for name in key} <= fixed
