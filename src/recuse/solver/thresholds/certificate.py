"""Certificates of thresholds: both ends of X(τ), and a τ from which X is the whole answer. Trusts no solver.

*Upper ends.* A node that needs `least` of what its children weigh has lost at least w whenever
Σ_i u_i (w - w_i)⁺ ≤ (least - 1) w: the losses that keep this are an interval from 0 (proofs.md, theorem Q1).
So a loss is not computed but checked: a guess, lowered until the inequality holds in outward-rounded
arithmetic, whoever guessed it. Losses that are too low make F(g) too high, which is the safe side.

*Lower ends* come from linear programs whose rows hold by theorem Q1, and from derivations, counted rounded
up, by weak duality (`solver.bounds.dual_bound`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from recuse.deferred import sparse
from recuse.krelation.evaluate import segment_sums
from recuse.krelation.relation import Floats, Integers, Quorums
from recuse.krelation.thresholds import ThresholdEvaluation
from recuse.solver import limits
from recuse.solver.bounds import UNIT, enclosed_sum, up
from recuse.solver.lp.program import Matrix


@dataclass(frozen=True, slots=True, eq=False)
class ThresholdChecker:
    """Evaluates withdrawals on the tuples of one sign with outward rounding."""

    evaluation: ThresholdEvaluation
    high_weights: Floats
    alternatives: Integers

    @classmethod
    def of(cls, evaluation: ThresholdEvaluation) -> Self:
        return cls(evaluation, evaluation.tuples.weights_up(), evaluation.tuples.alternatives())

    def truncated_high(self, g: Floats, tau: float) -> float:
        """Return an upper end for X(τ): F(g) + τ|g| of any g in [0, 1].

        Weights are cut at 2τ·(alternatives), which changes no X(τ) (proofs.md, lemma H).
        """
        lid = 2 * tau * self.alternatives * (1 + UNIT)
        light = enclosed_sum(np.minimum(self.high_weights, lid) * self.kept_high(g))
        return up(light.high + up(tau * enclosed_sum(g).high))

    def kept_high(self, g: Floats) -> Floats:
        """Return doubles not below the kept fractions z_t(g)."""
        tuples = self.evaluation.tuples
        losses = g[tuples.members]
        for depth in range(len(tuples.levels) - 1, -1, -1):
            level = tuples.levels[depth]
            if depth % 2:
                sums = segment_sums(losses, level) * (1 - UNIT * np.diff(level))
                losses = np.minimum(1.0, sums)
            else:
                guess = self.evaluation.threshold_losses(depth, losses)
                losses = proven_losses(guess, losses, level, tuples.quorums[depth // 2])
        return (1 - losses) * (1 + UNIT)


def proven_losses(guess: Floats, below: Floats, level: Integers, quorums: Quorums) -> Floats:
    """Return losses near the guess that nodes have at least, if their children have lost `below` at least.

    Guarantee: Σ_i u_i (w - w_i)⁺ ≤ (least - 1) w says (U - least + 1) w ≤ Σ u_i w_i over the children of
    losses below w, U being what they weigh, an exact integer. Both sides are rounded outward, and 0 always is
    proven. (As it stands, the first form is an equality wherever U = least - 1, which no rounding proves.)
    """
    sizes, found = np.diff(level), np.clip(guess, 0.0, 1.0)
    counts = quorums.exact_weights()
    lost = counts.astype(np.float64) * below
    step = UNIT
    while True:
        under = below < np.repeat(found, sizes)
        room = (segment_sums(np.where(under, counts, 0), level) - (quorums.least - 1)).astype(np.float64)
        share = segment_sums(np.where(under, lost, 0.0), level) * (1 - UNIT * (sizes + 4))
        wrong = (room > 0) & ~(room * found * (1 + 4 * UNIT) <= share)
        if not wrong.any():
            return found
        found = np.where(wrong, found * max(0.0, 1 - step), found)
        step *= limits.LOWERED_LOSS_STEP


def counted_up(rows: sparse.csr_array, evaluation: ThresholdEvaluation) -> Matrix:
    """Return derivations that count every participant at least as often as the ones given do exactly.

    A count is a sum of products of at most two factors a level, each a double next to an exact fraction.
    """
    terms = np.bincount(evaluation.tuple_of_leaf, minlength=len(evaluation.tuples))
    slack = UNIT * (4 * len(evaluation.tuples.levels) + terms + 4)
    made = rows.tocsr()
    made.sum_duplicates()
    made.data = made.data * np.repeat(1 + slack, np.diff(made.indptr))
    return made


def largest_load(evaluation: ThresholdEvaluation) -> float:
    """Return a τ from which X(τ) is the true answer.

    Guarantee: F(h) ≥ F(0) - Σ_t q_t m_t·h for derivations m_t of the tuples, so X(τ) = F(0) where nobody
    counts for more than τ in Σ_t q_t m_t (proofs.md, theorem Q3).
    """
    if len(evaluation.tuples) == 0:
        return 0.0
    rows = counted_up(evaluation.even(), evaluation)
    loads = rows.T @ evaluation.tuples.weights_up()
    terms = np.bincount(rows.indices, minlength=evaluation.participants)
    return float((loads * (1 + UNIT * (terms + 4))).max())
