"""Fan-outs that are made up: how many rows link to each of some targets, if the largest has so many."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from recuse.deferred import special
from recuse.krelation.relation import Floats

TAIL = 10
COMPANY = 2
"""how flat a heavy tail is at its top"""
LIGHT = 5
"""up to so many times the mean the largest is the end of a gamma distribution, beyond that of a heavy tail"""
Numbers = npt.NDArray[np.int64]


def assumed_largest(rows: int, targets: int) -> int:
    """Return the most rows of one target where nobody states it: ten times the mean, a heavy tail."""
    return min(rows, -(-TAIL * rows // targets))


def fan_out(rows: int, targets: int, largest: int) -> Numbers:
    """Return for every row the target that it links to, all rows, the first with `largest` of them.

    >>> np.bincount(fan_out(10, 5, 4)).tolist(), np.bincount(fan_out(20, 10, 12)).tolist()
    ([4, 3, 1, 1, 1], [12, 4, 2, 1, 0, 1])
    """
    shape = _gamma if largest * targets <= LIGHT * rows else _power
    ends = np.minimum(np.rint(np.cumsum(shape(rows, targets, largest))), rows).astype(np.int64)
    found = np.repeat(np.arange(targets), np.diff(ends, prepend=0))
    return np.concatenate([found, np.arange(rows - len(found)) % targets])


def _power(rows: int, targets: int, largest: int) -> Floats:
    """Return Zipf's law as Mandelbrot has it, for the largest is seldom alone: largest·((i+2)/3)^-s."""
    ranks = (np.arange(1, targets + 1) + COMPANY) / (1 + COMPANY)

    def sizes(steep: float) -> Floats:
        found: Floats = largest * ranks**-steep
        return found

    return sizes(_bisected(lambda steep: sizes(steep).sum() > rows))


def _gamma(rows: int, targets: int, largest: int) -> Floats:
    """Return the quantiles of a gamma distribution, as counts have that come by chance: never below 0."""
    outer = (np.arange(targets) + 0.5) / targets

    def sizes(doublings: float, places: Floats) -> Floats:
        shape = 2.0**doublings  # the broadest is exponential
        found: Floats = rows / targets / shape * special.gammainccinv(shape, places)
        return found

    found = sizes(_bisected(lambda doublings: sizes(doublings, outer[:1])[0] > largest), outer)
    others = found[1:].sum()  # all but the one that is stated share what is left
    return np.concatenate([[largest], found[1:] * max(0, rows - largest) / (others or 1)])


def _bisected(too_small: Callable[[float], bool]) -> float:
    """Return the least number up to 64 that is not too small: the larger, the less so."""
    low, high = 0.0, 64.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if too_small(middle) else (low, middle)
    return high
