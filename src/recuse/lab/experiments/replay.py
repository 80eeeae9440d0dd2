"""Mechanisms replayed from a table: the same choices and the same noise, thousands of times at once.

What is solved is in the table, so an error is a matter of random numbers: the race, the mechanism that splits
ε, the paper's parameters and R2T, each with any parameters. `tests/lab/experiments/test_replay.py` holds them
against the mechanisms themselves. NOT PRIVATE.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from recuse.krelation.relation import Floats, Integers
from recuse.lab.comparators.r2t import R2T
from recuse.lab.experiments.tables import Tabled, quarters
from recuse.mechanism.levels import Levels
from recuse.mechanism.parameters import ANSWER_GRID, SLACK, Score
from recuse.mechanism.racing import Racing
from recuse.mechanism.reach import at_any_level
from recuse.mechanism.recursive import Recursive
from recuse.mechanism.release import CONFIDENCE
from recuse.mechanism.selective import Selective
from recuse.noise import low_part, staircase_quantile

BEYOND = 10
"""How many levels above the largest load take part: higher ones hardly ever win."""
RUNS = 4000

Generator = np.random.Generator


@dataclass(frozen=True, slots=True)
class Replayed:
    """What many runs released, and whether the interval of each holds X of the τ that was chosen (0 or 1)."""

    answers: Floats
    held: Floats = field(default_factory=lambda: np.zeros(0))
    widths: Floats = field(default_factory=lambda: np.zeros(0))


@dataclass(frozen=True, slots=True)
class Scored:
    """The levels of a rule on a table: τ, X and the penalty of each."""

    levels: Integers
    taus: Floats
    answers: Floats
    penalties: Floats

    @classmethod
    def of(cls, table: Tabled, rule: Levels, stretch: float = 1.0) -> Scored:
        """Return the levels that may win."""
        ladder = rule.ladder
        top = ladder.reaching(max(sign.largest for sign in table.signs))
        count = min(top + BEYOND - ladder.first + 1, len(ladder.taus))
        taus = np.array([float(tau) for tau in ladder.taus[:count]])
        parts = [sign.at(taus) for sign in table.signs]
        if rule.score is Score.WITHDRAWALS:
            penalties = np.max([[sign.count(tau) for tau in taus.tolist()] for sign in table.signs], axis=0)
        else:
            penalties = np.max([deficits(taus, part) for part in parts], axis=0)
        if len(taus) == len(ladder.taus):
            penalties[-1] = 0.0
        released = [sign.at(taus * stretch) for sign in table.signs]
        answers = released[0] - sum(released[1:], np.zeros(count)) + table.constant
        return cls(ladder.first + np.arange(count), taus * stretch, answers, penalties)

    def costs(self, rule: Levels) -> Floats:
        """Return what the levels cost before anything is looked at."""
        return np.array([float(rule.prior(int(k))) for k in self.levels]) * math.log(2)


def deficits(taus: Floats, answers: Floats) -> Floats:
    """Return D_k = max(0, max_{j>k} (X_j - X_k)/τ_j)."""
    found = np.zeros(len(taus))
    for k in range(len(taus) - 1):
        found[k] = max(0.0, float(((answers[k + 1 :] - answers[k]) / taus[k + 1 :]).max()))
    return found


@dataclass(frozen=True, slots=True)
class Raced:
    """Which level won in every run, and the winner's noise in grid steps."""

    scored: Scored
    winner: Integers
    drawn: Integers
    steps: int

    @property
    def taus(self) -> Floats:
        """The τ that was chosen in every run."""
        found: Floats = self.scored.taus[self.winner]
        return found

    def answers(self, table: Tabled, mechanism: Racing) -> Floats:
        """Return what is released: X with the winner's noise, and lifted."""
        above = (self.scored.levels[self.winner] > 0) & (not table.signed)
        lift = float(mechanism.offset / mechanism.epsilon) * above
        return self.scored.answers[self.winner] + self.taus * (self.drawn / ANSWER_GRID + lift)


def raced(
    table: Tabled, mechanism: Racing, random: Generator, runs: int = RUNS, spared: float = 0.0
) -> Raced:
    """Return who wins; `spared` participants are truncated for nothing (theorem R11)."""
    dial = mechanism.dial(1)
    share = dial.answer * mechanism.epsilon
    rule = mechanism.levels if table.bound is None else mechanism.within(table.bound).levels
    scored = Scored.of(table, rule)
    steps = ANSWER_GRID + math.ceil(ANSWER_GRID * SLACK * len(table.signs))
    sizes, noise = staircase(float(share), steps, random, (runs, len(scored.taus)))
    weight = float(dial.choice * mechanism.epsilon / rule.moves())
    boosts = float(dial.boost * share) * sizes
    penalties = np.maximum(0.0, scored.penalties - spared)
    scores = random.exponential(size=sizes.shape) + boosts - weight * penalties - scored.costs(rule)
    winner = scores.argmax(axis=1)
    return Raced(scored, winner, noise[np.arange(runs), winner], steps)


def race(table: Tabled, mechanism: Racing, random: Generator, runs: int = RUNS) -> Replayed:
    """Return what the race releases of one cell."""
    found = raced(table, mechanism, random, runs)
    share, grid = mechanism.dial(1).answer * mechanism.epsilon, mechanism.levels.ladder.levels
    if table.bound is not None:
        grid = mechanism.within(table.bound).levels.ladder.levels
    levels = found.scored.levels
    reach = np.array([staircase_quantile(share, found.steps, at_any_level(grid, int(k))) for k in levels])
    held = (np.abs(found.drawn) <= reach[found.winner]).astype(np.float64)
    wide = 2 * reach[found.winner] * found.taus / ANSWER_GRID
    return Replayed(clamped(table, found.answers(table, mechanism)), held, wide)


def split(table: Tabled, mechanism: Selective, random: Generator, runs: int = RUNS) -> Replayed:
    """Return what the mechanism that splits ε releases."""
    rule, share = mechanism.levels, float(mechanism.answer_epsilon)
    scored = Scored.of(table, rule, float(mechanism.stretch))
    weight = float(mechanism.choice_epsilon / rule.moves())
    scores = (
        random.exponential(size=(runs, len(scored.taus))) - weight * scored.penalties - scored.costs(rule)
    )
    winner = scores.argmax(axis=1)
    tau = scored.taus[winner]
    steps = ANSWER_GRID + math.ceil(ANSWER_GRID * SLACK * len(table.signs))
    if rule.score is Score.WITHDRAWALS:
        drawn = staircase(share, steps, random, (runs,))[1].astype(np.float64)
        reach = staircase_quantile(mechanism.answer_epsilon, steps, CONFIDENCE)
    else:
        drawn = random.laplace(0, steps / share, runs)
        reach = math.ceil(steps / share * math.log(20))
    lift = float(mechanism.offset) / float(mechanism.epsilon) * tau * (not table.signed)
    step = tau / ANSWER_GRID
    found = clamped(table, scored.answers[winner] + drawn * step + lift)
    return Replayed(found, (np.abs(drawn) <= reach).astype(np.float64), 2 * reach * step)


def recursive(
    table: Tabled, mechanism: Recursive, index: int, random: Generator, runs: int = RUNS
) -> Replayed:
    """Return what the paper's mechanism releases, its index known."""
    (sign,) = table.signs
    noisy = index + random.laplace(0, 1 / float(mechanism.choice_epsilon), runs)
    exponent = np.clip(float(mechanism.beta) * noisy + float(mechanism.mu), -20, 600)
    tau = float(mechanism.theta) * np.exp(exponent)
    scale = (ANSWER_GRID + math.ceil(ANSWER_GRID * SLACK)) / ANSWER_GRID / float(mechanism.answer_epsilon)
    return Replayed(clamped(table, sign.at(tau) + table.constant + tau * random.laplace(0, scale, runs)))


def r2t(table: Tabled, mechanism: R2T, random: Generator, runs: int = RUNS) -> Replayed:
    """Return what R2T releases, with its guess."""
    (sign,) = table.signs
    share = float(mechanism.epsilon.value) / mechanism.rounds
    taus = mechanism.base ** np.arange(1, mechanism.rounds + 1.0)
    scale = (1 + float(SLACK)) / share
    lowered = scale * math.log(mechanism.rounds / mechanism.failure)
    noisy = sign.at(taus) + taus * (random.laplace(0, scale, (runs, len(taus))) - lowered)
    return Replayed(np.maximum(0.0, noisy.max(axis=1)) + table.constant)


def oracle(table: Tabled, epsilon: str) -> float:
    """Return the least median relative error of X(τ) + Lap(τ/ε) over τ = 2^{k/4} and the largest load."""
    lowest = 0 if table.conjunctions else -8
    largest = max(max(sign.largest for sign in table.signs), 1.0)
    taus = np.array([*quarters(largest, lowest), largest])
    parts = [sign.at(taus) for sign in table.signs]
    bias = parts[0] - sum(parts[1:], np.zeros(len(taus))) + table.constant - table.truth
    quantiles = (np.arange(2001) + 0.5) / 2001
    noise = np.sign(quantiles - 0.5) * -np.log(1 - 2 * np.abs(quantiles - 0.5)) / float(epsilon)
    errors = np.median(np.abs(bias[:, None] + taus[:, None] * noise), axis=1)
    return float(errors.min()) / max(1.0, abs(table.truth))


def staircase(
    epsilon: float, sensitivity: int, random: Generator, shape: tuple[int, ...]
) -> tuple[Integers, Integers]:
    """Return the levels of staircase noise, and the noise in grid steps."""
    low = low_part(Fraction(epsilon), sensitivity)
    head = math.log(
        2 * sensitivity / ((2 * low - 1) * -math.expm1(-epsilon) + 2 * sensitivity * math.exp(-epsilon))
    )
    sizes = np.maximum(0, np.floor((random.exponential(size=shape) + head) / epsilon)).astype(np.int64)
    first = np.where(sizes == 0, 0, low + (sizes - 1) * sensitivity)
    width = np.where(sizes == 0, low, sensitivity)
    places = first + np.floor(random.random(shape) * width).astype(np.int64)
    return sizes, places * np.where(random.random(shape) < 0.5, -1, 1)


def clamped(table: Tabled, answers: Floats) -> Floats:
    """Return the answers, at least 0 where there is no sign; not rounded, as the oracle's are not."""
    return answers if table.signed else np.maximum(0.0, answers)
