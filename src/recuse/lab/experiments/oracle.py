"""The oracle: the error of the best fixed τ in hindsight, with all of ε for the noise. NOT PRIVATE."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from recuse.krelation.relation import Shape
from recuse.mechanism.prepared import Prepared
from recuse.privacy import Epsilon
from recuse.solver.interval import Interval

SAMPLES = 4001


def oracle_error(prepared: Prepared, epsilon: Epsilon) -> float:
    """Return the least median relative error of X(τ) + Lap(τ/ε) over τ = 2^{k/4} and the largest load.

    The median of |bias + Laplace| is computed from quantiles of the noise, not by chance.
    """
    truth = float(prepared.relation.true_answer())
    quantiles = (np.arange(SAMPLES) + 0.5) / SAMPLES
    noise = np.sign(quantiles - 0.5) * -np.log(1 - 2 * np.abs(quantiles - 0.5))
    least, above = math.inf, Line(math.inf, math.inf)
    for tau in candidates(prepared):
        # a median of |bias + noise| is at least |bias|, and the bias only grows as τ falls
        if truth - prepared.relation.constant - above.at_most(tau) >= least:
            break
        answer = prepared.positive.truncated(tau, tau / 100)
        bias = answer.high + prepared.relation.constant - truth
        least = min(least, float(np.median(np.abs(bias + noise * tau / float(epsilon.value)))))
        above = above.extended(tau, answer)
    return least / max(1.0, truth)


def signed_oracle_distance(prepared: Prepared, epsilon: Epsilon) -> float:
    """Return the least median distance of X⁺(τ) - X⁻(τ) + Lap(τ/ε) from the truth: one τ for both signs."""
    truth = float(prepared.relation.true_answer() - prepared.relation.constant)
    quantiles = (np.arange(SAMPLES) + 0.5) / SAMPLES
    noise = np.sign(quantiles - 0.5) * -np.log(1 - 2 * np.abs(quantiles - 0.5)) / float(epsilon.value)
    least = math.inf
    swapped = [replace(prepared, positive=programs) for programs in prepared.signs]
    for tau in sorted({tau for one in swapped for tau in candidates(one)}):
        kept = [programs.truncated(tau, tau / 100).high for programs in prepared.signs]
        bias = kept[0] - sum(kept[1:]) - truth
        least = min(least, float(np.median(np.abs(bias + noise * tau))))
    return least


def candidates(prepared: Prepared) -> list[float]:
    """Return the τ that the oracle may choose from, falling."""
    lowest = 0 if prepared.relation.shape is Shape.CONJUNCTIONS else -8  # with OR, τ far below 1 is useful
    largest = max(1.0, prepared.positive.largest_load())
    top = math.floor(4 * math.log2(largest))
    return sorted({largest, *(2.0 ** (quarter / 4) for quarter in range(4 * lowest, top + 1))}, reverse=True)


@dataclass(frozen=True, slots=True)
class Line:
    """A line above X to the left of a point: X is concave and does not fall."""

    tau: float
    height: float
    slope: float = 0.0
    low: float = -math.inf

    def at_most(self, tau: float) -> float:
        """Return a number not below X(τ), for τ left of the point."""
        return self.height - self.slope * (self.tau - tau) if self.slope else self.height

    def extended(self, tau: float, answer: Interval) -> Line:
        """Return the line through the next point on the left."""
        slope = max(0.0, (self.low - answer.high) / (self.tau - tau)) if math.isfinite(self.tau) else 0.0
        return Line(tau, answer.high, slope, answer.low)
