"""The active-set method for flat thresholds: few people may withdraw, few levels of a sum matter.

Who does not withdraw, and which levels bind, shows only in the solution. So a first guess is solved. If a
proof for all would overload somebody, everybody is asked in: asking in those alone overloads the next, as
fewer are left to share. Every level that the solution breaks is asked in.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from recuse.krelation.relation import Floats
from recuse.solver import limits
from recuse.solver.bounds import dual_bound
from recuse.solver.cuts.restriction import Mask
from recuse.solver.lp.program import LinearProgram
from recuse.solver.thresholds.flat import Flat
from recuse.solver.thresholds.interior import Elimination, approached
from recuse.solver.thresholds.restriction import Restriction


def active_set(flat: Flat, program: LinearProgram, gap: float) -> Iterator[tuple[Floats, float]]:
    """Yield withdrawals with proven lower bounds of the program; `gap` is what would be narrow enough."""
    nobody = Restriction.of(flat, np.zeros(flat.clauses.shape[1], bool), np.ones(len(flat.least), bool))
    even = nobody.multipliers(np.zeros(0))
    asked = _decisive(flat)
    small = len(flat.weights) + int(asked.sum()) <= limits.SMALL_CORE
    chosen = np.logical_or(small, _loads(flat, even) > limits.LIKELY_OVERLOADED * flat.price)
    for _ in range(limits.ACTIVE_SET_ROUNDS):
        restriction = Restriction.of(flat, chosen, asked)
        parts = Elimination.of(restriction.part)
        if parts.size() > limits.LARGEST_CORE:
            return
        wider = False
        for found in approached(restriction.part.program(), parts, limits.INTERIOR_GAP * gap):
            multipliers = restriction.multipliers(found.y)
            people = len(restriction.people)
            g = restriction.withdrawals(found.x[:people])
            yield g, dual_bound(program, multipliers)
            loads, broken = _loads(flat, multipliers), _broken(restriction, g, found.x[people:])
            excess = np.where(chosen, 0.0, np.maximum(0.0, loads - flat.price))
            if excess.sum() > limits.INTERIOR_GAP * gap:
                chosen, wider = np.ones(len(chosen), bool), True
            if broken.any():
                asked, wider = asked | broken, True
            if wider:
                break
        if not wider:
            return


def _loads(flat: Flat, multipliers: Floats) -> Floats:
    """Return what a proof charges everybody."""
    loads: Floats = flat.clauses.T @ multipliers[: len(flat.child_tuple)]
    return loads


def _decisive(flat: Flat) -> Mask:
    """Return the thresholds that lose least, or nearly, of those of a tuple, if all withdraw alike."""
    total = flat.counts.sum(axis=1)
    lost = np.where(total >= flat.least, total / np.maximum(1.0, total - flat.least + 1), np.inf)
    least = np.full(len(flat.weights), np.inf)
    np.minimum.at(least, flat.node_tuple, lost)
    decisive: Mask = lost <= limits.LIKELY_DECISIVE * least[flat.node_tuple]
    return decisive


def _broken(restriction: Restriction, g: Floats, rest: Floats) -> Mask:
    """Return the thresholds, not asked so far, that a solution (its z come first in `rest`) breaks."""
    flat, tuples = restriction.whole, len(restriction.part.weights)
    lost = np.zeros(len(flat.weights))
    active = np.ones(len(lost), bool)
    active[flat.node_tuple[restriction.settling]] = False
    lost[active] = 1 - np.clip(rest[:tuples], 0.0, 1.0)
    excess = np.maximum(0.0, lost[flat.child_tuple] - flat.clauses @ g)
    over = flat.node_scale() * (flat.counts @ excess - (flat.least - 1) * lost[flat.node_tuple])
    over[restriction.nodes] = 0.0
    broken: Mask = over > limits.NEGLIGIBLE_EXCESS
    return broken
