"""Numbers as people and programs read them."""

from __future__ import annotations

from fractions import Fraction


def short(value: Fraction) -> str:
    """Return a number for people: whole numbers with thousands apart, others to six digits.

    >>> short(Fraction(1234567)), short(Fraction(5, 4))
    ('1,234,567', '1.25')
    """
    return f"{int(value):,}" if value.denominator == 1 else f"{nearest(value):,.6g}"


def nearest(value: Fraction) -> int | float:
    """Return a number for programs: whole numbers as they are, others as the nearest double.

    >>> nearest(Fraction(8, 2)), nearest(Fraction(1, 4))
    (4, 0.25)
    """
    if value.denominator == 1:
        return int(value)
    try:
        return float(value)
    except OverflowError:  # beyond all doubles a fraction matters to nobody
        return round(value)
