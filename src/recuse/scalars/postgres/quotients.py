"""Quotients in PostgreSQL: of integers cut, of numerics to as many places as PostgreSQL gives, of floats."""

from __future__ import annotations

from collections.abc import Sequence

from recuse.scalars.expression import Call, Expression
from recuse.scalars.floats import FLOATS
from recuse.scalars.function import Mistyped, OtherForm, Signature
from recuse.scalars.integers import all_known, is_integer
from recuse.scalars.numbers import number, truncated, within
from recuse.scalars.rounding import half_away
from recuse.scalars.types import Float, Number, clamped, whole

PLACES = 20
"""Decimal places of a quotient of exact numbers; PostgreSQL's own has 16 significant digits or more."""
# ------------------------------------------------------------------ division


def _are_integers(arguments: Sequence[Expression]) -> bool:
    """Return whether a quotient is one of integers, or say that nobody knows."""
    found = all_known(is_integer(argument) for argument in arguments)
    if found is None:
        raise Mistyped(
            "whether PostgreSQL has integers or numerics here, and cuts the quotient, is not known",
            "say it: CAST(x AS integer) / …, or CAST(x AS double precision) / …",
        )
    return found


def of_integers(arguments: Sequence[Expression]) -> Signature:
    """Return the signature of a quotient of integers, or say that it is none."""
    left, right = number(arguments, 0), number(arguments, 1)
    if not _are_integers(arguments):
        raise OtherForm
    most = max(abs(left.low), abs(left.high))
    return Signature((left, right), whole(-most, most))


def of_numbers(arguments: Sequence[Expression]) -> Signature:
    """Return the signature of a quotient of exact numbers."""
    left, right = number(arguments, 0), number(arguments, 1)
    _are_integers(arguments)
    most = max(abs(left.low), abs(left.high)) * 10 ** max(PLACES - left.scale + right.scale, 0)
    return Signature((left, right), clamped(Number(PLACES, -most, most)))


def whole_quotient(_: Call, left: int, right: int) -> int | None:
    """Return a quotient without its fraction."""
    return None if right == 0 else truncated(left, right)


def quotient(call: Call, left: int, right: int) -> int | None:
    """Return a quotient of exact numbers: as many places as PostgreSQL gives, at most 20 of them."""
    if right == 0:
        return None
    first, second = (argument.type for argument in call.arguments)
    if not isinstance(first, Number) or not isinstance(second, Number):
        raise TypeError("numbers are divided")
    places = _scale_of_quotient(left, first.scale, right, second.scale)
    shift = second.scale - first.scale + places
    above, below = abs(left) * 10 ** max(shift, 0), abs(right) * 10 ** max(-shift, 0)
    rounded = half_away(above, below)
    found = half_away(rounded * 10**PLACES, 10**places)
    return within(found if (left < 0) == (right < 0) else -found)


def _scale_of_quotient(left: int, left_scale: int, right: int, right_scale: int) -> int:
    """Return how many decimal places PostgreSQL gives a quotient (its select_div_scale)."""
    (first, above), (second, below) = _leading(left, left_scale), _leading(right, right_scale)
    weight = first - second - (above <= below)
    return max(16 - 4 * weight, left_scale, right_scale, 0)


def _leading(value: int, scale: int) -> tuple[int, int]:
    """Return the weight of the first of a number's digits of base 10,000, and that digit; (0, 0) of zero."""
    if value == 0:
        return 0, 0
    places = -(-scale // 4) * 4
    digits = abs(value) * 10 ** (places - scale)
    count = (len(str(digits)) - 1) // 4
    return count - places // 4, digits // 10_000**count


PLAIN = next(row for row in FLOATS if row.name == "/")


def of_floats(arguments: Sequence[Expression]) -> Signature:
    """Return the signature of a quotient one side of which is a float."""
    if not any(isinstance(argument.type, Float) for argument in arguments):
        raise OtherForm
    return PLAIN.signature(arguments)
