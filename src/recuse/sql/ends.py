"""The largest and the smallest key of GROUP BY as aggregates, and the rows that they are taken from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Self

from sqlglot import exp

from recuse.scalars.types import Type
from recuse.sql.elaborate import Lookup
from recuse.sql.query import Block, Scalar
from recuse.sql.schema import Schema
from recuse.sql.sharing import Sharing

RANGE_SHARE = Fraction(1, 4)
"""the part of ε for the ends of all keys together, where they are released first"""


FIND_SHARES = {
    Sharing.SIDE_BY_SIDE: Fraction(1, 4),
    Sharing.ONE_OWNER: Fraction(1, 4),
    Sharing.TOGETHER: Fraction(1, 2),
}
"""the part of ε that finding keys among the rows costs, by how groups share participants: public"""


@dataclass(frozen=True, slots=True)
class KeyEnd:
    """The largest whole number of a key; with `sign` -1 the smallest, signs turned. Granules are 1.

    `timed` says that it counts from a public origin, which means nothing: months, days, years.
    """

    sign: int
    timed: bool = False

    signed, weighed, placed, whole = True, False, True, False

    def refuses(self, _: Type) -> str | None:
        """Return nothing: keys are whole numbers here."""
        return None

    def suited(self, _: Type) -> Self:
        """Return the same: keys are whole numbers here."""
        return self

    def rows(self, block: Block, _: Sequence[Scalar]) -> Block:
        """Return all rows: those without the key drop out."""
        return block

    def value(self, values: Sequence[Scalar]) -> Scalar | None:
        """Return the key's whole number."""
        return values[0]

    def weight(self, value: Scalar | None, _schema: Schema, _lookup: Lookup) -> Scalar:
        """Return the whole number, its sign turned where it must be."""
        found = exp.Literal.number(0) if value is None else value
        return exp.cast(found if self.sign > 0 else exp.Neg(this=exp.paren(found.copy())), "bigint")

    def plain(self, value: Scalar) -> exp.Expr:
        """Return MAX or MIN."""
        return exp.Max(this=value) if self.sign > 0 else exp.Min(this=value)

    def granularity(self, _: Schema) -> Fraction:
        """Return 1."""
        return Fraction(1)

    @property
    def word(self) -> str:
        said = "the largest key" if self.sign > 0 else "the smallest key"
        return f"{said} in time" if self.timed else said

    def words(self, _: Schema) -> str:
        """Return what is asked."""
        return self.word


def rows_with_keys(block: Block, index: Scalar) -> Block:
    """Return rows that hold all those of a block, with the whole numbers of their keys.

    What only takes rows away may be left out: the ends of more rows are ends, too. So what others can take
    away (NOT EXISTS, outer joins) and counts of others' rows are.
    """
    kept = tuple(choice for choice in block.choices if choice.quorum is None)
    return replace(block, choices=kept, absent=(), weight=index, keys=(), null_keys=frozenset(), outputs=())
