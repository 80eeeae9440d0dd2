"""Which parameters should the default have? Its median error, computed rather than sampled.

Given N_s at the doublings, the chance of each level to win is an integral; given the level, the answer is X
plus noise whose quantiles are known. So parameters are judged in a millisecond a cell, and many can be tried.
They are functions of ε only, and kept if they hold on graphs on which they were not found. NOT PRIVATE.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import cast

import numpy as np

from recuse.krelation.relation import Floats, KRelation
from recuse.lab.experiments.accuracy import EPSILONS, subgraphs
from recuse.lab.experiments.accuracy_report import INFORMATIVE, geometric_mean
from recuse.lab.experiments.oracle import oracle_error
from recuse.lab.experiments.tabulated import STEPS_A_DOUBLING, tabulating
from recuse.mechanism.parameters import SLACK
from recuse.mechanism.prepared import Prepared, prepare
from recuse.mechanism.presets import by_withdrawals
from recuse.mechanism.selective import Selective
from recuse.privacy import Epsilon
from recuse.solver.fast import fast_programs
from recuse.solver.programs import Programs

FOUND_ON = ("G(200)", "G(600)", "G(1000)", "netscience", "1138_bus", "ca-GrQc", "gemat12")
"""The graphs on which the parameters in use were found; the others judge them."""
HOPELESS = 1000.0
"""A level that so many would have to leave wins at no ε here."""
BEYOND = 8
"""How many levels above the largest load are looked at: higher ones hardly ever win."""
SAMPLES = 400
"""Quantiles of the noise: its median is within a hundredth."""


def first_version(epsilon: Epsilon) -> Selective:
    """Return the parameters that a simulation on other relations had found, before these."""
    found, whole = by_withdrawals(epsilon), epsilon.value
    choice = whole * Fraction(13, 10) / (3 + whole)
    levels = replace(found.levels, knee=Fraction(3), gentle=Fraction(1), steep=Fraction(5, 2))
    found = replace(found, levels=levels, stretch=Fraction(11, 10))
    return replace(found, choice_epsilon=choice, answer_epsilon=whole - choice)


CANDIDATES: Mapping[str, Callable[[Epsilon], Selective]] = {
    "first version": first_version,
    "in use": by_withdrawals,
}


@dataclass(frozen=True, slots=True)
class Profile:
    """All that the error of the default depends on: N_s at the doublings and X between them."""

    truth: float
    withdrawals: Floats
    taus: Floats
    answers: Floats

    @classmethod
    def of(cls, prepared: Prepared) -> Profile:
        """Return the profile of a relation without OR and of one sign."""
        programs, truth = cast(Programs, prepared.positive), float(prepared.relation.true_answer())
        top = max(0, math.ceil(math.log2(max(1.0, programs.largest_load()))))
        withdrawals = np.zeros(top + 1)
        for level in range(top - 1, -1, -1):
            withdrawals[level] = programs.strict_withdrawals(2.0**level, float(SLACK), HOPELESS).low
            if withdrawals[level] > HOPELESS:
                withdrawals[:level] = withdrawals[level]
                break
        taus = 2.0 ** (np.arange(STEPS_A_DOUBLING * (top + 1) + 1) / STEPS_A_DOUBLING)
        return cls(truth, withdrawals, taus, np.array([programs.truncated(t, t / 100).high for t in taus]))


def median_error(profile: Profile, parameters: Selective) -> float:
    """Return the median relative error of the default with these parameters, for a count."""
    epsilon = float(parameters.epsilon)
    withdrawals = np.concatenate((profile.withdrawals, np.zeros(BEYOND)))
    chances = level_chances(parameters, withdrawals)
    taus = float(parameters.stretch) * 2.0 ** np.arange(len(withdrawals))
    middle = np.interp(taus, profile.taus, profile.answers) + float(parameters.offset) * taus / epsilon
    noise = staircase_quantiles(float(parameters.answer_epsilon))
    answers = np.maximum(0.0, middle[:, np.newaxis] + taus[:, np.newaxis] * noise)
    errors, weights = np.abs(answers - profile.truth).ravel(), np.repeat(chances, len(noise))
    order = np.argsort(errors)
    reached = np.cumsum(weights[order])
    return float(np.interp(reached[-1] / 2, reached, errors[order])) / max(1.0, profile.truth)


def level_chances(parameters: Selective, withdrawals: Floats) -> Floats:
    """Return how likely each level is to win the noisy maximum.

    Level k wins with a noisy score of v if all others stay below: the density of the first times the
    probabilities of the others is summed over v, from the largest score without noise on.
    """
    weight = float(parameters.choice_epsilon / (1 + 2 * SLACK))
    priors = np.array([float(parameters.levels.prior(k)) for k in range(len(withdrawals))])
    scores = -weight * withdrawals - math.log(2) * priors
    above = np.concatenate((np.linspace(0, 3, 120, endpoint=False), np.linspace(3, 30, 120)))
    lead = scores.max() + above[:, np.newaxis] - scores
    below = np.log1p(-np.exp(-np.maximum(lead, 1e-12)))
    densities = np.exp(-lead + below.sum(axis=1, keepdims=True) - below)
    chances = (densities * np.gradient(above)[:, np.newaxis]).sum(axis=0)
    return np.asarray(chances / chances.sum())


def staircase_quantiles(epsilon: float) -> Floats:
    """Return quantiles of staircase noise of sensitivity 1, the middles of equally likely parts."""
    parts = (np.arange(SAMPLES // 2) + 0.5) / (SAMPLES // 2)
    fall, share = math.exp(-epsilon), 1 / (1 + math.exp(epsilon / 2))
    step = np.floor(np.log1p(-parts) / -epsilon)
    high = (1 - fall) / (share + fall * (1 - share)) * fall**step  # the density on the first part of a step
    rest = parts - (1 - fall**step)
    within = np.where(rest <= high * share, rest / high, share + (rest - high * share) / (high * fall))
    return np.concatenate((-(step + within)[::-1], step + within))


def ratios_to_oracle(
    found: Iterator[tuple[str, str, KRelation]],
) -> Iterator[tuple[str, dict[str, list[float]]]]:
    """Yield for every relation its name and, for each candidate, its errors over the oracle's."""
    for name, protect, relation in found:
        prepared = prepare(relation, tabulating(fast_programs))
        profile = Profile.of(prepared)
        ratios: dict[str, list[float]] = {candidate: [] for candidate in CANDIDATES}
        for epsilon in map(Epsilon.of, EPSILONS):
            oracle = oracle_error(prepared, epsilon)
            if oracle < INFORMATIVE:
                for candidate, parameters in CANDIDATES.items():
                    ratios[candidate].append(median_error(profile, parameters(epsilon)) / oracle)
        yield f"{name} ({protect})", ratios


def main(arguments: Sequence[str] | None = None) -> None:
    """Print how the candidates compare, on the graphs they were found on and on the others."""
    parser = argparse.ArgumentParser(description="The default's error with other parameters. NOT PRIVATE.")
    parser.add_argument("--graphs", type=Path, required=True, help="a folder of graph files")
    parser.add_argument("--most", type=int, default=50_000, help="larger relations are left out")
    given = parser.parse_args(arguments)
    all_ratios: dict[tuple[str, str], list[float]] = {}
    for name, ratios in ratios_to_oracle(subgraphs(given.graphs, given.most)):
        where = "where they were found" if name.split()[0] in FOUND_ON else "on other graphs"
        for candidate, values in ratios.items():
            all_ratios.setdefault((where, candidate), []).extend(values)
            if values:
                print(f"{name}, {candidate}: {geometric_mean(values):.2f}", flush=True)
    for (where, candidate), values in all_ratios.items():
        print(f"{candidate}, {where}: {geometric_mean(values):.3f} × the oracle, {len(values)} cells")


if __name__ == "__main__":
    main()
