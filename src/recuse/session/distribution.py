"""What histograms and empirical distributions are asked by: which bins, of what, in SQL."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Self, TypedDict

from recuse.errors import ParameterError
from recuse.privacy import decimal_text

BinEdge = int | float | Decimal | Fraction | date | str
"""a number, or a date, which may be written 2024-02-29"""


class BinOptions(TypedDict, total=False):
    """Which bins: `edges`, or how many `bins`, `between` two ends or those of the values; and `where`."""

    edges: Sequence[BinEdge] | None
    bins: int | None
    between: tuple[BinEdge, BinEdge] | None
    where: str | None


@dataclass(frozen=True, slots=True)
class Bins:
    """Where bins begin and end, as HISTOGRAM takes it: edges, or how many between two ends."""

    text: str
    """what stands behind the value in HISTOGRAM(value, …)"""
    edges: int
    """how many edges there are"""
    released: bool = False
    """whether the ends are released first"""
    where: str | None = None
    """which rows, as SQL writes it"""

    @classmethod
    def of(
        cls,
        edges: Sequence[BinEdge] | None = None,
        bins: int | None = None,
        between: tuple[BinEdge, BinEdge] | None = None,
        where: str | None = None,
    ) -> Self:
        """Return the bins that were asked for, or refuse them."""
        if (edges is None) == (bins is None) or (edges is not None and between is not None):
            raise ParameterError(
                "which bins?", accepted="either edges, or a number of bins and the two ends between which"
            )
        if edges is not None:
            return cls(f"[{', '.join(map(edge_text, edges))}]", len(edges), where=where)
        count = int(bins or 0)
        if between is None:
            return cls(str(count), count + 1, released=True, where=where)
        return cls(f"{count}, {', '.join(map(edge_text, between))}", count + 1, where=where)

    def question(self, value: str, source: str) -> str:
        """Return the SQL of a histogram."""
        return f"SELECT HISTOGRAM({value}, {self.text}) FROM {source}{_where(self.where)}"


def _where(condition: str | None) -> str:
    return "" if condition is None else f" WHERE {condition}"


_DAY = re.compile(r"\d{4}-\d\d-\d\d")


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ParameterError("an edge is a number or a date", found=text) from None


def edge_text(edge: BinEdge) -> str:
    """Return an edge as SQL writes it.

    >>> edge_text(2.5), edge_text(date(2024, 2, 29)), edge_text("2024-02-29")
    ('2.5', "DATE '2024-02-29'", "DATE '2024-02-29'")
    """
    if isinstance(edge, datetime):
        return f"TIMESTAMP '{edge.isoformat(sep=' ')}'"
    if isinstance(edge, str) and _DAY.fullmatch(edge):
        edge = _day(edge)
    if isinstance(edge, date):
        return f"DATE '{edge.isoformat()}'"
    try:
        return decimal_text(Fraction(str(edge) if isinstance(edge, float) else edge))
    except (ValueError, OverflowError, TypeError):
        raise ParameterError("an edge is a number or a date", found=repr(edge)[:40]) from None
