"""`Measure`: one aggregate over the rows of its blocks; and what an aggregate is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Protocol

from sqlglot import exp

from recuse.scalars.types import Type
from recuse.sql.elaborate import Lookup
from recuse.sql.query import Block, BlockSource, Scalar
from recuse.sql.schema import Schema
from recuse.sql.walk import sources_of, type_lookup


@dataclass(frozen=True, slots=True)
class Measure:
    """One aggregate over the rows of its blocks; `known` are all sources the query was read with."""

    aggregate: Aggregate
    blocks: tuple[Block, ...]
    known: tuple[BlockSource, ...] = field(repr=False)

    @property
    def signed(self) -> bool:
        """Whether a row may weigh less than nothing: by its value, or because it is taken away."""
        return self.aggregate.signed or any(block.sign < 0 for block in self.blocks)

    def lookup(self) -> Lookup:
        """Return the function that says of which type a column is."""
        return type_lookup([*self.known, *sources_of(self.blocks)])


class Aggregate(Protocol):
    """What is asked about the rows of a measure: a frozen value (`aggregates` has them all)."""

    @property
    def word(self) -> str:
        """Its name; equal names are equal aggregates."""
        ...

    @property
    def signed(self) -> bool:
        """Whether a row may weigh less than nothing."""
        ...

    @property
    def weighed(self) -> bool:
        """Whether a row may weigh anything but 1."""
        ...

    @property
    def placed(self) -> bool:
        """Whether the answer is one of the rows' values, so that rows of different values are kept apart."""
        ...

    @property
    def whole(self) -> bool:
        """Whether its numbers are whole."""
        ...

    def rows(self, block: Block, values: Sequence[Scalar], /) -> Block:
        """Return the rows that take part, given the arguments."""
        ...

    def value(self, values: Sequence[Scalar], /) -> Scalar | None:
        """Return what each row brings, given the arguments; None if only that it is there."""
        ...

    def refuses(self, kind: Type, /) -> str | None:
        """Return why values of a type cannot be aggregated, if so."""
        ...

    def suited(self, kind: Type, /) -> Aggregate:
        """Return the same aggregate of values of a type."""
        ...

    def weight(self, value: Scalar | None, schema: Schema, lookup: Lookup, /) -> Scalar:
        """Return the weight of a row in whole granules, a function of its own values.

        Guarantee: at least 0 unless `signed`; NULL, 0 and what lies below drop out of the derivations. Of an
        aggregate that is `placed` it is the value of the row, and only NULL drops out.
        """
        ...

    def plain(self, value: Scalar, /) -> exp.Expr:
        """Return the aggregate in ordinary SQL, over the rows that take part."""
        ...

    def granularity(self, schema: Schema, /) -> Fraction:
        """Return what one granule is worth."""
        ...

    def words(self, schema: Schema, /) -> str:
        """Return what is asked, for people."""
        ...
