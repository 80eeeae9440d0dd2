"""What is public of the values that an answer may be: how likely each is before anything is known.

    far     nothing is known: every size is as likely as another, and the ends stand for "too few people"
    sizes   the same of distances
    near    the middle of the values is known, and how far half of them lie from it

Numbers have a zero that means something; days and seconds have a public origin that means nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

LARGEST = 62
"""Values are whole granules from -2^62 to 2^62; what lies beyond counts as lying at the end."""

LEAD = 55
"""how much likelier the ends are than all the rest, e^4: where rows decide nothing, no value is said"""

OUTWARD = 3
"""How fast a prior falls with every doubling of the distance from the middle (decisions.md, "Values near the
middle")"""
INWARD = 1
"""How fast it falls with every halving of a number"""
ACROSS = Fraction(1, 16)
"""how likely numbers of the other sign are"""


@dataclass(frozen=True, slots=True)
class Stretch:
    """The whole numbers from `first` to `last`, of one prior density (up to a factor)."""

    first: int
    last: int
    density: Fraction

    @property
    def mass(self) -> Fraction:
        """Its prior weight."""
        return (self.last - self.first + 1) * self.density


@dataclass(frozen=True, slots=True)
class Axis:
    """A kind of values: whether 0 means something, and up to how many doublings sizes are equally likely."""

    zero: bool
    """so that sizes are counted from there"""
    familiar: int

    def far(self) -> list[Stretch]:
        """Return the prior of values of which nothing is known: 0, and every [2^i, 2^{i+1}) and its mirror.

        The last of them on either side have most of the weight, and are no values (`is_nothing`).
        """
        sizes = self._blocks()[:-1]
        end = 2 ** (LARGEST - 1)
        whole = 2 * sum(piece.mass for piece in sizes) + 1
        last = Stretch(end, 2 * end - 1, LEAD * whole / 2 / end)
        above = [*sizes, last]
        return [*_mirrored(above), Stretch(0, 0, Fraction(1)), *above]

    def sizes(self) -> list[Stretch]:
        """Return the prior of distances of which nothing is known."""
        return [Stretch(0, 0, Fraction(1)), *self._blocks()]

    def near(self, middle: Middle) -> list[Stretch]:
        """Return the prior of values around a middle.

        Half of it falls with the distance from the middle, in units of the spread. Of numbers the other half
        falls with the ratio to the middle: slowly towards zero, and across it there is little.
        """
        around = _around(middle.at, max(1, middle.spread))
        return overlaid(around, _ratios(middle.at)) if self.zero else around

    def _blocks(self) -> list[Stretch]:
        masses = [(2**i, Fraction(1, 2 ** max(0, i - self.familiar))) for i in range(LARGEST)]
        return [Stretch(size, 2 * size - 1, mass / size) for size, mass in masses]


@dataclass(frozen=True, slots=True)
class Middle:
    """Where the middle of some values is: released before."""

    at: int
    spread: int
    """how far from it half of the values lie: released before as well"""


NUMBERS = Axis(zero=True, familiar=36)
"""2^36 granules: 10^8 in cents is below it"""
DAYS = Axis(zero=False, familiar=16)
SECONDS = Axis(zero=False, familiar=33)


def is_nothing(value: int) -> bool:
    """Return whether a value of the prior `far` stands for none."""
    return abs(value) >= 1 << (LARGEST - 1)


def _mirrored(pieces: Iterable[Stretch]) -> list[Stretch]:
    return [Stretch(-piece.last, -piece.first, piece.density) for piece in reversed(list(pieces))]


def _around(at: int, unit: int) -> list[Stretch]:
    """Return [0, unit), [unit, 2 unit), [2 unit, 4 unit) … on both sides of a place, ever less likely."""
    ends, mass = [0, unit], [Fraction(1, unit)]
    while ends[-1] < 2 ** (LARGEST + 1):
        mass.append(mass[-1] / 2 ** (OUTWARD + 1 if len(mass) > 1 else OUTWARD))
        ends.append(2 * ends[-1])
    above = [Stretch(a, b - 1, density) for (a, b), density in zip(pairwise(ends), mass, strict=True)]
    first = above[0]
    below = [Stretch(1, first.last, first.density), *above[1:]] if first.last else above[1:]
    moved = [
        Stretch(piece.first + at, piece.last + at, piece.density) for piece in (*_mirrored(below), *above)
    ]
    return _within(moved)


def _ratios(at: int) -> list[Stretch]:
    """Return every [2^i, 2^{i+1}) and its mirror, ever less likely with the ratio to a place."""
    place = max(0, abs(at).bit_length() - 1)
    sizes = []
    for i in range(LARGEST):
        fall = OUTWARD * (i - place) if i > place else INWARD * (place - i)
        sizes.append(Stretch(2**i, 2 ** (i + 1) - 1, Fraction(1, 2**i * 2**fall)))
    less = [Stretch(piece.first, piece.last, piece.density * ACROSS) for piece in sizes]
    above, below = (sizes, less) if at > 0 else (less, sizes) if at < 0 else (sizes, sizes)
    return [*_mirrored(below), Stretch(0, 0, Fraction(1, 2 ** (INWARD * (place + 1)))), *above]


def _within(pieces: Iterable[Stretch]) -> list[Stretch]:
    """Return the parts of pieces between the ends of all values."""
    end = 2**LARGEST - 1
    cut = (Stretch(max(-end, p.first), min(end, p.last), p.density) for p in pieces)
    return [piece for piece in cut if piece.first <= piece.last]


def overlaid(one: list[Stretch], other: list[Stretch]) -> list[Stretch]:
    """Return the sum of two priors of the same values."""
    found = []
    i = j = 0
    first = one[0].first
    while i < len(one) and j < len(other):
        last = min(one[i].last, other[j].last)
        found.append(Stretch(first, last, one[i].density + other[j].density))
        first = last + 1
        i, j = i + (one[i].last == last), j + (other[j].last == last)
    return found
