"""With which confidence the reach of a winner's noise is asked for, so that its interval holds with 95 %.

Noise that helped its level to win is larger than a draw. Either what may fail is shared out among all levels;
or, where only a part of the noise took part, it is dominated by noise of a smaller ε, whichever level won.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from recuse.mechanism.parameters import SLACK
from recuse.mechanism.release import CONFIDENCE

FIRST_LEVELS = 3
"""c: level k's share in what may fail is in proportion to 1/((|k-s|+c)(|k-s|+c+1)), s the level at which the
prior begins (proofs.md, lemma I3)"""
USUAL = 3
"""how many levels above that one answers are, about: there the two reaches are compared"""


def at_any_level(levels: range, level: int, start: int = 0) -> float:
    """Return with which probability the reach of a level's noise holds: near a public level hardly less.

    Guarantee: what may fail adds up, over all levels, to what may fail in a release (proofs.md, lemma I3).
    """
    return 1 - (1 - CONFIDENCE) * float(_shares(levels, start)[level - levels.start])


def of_winner(choice: Fraction) -> float:
    """Return with which probability the reach of the noise holds that dominates a winner's.

    Penalties are certified to a slack, and weigh `choice` as a whole: so e^{2η·choice} times as much may fail
    as where they are exact.

    Guarantee: then it holds with that of a release (proofs.md, lemma I4).
    """
    return 1 - (1 - CONFIDENCE) * math.exp(-2 * float(SLACK * choice))


@lru_cache(maxsize=64)
def _shares(levels: range, start: int) -> Sequence[Fraction]:
    """Return the levels' shares in what may fail: most of it where most answers are, near level `start`."""
    far = [abs(k - start) + FIRST_LEVELS for k in levels]
    sizes = [Fraction(1, away * (away + 1)) for away in far]
    whole = sum(sizes)
    return [size / whole for size in sizes]
