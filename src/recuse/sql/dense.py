"""Keys that lie one after another: whole numbers, days, months, …; their groups are all between two ends.

An end is known without looking (a condition, a CHECK, a function that has few values), or the largest or the
smallest key is released first and stands for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor, isinf
from typing import Protocol

from sqlglot import exp

from recuse.scalars.dates import ALIASES
from recuse.scalars.expression import Call, Constant, Expression
from recuse.scalars.extent import Extent
from recuse.scalars.types import MICROSECONDS, ORDINARY_TIMESTAMP, Date, Float, Number, Timestamp
from recuse.scalars.units import CLOCKS, UNITS
from recuse.sql.query import Scalar

ORIGIN = date(2000, 1, 1)
"""from which days, months and years are counted: public, so that ends are found near it"""
MONDAY = date(2000, 1, 3)
MONTHS = 2000 * 12
FARTHEST = 2**62
ROUNDED = ("floor", "ceil", "trunc", "round")

Label = int | float | Decimal | date
"""a value of a dense key"""


class KeyStep(Protocol):
    """How keys are counted: a whole number each."""

    @property
    def counted(self) -> bool:
        """Whether keys are numbers: of more than can be answered the smallest are, of times the latest."""

    @property
    def timed(self) -> bool:
        """Whether they are counted from a public origin in time, so that 0 means nothing."""

    def index(self, key: Scalar) -> Scalar:
        """Return the whole number of a key, in SQL; NULL if it has none."""

    def value(self, index: int) -> Label:
        """Return the key of a whole number."""

    def ends(self, extent: Extent) -> tuple[int | None, int | None]:
        """Return the whole numbers of keys that lie within an extent."""

    def possible(self) -> tuple[int, int]:
        """Return the first and the last whole number that has a key."""


@dataclass(frozen=True, slots=True)
class NumberSteps:
    """NumberSteps of `scale` decimal places, counted from `origin`; `floating` ones are whole floats."""

    scale: int = 0
    origin: int = 0
    floating: bool = False
    counted: bool = True

    @property
    def timed(self) -> bool:
        return self.origin != 0

    def index(self, key: Scalar) -> Scalar:
        found: exp.Expr = exp.paren(key.copy())
        if self.scale:
            found = exp.Mul(this=found, expression=exp.Literal.number(10**self.scale))
        if self.origin:
            found = exp.Sub(this=found, expression=exp.Literal.number(self.origin))
        return exp.cast(found, "bigint")

    def value(self, index: int) -> Label:
        if self.scale:
            return Decimal(index + self.origin).scaleb(-self.scale)
        return float(index + self.origin) if self.floating else index + self.origin

    def ends(self, extent: Extent) -> tuple[int | None, int | None]:
        low, high = extent.low, extent.high
        return (
            None if low is None or isinf(low) else ceil(low) - self.origin,
            None if high is None or isinf(high) else floor(high) - self.origin,
        )

    def possible(self) -> tuple[int, int]:
        return -FARTHEST, FARTHEST


@dataclass(frozen=True, slots=True)
class TimeSteps:
    """Days, or the beginnings of a unit of time; `dated` ones are dates, others timestamps."""

    unit: str
    dated: bool
    counted: bool = False
    timed: bool = True

    def index(self, key: Scalar) -> Scalar:
        origin = exp.cast(exp.Literal.string(self._origin.isoformat()), "date")
        if not self.dated:
            origin = exp.cast(origin, "timestamp")
        return exp.DateDiff(this=key.copy(), expression=origin, unit=exp.var(self.unit.upper()))

    @property
    def _origin(self) -> date:
        return MONDAY if self.unit == "week" else ORIGIN

    def value(self, index: int) -> Label:
        if self.unit in UNITS:
            months = MONTHS // UNITS[self.unit] * UNITS[self.unit] + index * UNITS[self.unit]
            first = date(months // 12, months % 12 + 1, 1)
        else:
            moved = datetime.combine(self._origin, datetime.min.time()) + timedelta(
                microseconds=index * CLOCKS[self.unit]
            )
            return moved.date() if self.dated else moved
        return first if self.dated else datetime.combine(first, datetime.min.time())

    def ends(self, extent: Extent) -> tuple[int | None, int | None]:
        return self._end(extent.low), self._end(extent.high)

    def possible(self) -> tuple[int, int]:
        return self._place(ORDINARY_TIMESTAMP.low), self._place(ORDINARY_TIMESTAMP.high)

    def _end(self, end: int | float | None) -> int | None:
        if end is None:
            return None
        return self._place(int(end) * MICROSECONDS if self.dated else int(end))

    def _place(self, moment: int) -> int:
        """Return which unit a moment lies in; those before the year 1 or after 9999 in the first or last."""
        moment = min(max(moment, ORDINARY_TIMESTAMP.low), ORDINARY_TIMESTAMP.high)
        if self.unit in UNITS:
            day = datetime(1970, 1, 1) + timedelta(microseconds=moment)
            return (day.year * 12 + day.month - 1) // UNITS[self.unit] - MONTHS // UNITS[self.unit]
        first = (self._origin - date(1970, 1, 1)).days * MICROSECONDS
        return (moment - first) // CLOCKS[self.unit]


def step_of(key: Expression) -> KeyStep | None:
    """Return how the values of a key are counted, None if they do not lie one after another."""
    match key.type:
        case Number(scale=scale):
            dated = isinstance(key, Call) and key.function.name in ("year", "isoyear")
            return NumberSteps(scale, origin=ORIGIN.year if dated else 0)
        case Float() if _is_rounded(key):
            return NumberSteps(floating=True)
        case Date():
            return TimeSteps("day", dated=True)
        case Timestamp():
            unit = _truncated_to(key)
            return None if unit is None else TimeSteps(unit, dated=False)
    return None


def _is_rounded(key: Expression) -> bool:
    return isinstance(key, Call) and key.function.name in ROUNDED and len(key.arguments) == 1


@dataclass(frozen=True, slots=True)
class ReleasedEnd:
    """An end that is released first: the position of its number."""

    position: int


def _truncated_to(key: Expression) -> str | None:
    """Return the unit whose beginnings the values of date_trunc are."""
    if not isinstance(key, Call) or key.function.name != "date_trunc":
        return None
    unit = key.arguments[0]
    name = str(unit.value).lower() if isinstance(unit, Constant) else ""
    name = ALIASES.get(name, name)
    return name if name in ("year", "quarter", "month", "week", "day", "hour", "minute") else None


@dataclass(frozen=True, slots=True)
class Dense:
    """All keys between two ends, and NULL where a key may be NULL."""

    step: KeyStep
    low: int | ReleasedEnd
    high: int | ReleasedEnd
    null: bool
    cut: bool = False
    """whether there were more than are answered, once they are known"""

    @property
    def size(self) -> int | None:
        """How many keys there are; None if an end is not known yet."""
        if isinstance(self.low, ReleasedEnd) or isinstance(self.high, ReleasedEnd):
            return None
        return max(0, self.high - self.low + 1) + self.null

    @property
    def first(self) -> int:
        """The whole number of the first key, once it is known."""
        if isinstance(self.low, ReleasedEnd):
            raise ValueError("an end is not known yet")
        return self.low

    def given(self, released: Callable[[int], Fraction | None], most: int) -> Dense:
        """Return the keys between ends that are known now: `most` of them, NULL included.

        Guarantee: a function of what was released and of public things. Which end is cut is public: large
        numbers, early times. Where too few people are there to say an end, there is none but NULL; where
        only the smaller end cannot be said, it is 0.
        """
        first, last = self.step.possible()
        high, low = _end(self.high, released), _end(self.low, released)
        if high is None:
            low, high = 0, -1
        low = min(0, high + 1) if low is None else max(low, first)
        high = min(high, last)
        allowed = max(0, most - self.null)
        cut = high - low + 1 > allowed
        if cut and self.step.counted:
            high = low + allowed - 1
        elif cut:
            low = high - allowed + 1
        return replace(self, low=low, high=high, cut=cut)

    def note(self) -> str:
        """Return which keys there are, for people, once they are known."""
        labels = [label for label in self.labels() if label is not None]
        if not labels:
            return "none: too few people to say where they lie"
        told = f"{labels[0]} to {labels[-1]}, between ends that were released"
        beyond = f"larger than {labels[-1]}" if self.step.counted else f"before {labels[0]}"
        return f"{told}; what is {beyond} is not shown: too many groups" if self.cut else told

    def labels(self) -> list[Label | None]:
        """Return the keys in their order, NULL last."""
        count = (self.size or 0) - self.null
        found: list[Label | None] = [self.step.value(i) for i in range(self.first, self.first + count)]
        return [*found, None] if self.null else found


def _end(end: int | ReleasedEnd, released: Callable[[int], Fraction | None]) -> int | None:
    if isinstance(end, int):
        return end
    found = released(end.position)
    return None if found is None else int(found)
