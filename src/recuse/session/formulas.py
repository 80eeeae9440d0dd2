"""What a formula says of released numbers: its value, exactly. It has one for whatever was released.

Numbers are fractions; text, truth values, dates and times are what they are; NULL is None.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor, trunc
from typing import Any

from recuse.mechanism.release import Release
from recuse.scalars.types import Date, Number
from recuse.session.intervals import combine, rounded, square_root
from recuse.session.labels import of_keys
from recuse.sql.formula import (
    ORIGIN,
    FixedNumber,
    FixedValue,
    Formula,
    OfKeys,
    Operation,
    Operator,
    ReleasedFirst,
    ShownKey,
    Stacked,
    Term,
    Windowed,
)
from recuse.sql.placeholder import PlaceType

Keys = tuple[Any, ...]
ARITHMETIC = (Operator.ADD, Operator.SUBTRACT, Operator.MULTIPLY, Operator.DIVIDE)


@dataclass(frozen=True, slots=True)
class Given:
    """What a formula of one row is computed from: its keys, its measures, and the scalars released first."""

    releases: Sequence[Release]
    keys: Keys = ()
    scalars: Sequence[Fraction | None] = ()
    windows: tuple[Any, ...] = ()
    """what the windows that were worked out so far say of the row"""
    place: int = 0
    """which of the rows that were stacked it is"""


def value_of(formula: Formula, given: Given) -> Any:
    """Return the value of a formula; NULL where SQL has it, where a divisor is zero above all."""
    match formula:
        case Term(measure):
            return None if given.releases[measure].undefined else given.releases[measure].value
        case ShownKey(position):
            return plain(given.keys[position])
        case OfKeys(expression):
            return of_keys(expression, given.keys)
        case ReleasedFirst(number):
            return given.scalars[number]
        case Windowed(place):
            return given.windows[place]
        case Stacked(rows):
            return value_of(rows[given.place], given)
        case FixedNumber(value) | FixedValue(value):
            return value
        case Operation(Operator.CASE, arguments):
            return _case(arguments, given)
        case Operation(operator, arguments):
            return apply(operator, [value_of(argument, given) for argument in arguments])


def plain(key: Any) -> Any:
    """Return a key as formulas compute with it: numbers as fractions, dates as times of day zero."""
    if isinstance(key, bool):
        return key
    if isinstance(key, int | Decimal | float):
        return Fraction(key) if key == key and abs(key) != float("inf") else None
    return key


def comparable(value: Any) -> Any:
    """Return a value that compares with every other of its kind."""
    if isinstance(value, date) and not isinstance(value, datetime):
        return datetime(value.year, value.month, value.day)
    return value if isinstance(value, Fraction | str | bool | datetime | int) else str(value)


def _case(arguments: Sequence[Formula], given: Given) -> Any:
    for test, value in zip(arguments[:-1:2], arguments[1:-1:2], strict=True):
        if value_of(test, given) is True:
            return value_of(value, given)
    return value_of(arguments[-1], given)


def apply(operator: Operator, values: Sequence[Any]) -> Any:
    """Return what an operator makes of values, NULLs as SQL has them."""
    match operator:
        case Operator.AND:
            return False if False in values else None if None in values else True
        case Operator.OR:
            return True if True in values else None if None in values else False
        case Operator.IS_NULL:
            return values[0] is None
        case Operator.SAME:
            return _same(*values)
        case Operator.COALESCE:
            return next((value for value in values if value is not None), None)
        case Operator.NULLIF:
            return None if values[1] is not None and _same(*values) else values[0]
        case Operator.GREATEST | Operator.LEAST:
            known = [value for value in values if value is not None]
            chosen = max if operator is Operator.GREATEST else min
            return chosen(known, key=comparable) if known else None
    return None if None in values else _STRICT[operator](*values)


def _same(left: Any, right: Any) -> bool:
    if left is None or right is None:
        return left is right
    return bool(comparable(left) == comparable(right))


def _arithmetic(operator: Operator) -> Callable[[Fraction, Fraction], Fraction | None]:
    def compute(left: Fraction, right: Fraction) -> Fraction | None:
        return combine(operator, (left, left), (right, right))[0]

    return compute


START = datetime(ORIGIN.year, ORIGIN.month, ORIGIN.day)


def _date(days: Fraction) -> date:
    """Return the day so many days from the origin, within the years that there are."""
    number = ORIGIN.toordinal() + round(days)
    return date.fromordinal(min(max(number, 1), date.max.toordinal()))


def _moment(seconds: Fraction) -> datetime:
    """Return the moment so many seconds from the origin, within the years that there are."""
    least, most = ((end - START) // timedelta(seconds=1) for end in (datetime.min, datetime.max))
    return START + timedelta(seconds=min(max(round(seconds), least), most))


def moment_of(kind: PlaceType, number: Fraction | None) -> date | None:
    """Return the moment that days or seconds stand for, where their place holds one."""
    if number is None or isinstance(kind, Number):
        return None
    return _date(number) if isinstance(kind, Date) else _moment(number)


def _since(moment: date) -> Fraction:
    """Return the days from the origin to a date, or the seconds to a timestamp."""
    if isinstance(moment, datetime):
        return Fraction((moment - START) // timedelta(seconds=1))
    return Fraction((moment - ORIGIN).days)


def _modulo(left: Fraction, right: Fraction) -> Fraction | None:
    return None if right == 0 else left - trunc(left / right) * right


def _whole_quotient(left: Fraction, right: Fraction) -> Fraction | None:
    return None if right == 0 else Fraction(trunc(left / right))


_STRICT: dict[Operator, Callable[..., Any]] = {
    **{operator: _arithmetic(operator) for operator in ARITHMETIC},
    Operator.MODULO: _modulo,
    Operator.WHOLE_DIVIDE: _whole_quotient,
    Operator.ROUND: lambda number, places: rounded(number, int(places)),
    Operator.NOT_BELOW: max,
    Operator.NOT_ABOVE: min,
    Operator.FLOOR: lambda number: Fraction(floor(number)),
    Operator.CEIL: lambda number: Fraction(ceil(number)),
    Operator.ABS: abs,
    Operator.SIGN: lambda number: Fraction((number > 0) - (number < 0)),
    Operator.SQRT: lambda number: None if number < 0 else square_root(number),
    Operator.EQUAL: lambda left, right: comparable(left) == comparable(right),
    Operator.LESS: lambda left, right: comparable(left) < comparable(right),
    Operator.AT_MOST: lambda left, right: comparable(left) <= comparable(right),
    Operator.NOT: lambda truth: not truth,
    Operator.DATE: _date,
    Operator.MOMENT: _moment,
    Operator.SINCE: _since,
}
