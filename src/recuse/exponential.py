"""Exact comparison of rationals with exponentials: no float decides anything a proof relies on."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

FIRST_DIGITS = 30


def exponential(exponent: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """Return rationals that enclose e^exponent, tighter the more digits are asked for."""
    down = Context(prec=digits, rounding=ROUND_FLOOR, Emax=10**15, Emin=-(10**15))
    up = Context(prec=digits, rounding=ROUND_CEILING, Emax=10**15, Emin=-(10**15))
    top, bottom = Decimal(exponent.numerator), Decimal(exponent.denominator)
    # Decimal.exp rounds half-even whatever the context says, so widen by one unit in the last place
    low = down.next_minus(down.exp(down.divide(top, bottom)))
    high = up.next_plus(up.exp(up.divide(top, bottom)))
    return Fraction(low), Fraction(high)


def enclosures(exponent: Fraction) -> Iterator[tuple[Fraction, Fraction]]:
    """Yield ever tighter enclosures of e^exponent."""
    digits = FIRST_DIGITS
    while True:
        yield exponential(exponent, digits)
        digits *= 2


def at_most_exponential(value: Fraction, theta: Fraction, exponent: Fraction) -> bool:
    """Return whether value ≤ θ·e^exponent, decided exactly.

    e to a non-zero rational is transcendental (Lindemann), so no rational ties with it and the search for
    digits ends.
    """
    if exponent == 0:
        return value <= theta
    for low, high in enclosures(exponent):
        if value <= theta * low:
            return True
        if value > theta * high:
            return False
    raise AssertionError("the enclosures never end")


def logarithm(value: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """Return rationals that enclose ln(value), value > 0, tighter the more digits are asked for."""
    down = Context(prec=digits, rounding=ROUND_FLOOR, Emax=10**15, Emin=-(10**15))
    up = Context(prec=digits, rounding=ROUND_CEILING, Emax=10**15, Emin=-(10**15))
    top, bottom = Decimal(value.numerator), Decimal(value.denominator)
    near = down.ln(down.divide(top, bottom)), up.ln(up.divide(top, bottom))
    unit = Fraction(1, 10**digits)  # a zero has no neighbour that is worth naming
    low = Fraction(down.next_minus(near[0])) if near[0] else -unit
    high = Fraction(up.next_plus(near[1])) if near[1] else unit
    return low, high
