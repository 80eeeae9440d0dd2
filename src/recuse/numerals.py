"""Numbers as people and programs read them: never in scientific notation."""

from __future__ import annotations

import math
from fractions import Fraction

DIGITS = 6


def short(value: Fraction, step: Fraction | None = None) -> str:
    """Return a number for people, thousands apart: to the places of its step, else whole or to six digits.

    >>> short(Fraction(1234567)), short(Fraction(5, 4)), short(Fraction(5, 4), Fraction(1, 1000))
    ('1,234,567', '1.25', '1.250')
    >>> short(Fraction(2021241, 2)), short(Fraction(1, 3 * 10**7)), short(Fraction(2021241, 2), Fraction(10))
    ('1,010,620', '0.0000000333333', '1,010,620')
    """
    if step is not None and (places := decimal_places(step)) is not None:
        return _fixed(value, places)
    if value.denominator == 1:
        return f"{int(value):,}"
    text = _fixed(value, max(0, DIGITS - 1 - magnitude(value)))
    return text.rstrip("0").rstrip(".") if "." in text else text


def brief(value: Fraction, digits: int) -> str:
    """Return a number rounded to so many digits that say something, written out.

    >>> brief(Fraction(123456), 3), brief(Fraction(1, 3), 2), brief(Fraction(0), 2)
    ('123,000', '0.33', '0')
    """
    step = Fraction(10) ** (magnitude(value) - digits + 1)
    return short(round(value / step) * step)


def decimal_places(step: Fraction) -> int | None:
    """Return how many places behind the point multiples of a step need; None if no number suffices.

    >>> decimal_places(Fraction(1, 100)), decimal_places(Fraction(1, 4)), decimal_places(Fraction(1, 3))
    (2, 2, None)
    """
    rest, places = step.denominator, 0
    while rest > 1:
        left = Fraction(10, rest).denominator
        if left == rest:
            return None
        rest, places = left, places + 1
    return places


def magnitude(value: Fraction) -> int:
    """Return the power of ten of the leading digit, 0 for zero.

    >>> magnitude(Fraction(999)), magnitude(Fraction(1, 100)), magnitude(Fraction(0))
    (2, -2, 0)
    """
    if value == 0:
        return 0
    size = abs(value)
    guess = len(str(size.numerator)) - len(str(size.denominator))
    return guess if Fraction(10) ** guess <= size else guess - 1


def _fixed(value: Fraction, places: int) -> str:
    """Return a number with so many places behind the point, halves to even."""
    granules = round(value * 10**places)
    whole, rest = divmod(abs(granules), 10**places)
    sign = "-" if granules < 0 else ""
    return f"{sign}{whole:,}" + (f".{rest:0{places}d}" if places else "")


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


def double(value: Fraction | int) -> float:
    """Return the nearest double, which is infinite beyond all of them.

    >>> double(Fraction(1, 4)), double(-(10**400))
    (0.25, -inf)
    """
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
