"""Groups: the race beside the mechanism that splits ε, in every form of release, on made rows.

    python -m recuse.lab.experiments.race_groups [--runs 40] [--form E0]

E0    one owner a row, vectors clipped in l1; people with light and heavy tails, counts and sums
E0'   buyers who are in all groups and sellers who are in one: priced withdrawals
W     two people a row, both in all groups: the hull

An error is the mean of |answer - truth| over groups, answers cut at zero. The oracle takes the best level in
hindsight for the same form of release, with all of ε for its noise. NOT PRIVATE, made data.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from recuse.krelation.build import from_owners
from recuse.krelation.relation import Floats, Integers, KRelation
from recuse.lab.experiments.accuracy_report import geometric_mean
from recuse.lab.experiments.disjunctions import ranked
from recuse.lab.experiments.simulated import SimulatedNoise
from recuse.lab.experiments.spared import DATA, LEVELS
from recuse.mechanism import presets
from recuse.mechanism.cell import Staircase
from recuse.mechanism.clipped import clipped
from recuse.mechanism.grid import Releasable
from recuse.mechanism.hull import HullGroups
from recuse.mechanism.prepared import prepare
from recuse.mechanism.priced import PriceList, priced
from recuse.mechanism.truncating import Mechanism
from recuse.privacy import Epsilon
from recuse.solver.fast import fast_programs
from recuse.solver.memo import memoising

SEED, EPSILONS = 7, ("0.1", "0.5", "1", "2")
WORTHWHILE, HALF = 0.5, 0.5
"""cells in which the oracle errs by more of a mean group are left out; what counts as a collapse"""

MadeGroups = tuple[Releasable, Floats]
"""What is released, and the truth of every group."""


def one_owner(kind: int, people: int, groups: int) -> MadeGroups:
    """Return rows with one owner."""
    rows = DATA[kind].rows(people, groups, np.random.default_rng([SEED, kind, people, groups]))
    return clipped(rows, fast_programs), rows.true_answers().astype(float)


def by_kinds(exponent: float, people: int, groups: int) -> MadeGroups:
    """Return purchases by buyers, who are in all groups, from sellers of one group each."""
    random = np.random.default_rng([SEED, people, groups])
    sellers = 12 * groups
    who = ranked(random, people, 5 * people, exponent)
    where = ranked(random, sellers, len(who), exponent / 2)
    names = [("buyer", place) for place in range(people)] + [("seller", place) for place in range(sellers)]
    owners = np.stack((who, people + where), axis=1)
    found = _by_group(owners, where % groups, groups, names)
    prices = PriceList(groups, {"buyer": groups, "seller": 1})
    subject = priced(found, prices, memoising(fast_programs))
    return subject, np.array([float(one.true_answer()) for one in found])


def by_pairs(exponent: float, people: int, groups: int) -> MadeGroups:
    """Return meetings of two people, each of them in any group."""
    random = np.random.default_rng([SEED, people, groups, 2])
    owners = np.stack([ranked(random, people, 5 * people, exponent) for _ in range(2)], axis=1)
    names = [("person", place) for place in range(people)]
    found = _by_group(owners, random.integers(0, groups, len(owners)), groups, names)
    subject = HullGroups([prepare(one, memoising(fast_programs)) for one in found])
    return subject, np.array([float(one.true_answer()) for one in found])


def _by_group(owners: Integers, where: Integers, groups: int, names: Sequence[object]) -> list[KRelation]:
    ones = np.ones(len(owners), np.int64)
    return [
        from_owners(ones[chosen], owners[chosen], names=names, signed=False)
        for chosen in (where == group for group in range(groups))
    ]


FORMS: dict[str, tuple[Callable[[], MadeGroups], ...]] = {
    "E0": tuple(
        partial(one_owner, kind, people, groups)
        for groups in (5, 12, 60)
        for kind in range(len(DATA))
        for people in (2_000, 20_000)
    ),
    "E0'": tuple(
        partial(by_kinds, exponent, people, groups)
        for groups in (5, 12)
        for exponent in (0.3, 0.8)
        for people in (500, 2_000)
    ),
    "W": tuple(
        partial(by_pairs, exponent, people, groups)
        for groups in (3, 6)
        for exponent in (0.3, 0.8)
        for people in (500, 2_000)
    ),
}


@dataclass(frozen=True, slots=True)
class GroupCell:
    """A cell: the oracle's error, and of each mechanism the median, the p90 and how many are off by half."""

    oracle: float
    race: tuple[float, float, float]
    split: tuple[float, float, float]


def hindsight(subject: Releasable, truth: Floats, epsilon: Fraction) -> float:
    """Return the least expected mean error of a level of the race's."""
    found: list[float] = []
    for tau in presets.STRIDES.taus[:LEVELS]:
        step = float(subject.grid(tau).step)
        noise = float(subject.noise(epsilon, tau, Staircase).spread()) * step
        if found and noise >= min(found):
            break
        found.append(float(np.abs(np.array(subject.at(tau), float) * step - truth).mean()) + noise)
    return min(found)


def errors(subject: Releasable, truth: Floats, mechanism: Mechanism, runs: int) -> tuple[float, float, float]:
    """Return the median and p90 of the mean error of a group, and how often it is half of a mean group."""
    noise, found = SimulatedNoise(SEED), []
    for _ in range(runs):
        answers = np.array([float(one.value) for one in mechanism.release_cells(subject, noise)])
        found.append(float(np.abs(np.maximum(0, answers) - truth).mean()))
    median, p90 = (float(np.quantile(found, part)) for part in (0.5, 0.9))
    return median, p90, float(np.mean(np.array(found) > HALF * truth.mean()))


def cells(form: str, runs: int) -> Iterator[GroupCell]:
    """Yield the cells of a form in which there is something to be had."""
    for make in FORMS[form]:
        subject, truth = make()
        for epsilon in map(Epsilon.of, EPSILONS):
            best = hindsight(subject, truth, epsilon.value)
            if best < WORTHWHILE * truth.mean():
                race, split = presets.race_by_withdrawals(epsilon), presets.by_withdrawals(epsilon)
                found = [errors(subject, truth, mechanism, runs) for mechanism in (race, split)]
                yield GroupCell(best, *found)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--form", choices=FORMS, action="append")
    given = parser.parse_args()
    print(
        "| form | cells | race / oracle | split / oracle | race / split, largest | p90 / split's "
        "| off by half | split: off by half |"
    )
    print("|---" * 8 + "|")
    for form in given.form or FORMS:
        found = list(cells(form, given.runs))
        figures = (
            f"{geometric_mean([one.race[0] / one.oracle for one in found]):.2f}",
            f"{geometric_mean([one.split[0] / one.oracle for one in found]):.2f}",
            f"{max(one.race[0] / one.split[0] for one in found):.2f}",
            f"{geometric_mean([one.race[1] / one.split[1] for one in found]):.2f}",
            f"{np.mean([one.race[2] for one in found]):.2%}",
            f"{np.mean([one.split[2] for one in found]):.2%}",
        )
        print(f"| {form} | {len(found)} | " + " | ".join(figures) + " |", flush=True)


if __name__ == "__main__":
    main()
