"""Two measures over the same groups: ε split, or one vector with one choice of τ. NOT PRIVATE, made data.

    python -m recuse.lab.experiments.measures [--epsilon 0.5 1 2] [--runs 20]

One vector holds the counts, each worth `unit` granules of the sums, and the sums. Its noise is the same in
all cells, so that `unit` decides which measure has how much of it. The mean value of a row is what it is held
against, and that is private. Errors are means of |error| over groups and runs, as a part of those with ε
split.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from recuse.krelation.contributions import Contributions
from recuse.krelation.relation import Floats, Integers, Shape
from recuse.mechanism.clipped import clipped
from recuse.mechanism.groups import OneOwner
from recuse.mechanism.mechanisms import DEFAULT, mechanism_for
from recuse.noise import SecureNoise
from recuse.privacy import Epsilon
from recuse.solver.fast import fast_programs

PEOPLE, GROUPS, ROWS = 5_000, 12, 9
VALUE = 2_000
"""the median of a row's value, in cents"""
EPSILONS = (Fraction(1, 2), Fraction(1), Fraction(2))
OFF = (Fraction(1, 10), Fraction(1, 3), Fraction(1), Fraction(3), Fraction(10))


def rows(seed: int) -> tuple[Integers, Integers, Integers]:
    """Return owners, groups and values: a heavy tail of rows a person, lognormal values."""
    random = np.random.default_rng(seed)
    count = np.minimum(random.zipf(1.8, PEOPLE) + ROWS - 4, 400)
    owners = np.repeat(np.arange(PEOPLE), count)
    values = np.round(VALUE * np.exp(random.normal(0, 0.8, len(owners)))).astype(np.int64) + 1
    return owners, random.integers(0, GROUPS, len(owners)), values


def released(owners: Integers, groups: Integers, weights: Integers, size: int, epsilon: Fraction) -> Floats:
    """Return how far the answers of a vector are off, cell by cell."""
    found = Contributions.of(
        owners, groups, weights, participants=PEOPLE, constants=np.zeros(size, object), signed=False
    )
    answers = OneOwner(clipped(found, fast_programs)).release(
        mechanism_for(DEFAULT, Epsilon(epsilon), Shape.CONJUNCTIONS), SecureNoise()
    )
    exact = found.true_answers()
    return np.array([abs(float(one.value) - int(true)) for one, true in zip(answers, exact, strict=True)])


def split(seed: int, epsilon: Fraction) -> tuple[float, float]:
    """Return the errors of counts and sums, each with half of ε."""
    owners, groups, values = rows(seed)
    counts = released(owners, groups, np.ones_like(values), GROUPS, epsilon / 2)
    sums = released(owners, groups, values, GROUPS, epsilon / 2)
    return float(counts.mean()), float(sums.mean())


def together(seed: int, epsilon: Fraction, off: Fraction) -> tuple[float, float]:
    """Return the errors of one vector, in which a row counts for `off` times what it should."""
    owners, groups, values = rows(seed)
    unit = max(1, round(off * int(values.mean())))
    both = np.concatenate([np.full_like(values, unit), values])
    found = released(np.tile(owners, 2), np.concatenate([groups, groups + GROUPS]), both, 2 * GROUPS, epsilon)
    return float(found[:GROUPS].mean()) / unit, float(found[GROUPS:].mean())


def table(epsilons: Sequence[Fraction], runs: int) -> list[str]:
    """Return the lines of the table."""
    heads = " | ".join(f"× {float(off):.2g}" for off in OFF)
    lines = [f"| ε | split: counts / sums | {heads} |", "|---:|---:|" + "---:|" * len(OFF)]
    for epsilon in epsilons:
        alone = np.mean([split(seed, epsilon) for seed in range(runs)], axis=0)
        shared = [np.mean([together(seed, epsilon, off) for seed in range(runs)], axis=0) for off in OFF]
        cells = " | ".join(f"{one[0] / alone[0]:.2f} / {one[1] / alone[1]:.2f}" for one in shared)
        lines.append(f"| {float(epsilon):g} | {alone[0]:,.0f} / {alone[1]:,.0f} | {cells} |")
    return lines


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument(
        "--epsilon", type=Fraction, nargs="+", default=[Fraction(1, 2), Fraction(1), Fraction(2)]
    )
    parser.add_argument("--runs", type=int, default=20)
    options = parser.parse_args()
    print("\n".join(table(options.epsilon, options.runs)))


if __name__ == "__main__":
    main()
