"""Sums of values that are large, or small, against a granule: where should levels begin to cost?

    python -m recuse.lab.experiments.sums

People have a few rows each, of values of one size in units of which a granule is a hundredth. Errors are
computed, not sampled (`computed`). NOT PRIVATE.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from recuse.krelation.relation import Floats
from recuse.lab.experiments.accuracy_report import INFORMATIVE, geometric_mean
from recuse.lab.experiments.computed import Errors, Rows, oracle_median, race_errors
from recuse.lab.experiments.race_report import GOOD
from recuse.mechanism import presets
from recuse.mechanism.foreknown import Foreknown
from recuse.mechanism.racing import Racing
from recuse.privacy import Epsilon

GRANULES = 100
SIZES = ("0.05", "0.5", "5", "50", "500", "50000")
PEOPLE = (100, 300, 1_000, 5_000)
EPSILONS = ("0.05", "0.1", "0.25", "0.5", "1")
PART, ENOUGH, RISE = 1 / 3, 9.0, 1.0
"""of a score by support: its part of ε, how many natural logarithms enough people weigh, a doubling's cost"""


def loads_of(people: int, size: float) -> Floats:
    """Return what people have, in granules: about three rows each, of values around a size."""
    random = np.random.default_rng(people)
    owner = np.repeat(np.arange(people), 1 + random.geometric(0.35, people))
    values = GRANULES * size * np.exp(0.6 * random.standard_normal(len(owner)))
    return np.bincount(owner, np.maximum(1, np.round(values)), minlength=people).astype(np.float64)


def told(unit: Callable[[Fraction], Fraction]) -> Callable[[Floats, Epsilon, Fraction], Errors]:
    """Return the errors of a race that is told a unit, given the true size."""

    def errors(loads: Floats, epsilon: Epsilon, size: Fraction) -> Errors:
        race = Foreknown(unit=unit(size)).told(presets.race_by_withdrawals(epsilon))
        return race_errors(Rows.of_loads(loads, race), race)

    return errors


def supported(loads: Floats, epsilon: Epsilon, _: Fraction) -> Errors:
    """Return those of a race whose levels are cheap up to what enough people have, found with a part of ε."""
    race = presets.race_by_withdrawals(epsilon)
    rows, weight = Rows.of_loads(loads, race), float(epsilon.value / race.levels.moves())
    heights, steep = np.log(rows.taus), float(presets.sum_slopes(epsilon.value)[1])
    lacking = RISE * heights + np.maximum(0.0, ENOUGH - PART * weight * rows.penalties)
    support = [(steep * (own - heights[: k + 1]) + lacking[: k + 1]).min() for k, own in enumerate(heights)]
    penalties = (1 - PART) * rows.penalties + np.array(support) / weight
    return race_errors(replace(rows, penalties=penalties), _free(race))


def _free(race: Racing) -> Racing:
    """Return the race without a prior."""
    return replace(race, levels=replace(race.levels, gentle=Fraction(0), steep=Fraction(0)))


WAYS: dict[str, Callable[[Floats, Epsilon, Fraction], Errors]] = {
    "from a granule on, as before": told(lambda _: Fraction(1)),
    "from 1 on: nothing is stated": told(lambda _: Fraction(GRANULES)),
    "from the typical value on: it is stated": told(lambda size: GRANULES * size),
    "stated ten times too small": told(lambda size: GRANULES * size / 10),
    "stated ten times too large": told(lambda size: GRANULES * size * 10),
    "a level that enough people reach, for a third of ε": supported,
}


@dataclass(frozen=True, slots=True)
class SumCell:
    """The errors of one way, and the oracle's."""

    oracle: float
    errors: Errors


def cells(way: str, size: str) -> Iterator[SumCell]:
    """Yield the cells of one way and one size in which the oracle is informative."""
    for people in PEOPLE:
        loads = loads_of(people, float(size))
        for text in EPSILONS:
            oracle = oracle_median(loads, float(text))
            if oracle < INFORMATIVE:
                yield SumCell(oracle, WAYS[way](loads, Epsilon.of(text), Fraction(size)))


def report() -> Iterator[str]:
    """Yield a table: a line a way, for every size median and p90 over the oracle's, and collapses."""
    yield "| levels cost | " + " | ".join(f"values about {size}" for size in SIZES) + " |"
    yield "|---" * (1 + len(SIZES)) + "|"
    for way in WAYS:
        told = []
        for size in SIZES:
            found = list(cells(way, size))
            median = geometric_mean([cell.errors.median / cell.oracle for cell in found])
            p90 = geometric_mean([cell.errors.p90 / cell.oracle for cell in found])
            half = np.mean([cell.errors.half for cell in found if cell.oracle < GOOD])
            told.append(f"{median:.2f}, {p90:.1f}, {half:.1%}")
        yield f"| {way} | " + " | ".join(told) + " |"


if __name__ == "__main__":
    for line in report():
        print(line, flush=True)
