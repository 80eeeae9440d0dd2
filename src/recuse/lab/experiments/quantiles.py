"""How τ is chosen for quantiles, and what rows weigh: settings side by side. NOT PRIVATE, made data.

    python -m recuse.lab.experiments.quantiles [--rank 1/2] [--runs 40]

`split` is the choice of sums that are drawn apart, with X(τ) of the rows on either side of a number, as it
was before; `scaled` has that choice and everybody's rows scaled to τ together; the others are scaled, spend a
part of ε on τ, and have a doubling cost so much. An error is that of the rank, a NULL counted as one half.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np

from recuse.krelation.owned import OwnedRows, owned_rows
from recuse.krelation.relation import Integers
from recuse.mechanism import presets
from recuse.mechanism.axis import NUMBERS
from recuse.mechanism.middle import Some, Weighing
from recuse.mechanism.ordered import AtRank
from recuse.mechanism.owned import OwnedGroup
from recuse.mechanism.selective import Selective
from recuse.noise import SecureNoise
from recuse.privacy import Epsilon
from recuse.solver.fast import fast_programs

EPSILONS = (Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(2))
NOT_ANSWERED = 0.5
Weigher = Callable[[OwnedGroup, Fraction], Weighing]


def made() -> Iterator[tuple[str, OwnedRows]]:
    """Yield kinds of data: how many rows people have; whoever has many has dearer ones."""
    draws = np.random.default_rng(5)
    kinds = (
        ("1,000 people, three rows each", np.full(1_000, 3)),
        ("300 people, one row each", np.ones(300, np.int64)),
        ("1,000 people, about five rows", draws.poisson(5, 1_000)),
        ("1,000 people, Pareto", np.minimum(draws.pareto(1.2, 1_000) * 3 + 1, 2_000).astype(np.int64)),
        ("200 people, about a hundred rows", draws.poisson(100, 200)),
    )
    for words, each in kinds:
        owners = np.repeat(np.arange(len(each)), each)
        level = np.exp(draws.normal(3.9, 0.6, len(each))) * (1 + 0.2 * np.log(np.maximum(each, 1)))
        values = np.round(100 * level[owners] * np.exp(draws.normal(0, 0.7, len(owners)))).astype(np.int64)
        nothing = np.zeros(len(owners), np.int64)
        yield words, owned_rows(values, nothing + 1, owners, nothing, len(each), 1)[0]


def scaled(group: OwnedGroup, tau: Fraction) -> Weighing:
    """Return what rows weigh now."""
    return group.counting(tau)


def halves(group: OwnedGroup, tau: Fraction) -> Weighing:
    """Return X(τ) of some rows: what everybody has of them, τ at most."""
    owners: Integers = group.rows.owners

    def weigh(some: Some) -> Fraction:
        return Fraction(int(np.minimum(np.bincount(owners[some]), int(tau)).sum()))

    return Weighing(group.values, weigh, tau)


def choice(epsilon: Fraction, part: Fraction, doubling: Fraction) -> Selective:
    """Return a choice that has a part of ε, and in which every doubling costs the same."""
    found = presets.picking(Epsilon(epsilon))
    levels = replace(found.levels, gentle=doubling, steep=doubling)
    return replace(found, choice_epsilon=part * epsilon, answer_epsilon=(1 - part) * epsilon, levels=levels)


def settings(epsilon: Fraction) -> Iterator[tuple[str, Selective, Weigher]]:
    """Yield what is compared."""
    before = presets.by_withdrawals(Epsilon(epsilon))
    yield "split", before, halves
    yield "scaled", before, scaled
    for part in (Fraction(1, 5), Fraction(1, 10)):
        for doubling in (Fraction(5, 2), Fraction(5)):
            yield f"{part}, {float(doubling):g}", choice(epsilon, part, doubling), scaled


def rows(rank: Fraction, runs: int) -> Iterator[str]:
    """Yield the table: data and ε a line."""
    noise, picker = SecureNoise(), AtRank(rank, NUMBERS)
    names = [name for name, _, _ in settings(Fraction(1))]
    yield f"| data | ε | {' | '.join(names)} |"
    yield "|---|---:|" + "---:|" * len(names)
    for words, group_rows in made():
        group, ordered = OwnedGroup(group_rows, fast_programs), np.sort(group_rows.values)
        for epsilon in EPSILONS:
            cells = []
            for _, choosing, weigher in settings(epsilon):
                errors, nulls = [], 0
                for _ in range(runs):
                    tau = choosing.choose(group.signs, noise)
                    value = picker.pick(weigher(group, tau), choosing.answer_epsilon, noise).value
                    nulls += value is None
                    place = None if value is None else np.searchsorted(ordered, value) / len(ordered)
                    errors.append(NOT_ANSWERED if place is None else abs(float(place) - float(rank)))
                cells.append(f"{np.median(errors):.1%}" + (f", NULL {nulls / runs:.0%}" if nulls else ""))
            yield f"| {words} | {float(epsilon):g} | {' | '.join(cells)} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--rank", type=Fraction, default=Fraction(1, 2))
    parser.add_argument("--runs", type=int, default=40)
    options = parser.parse_args()
    for line in rows(options.rank, options.runs):
        print(line, flush=True)


if __name__ == "__main__":
    main()
