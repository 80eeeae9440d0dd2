"""The exact joint distribution of a race: which level wins, and with which noise.

Level k wins with a noise of level l if E_k + b(l) + s_k exceeds E_j + b(l_j) + s_j for all others. Given l
the others are independent, so the probability is one integral over E_k. Nothing is sampled.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from recuse.krelation.relation import KRelation
from recuse.mechanism.cell import Laplace, Staircase
from recuse.mechanism.grid import GridNoise
from recuse.mechanism.levels import Levels
from recuse.mechanism.racing import Racing
from recuse.mechanism.vector import ManhattanLaplace
from recuse.noise import low_part
from support.neighbours import penalties
from support.prepared import prepared

Floats = NDArray[np.float64]

FAR = 60.0
"""e^{-FAR} is nothing"""
FURTHER = 10 * FAR
"""nobody is below by so much"""
MANY = 240
PANEL, NODES = 0.02, np.polynomial.legendre.leggauss(4)


@dataclass(frozen=True, eq=False)
class Law:
    """The levels that a noise can have, ascending, and their chances."""

    levels: Floats
    chances: Floats

    @classmethod
    def of(cls, noise: GridNoise) -> Law:
        """Return the law of a noise's level, from its probabilities."""
        rate = float(noise.epsilon)
        match noise:
            case Staircase(_, sensitivity):
                levels = np.arange(math.ceil(FAR / rate) + 2.0)
                points = np.full(len(levels), 2.0 * sensitivity)
                points[0] = 2 * low_part(noise.epsilon, sensitivity) - 1
                return cls._of(levels, points * np.exp(-rate * levels))
            case Laplace(_, sensitivity):
                levels = np.arange(math.ceil(FAR / rate * sensitivity) + 2.0) / sensitivity
                points = np.where(levels > 0, 2.0, 1.0)
                return cls._of(levels, points * np.exp(-rate * levels))
            case ManhattanLaplace(_, sensitivity, cells):
                size = math.ceil((FAR + 3 * cells) / rate * sensitivity) + 2
                one = np.exp(-rate / sensitivity * np.arange(size))
                one[1:] *= 2
                spectrum = np.fft.rfft(one / one.sum(), 2 * size) ** cells
                found = np.maximum(np.fft.irfft(spectrum)[:size], 0.0)
                return cls._of(np.arange(size) / sensitivity, found)
        raise AssertionError(noise)

    @classmethod
    def _of(cls, levels: Floats, weights: Floats) -> Law:
        return cls(levels, weights / weights.sum())


Boost = Callable[[Floats], Floats]
"""levels → by how much they help: ρ·ε_a·level, or what a broken twin makes of it"""


def below(law: Law, boost: Boost) -> Callable[[float], Floats]:
    """Return shift → P(E + b(l) ≤ v), E ~ Exp(1), for all v that are so much above a node."""
    order = np.argsort(boost(law.levels), kind="stable")
    helps, chances = boost(law.levels)[order], law.chances[order]
    plain = np.concatenate(([0.0], np.cumsum(chances)))
    risen = np.concatenate(([0.0], np.cumsum(chances * np.exp(helps))))

    def at(shift: float) -> Floats:
        place = np.searchsorted(helps, NODES_OF_E + shift, side="right")
        found = plain[place] - DENSITY_OF_E * (math.exp(min(-shift, FURTHER)) * risen)[place]
        return np.asarray(np.maximum(found, 0.0))

    return at


NODES_OF_E = (np.arange(0.0, FAR, PANEL)[:, np.newaxis] + PANEL / 2 * (NODES[0] + 1)).ravel()
DENSITY_OF_E = np.exp(-NODES_OF_E)
WEIGHTS_OF_E = np.tile(NODES[1] * PANEL / 2, len(NODES_OF_E) // len(NODES[0])) * DENSITY_OF_E


def winning(scores: Sequence[float], laws: Sequence[Law], boost: Boost, k: int, levels: Floats) -> Floats:
    """Return P(k wins | its noise has level l) for the levels asked for."""
    each = {id(law): below(law, boost) for law in laws}
    others = [(score, each[id(laws[j])]) for j, score in enumerate(scores) if j != k]
    found = np.empty(len(levels))
    for place, help_ in enumerate(boost(levels)):
        product = WEIGHTS_OF_E.copy()
        for score, at in others:
            product *= at(help_ + scores[k] - score)
        found[place] = product.sum()
    return found


Spare = Callable[[float], float]
"""a penalty → what of it counts"""


def scores_of(
    relation: KRelation, rule: Levels, weight: float, count: int, counted: Spare = float
) -> list[float]:
    """Return the scores of the first levels before any draw."""
    found = zip(rule.ladder.levels[:count], penalties(relation, rule, count), strict=True)
    return [-weight * counted(float(d)) - float(rule.prior(k)) * math.log(2) for k, d in found]


@dataclass(frozen=True, eq=False)
class Twin:
    """What is broken: nothing, as it stands."""

    weight: float = 1.0
    """scores are so many times too strong"""
    boost: Boost | None = None
    """another boost than ρ·ε_a·level, given the losses ε_a·level"""
    shared: bool = False
    """one noise serves all levels"""
    moved: Callable[[Floats], Floats] | None = None
    """X' on the grid depends on the level of the noise: by how many steps it is moved"""
    start: int | None = None
    """the prior begins at a level of its own: with data that chose it"""


SOUND = Twin()


@lru_cache(maxsize=64)
def joint(
    relation: KRelation, mechanism: Racing, count: int, twin: Twin = SOUND, reach: int = 6
) -> list[tuple[int, Floats]]:
    """Return for each of the first levels where its answers begin, and the probabilities from there on.

    Noise beyond `reach` times the sensitivity is left out.
    """
    subject, rule, dial = prepared(relation), mechanism.levels, mechanism.dial(1)
    rule = rule if twin.start is None else replace(rule, start=twin.start)
    share, epsilon = float(dial.answer * mechanism.epsilon), mechanism.epsilon
    noise = subject.noise(dial.answer * epsilon, rule.ladder.taus[0], mechanism.cell)
    law = Law.of(noise)
    weight = twin.weight * float(dial.choice * epsilon / rule.moves())
    scores = scores_of(relation, rule, weight, count)

    def boost(levels: Floats) -> Floats:
        if twin.shared:
            return 0 * levels
        return twin.boost(share * levels) if twin.boost else float(dial.boost) * share * levels

    size = reach * subject.grid(rule.ladder.taus[0]).sensitivity
    steps = np.arange(-size, size + 1)
    level = level_of(noise, steps)
    some = np.unique(level)
    if len(some) > MANY:  # ln P(win) is smooth in the level between its bends
        some = np.linspace(some[0], some[-1], MANY)
    logs = [np.log(winning(scores, [law] * count, boost, k, some)) for k in range(count)]
    each = np.exp(-share * level) / normaliser(noise)
    found = []
    for k in range(count):
        (place,) = subject.at(rule.ladder.taus[k])
        chances = each * np.exp(np.interp(level, some, logs[k]))
        if twin.moved:
            where = steps + twin.moved(level).astype(int)
            spread = np.zeros(2 * size + 1 + 4000)
            np.add.at(spread, where + size + 2000, chances)
            found.append((place - size - 2000, spread))
        else:
            found.append((place - size, chances))
    return found


def level_of(noise: GridNoise, steps: NDArray[np.int64]) -> Floats:
    """Return the levels of whole numbers, from the definition."""
    sizes = np.abs(steps)
    if isinstance(noise, Staircase):
        step = noise.sensitivity
        return sizes // step + (sizes % step >= low_part(noise.epsilon, step)) + 0.0
    assert isinstance(noise, Laplace)
    return sizes / noise.sensitivity


def normaliser(noise: GridNoise) -> float:
    """Return Σ_i exp(-ε·level(i))."""
    size = math.ceil(FAR / float(noise.epsilon) * noise.sensitivity)
    return float(np.exp(-float(noise.epsilon) * level_of(noise, np.arange(-size, size + 1))).sum())


def joint_loss(
    one: KRelation,
    other: KRelation,
    mechanism: Racing,
    count: int,
    twin: Twin = SOUND,
    theirs: Twin | None = None,
) -> float:
    """Return the worst log-ratio of the joint output of two relations."""
    worst = 0.0
    pairs = zip(
        joint(one, mechanism, count, twin), joint(other, mechanism, count, theirs or twin), strict=True
    )
    for (first, ours), (second, others) in pairs:
        start, end = max(first, second), min(first + len(ours), second + len(others))
        # both ends are cut off where a noise is left out
        a, b = ours[start - first : end - first], others[start - second : end - second]
        both = slice(3000, len(a) - 3000) if twin.moved else slice(0, len(a))
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.abs(np.log(a[both]) - np.log(b[both]))
        ratio = ratio[(a[both] > 1e-13) | (b[both] > 1e-13)]
        worst = max(worst, float(ratio.max(initial=0.0)))
    return worst
