"""The last resort for thresholds: Kelley's cuts in rationals.

A tangent of a threshold's loss at g is a derivation: at every node the set M of children that attains the
least Σ_M u_i w_i / (Σ_M u_i - least + 1), so a cut has rational slopes. There are finitely many such sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Self

from recuse.krelation.relation import Tuples
from recuse.solver.exact import kelley
from recuse.solver.interval import Interval, outward

ZERO, ONE = Fraction(0), Fraction(1)

Slope = dict[int, Fraction]
NodeLoss = tuple[Fraction, Slope]
"""a node's loss at g, and a linear function through 0 above it; where it is clipped at 1, nothing"""


@dataclass(frozen=True, slots=True, eq=False)
class ThresholdTangents:
    """Finds the cuts of kept fractions at a rational g."""

    levels: list[list[int]]
    least: list[list[int]]
    counts: list[list[int]]
    members: list[int]
    weights: list[int]
    participants: int

    @classmethod
    def of(cls, tuples: Tuples, participants: int) -> Self:
        return cls(
            [level.tolist() for level in tuples.levels],
            [quorums.least.tolist() for quorums in tuples.quorums],
            [quorums.weights.tolist() for quorums in tuples.quorums],
            tuples.members.tolist(),
            tuples.weights.tolist(),
            participants,
        )

    def kept(self, g: Sequence[Fraction]) -> list[kelley.ExactCut]:
        """Return a cut of every tuple's kept fraction, tangent at g."""
        losses: list[NodeLoss] = [(g[p], {p: ONE}) for p in self.members]
        for depth in range(len(self.levels) - 1, -1, -1):
            spans = list(pairwise(self.levels[depth]))
            if depth % 2:
                losses = [_sum(losses[a:b]) for a, b in spans]
                continue
            counts, least = self.counts[depth // 2], self.least[depth // 2]
            losses = [_threshold(losses[a:b], counts[a:b], k) for (a, b), k in zip(spans, least, strict=True)]
        return [
            kelley.ExactCut(ONE - loss, 1, slope) if loss < 1 else kelley.ExactCut(ZERO, 0, {})
            for loss, slope in losses
        ]


def _sum(children: Sequence[NodeLoss]) -> NodeLoss:
    total = sum((loss for loss, _ in children), start=ZERO)
    return (total, _combined(children, [ONE] * len(children))) if total < 1 else (ONE, {})


def _threshold(children: Sequence[NodeLoss], counts: Sequence[int], least: int) -> NodeLoss:
    """Return the best piece of a threshold: of the children in the order of their losses, a first few."""
    order = sorted(range(len(children)), key=lambda i: children[i][0])
    best, size, room = ONE, 0, 1
    lost, spare = ZERO, 1 - least
    for place, i in enumerate(order, start=1):
        lost, spare = lost + counts[i] * children[i][0], spare + counts[i]
        if spare > 0 and lost / spare < best:
            best, size, room = lost / spare, place, spare
    chosen = order[:size]
    slope = _combined([children[i] for i in chosen], [Fraction(counts[i], room) for i in chosen])
    return best, slope


def _combined(children: Sequence[NodeLoss], factors: Sequence[Fraction]) -> Slope:
    found: Slope = {}
    for (_, slope), factor in zip(children, factors, strict=True):
        for p, a in slope.items():
            found[p] = found.get(p, ZERO) + factor * a
    return found


def exact_load(tuples: Tuples, participants: int) -> Fraction:
    """Return a τ from which X(τ) is the true answer.

    Guarantee: F(h) ≥ F(0) - Σ_t q_t m_t·h for the derivations m_t that are tangent at 0, so X(τ) = F(0) where
    nobody counts for more than τ in Σ_t q_t m_t (proofs.md, theorem Q3).
    """
    if len(tuples) == 0:
        return ZERO
    loads = [ZERO] * participants
    tangents = ThresholdTangents.of(tuples, participants)
    for weight, cut in zip(tangents.weights, tangents.kept([ZERO] * participants), strict=True):
        for p, times in cut.slope.items():
            loads[p] += weight * times
    return max(loads, default=ZERO)


def exact_truncated(tuples: Tuples, participants: int, tau: Fraction) -> Interval:
    """Return the narrowest interval of doubles that holds X(τ).

    Guarantee: the lower end follows from cuts by weak duality, the upper from F at a g, both in rationals.
    """
    if len(tuples) == 0:
        return Interval(0.0, 0.0)
    tangents = ThresholdTangents.of(tuples, participants)
    low, g = kelley.least_answer(tangents, [tau] * participants, Fraction(participants))
    return outward(low, exact_answer(tuples, g) + tau * sum(g, start=ZERO))


def exact_answer(tuples: Tuples, g: Sequence[Fraction]) -> Fraction:
    """Return F(g), exactly: every threshold's loss is the largest w with Σ u_i (w - w_i)⁺ ≤ (least - 1) w."""
    if len(tuples) == 0:
        return ZERO
    losses = [g[p] for p in tuples.members.tolist()]
    for depth in range(len(tuples.levels) - 1, -1, -1):
        spans = list(pairwise(tuples.levels[depth].tolist()))
        if depth % 2:
            losses = [min(ONE, sum(losses[a:b], start=ZERO)) for a, b in spans]
            continue
        quorums = tuples.quorums[depth // 2]
        counts, least = quorums.weights.tolist(), quorums.least.tolist()
        losses = [_largest_loss(losses[a:b], counts[a:b], k) for (a, b), k in zip(spans, least, strict=True)]
    weights = tuples.weights.tolist()
    return sum((q * (1 - loss) for q, loss in zip(weights, losses, strict=True)), start=ZERO)


def _largest_loss(losses: Sequence[Fraction], counts: Sequence[int], least: int) -> Fraction:
    """Return the largest w in [0, 1] that keeps the inequality.

    Its left side is convex and 0 at 0, so w is the root of the piece that begins at the last loss below it.
    """
    found = ONE
    for _ in range(len(losses) + 1):
        under = [(w, u) for w, u in zip(losses, counts, strict=True) if w < found]
        slope = sum(u for _, u in under) - (least - 1)
        offset = sum((u * w for w, u in under), start=ZERO)
        if slope * found <= offset:
            return found
        found = offset / slope  # Newton's method on a convex function comes down from the right
    return found
