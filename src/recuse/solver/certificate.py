"""Certificates: both ends of every interval, derived again from the K-relation. Trusts no solver.

Upper ends come from a withdrawal vector g. It is *snapped* to multiples of a power of two so coarse that
every sum 1 - Σg inside an annotation is exact in doubles; what rounds is only the final sum of weights
times fractions, all of them non-negative, so that n terms err by a relative n·2⁻⁵³ at most.

Lower ends come from weak duality: all columns of a program live in boxes, so any y ≥ 0 proves
min cost·x ≥ right·y + Σ_j min over the box of (cost - yA)_j x_j.

What has to be believed: IEEE doubles round to nearest, and `math.log` is right to 4 units in the last place.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from recuse.krelation.evaluate import Evaluation
from recuse.krelation.relation import Floats, Integers, Tuples
from recuse.solver.bounds import UNIT, enclosed_sum, integer_ratios, up
from recuse.solver.interval import Interval

FINEST_BITS, COARSEST_BITS = 32, 12
NEGLIGIBLE_RAISE = 2.0**-20


def _finest_grid(tuples: Tuples) -> float:
    """Return the spacing at which no sum inside an annotation leaves the 53 bits of a double."""
    reach = 2 * math.prod(int(np.diff(level).max()) for level in tuples.levels[1::2] if len(level) > 1)
    return 2.0 ** -max(COARSEST_BITS, min(FINEST_BITS, 51 - reach.bit_length()))


@dataclass(frozen=True, slots=True, eq=False)
class Checker:
    """Evaluates withdrawals on the tuples of one sign with outward rounding."""

    evaluation: Evaluation
    low_weights: Floats
    high_weights: Floats
    terms: Floats
    grid: float

    @classmethod
    def of(cls, evaluation: Evaluation) -> Self:
        tuples = evaluation.tuples
        terms = np.bincount(evaluation.entry_member, minlength=evaluation.participants).astype(np.float64) + 4
        weights = (evaluation.weights,) * 2  # where they are exact
        if tuples.weights.max(initial=0) > 2**53:
            weights = tuples.weights_down(), tuples.weights_up()
        return cls(evaluation, *weights, terms, _finest_grid(tuples))

    def raised(self, g: Floats) -> Floats:
        """Return g clipped to [0, 1] and rounded up to the grid."""
        return np.ceil(np.clip(np.nan_to_num(g), 0.0, 1.0) / self.grid) * self.grid

    def lowered(self, g: Floats) -> Floats:
        """Return g clipped to [0, 1] and rounded down to the grid."""
        return np.floor(np.clip(np.nan_to_num(g), 0.0, 1.0) / self.grid) * self.grid

    def shrunk(self, g: Floats, s: float) -> Floats:
        """Return a snapped vector near g with |g| ≤ s."""
        point = self.lowered(g)
        while (size := self.size(point)) > s:
            point = self.lowered(point * (s / size) * (1 - UNIT))
        return point

    def size(self, g: Floats) -> float:
        """Return a double not below |g|, equal to it where a double can be."""
        steps = int((g / self.grid).astype(np.int64).sum())
        total = steps * self.grid
        return total if steps < 2**53 else up(total)

    def answer(self, g: Floats) -> Interval:
        """Return an interval that holds F(g) of a snapped g."""
        kept = self.evaluation.kept(g)
        low, high = enclosed_sum(self.low_weights * kept), enclosed_sum(self.high_weights * kept)
        return Interval(max(0.0, low.low), high.high)

    def initial_loads(self) -> Floats:
        """Return doubles not below the loads ℓ_p(0), equal to them where all are below 2⁵³."""
        usages = np.ones(len(self.evaluation.tuples.members))
        for step in self.evaluation.steps if len(usages) else ():
            usages = step(usages)
        loads = self._loads(usages)
        return loads if loads.max(initial=0.0) < 2.0**53 else loads * (1 + UNIT * self.terms)

    def high_loads(self, g: Floats) -> Floats:
        """Return doubles not below the loads ℓ_p(g) of a snapped g."""
        return self._high_loads(self.evaluation.usages(g))

    def _high_loads(self, usages: Floats) -> Floats:
        return self._loads(usages) * (1 + UNIT * self.terms)

    def _loads(self, usages: Floats) -> Floats:
        """Return the loads of which these are the usages, but for rounding."""
        where = self.evaluation
        weighted = usages * self.high_weights[where.entry_tuple]
        loads = np.bincount(where.entry_member, weights=weighted, minlength=where.participants)
        return np.asarray(loads, np.float64)

    def truncated_high(self, g: Floats, tau: float) -> float:
        """Return an upper end for X(τ): F(g) + Σ_p b_p g_p of a snapped g, b_p being τ times p's price.

        Weights are cut at 2b·(alternatives), b the largest of them, which changes no X(τ) (proofs.md, lemma
        H): so a tuple that a rounded g keeps by 2⁻³² weighs little, however heavy it is.
        """
        bounds = self.evaluation.bounds(tau)
        lid = 2 * bounds.max(initial=tau) * self.evaluation.tuples.alternatives() * (1 + UNIT)
        light = enclosed_sum(np.minimum(self.high_weights, lid) * self.evaluation.kept(g))
        paid = tau * self.size(g) if self.evaluation.prices.one else enclosed_sum(bounds * g).high
        return up(light.high + up(paid))

    def within(self, g: Floats, tau: float) -> Floats:
        """Return a snapped vector near g, every load of which is at most τ (the constraints of N)."""
        return self._lifted(g, self.evaluation.bounds(tau), 0.0)

    def strictly_within(self, g: Floats, tau: float) -> Floats:
        """Return a snapped vector near g with ℓ_p ≤ τ(1-g_p) for all p (the constraints of N_s)."""
        return self._lifted(g, self.evaluation.bounds(tau), 1.0)

    def _lifted(self, g: Floats, tau: Floats, strictness: float) -> Floats:
        """Raise g until no p has ℓ_p > τ(1 - strictness·g_p), by as little as we can find.

        Small steps are enough where rounding broke a bound. Else they begin where everybody has withdrawn a
        hair more (a bound of N_s may yield to the others' withdrawals only), or where convexity says that a
        load falls to τ (enough for N from any g).
        """
        near = self.raised(g)
        stepped = self._stepped(near, tau, strictness)
        if self.size(stepped) <= self.size(near) + NEGLIGIBLE_RAISE:
            return stepped
        usages = self.evaluation.usages(near)
        share = 1 - tau / np.maximum(tau, self._high_loads(usages))
        overloaded = self._overloaded(near, usages, tau, strictness)
        starts = [
            np.minimum(1.0, near + 4 * self.grid),
            np.where(overloaded, self.raised(near + share * (1 - near)), near),
        ]
        return min(stepped, *(self._stepped(start, tau, strictness) for start in starts), key=self.size)

    def _stepped(self, point: Floats, tau: Floats, strictness: float) -> Floats:
        """Raise whoever is overloaded to where the tangent meets the bound, and by small steps that double.

        A raise lowers every load; at g_p = 1 the load of p is zero, so this ends.
        """
        step, usages = self.grid, self.evaluation.usages(point)
        while (wrong := self._overloaded(point, usages, tau, strictness)).any():
            more = np.maximum(step, self._tangent(point, usages, tau, strictness))
            point = np.where(wrong, self.raised(point + more), point)
            step, usages = 2 * step, self.evaluation.usages(point)
        return point

    def _tangent(self, g: Floats, usages: Floats, tau: Floats, strictness: float) -> Floats:
        """Return by how much g_p must grow, about, for ℓ_p to fall to its bound as fast as it does at g."""
        excess = self._high_loads(usages) - tau * (1 - strictness * g)
        gain = self._loads((usages > 0).astype(np.float64)) - strictness * tau
        return np.where((excess > 0) & (gain > 0), excess / np.where(gain > 0, gain, 1.0), 0.0)

    def _overloaded(self, g: Floats, usages: Floats, tau: Floats, strictness: float) -> NDArray[np.bool_]:
        """Return who has ℓ_p(g) > τ(1 - strictness·g_p), exactly: where doubles cannot tell, integers do."""
        high, allowed = self._high_loads(usages), tau * (1 - strictness * g)
        wrong = ~(high <= allowed)  # what is not a number is not proven
        near = np.flatnonzero(wrong & (high <= allowed * (1 + UNIT * (4 * self.terms + 4))))
        if len(near):
            numerator, denominator = integer_ratios(tau[near])
            remaining = ((1 - strictness * g[near]) / self.grid).astype(np.int64).astype(object)
            loads = self._loads_in_steps(usages, near, float(high[near].max()))
            wrong[near] = loads.astype(object) * denominator > remaining * numerator
        return wrong

    def _loads_in_steps(self, usages: Floats, chosen: Integers, most: float) -> NDArray[Any]:
        """Return the loads of the chosen in steps of the grid, as integers; `most` bounds them."""
        where = self.evaluation
        place = np.full(where.participants, -1)
        place[chosen] = np.arange(len(chosen))
        owner, steps = place[where.entry_member], (usages / self.grid).astype(np.int64)
        mine = (owner >= 0) & (steps > 0)
        kind = np.int64 if most / self.grid < 2.0**62 else object
        weights = where.tuples.weights[where.entry_tuple[mine]].astype(kind)
        loads = np.zeros(len(chosen), kind)
        np.add.at(loads, owner[mine], weights * steps[mine].astype(kind))
        return loads
