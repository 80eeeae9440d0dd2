"""What a row-wise expression of the keys says: keys → values of the total language → what is shown.

It has a value for whatever the keys are: post-processing of what is public or was released.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from typing import Any

from recuse.scalars.evaluate import evaluate
from recuse.scalars.expression import Expression, Value, Variable
from recuse.scalars.types import MICROSECONDS, Boolean, Date, Float, Number, Text, Timestamp, Type

EPOCH = date(1970, 1, 1).toordinal()


def of_keys(expression: Expression, keys: tuple[Any, ...]) -> Any:
    """Return the value of an expression whose variables are the keys, by their places."""

    def held(variable: Variable) -> Value:
        return _value(keys[int(variable.name)], variable.type)

    return _shown(evaluate(expression, held, _unread), expression.type)


def _unread(value: Value, source: str, target: str) -> Value:  # noqa: ARG001 (as engines are asked)
    """Return NULL for what an engine alone can write: days before the year 1 and beyond 9999."""
    return None


def _value(key: Any, kind: Type) -> Value:
    """Return a key as the total language has it; NULL if it is no value of the type."""
    match kind:
        case Number(scale=scale) if isinstance(key, int | Decimal | Fraction):
            granules = Fraction(key) * 10**scale
            return int(granules) if granules.denominator == 1 else None
        case Float() if isinstance(key, int | Decimal | Fraction | float):
            return float(key)
        case Text() if isinstance(key, str):
            return key
        case Boolean() if isinstance(key, bool):
            return key
        case Date() if isinstance(key, date):
            return key.toordinal() - EPOCH
        case Timestamp() if isinstance(key, datetime):
            return (key.replace(tzinfo=None) - datetime(1970, 1, 1)) // timedelta(microseconds=1)
        case Timestamp() if isinstance(key, date):
            return (key.toordinal() - EPOCH) * MICROSECONDS
    return None


def _shown(found: Value, kind: Type) -> Any:
    """Return a value as formulas have it: numbers as fractions, days and moments as such."""
    match kind:
        case _ if found is None:
            return None
        case Number(scale=scale):
            return Fraction(int(found), 10**scale)
        case Float():
            return Fraction(found) if isfinite(float(found)) else None
        case Date():
            day = int(found) + EPOCH
            return date.fromordinal(day) if 1 <= day <= date.max.toordinal() else None
        case Timestamp():
            days, rest = divmod(int(found), MICROSECONDS)
            if not 1 <= days + EPOCH <= date.max.toordinal():
                return None
            midnight = datetime.combine(date.fromordinal(days + EPOCH), datetime.min.time())
            return midnight + timedelta(microseconds=rest)
    return found
