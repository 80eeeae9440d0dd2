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
from recuse.solver.cuts.restriction import Focus
from recuse.solver.cuts.tangents import Slopes
from recuse.solver.interval import Interval
from recuse.solver.lp.program import LinearProgram

UNIT = 2.0**-52
"""Twice the rounding error of one operation: leaves room for second-order terms."""
FINEST_BITS, COARSEST_BITS = 32, 12
NEGLIGIBLE_RAISE = 2.0**-20


def up(value: float) -> float:
    """Return the next double above."""
    return math.nextafter(value, math.inf)


def down(value: float) -> float:
    """Return the next double below."""
    return math.nextafter(value, -math.inf)


def log_ratio(numerator: float, denominator: float) -> Interval:
    """Return an interval that holds ln(numerator / denominator) of two positive doubles."""
    near = math.log(numerator / denominator)
    slack = 4 * UNIT * (1.0 + abs(near))
    return Interval(near - slack, near + slack)


def dual_bound(program: LinearProgram, y: Floats) -> float:
    """Return a proven lower bound on the program's optimum, for any multipliers (negative ones are clipped).

    Guarantee: weak duality in outward-rounded arithmetic (proofs.md, certificates).
    """
    y = np.maximum(0.0, np.nan_to_num(y))
    columns = program.rows.T.tocsr()
    reduced = program.cost - columns @ y
    terms = np.diff(columns.indptr) + 2
    slack = UNIT * terms * (np.abs(program.cost) + abs(columns) @ y)
    low, high = reduced - slack, reduced + slack
    corners = (low * program.lower, low * program.upper, high * program.lower, high * program.upper)
    boxed = np.minimum.reduce(corners)
    return down(enclosed_sum(np.concatenate((program.right * y, boxed))).low)


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """A proven inequality: (some weighted sum) ≥ constant - slope·h for all withdrawals h.

    `terms` is what each clause counts for in it: a participant left out of clause j has slope terms_j there.
    """

    constant: float
    slope: Floats
    terms: Floats

    @classmethod
    def nothing(cls, participants: int, terms: int) -> Self:
        """Return the inequality 0 ≥ 0."""
        return cls(0.0, np.zeros(participants), np.zeros(terms))

    def __add__(self, other: Cut) -> Cut:
        constant = down(self.constant + other.constant)
        return Cut(constant, (self.slope + other.slope) * (1 + UNIT), (self.terms + other.terms) * (1 + UNIT))


def weighted_cut(slopes: Slopes, multipliers: Floats) -> Cut:
    """Return the cut that non-negative multipliers of the owners make of their minorants.

    A term may count for less, never for more: what it bounds is not negative.
    """
    shared = np.bincount(slopes.owners.indices, minlength=1).max()
    terms = (slopes.owners.T @ multipliers) * slopes.active * (1 - UNIT * (shared + 4))
    slack = UNIT * (np.bincount(slopes.rows.indices, minlength=slopes.rows.shape[1]) + 4)
    return Cut(enclosed_sum(terms * slopes.constants).low, (slopes.rows.T @ terms) * (1 + slack), terms)


def outside_excess(cut: Cut, focus: Focus, allowed: float) -> Floats:
    """Return doubles not below (slope_p - allowed)⁺ of the participants that the focus leaves out."""
    outside, tuples = focus.outside, focus.tuples
    if len(outside.people) == 0:
        return np.zeros(0)
    per_weight = cut.terms / np.repeat(tuples.weights_down(), np.diff(tuples.levels[0]))
    weighted = outside.weights * per_weight[outside.clauses]
    slope = np.bincount(outside.people, weights=weighted)
    return _excess(slope * (1 + UNIT * (np.bincount(outside.people) + 8)), allowed)


def withdrawals_low(cut: Cut, multipliers: Floats, tau: float | Floats) -> float:
    """Return what a cut of Σ_p ν_p ℓ_p proves of N(τ): Σ_p ν_p (ℓ_p - τ) ≤ 0 in every feasible point.

    With prices τ is everybody's own bound, here and below.

    `multipliers` has one row for every cut that was added up.
    """
    spent = enclosed_sum((multipliers * tau).ravel()).high
    return down(down(cut.constant - spent) - enclosed_sum(_excess(cut.slope, 1.0)).high)


def strict_withdrawals_low(cut: Cut, multipliers: Floats, tau: float | Floats) -> float:
    """Return what it proves of N_s(τ): Σ_p ν_p (ℓ_p - τ(1-g_p)) ≤ 0 in every feasible point."""
    spent = enclosed_sum((multipliers * tau).ravel()).high
    own = multipliers.sum(axis=0) * tau * (1 - UNIT * (len(multipliers) + 2))
    return down(down(cut.constant - spent) - enclosed_sum(_excess(cut.slope, 1.0 + own)).high)


def truncated_low(cut: Cut, bounds: Floats, rest: int) -> float:
    """Return what a cut of F proves of X(τ), `rest` being the weight of tuples that the cut leaves out."""
    within = down(cut.constant - enclosed_sum(_excess(cut.slope, bounds)).high)
    return down(within + down(float(rest)))


def _excess(slope: Floats, allowed: Floats | float) -> Floats:
    """Return doubles not below (slope - allowed)⁺."""
    return np.maximum(0.0, (slope - allowed) + UNIT * (slope + allowed))


def enclosed_sum(values: Floats) -> Interval:
    """Return an interval that holds the sum; each value may itself be one rounding off.

    Summed in √n blocks of √n, so that the proven error grows with √n only.
    """
    side = math.isqrt(len(values)) + 1
    padded = np.zeros(side * side)
    padded[: len(values)] = values
    total = float(padded.reshape(side, side).sum(axis=1).sum())
    error = UNIT * (2 * side + 4) * float(np.abs(padded).sum())
    return Interval(total - error, total + error)


def _integer_ratios(values: Floats) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return doubles, few of them different, as exact numerators and denominators."""
    table, which = np.unique(values, return_inverse=True)
    ratios = np.array([value.as_integer_ratio() for value in table.tolist()], dtype=object).reshape(-1, 2)
    return ratios[which, 0], ratios[which, 1]


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
            numerator, denominator = _integer_ratios(tau[near])
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
