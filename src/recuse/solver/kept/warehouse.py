"""What an engine can do for a solver: keep a table, lend a small one, read rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
import pyarrow

from recuse.krelation.relation import Integers


class Spelling(Protocol):
    """Expressions over whole numbers that engines spell in different ways."""

    def wide(self, number: str) -> str:
        """Return an expression as a whole number of at least 128 bits."""

    def narrow(self, number: str, most: int) -> str:
        """Return a number between 0 and `most` in as few bytes as there is a type for."""

    def quotient(self, number: str, divisor: str) -> str:
        """Return ⌊number / divisor⌋ of wide numbers: the one not below 0, the other above it."""

    def ordered(self, numbers: Sequence[str], place: int) -> str:
        """Return the number that is at a place, from 1 on, of all in ascending order."""

    def members(self, numbers: Sequence[str], place: int) -> str:
        """Return the same of the set of them: NULL behind the last."""


def lendable(numbers: Integers) -> Integers:
    """Return whole numbers in as few bytes as hold them all: what is handed over is to be small."""
    ends = np.array([numbers.min(initial=0), numbers.max(initial=0)])
    kinds = (np.int8, np.int16, np.int32)
    fitting = (kind for kind in kinds if np.array_equal(ends.astype(kind), ends))
    return numbers.astype(next(fitting, np.int64))


def narrow(number: str, most: int, widths: Mapping[int, str]) -> str:
    """Return a number up to `most` in the first of types, by their bits, that holds it; as it is if none."""
    fitting = (kind for bits, kind in widths.items() if most < 2**bits)
    return next((f"CAST({number} AS {kind})" for kind in fitting), number)


class Warehouse(Protocol):
    """An engine in which tables can be kept; they are gone when nobody holds it any more.

    Guarantee: nothing that is asked here can fail on a row: sums of whole numbers of 128 bits, of which all
    that are asked for stay below 2¹²⁷.
    """

    def keep(self, sql: str) -> str:
        """Return the name of a new table with the rows of a query."""

    def lend(self, columns: Mapping[str, Integers]) -> str:
        """Return the name of a new table of whole numbers that we hand over."""

    def read(self, sql: str) -> pyarrow.Table:
        """Return the rows of a query."""

    @property
    def spelling(self) -> Spelling:
        """How its SQL spells what engines spell in different ways."""
