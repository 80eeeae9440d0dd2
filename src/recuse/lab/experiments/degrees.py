"""Degree distributions: how far tail counts are off, beside an oracle. NOT PRIVATE, public graphs.

    python -m recuse.lab.experiments.degrees GRAPH … [--protect node] [--epsilon 0.1 0.5 1 2] [--runs 5]

An error is the mean of |answer - truth| over the tails and runs, after they were made monotone. The oracle
takes the best doubling for τ in hindsight, for the same form of release and with all of ε for its noise.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from statistics import fmean
from typing import cast

from recuse.graphs.datasets import located
from recuse.graphs.protect import Protected, protected
from recuse.graphs.read import read_graph
from recuse.lab.experiments.groups import oracle
from recuse.mechanism.groups import Groups, Together
from recuse.mechanism.hull import HullGroups
from recuse.noise import SecureNoise
from recuse.privacy import Epsilon
from recuse.session.degree_question import TAILS, DegreeQuestion
from recuse.session.monotone import falling
from recuse.solver.fast import fast_programs
from recuse.solver.memo import Memoised
from recuse.solver.programs import Programs, TruncationPrograms


def errors(
    path: str, protect: Protected, epsilons: Sequence[Fraction], runs: int
) -> Iterator[tuple[float, float | None]]:
    """Yield the error of the tail counts, and the oracle's where something is truncated, for every ε."""
    graph, noise = read_graph(located(path)), SecureNoise()
    asked = [DegreeQuestion.of(graph, "", protect, TAILS, Epsilon(epsilon)) for epsilon in epsilons]
    (read,) = asked[0].read_private_rows(fast_programs)
    groups = remembering(read)
    truth = [int(answer or 0) for answer in groups.true_answers()]
    for epsilon, question in zip(epsilons, asked, strict=True):
        yield _error(question, groups, truth, runs, noise), _oracle(groups, truth, epsilon)


def remembering(groups: Groups) -> Groups:
    """Return the tails with programs that are solved once for every τ, whatever the run and ε."""
    if not isinstance(groups, Together):
        return groups
    tails = groups.subject.relations
    return Together(HullGroups([replace(tail, positive=_memoised(tail.positive)) for tail in tails]))


def _memoised(programs: TruncationPrograms) -> Memoised:
    return Memoised(cast(Programs, programs))  # of tails nothing but X(τ) is asked


def _error(
    question: DegreeQuestion, groups: Groups, truth: Sequence[int], runs: int, noise: SecureNoise
) -> float:
    mechanism = question.parts[0].mechanism
    if mechanism is None:
        return 0.0
    found = []
    for _ in range(runs):
        released = [one.rounded(signed=False).value for one in groups.release(mechanism, noise)]
        found += [abs(float(value) - exact) for value, exact in zip(falling(released), truth, strict=True)]
    return fmean(found)


def _oracle(groups: Groups, truth: Sequence[int], epsilon: Fraction) -> float | None:
    return oracle(groups, truth, epsilon) if isinstance(groups, Together) else None


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("graphs", nargs="+")
    parser.add_argument("--protect", default="node")
    parser.add_argument("--epsilon", type=Fraction, nargs="+", default=[Fraction(1)])
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    heads = " | ".join(f"ε = {float(epsilon):g}" for epsilon in options.epsilon)
    print(f"| graph | protected | {heads} |")
    print("|---|---|" + "---:|" * len(options.epsilon))
    for path in options.graphs:
        cells = [
            f"{error:,.1f}" + ("" if best is None else f" ({best:,.1f})")
            for error, best in errors(path, protected(options.protect), options.epsilon, options.runs)
        ]
        print(f"| {path.rsplit('/', 1)[-1]} | {options.protect} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
