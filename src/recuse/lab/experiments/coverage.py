"""How often do the intervals of groups hold what they are about? The race itself, on made loads.

    python -m recuse.lab.experiments.coverage [--form hull] [--groups 4 12 36] [--epsilon 0.1 1] [--runs 400]

An interval is about the truncated answer of the τ that was chosen. One group of every run is looked at, so
that runs are independent: a cell fails if the upper 99.9 % confidence bound of its share lies below 95 %. The
last column is the interval's length as a part of the one that may fail at any level. NOT PRIVATE, made data.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import scipy

from recuse.krelation.build import from_owners
from recuse.krelation.contributions import Contributions
from recuse.krelation.relation import Integers, Shape
from recuse.lab.experiments.simulated import SimulatedNoise
from recuse.mechanism import presets
from recuse.mechanism.clipped import Clipped, clipped
from recuse.mechanism.cumulative import Cumulative
from recuse.mechanism.grid import Releasable
from recuse.mechanism.hull import HullGroups
from recuse.mechanism.prepared import prepare
from recuse.mechanism.racing import Racing
from recuse.mechanism.reach import at_any_level
from recuse.mechanism.release import CONFIDENCE
from recuse.privacy import Epsilon
from recuse.solver.fast import fast_programs

PEOPLE, SURE = 300, 0.999


def light(random: np.random.Generator) -> Integers:
    """Return loads that are alike."""
    found: Integers = random.poisson(3, PEOPLE) + 1
    return found


def heavy(random: np.random.Generator) -> Integers:
    """Return loads of which few are far above the rest."""
    found: Integers = np.minimum(random.zipf(1.6, PEOPLE), 10**6)
    return found


def tied(_: np.random.Generator) -> Integers:
    """Return loads with which levels tie at ε = 1: seven people above each, ten levels high."""
    above = np.minimum(np.arange(PEOPLE) // 7, 9)
    found: Integers = np.ceil(8.0 ** ((9 - above) / 2)).astype(np.int64)
    return found


LOADS = {"alike": light, "heavy tail": heavy, "levels tie": tied}


def one_owner(loads: Integers, groups: int, random: np.random.Generator) -> Clipped:
    """Return rows with one owner each; everybody's are spread over three groups."""
    owners = np.tile(np.arange(PEOPLE), 3)
    parts = np.concatenate([loads - 2 * (loads // 3), loads // 3, loads // 3])
    kept = parts > 0
    made = Contributions.of(
        owners[kept],
        random.integers(0, groups, int(kept.sum())),
        parts[kept],
        participants=PEOPLE,
        constants=np.zeros(groups, object),
        signed=False,
    )
    return clipped(made, fast_programs)


def totals(loads: Integers, groups: int, random: np.random.Generator) -> Cumulative:
    """Return their running totals."""
    return Cumulative(one_owner(loads, groups, random))


def together(loads: Integers, groups: int, random: np.random.Generator) -> HullGroups:
    """Return groups of which anybody may touch all, without signs."""
    return _together(loads, groups, random, signed=False)


def with_signs(loads: Integers, groups: int, random: np.random.Generator) -> HullGroups:
    """Return the same with signs."""
    return _together(loads, groups, random, signed=True)


def _together(loads: Integers, groups: int, random: np.random.Generator, *, signed: bool) -> HullGroups:
    where = random.integers(0, groups, PEOPLE)
    made = [
        from_owners(loads[mine], np.flatnonzero(mine)[:, None], participants=PEOPLE, signed=signed)
        for mine in (where == group for group in range(groups))
    ]
    return HullGroups([prepare(relation, fast_programs) for relation in made])


FORMS: dict[str, Callable[[Integers, int, np.random.Generator], Releasable]] = {
    "one owner": one_owner,
    "running totals": totals,
    "hull": together,
    "cube": with_signs,
}


@dataclass(frozen=True, slots=True)
class CoveredCell:
    """How often one group's interval held, and how long it was beside the one for any level."""

    held: int
    runs: int
    length: float

    @property
    def at_most(self) -> float:
        """The upper confidence bound of what it holds with."""
        if self.held == self.runs:
            return 1.0
        return float(scipy.stats.beta.ppf(SURE, self.held + 1, self.runs - self.held))


def covered(subject: Releasable, race: Racing, runs: int, seed: int) -> CoveredCell:
    """Return how often the interval of a group, another in every run, holds its truncated answer."""
    noise, ladder, cells = SimulatedNoise(seed), race.levels.ladder, len(subject.constants)
    share, held, lengths = race.dial_of(subject).answer * race.epsilon, 0, []
    known: dict[Fraction, tuple[Sequence[int], Sequence[int]]] = {}
    for run in range(runs):
        found, place = race.release_cells(subject, noise), run % cells
        tau, (low, high) = found[place].cut, found[place].interval
        if tau is None or low is None or high is None:
            raise TypeError("a race has a level and an interval")
        if tau not in known:
            sure = at_any_level(ladder.levels, ladder.levels[ladder.taus.index(tau)])
            known[tau] = subject.at(tau), subject.noise(share, tau, race.cell).reaches(sure)
        at, reaches = known[tau]
        step = subject.grid(tau).step
        held += low <= at[place] * step <= high
        lengths.append(float((high - low) / step) / (2 * reaches[place]))
    return CoveredCell(held, runs, float(np.median(lengths)))


def table(forms: Sequence[str], epsilons: Sequence[str], sizes: Sequence[int], runs: int) -> Iterator[str]:
    """Yield the lines of the table."""
    yield "| form | groups | " + " | ".join(f"{name}, ε = {e}" for name in LOADS for e in epsilons) + " |"
    yield "|---|---:|" + "---:|" * (len(LOADS) * len(epsilons))
    for form in forms:
        for groups in sizes:
            cells = []
            for place, loads in enumerate(LOADS.values()):
                random = np.random.default_rng([groups, place])
                subject = FORMS[form](loads(random), groups, random)
                for epsilon in epsilons:
                    race = presets.race_of_tuples(Epsilon.of(epsilon), Shape.CONJUNCTIONS)
                    found = covered(subject, race, runs, seed=groups)
                    fails = " **fails**" if found.at_most < CONFIDENCE else ""
                    cells.append(f"{found.held / found.runs:.1%}, {found.length:.2f}{fails}")
            yield f"| {form} | {groups} | " + " | ".join(cells) + " |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="How often intervals of groups hold. NOT PRIVATE.")
    parser.add_argument("--form", nargs="+", choices=FORMS, default=list(FORMS))
    parser.add_argument("--epsilon", nargs="+", default=["0.1", "1"])
    parser.add_argument("--groups", nargs="+", type=int, default=[4, 12, 36])
    parser.add_argument("--runs", type=int, default=400)
    given = parser.parse_args(arguments)
    for line in table(given.form, given.epsilon, given.groups, given.runs):
        print(line, flush=True)


if __name__ == "__main__":
    main()
