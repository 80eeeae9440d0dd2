"""Epsilon and delta: privacy losses, as exact positive rationals."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Self

from recuse.errors import ParameterError

SMALLEST = Fraction(1, 1_000_000)
LARGEST = Fraction(1_000)
MAX_DIGITS = 40
MOST_PLACES = 12
LARGEST_DENOMINATOR = 1_000
"""At most 12 decimal places, or a fraction with a denominator up to 1000: so sums of them stay short."""

NumberLike = str | int | float | Decimal | Fraction


@dataclass(frozen=True, slots=True, order=True)
class Epsilon:
    """A pure differential-privacy loss: an exact rational between 10⁻⁶ and 10³.

    >>> Epsilon.of("0.1").value + Epsilon.of(0.2).value == Epsilon.of("3/10").value
    True
    """

    value: Fraction

    def __post_init__(self) -> None:
        if not SMALLEST <= self.value <= LARGEST:
            hint = "0.1 is strong protection, 1 is usual, 10 is weak"
            raise _out_of_range("epsilon", self.value, "a number from 0.000001 to 1000", hint)

    @classmethod
    def of(cls, number: NumberLike) -> Self:
        """Return the epsilon that a user wrote: a decimal, a fraction `1/3`, or a number.

        A float means the decimal that Python prints for it, so that 0.1 is one tenth.
        """
        value = exact(number, name="epsilon")
        if value.denominator > LARGEST_DENOMINATOR and 10**MOST_PLACES % value.denominator:
            raise ParameterError(
                "epsilon has too many digits",
                found=str(number),
                accepted=f"at most {MOST_PLACES} decimal places, or a fraction such as 1/3",
                hint="round it down",
            )
        return cls(value)

    def __str__(self) -> str:
        return decimal_text(self.value)


LEAST_DELTA = Fraction(1, 10**18)
MOST_DELTA = Fraction(1, 1_000)


@dataclass(frozen=True, slots=True, order=True)
class Delta:
    """The chance that somebody is told of in full: an exact rational between 10⁻¹⁸ and 10⁻³.

    >>> Delta.of("1e-6").value == Fraction(1, 1_000_000)
    True
    """

    value: Fraction

    def __post_init__(self) -> None:
        if not LEAST_DELTA <= self.value <= MOST_DELTA:
            hint = "far below one in the number of people: 1e-6 is usual"
            raise _out_of_range("delta", self.value, "a number from 1e-18 to 0.001", hint)

    @classmethod
    def of(cls, number: NumberLike) -> Self:
        """Return the delta that a user wrote: a decimal, a power such as 1e-6, or a fraction."""
        value = exact(number, name="delta")
        if 10**18 % value.denominator:
            raise ParameterError(
                "delta has too many digits",
                found=str(number),
                accepted="at most 18 decimal places",
                hint="round it down",
            )
        return cls(value)

    def __str__(self) -> str:
        return decimal_text(self.value)


def _out_of_range(name: str, value: Fraction, accepted: str, hint: str) -> ParameterError:
    found = decimal_text(value) if abs(value) < 10**12 else "a huge number"
    return ParameterError(f"{name} is out of range", found=found, accepted=accepted, hint=hint)


def exact(number: NumberLike, *, name: str) -> Fraction:
    """Return `number` as the rational its text denotes."""
    text = float.__repr__(number) if isinstance(number, float) else str(number)
    mantissa, _, exponent = text.strip().lower().partition("e")
    readable = not isinstance(number, bool) and len(text) <= MAX_DIGITS and len(exponent) <= 4
    try:
        if not readable or "_" in mantissa:
            raise ValueError
        return Fraction(text.strip())
    except (ValueError, ZeroDivisionError):
        raise ParameterError(
            f"{name} is not a number", found=text, accepted="a decimal such as 0.5, or a fraction such as 1/3"
        ) from None


def decimal_text(value: Fraction) -> str:
    """Return the shortest exact text: a decimal where there is one, else a fraction.

    >>> decimal_text(Fraction(1, 4)), decimal_text(Fraction(1, 3))
    ('0.25', '1/3')
    """
    rest = value.denominator
    twos = fives = 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    if rest != 1:
        return str(value)
    places = max(twos, fives)
    digits = abs(value.numerator) * 10**places // value.denominator
    whole, part = divmod(digits, 10**places)
    sign = "-" if value < 0 else ""
    return f"{sign}{whole}" if places == 0 else f"{sign}{whole}.{part:0{places}d}"
