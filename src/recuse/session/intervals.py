"""Exact arithmetic on intervals; None is an end that is not bounded."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

from recuse.sql.formula import Operator

End = Fraction | None
Ends = tuple[End, End]
UNBOUNDED: Ends = (None, None)


def combine(operator: Operator, left: Ends, right: Ends) -> Ends:
    """Return an interval that holds x∘y for all x and y of the two.

    >>> combine(Operator.DIVIDE, (Fraction(4), Fraction(6)), (Fraction(1), Fraction(2)))
    (Fraction(2, 1), Fraction(6, 1))
    >>> combine(Operator.DIVIDE, (Fraction(4), Fraction(6)), (Fraction(-1), Fraction(2)))
    (None, None)
    >>> combine(Operator.DIVIDE, (Fraction(4), Fraction(6)), (Fraction(0), Fraction(2)))
    (Fraction(2, 1), None)
    """
    (a, b), (c, d) = left, right
    match operator:
        case Operator.ADD:
            return _plus(a, c), _plus(b, d)
        case Operator.SUBTRACT:
            return _plus(a, _minus(d)), _plus(b, _minus(c))
    if a is not None and a >= 0 and c is not None and c >= 0:
        return _of_nonnegative(operator, a, b, c, d)
    if a is None or b is None or c is None or d is None:
        return UNBOUNDED
    if operator is Operator.DIVIDE:
        if c <= 0 <= d:
            return UNBOUNDED
        c, d = 1 / d, 1 / c
    corners = (a * c, a * d, b * c, b * d)
    return min(corners), max(corners)


def _of_nonnegative(operator: Operator, a: Fraction, b: End, c: Fraction, d: End) -> Ends:
    """Return where a product or quotient of numbers from 0 on lies; a quotient by 0 is no number."""
    if operator is Operator.MULTIPLY:
        return a * c, None if b is None or d is None else b * d
    low = Fraction(0) if d is None else None if d == 0 else a / d
    return low, None if b is None or c == 0 else b / c


def rounded(end: End, places: int) -> End:
    """Return a number rounded to so many decimal places, halves away from zero; order is kept.

    >>> rounded(Fraction(-5, 2), 0)
    Fraction(-3, 1)
    """
    if end is None:
        return None
    scaled = abs(end) * Fraction(10) ** places
    whole = (2 * scaled.numerator + scaled.denominator) // (2 * scaled.denominator)
    return (whole if end >= 0 else -whole) / Fraction(10) ** places


def square_root(value: Fraction, *, up: bool = False) -> Fraction:
    """Return the root of a number that is not negative, to eighteen digits: not above it, or not below.

    >>> float(square_root(Fraction(2))), square_root(Fraction(9, 4), up=True) >= Fraction(3, 2)
    (1.4142135623730951, True)
    """
    digits = 18 + max(0, len(str(value.denominator)) - len(str(value.numerator)))
    scale = 10**digits
    found = isqrt(value.numerator * scale**2 // value.denominator)
    exact = found**2 * value.denominator == value.numerator * scale**2
    return Fraction(found + (up and not exact), scale)


def _plus(left: End, right: End) -> End:
    return None if left is None or right is None else left + right


def _minus(end: End) -> End:
    return None if end is None else -end
