"""Answer: what a question is answered with. One row a group, one cell an aggregate or a formula over them.

A single number is an answer with one cell, and converts to one. How an answer is shown is not here (`show`).
"""

from __future__ import annotations

import numbers
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from importlib.util import find_spec
from typing import Any

import pyarrow

from recuse.errors import ParameterError
from recuse.html import told_whole
from recuse.numerals import nearest
from recuse.session import notebook, show, tabular
from recuse.session.cells import Cell, Combined, Row, StandIn, truth
from recuse.session.intervals import Ends
from recuse.session.truth import TrueAnswer

__all__ = ["Answer", "Cell", "Combined", "Row", "StandIn"]


@told_whole
@dataclass(frozen=True, slots=True, repr=False)
class Answer:
    """The private answer to a question, finished when it is built.

    `key_names` and `names` are the columns; `epsilon` is what the whole answer cost. An answer with one cell
    converts to `float`, `int` and `Fraction`, and is formatted as a number: `f"{answer:,}"`.
    """

    key_names: tuple[str, ...]
    names: tuple[str, ...]
    rows: tuple[Row, ...]
    epsilon: Fraction
    delta: Fraction = Fraction(0)
    """what it cost of δ: above 0 if keys were found among private rows, and then few people's are missing"""
    remaining: Fraction | None = None
    """what the ledger has left after this answer; None without a ledger"""
    policy: str | None = None
    """the hash of the policy that it was asked under"""
    data_version: int | None = None
    """the custodian's number of the data that it was asked of"""
    stored: bool = False
    """whether the ledger had it from an earlier question, so that it cost nothing now"""
    stand_ins: tuple[StandIn, ...] = ()
    """the numbers that were released first, and stand in the question"""
    notes: tuple[str, ...] = ()
    """what is known of the groups because it was released: between which ends they lie"""
    cautions: tuple[str, ...] = ()
    """which columns lost nearly all to truncation, and what to do"""

    def __reduce__(self) -> tuple[type[Answer], tuple[Any, ...]]:
        return Answer, tuple(getattr(self, name) for name in self.__match_args__)

    # ------------------------------------------------------------------ one number

    @property
    def is_number(self) -> bool:
        """Whether it is one cell without keys."""
        return not self.key_names and len(self.names) == len(self.rows) == 1

    @property
    def number(self) -> Cell:
        """The only cell; a table is refused."""
        if not self.is_number:
            raise ParameterError(
                "this answer is a table, not one number",
                found=f"{len(self)} rows of {', '.join((*self.key_names, *self.names))}",
                hint="read its rows: for row in answer: row.keys, row.cells",
            )
        return self.rows[0].cells[0]

    @property
    def value(self) -> Fraction | None:
        """The number; None if it is a formula that divides by a released zero."""
        return self.number.value

    @property
    def interval(self) -> Ends:
        """The noise interval: where the noise lets the truncated answer be; see `Release` and `Combined`."""
        return self.number.interval

    @property
    def truth(self) -> TrueAnswer:
        """What is so of the true answer: `ends` (low, None) say that it is at least so much.

        Guarantee: with probability `confidence` at least (proofs.md, lemma I1).
        """
        return truth(self.number)

    def _fraction(self) -> Fraction:
        value = self.value
        if value is None:
            raise ParameterError("this number is undefined: its formula divides by a released zero")
        return value

    @property
    def numerator(self) -> int:
        """With `denominator`, what makes `Fraction(answer)` work."""
        return self._fraction().numerator

    @property
    def denominator(self) -> int:
        """With `numerator`, what makes `Fraction(answer)` work."""
        return self._fraction().denominator

    def __float__(self) -> float:
        return float(self._fraction())

    def __int__(self) -> int:
        return int(self._fraction())

    def __format__(self, spec: str) -> str:
        return format(nearest(self._fraction()), spec) if spec else str(self)

    # ------------------------------------------------------------------ a table

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __bool__(self) -> bool:
        return True

    # ------------------------------------------------------------------ shown

    def __str__(self) -> str:
        return show.text(self)

    def __repr__(self) -> str:
        return f"<Answer {self}>" if self.is_number else f"<Answer with {len(self)} rows>\n{self}"

    def _repr_html_(self) -> str:
        """Return the answer for a notebook, its intervals drawn."""
        return notebook.html(self)

    def to_arrow(self) -> pyarrow.Table:
        """Return an Arrow table: the keys, then every column, and `_low` and `_high` of its noise."""
        return tabular.arrow_table(self.key_names, self.names, self.rows)

    def to_pandas(self) -> Any:
        """Return a pandas frame with the columns of `to_arrow`; pandas must be installed."""
        if find_spec("pandas") is None:
            raise ParameterError(
                "a frame needs the package pandas", hint="pip install pandas, or use to_arrow()"
            )
        return self.to_arrow().to_pandas()


numbers.Rational.register(Answer)
