"""How τ is chosen for quantiles, and what rows weigh: settings side by side. NOT PRIVATE, made data.

    python -m recuse.lab.experiments.quantiles [--rank 1/2] [--runs 40] [--opendp]

`split` is the choice of sums that are drawn apart, with X(τ) of the rows on either side of a number, as it
was before; `scaled` has that choice and everybody's rows scaled to τ together; the others are scaled, spend a
part of ε on τ, and have a doubling cost so much. An error is that of the rank, a NULL counted as one half.

With --opendp: one row a person, beside OpenDP's quantile, which is told between which ends values lie and how
many rows one has, and chooses among 2,001 numbers between them; then between 0 and ten times the largest.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import opendp.prelude as dp

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
CANDIDATES = 2_001
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
                found = [
                    picker.pick(
                        weigher(group, choosing.choose(group.signs, noise)), choosing.answer_epsilon, noise
                    ).value
                    for _ in range(runs)
                ]
                cells.append(_rank_error(ordered, rank, found))
            yield f"| {words} | {float(epsilon):g} | {' | '.join(cells)} |"


def opendp_quantile(values: Integers, rank: Fraction, ends: tuple[float, float], epsilon: Fraction) -> float:
    """Return OpenDP's quantile of values of which everybody has one, among numbers between two ends."""
    candidates = [float(number) for number in np.linspace(*ends, CANDIDATES)]

    def quantile(scale: float) -> dp.Measurement:
        return dp.m.make_private_quantile(
            dp.vector_domain(dp.atom_domain(T=float, nan=False)),
            dp.symmetric_distance(),
            dp.max_divergence(),
            candidates,
            float(rank),
            scale,
        )

    found = dp.binary_search_chain(quantile, d_in=1, d_out=float(epsilon))
    return float(found(values.astype(float)))


def beside_opendp(rank: Fraction, runs: int) -> Iterator[str]:
    """Yield the table beside OpenDP: people and ε a line, errors of the rank."""
    dp.enable_features("contrib")
    noise, picker, draws = SecureNoise(), AtRank(rank, NUMBERS), np.random.default_rng(18)
    yield "| people | ε | ours | OpenDP, told the ends | OpenDP, ends ten times too far |"
    yield "|---:|---:|---:|---:|---:|"
    for people in (300, 1_000, 10_000):
        values = np.round(100 * np.exp(draws.normal(4, 1, people))).astype(np.int64)
        nothing, ordered = np.zeros(people, np.int64), np.sort(values)
        (owned,) = owned_rows(values, nothing + 1, np.arange(people), nothing, people, 1)
        group, most = OwnedGroup(owned, fast_programs), float(ordered[-1])
        for epsilon in EPSILONS:
            choosing = presets.picking(Epsilon(epsilon))

            def ours(choosing: Selective = choosing, group: OwnedGroup = group) -> float | None:
                tau = choosing.choose(group.signs, noise)
                return picker.pick(group.counting(tau), choosing.answer_epsilon, noise).value

            told, far = (float(ordered[0]), most), (0.0, 10 * most)
            cells = [[ours() for _ in range(runs)]]
            cells += [
                [opendp_quantile(values, rank, ends, epsilon) for _ in range(runs)] for ends in (told, far)
            ]
            shown = (_rank_error(ordered, rank, found) for found in cells)
            yield f"| {people:,} | {float(epsilon):g} | {' | '.join(shown)} |"


def _rank_error(ordered: Integers, rank: Fraction, found: Sequence[float | None]) -> str:
    """Return the median error of ranks, and how many are NULL: such a one errs by a half."""
    errors = [
        NOT_ANSWERED
        if value is None
        else abs(float(np.searchsorted(ordered, value)) / len(ordered) - float(rank))
        for value in found
    ]
    nulls = sum(value is None for value in found) / len(found)
    return f"{np.median(errors):.1%}" + (f", NULL {nulls:.0%}" if nulls else "")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--rank", type=Fraction, default=Fraction(1, 2))
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--opendp", action="store_true")
    options = parser.parse_args()
    table = beside_opendp if options.opendp else rows
    for line in table(options.rank, options.runs):
        print(line, flush=True)


if __name__ == "__main__":
    main()
