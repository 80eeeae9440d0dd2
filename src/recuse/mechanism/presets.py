"""Presets: the parameters of every mechanism as functions of ε only, never tuned on the data.

θ = 1 in the units of the weights: one for a count, one granule (the policy's granularity) for a sum.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from recuse.krelation.relation import Growth, Shape
from recuse.mechanism.levels import Levels, TauTable
from recuse.mechanism.parameters import LAST_DOUBLING, Index, Score
from recuse.mechanism.racing import Dial, Racing
from recuse.mechanism.recursive import Recursive
from recuse.mechanism.selective import Selective
from recuse.privacy import Epsilon

THETA = Fraction(1)
DOUBLINGS = TauTable(THETA, (Fraction(1),), 2, 0, LAST_DOUBLING)


def paper(epsilon: Epsilon, mu: Fraction = Fraction(1, 2)) -> Recursive:
    """Return the paper's settings, with repaired loads; its μ is 1/2 for edge privacy, 1 for node privacy."""
    half = epsilon.value / 2
    return Recursive("paper", half, half, THETA, epsilon.value / 5, mu, 2, Index.INTEGER)


def tuned(epsilon: Epsilon) -> Recursive:
    """Return our settings of the same mechanism: real index, no factor 2, μ = 1."""
    half = epsilon.value / 2
    return Recursive("tuned", half, half, THETA, epsilon.value / 5, Fraction(1), 1, Index.REAL)


# ------------------------------------------------------------------ the race

STRIDE = Fraction(3, 2)
"""how many doublings a level is, nearly: 1, 3, 8, 24, 64, … are whole, as loads are"""
STRIDES = TauTable(THETA, (Fraction(1), Fraction(3)), 8, 0, 85)
"""up to 2^127: loads of fewer than 2^63 rows of 64 bits are below"""
KNEE = 4 / STRIDE
"""the level up to which the prior is gentle: four doublings"""
SPARED = Fraction(3, 4)
"""With G cells a τ that is larger by 1 costs G/ε more noise, and saves what N_s(τ) people lose: so about G/ε
people may be truncated for nothing, and fewer since noise is cut at zero (docs/results/notes/race.md)"""


def selective(epsilon: Epsilon, shape: Shape | Growth) -> Racing:
    """Return the default: by withdrawals; with OR, or for an aggregate, by the deficit."""
    return race_of_aggregate(epsilon, shape) if isinstance(shape, Growth) else race_of_tuples(epsilon, shape)


def race_of_tuples(epsilon: Epsilon, shape: Shape) -> Racing:
    """Return the race for tuples whose annotations have a form."""
    return race_by_withdrawals(epsilon) if shape is Shape.CONJUNCTIONS else race_by_deficit(epsilon)


def race_by_withdrawals(epsilon: Epsilon) -> Racing:
    """Return the race for annotations without OR (decisions.md says how its settings were found)."""
    whole = epsilon.value
    gentle, steep = slopes(whole)
    levels = Levels(STRIDES, Score.WITHDRAWALS, KNEE, gentle * STRIDE, steep * STRIDE)
    offset = max(Fraction(0), Fraction(2, 5) - whole / 5)
    return Racing(
        "selective", whole, levels, offset, DIALS, by_withdrawals(epsilon), picking(epsilon), spared=SPARED
    )


def slopes(epsilon: Fraction) -> tuple[Fraction, Fraction]:
    """Return what a doubling costs up to 16 and above, in units of ln2.

    At small ε everybody's withdrawal costs little, and so must a level. Above 16 it is dear: most answers
    that are lost are lost to a level too high, whose noise won it the race. At large ε a few who hold much
    are told from nobody (docs/results/notes/race.md).
    """
    gentle = min(Fraction(7, 2), max(Fraction(1), 8 * epsilon - 1))
    return gentle, max(Fraction(7, 2), min(Fraction(5), Fraction(11, 2) - epsilon))


def single_slopes(epsilon: Fraction) -> tuple[Fraction, Fraction]:
    """Return the same where participants are single rows: they are many for what each of them has."""
    return min(Fraction(5), 4 + 2 * epsilon), Fraction(9, 2)


def sum_slopes(epsilon: Fraction) -> tuple[Fraction, Fraction]:
    """Return the same where levels below the size of one row are cheap; up to 16 it is the least.

    There is no way down that is as dear as the way up: so at small ε it is not made cheap, lest a size that
    was stated too large is overshot (docs/results/notes/sums.md).
    """
    gentle = min(Fraction(7, 2), Fraction(9, 5) + 2 * epsilon)
    return gentle, max(Fraction(4), min(Fraction(9, 2), 5 - epsilon / 2))


def race_by_deficit(epsilon: Epsilon) -> Racing:
    """Return the race for annotations with OR: levels below θ are considered too.

    A level is two doublings: the deficit then moves within 5/4, not 3/2, and fewer levels compete.
    """
    split = by_deficit(epsilon)
    ladder = TauTable(THETA, (Fraction(1),), 4, split.levels.ladder.first // 2, LAST_DOUBLING // 2)
    levels = Levels(ladder, Score.DEFICIT, Fraction(0), Fraction(1, 2), Fraction(7))
    return Racing("selective", epsilon.value, levels, Fraction(0), DIALS, split, split)


def race_of_aggregate(epsilon: Epsilon, growth: Growth) -> Racing:
    """Return the race for an aggregate: a level is a step in the size of groups, whatever k.

    No level below θ is considered: one choice has several owners, but no other choice stands in for it.
    """
    levels = Levels(_steps_of(growth), Score.DEFICIT, Fraction(0), Fraction(1, 2), Fraction(4))
    split = of_aggregate(epsilon, growth)
    return Racing("selective", epsilon.value, levels, Fraction(0), DIALS, split, split)


def _steps_of(growth: Growth) -> TauTable:
    return TauTable(THETA, (Fraction(1),), 2**growth.doublings, 0, LAST_DOUBLING // growth.doublings)


def _dials() -> tuple[tuple[int, Dial], ...]:
    """Return (ε_a, ρ) for numbers of cells: the spread of a boost is to be that of one cell, √(G+1) times ρ.

    Where that leaves a penalty less than a least part of ε, the noise has less than all of ε.
    """
    found = [(1, Dial(Fraction(1), Fraction(1)))]
    for power in range(2, 30):  # half a doubling each
        cells = math.ceil(2 ** (power / 2))
        boost = Fraction(round(1000 / math.sqrt(cells + 1)), 1000)
        least = SOME_CHOICE if cells in SOME_CELLS else LEAST_CHOICE if cells < MANY_CELLS else Fraction(0)
        found.append((cells, Dial(min(Fraction(1), (1 - least) / (1 - boost)), boost)))
    return tuple(found)


SOME_CELLS, SOME_CHOICE, LEAST_CHOICE, MANY_CELLS = range(16, 128), Fraction(3, 10), Fraction(1, 20), 1000
"""With many cells noise is paid in each, what truncation takes once: a choice that hears less of that stops
earlier, which is better. 2,000 groups of rows with one owner, 1,500 and 20,000 people, ε = 0.1 and 1, light
and heavy tails, geometric means of errors: counts 164 with 3/10, 85 with 1/10, 52 with 1/20, 42 with 3/100;
sums 4.7, 1.7, 1.6 and, with 1/50, 0.9 times the answers; 300 groups: 181, 104, 85. The 175 groups of TPC-H's
Q9 gained at three of four ε; but the 50 of Q7, of 40 suppliers each, fell to 0 at ε = 0.5 and 1, so some
cells keep 3/10. With fewer than 16 the boost alone is about as much. From a thousand on it is all that is
left: 2,000 groups of other data (1,500 and 20,000 people; alike, Zipf and Pareto; ε = 0.1 to 2) have 0.70 of
the error of 1/20 in counts and 0.65 in sums, in no case more than 1.01; 600 groups gain nothing. This was
before people were spared; since then rows with one owner have all of ε from two cells on (`Dial.whole`)."""
DIALS = _dials()


# ------------------------------------------------------------------ the split: "split" in the registry


def split(epsilon: Epsilon, shape: Shape | Growth) -> Selective:
    """Return the mechanism that splits ε, as the default did before the race."""
    if isinstance(shape, Growth):
        return of_aggregate(epsilon, shape)
    return by_withdrawals(epsilon) if shape is Shape.CONJUNCTIONS else by_deficit(epsilon)


def by_withdrawals(epsilon: Epsilon) -> Selective:
    """Return the settings for annotations without OR (decisions.md says how they were found)."""
    whole = epsilon.value
    choice = whole * Fraction(17, 20) / (2 + whole)
    levels = Levels(DOUBLINGS, Score.WITHDRAWALS, Fraction(4), Fraction(5, 4), Fraction(2))
    offset = max(Fraction(0), Fraction(2, 5) - whole / 5)
    return Selective("split", choice, whole - choice, THETA, levels, Fraction(1), offset)


def picking(epsilon: Epsilon) -> Selective:
    """Return the settings for a value that is picked, without OR: little ε for τ, and a large one is dear.

    A τ twice as large halves all that rows say of a rank; one too small counts people in place of rows, which
    moves a quantile little (docs/results/notes/quantiles.md).
    """
    whole = epsilon.value
    levels = Levels(DOUBLINGS, Score.WITHDRAWALS, Fraction(0), Fraction(5), Fraction(5))
    return Selective("split", whole / 10, whole * Fraction(9, 10), THETA, levels, Fraction(1), Fraction(0))


def by_deficit(epsilon: Epsilon) -> Selective:
    """Return the settings for annotations with OR: doublings below θ are considered too."""
    whole = epsilon.value
    choice = whole * Fraction(35, 100)
    ladder = replace(DOUBLINGS, first=math.floor(math.log2(float(whole))) - 3)
    levels = Levels(ladder, Score.DEFICIT, Fraction(0), Fraction(1, 4), Fraction(2))
    return Selective("split", choice, whole - choice, THETA, levels, Fraction(5, 4), Fraction(0))


def of_aggregate(epsilon: Epsilon, growth: Growth) -> Selective:
    """Return the settings for an aggregate, with its steps."""
    found = by_deficit(epsilon)
    return replace(found, levels=replace(found.levels, ladder=_steps_of(growth)))
