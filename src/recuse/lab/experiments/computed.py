"""The error of the default, computed rather than sampled: the joint law of the winning level and its noise.

Given the penalties and X at the levels, level k wins with a noise of level l with a probability that is one
integral; inside a level the noise is uniform. So parameters are judged in milliseconds a cell, with tails.
NOT PRIVATE.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from recuse.krelation.relation import Floats
from recuse.lab.experiments.tuning import level_chances, staircase_quantiles
from recuse.mechanism.prepared import Prepared
from recuse.mechanism.racing import Racing
from recuse.mechanism.selective import Selective

HOPELESS = 400.0
"""A level that so many would have to leave wins at no ε here."""
BEYOND = 6
"""How many levels above the largest load are looked at: higher ones hardly ever win."""
FAR = 32.0
STEPS = 400
PLACES = (np.arange(8) + 0.5) / 8
"""where inside a level the noise is taken"""


@dataclass(frozen=True, slots=True)
class Errors:
    """Quantiles of the relative error, and how often it exceeds one half."""

    median: float
    p90: float
    p99: float
    half: float


@dataclass(frozen=True, slots=True)
class Rows:
    """All that a race's error depends on: penalties and X at the levels of one table, from the first on."""

    truth: float
    first: int
    penalties: Floats
    taus: Floats
    answers: Floats

    @classmethod
    def of(cls, prepared: Prepared, race: Racing) -> Rows:
        """Return them, solved for."""
        rule, table = race.levels, race.levels.ladder
        top = min(rule.top(prepared.signs), table.levels[-1])
        penalty = rule.penalty(prepared.signs, top)
        count = min(top + BEYOND - table.first + 1, len(table.taus))
        found = np.zeros(count)
        for k in range(top - 1, table.first - 1, -1):
            low, high = penalty(k, HOPELESS)
            found[k - table.first] = float(low if low > HOPELESS else high)
            if low > HOPELESS:
                found[: k - table.first] = low
                break
        taus = table.taus[:count]
        answers = [
            0.0 if lost > HOPELESS else _answer(prepared, tau) for tau, lost in zip(taus, found, strict=True)
        ]
        truth = float(prepared.relation.true_answer())
        return cls(truth, table.first, found, np.array([float(tau) for tau in taus]), np.array(answers))

    @classmethod
    def of_loads(cls, loads: Floats, race: Racing) -> Rows:
        """Return those of rows with one owner each: N_s counts the loads above τ, X adds up what is below."""
        table = race.levels.ladder
        count = min(table.reaching(float(loads.max())) + BEYOND - table.first + 1, len(table.taus))
        taus = np.array([float(tau) for tau in table.taus[:count]])
        above = (loads[None, :] > taus[:, None]).sum(axis=1).astype(float)
        answers = np.minimum(loads[None, :], taus[:, None]).sum(axis=1)
        return cls(float(loads.sum()), table.first, above, taus, answers)


def _answer(prepared: Prepared, tau: Fraction) -> float:
    (place,) = prepared.at(tau)
    return float(place * prepared.grid(tau).step)


def oracle_median(loads: Floats, epsilon: float) -> float:
    """Return the least median error of a fixed τ, chosen in hindsight, with Laplace noise of all of ε."""
    best, truth = math.inf, float(loads.sum())
    parts = (np.arange(200) + 0.5) / 200
    noise = np.concatenate((np.log(parts), -np.log(parts))) / epsilon
    for tau in np.unique(np.round(2.0 ** (np.arange(0, math.log2(loads.max()) + 0.51, 0.5)), 3)):
        answers = np.maximum(0.0, np.minimum(loads, tau).sum() + tau * noise)
        best = min(best, float(np.median(np.abs(answers - truth))))
    return best / truth


def race_errors(rows: Rows, race: Racing, *, lifted: bool = True) -> Errors:
    """Return the errors of the race with these parameters, its answers clamped at 0 as a count's are."""
    epsilon, rule = float(race.epsilon), race.levels
    priors = np.array([float(rule.prior(rows.first + k)) for k in range(len(rows.taus))])
    scores = -epsilon / float(rule.moves()) * rows.penalties - math.log(2) * priors
    levels, chances = staircase_law(epsilon)
    wins = winning(scores, epsilon * levels, chances)
    above = np.arange(rows.first, rows.first + len(rows.taus)) > 0
    middle = rows.answers + above * float(race.offset) * rows.taus / epsilon * lifted
    share = 1 / (1 + math.exp(epsilon / 2))
    sizes = np.where(levels[:, None] == 0, share * PLACES, levels[:, None] - 1 + share + PLACES)
    noise = np.concatenate((sizes, -sizes), axis=1)
    answers = np.maximum(0.0, middle[:, None, None] + rows.taus[:, None, None] * noise)
    return _summed(answers, np.repeat((wins * chances).ravel(), noise.shape[1]), rows.truth)


def split_errors(loads: Floats, mechanism: Selective) -> Errors:
    """Return the errors of the mechanism that splits ε, on rows with one owner each."""
    epsilon = float(mechanism.epsilon)
    ladder = mechanism.levels.ladder
    count = ladder.reaching(float(loads.max())) + BEYOND + 1
    taus = np.array([float(tau) for tau in ladder.taus[:count]])
    above = (loads[None, :] > taus[:, None]).sum(axis=1).astype(float)
    chances = level_chances(mechanism, above)
    middle = np.minimum(loads[None, :], taus[:, None]).sum(axis=1) + float(mechanism.offset) * taus / epsilon
    noise = staircase_quantiles(float(mechanism.answer_epsilon))
    answers = np.maximum(0.0, middle[:, None] + taus[:, None] * noise)
    return _summed(answers, np.repeat(chances, len(noise)), float(loads.sum()))


def _summed(answers: Floats, weights: Floats, truth: float) -> Errors:
    """Return the quantiles of the relative errors of weighted answers."""
    errors = np.abs(answers - truth).ravel() / max(1.0, truth)
    order = np.argsort(errors)
    reached, errors = np.cumsum(weights[order]), errors[order]
    reached /= reached[-1]
    median, p90, p99 = (float(np.interp(part, reached, errors)) for part in (0.5, 0.9, 0.99))
    return Errors(median, p90, p99, float(1 - np.interp(0.5, errors, reached, right=1.0)))


def staircase_law(epsilon: float) -> tuple[Floats, Floats]:
    """Return the levels of staircase noise of sensitivity 1, and their chances."""
    levels = np.arange(math.ceil(FAR / epsilon) + 1.0)
    if len(levels) > STEPS:
        levels = levels[:STEPS]
    weights = np.exp(-epsilon * levels)
    weights[0] = 1 / (1 + math.exp(epsilon / 2))
    return levels, weights / weights.sum()


def winning(scores: Floats, helps: Floats, chances: Floats) -> Floats:
    """Return P(k wins | its noise helps by b) for all k and b."""
    plain = np.concatenate(([0.0], np.cumsum(chances)))
    risen = np.concatenate(([0.0], np.cumsum(chances * np.exp(helps))))
    draws = np.concatenate((np.linspace(0, 4, 60, endpoint=False), np.linspace(4, 20, 40)))
    weights = np.exp(-draws) * np.gradient(draws)
    weights /= weights.sum()
    found = np.empty((len(scores), len(helps)))
    for k, own in enumerate(scores):
        heights = draws[None, :] + helps[:, None]
        product = np.ones_like(heights)
        for j, score in enumerate(scores):
            if j != k and score > own - FAR:
                v = np.maximum(heights + own - score, -1.0)  # nobody is below 0
                place = np.searchsorted(helps, v, side="right")
                product *= np.maximum(plain[place] - np.exp(-np.minimum(v, 700)) * risen[place], 0.0)
        found[k] = product @ weights
    return found
