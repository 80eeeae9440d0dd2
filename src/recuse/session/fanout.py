"""Fan-outs that are made up: how many rows link to each of some targets, if the largest has so many."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from recuse.deferred import special
from recuse.krelation.relation import Floats

TAIL = 10
COMPANY = 2
"""how flat a heavy tail is at its top"""
LIGHT = 5
"""up to so many times the mean the largest is the end of a bell, beyond that of a heavy tail"""
Numbers = npt.NDArray[np.int64]


def assumed_largest(rows: int, targets: int) -> int:
    """Return the most rows of one target where nobody states it: ten times the mean, a heavy tail."""
    return min(rows, -(-TAIL * rows // targets))


def fan_out(rows: int, targets: int, largest: int) -> Numbers:
    """Return for every row the target that it links to, all rows, the first with `largest` of them.

    >>> np.bincount(fan_out(10, 5, 4)).tolist(), np.bincount(fan_out(20, 10, 12)).tolist()
    ([4, 3, 2, 1], [12, 4, 2, 1, 0, 1])
    """
    shape = _bell if largest * targets <= LIGHT * rows else _power
    low, high = 0.0, 64.0
    for _ in range(60):  # the steeper, the fewer
        middle = (low + high) / 2
        low, high = (middle, high) if shape(targets, largest, middle).sum() > rows else (low, middle)
    ends = np.minimum(np.rint(np.cumsum(shape(targets, largest, high))), rows).astype(np.int64)
    found = np.repeat(np.arange(targets), np.diff(ends, prepend=0))
    return np.concatenate([found, np.arange(rows - len(found)) % targets])


def _power(targets: int, largest: int, steep: float) -> Floats:
    """Return Zipf's law as Mandelbrot has it, for the largest is seldom alone: largest·((i+2)/3)^-s."""
    ranks = (np.arange(1, targets + 1) + COMPANY) / (1 + COMPANY)
    found: Floats = largest * ranks**-steep
    return found


def _bell(targets: int, largest: int, steep: float) -> Floats:
    """Return the quantiles of a normal distribution from the largest down, none below 0."""
    quantiles = special.ndtri(1 - (np.arange(targets) + 0.5) / targets)
    found: Floats = np.maximum(largest - steep * largest / 8 * (quantiles[0] - quantiles), 0)
    return found
