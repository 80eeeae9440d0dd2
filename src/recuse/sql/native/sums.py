"""Sums and averages that no row can make overflow and no order of rows can change.

The sum of numbers of at most 19 digits fits 38 of them, however many rows there are. Wider numbers are taken
apart, x = h · 10^k + r, and the parts are summed. Floats are summed in fixed point, to 18 decimal places.
"""

from __future__ import annotations

from recuse.scalars.build import apply, bring
from recuse.scalars.expression import Constant, Expression
from recuse.scalars.function import Mistyped
from recuse.scalars.types import LIMIT, Boolean, Float, Null, Number, decimal, whole, words
from recuse.sql.native.asked import RowsCall

ROWS = 63
"""There are fewer than 2^63 rows."""
SUMMED = 19
"""Digits whose sums fit, however many rows there are."""
USUAL = 18
"""Digits that an engine sums fastest: those of a 64-bit number."""
FIXED = decimal(SUMMED + 18, 18)
"""Floats that are summed: below 10^19, to 18 decimal places."""


def total(asked: RowsCall) -> Expression:
    """Return SUM(x); NULL where it has more than 38 digits."""
    value = _number(asked.argument)
    if isinstance(value.type, Float):
        return bring(_of_floats(asked, value), Float())
    return _of_numbers(asked, value)


def average(asked: RowsCall) -> Expression:
    """Return AVG(x): the exact sum over the count, as a float."""
    value = _number(asked.argument)
    found = _of_floats(asked, value) if isinstance(value.type, Float) else _of_numbers(asked, value)
    return apply("/", found, asked.count(value))


def _number(value: Expression) -> Expression:
    if isinstance(value.type, Boolean | Null):
        return bring(value, whole(0, 1))
    if isinstance(value.type, Number) and not value.type.is_exact:
        hint = "cast them: CAST(x AS DECIMAL(38, 0))"
        raise Mistyped("a sum of such large numbers can overflow", hint, 0)
    if not isinstance(value.type, Number | Float):
        raise Mistyped(f"this is {words(value.type)}, and numbers are summed", "cast it to a number", 0)
    return value


def _of_floats(asked: RowsCall, value: Expression) -> Expression:
    fixed = bring(value, FIXED)
    return asked.unless_lost(value, fixed, _of_numbers(asked, fixed))


def _of_numbers(asked: RowsCall, value: Expression) -> Expression:
    kind = value.type
    if not isinstance(kind, Number):
        raise TypeError("only numbers are summed")
    if kind.digits <= SUMMED:
        return _narrow(asked, value)
    if asked.distinct:
        hint = "cast them: CAST(x AS DECIMAL(18, 3)), or sum over SELECT DISTINCT x"
        raise Mistyped("distinct numbers of so many digits are not summed", hint, 0)
    if kind.scale > USUAL:
        hint = "cast them: CAST(x AS DECIMAL(38, 6))"
        raise Mistyped("numbers of so many decimal places are not summed", hint, 0)
    usual = bring(value, decimal(USUAL, min(kind.scale, USUAL)))
    rest = apply("case", apply("is null", usual), value, Constant(None, kind))
    unit = 10 ** (USUAL - kind.scale)
    step = Constant(unit, whole(unit, unit))
    low = bring(apply("%", rest, step), decimal(USUAL, kind.scale))
    most = LIMIT // 10**kind.scale
    even = bring(apply("-", rest, low), whole(-most, most))
    high = bring(apply("//", even, step), decimal(SUMMED, 0))
    found = [_narrow(asked, part) for part in (usual, low, high)]
    nothing = apply("and", *(apply("is null", one) for one in found))
    sums = [apply("coalesce", one, Constant(0, whole(0, 0))) for one in found]
    total = apply("+", apply("+", sums[0], sums[1]), apply("*", sums[2], step))
    return asked.unless_lost(
        rest if kind.digits > USUAL + SUMMED else high,
        high,
        apply("case", nothing, Constant(None, total.type), total),
    )


def _narrow(asked: RowsCall, value: Expression) -> Expression:
    """Return the sum of numbers so narrow that it fits, bounded by that of as many rows as there can be."""
    kind = value.type
    if not isinstance(kind, Number) or kind.digits > SUMMED:
        raise TypeError("these are not summed as they are")
    gives = Number(kind.scale, min(kind.low, 0) << ROWS, max(kind.high, 0) << ROWS)
    return asked.engine("sum", (value,), gives, held=gives)
