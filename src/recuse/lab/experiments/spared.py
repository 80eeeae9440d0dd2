"""How many people should many groups truncate for nothing? The race itself, on made rows with one owner each.

    python -m recuse.lab.experiments.spared [--groups 12 60 300 2000] [--spared 0 0.5 0.75 1] [--runs 8]

Errors are means of |answer - truth| over groups and runs, answers cut at zero, as a part of those of the best
fixed level in hindsight with Laplace noise of all of ε; geometric means over data, people and ε, the largest
in brackets. Cells in which the best level errs by nine tenths of a group or more are left out. NOT PRIVATE,
made data.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from recuse.krelation.contributions import Contributions
from recuse.krelation.relation import Floats
from recuse.lab.experiments.simulated import SimulatedNoise
from recuse.mechanism import presets
from recuse.mechanism.clipped import Clipped, clipped
from recuse.mechanism.racing import Racing
from recuse.privacy import Epsilon
from recuse.solver.fast import fast_programs

SEED, PEOPLE, EPSILONS = 5, (2_000, 20_000), ("0.1", "0.5", "1", "2")
SPARED = [Fraction(0), Fraction(1, 2), Fraction(3, 4), Fraction(1)]
LEVELS = 16
"""the levels that are tried in hindsight: up to 2^22"""


@dataclass(frozen=True, slots=True)
class MadeBuyers:
    """How many rows people have, how groups differ in size, and what a row weighs."""

    name: str
    spread: float
    """σ of the lognormal number of rows of a person"""
    even: bool
    """whether groups are as popular as each other, or the k-th 1/k as popular as the first"""
    priced: bool
    """whether rows have prices, or weigh 1 each"""

    def rows(self, people: int, groups: int, draws: np.random.Generator) -> Contributions:
        """Return nine rows a person on average."""
        each = draws.lognormal(np.log(9) - self.spread**2 / 2, self.spread, people)
        owners = np.repeat(np.arange(people), np.maximum(1, np.round(each)).astype(int))
        popular = np.ones(groups) if self.even else 1 / np.arange(1, groups + 1)
        where = draws.choice(groups, len(owners), p=popular / popular.sum())
        prices = np.round(draws.lognormal(3, 0.5, len(owners))).astype(np.int64) + 1
        weights = prices if self.priced else np.ones(len(owners), np.int64)
        zeros = np.zeros(groups, object)
        return Contributions.of(owners, where, weights, participants=people, constants=zeros, signed=False)


DATA = (
    MadeBuyers("light tail", 0.4, even=False, priced=False),
    MadeBuyers("heavy tail", 1.2, even=False, priced=False),
    MadeBuyers("groups alike", 0.8, even=True, priced=False),
    MadeBuyers("sums", 0.8, even=False, priced=True),
)


def hindsight(subject: Clipped, truth: Floats, epsilon: float, draws: np.random.Generator) -> float:
    """Return the least mean error of a fixed level."""
    found = []
    for tau in presets.STRIDES.taus[:LEVELS]:
        answers = np.array(subject.at(tau), float) * float(subject.grid(tau).step)
        noise = draws.laplace(scale=float(tau) / epsilon, size=(4, len(truth)))
        found.append(float(np.abs(np.maximum(0, answers + noise) - truth).mean()))
    return min(found)


def error(subject: Clipped, race: Racing, truth: Floats, runs: int) -> float:
    """Return the mean error of a race."""
    noise, found = SimulatedNoise(SEED), []
    for _ in range(runs):
        answers = np.array([float(one.value) for one in race.release_cells(subject, noise)])
        found.append(np.abs(np.maximum(0, answers) - truth).mean())
    return float(np.mean(found))


def ratios(groups: int, spared: Sequence[Fraction], runs: int) -> Iterator[list[float]]:
    """Yield for every cell the errors of all settings over that of the best level."""
    draws = np.random.default_rng(SEED)
    for made in DATA:
        for people in PEOPLE:
            rows = made.rows(people, groups, draws)
            subject, truth = clipped(rows, fast_programs), rows.true_answers().astype(float)
            for epsilon in map(Epsilon.of, EPSILONS):
                race = presets.race_by_withdrawals(epsilon)
                best = hindsight(subject, truth, float(epsilon.value), draws)
                if best < 0.9 * truth.mean():
                    races = [replace(race, spared=one) for one in spared]
                    yield [error(subject, one, truth, runs) / best for one in races]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--groups", type=int, nargs="+", default=[12, 60, 300, 2000])
    parser.add_argument("--spared", type=Fraction, nargs="+", default=SPARED)
    parser.add_argument("--runs", type=int, default=8)
    options = parser.parse_args()
    print("| groups | cells | " + " | ".join(f"{float(one):g}" for one in options.spared) + " |")
    print("|---:|---:|" + "---:|" * len(options.spared))
    for groups in options.groups:
        found = np.array(list(ratios(groups, options.spared, options.runs)))
        means = np.exp(np.log(found).mean(axis=0))
        cells = " | ".join(
            f"{mean:.2f} ({most:.1f})" for mean, most in zip(means, found.max(axis=0), strict=True)
        )
        print(f"| {groups:,} | {len(found)} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
