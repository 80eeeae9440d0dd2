"""Balance: the best linear function below a weighted sum of loads, where alternatives tie.

An OR's loss is the least of its children's, and below any mixture of those that attain it. Where many
participants withdraw the same, every OR has a choice, and a proof of N(τ) ≥ |g| has to choose so that nobody
is charged for more than one withdrawal. That is a transport from ORs to participants; proportional fitting
finds it in a few passes, each a derivative taken backwards through the annotations.

Whatever is chosen, the inequality holds: all quantities are sums of non-negative terms, rounded upwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from recuse.krelation.evaluate import Evaluation, segment_sums
from recuse.krelation.relation import Floats
from recuse.solver import limits
from recuse.solver.bounds import UNIT, Cut, enclosed_sum


def balanced_cut(evaluation: Evaluation, weights: Floats, g: Floats, multipliers: Floats) -> Cut:
    """Return a proven cut of Σ_p ν_p ℓ_p, tangent at g, whose slopes exceed one by as little as we can find.

    `weights` are doubles that no tuple's weight falls below.
    """
    backwards = Backwards.of(evaluation, weights, g, multipliers)
    preference = np.ones(evaluation.participants)
    best, least = backwards.cut(preference), np.inf
    for _ in range(limits.FITTING_PASSES):
        cut = backwards.cut(preference)
        excess = float(np.maximum(0.0, cut.slope - 1).sum())
        if excess < least:
            best, least = cut, excess
        if least <= limits.FITTING_EXCESS:
            break
        room, received = np.maximum(0.0, 1 - backwards.own), cut.slope - backwards.own
        preference *= np.clip(
            room / np.maximum(received, 1e-12), 1 / limits.FITTING_STEP, limits.FITTING_STEP
        )
        preference /= preference.max()
        preference = np.maximum(preference, 1e-12)
    return best


@dataclass(frozen=True, slots=True, eq=False)
class Backwards:
    """The derivative of Σ_p ν_p ℓ_p at g but for the choices under ORs."""

    evaluation: Evaluation
    losses: list[Floats]
    own: Floats
    """what participants are charged for their own leaves"""
    constant: float
    contexts: dict[int, Floats]
    """by depth: how much the sum falls when a node's loss grows, through the nodes beside it"""
    slack: float
    """1 and more than all sums of this relation round"""

    @classmethod
    def of(cls, evaluation: Evaluation, weights: Floats, g: Floats, multipliers: Floats) -> Self:
        levels, owners = evaluation.tuples.levels, evaluation.owners
        used = _used_leaves(
            evaluation, g, (multipliers[evaluation.entry_member] * weights[evaluation.entry_tuple])
        )
        longest = sum(int(np.diff(level).max()) for level in levels)
        terms = np.bincount(evaluation.tuples.members, minlength=evaluation.participants).max()
        slack = 1 + UNIT * (4 * longest + 2 * int(terms) + 64)
        charge = segment_sums(used, levels[-1])
        own = _charged(evaluation, charge[owners[-1]]) * slack
        contexts: dict[int, Floats] = {}
        for depth in range(len(levels) - 2, -1, -1):
            above = segment_sums(charge, levels[depth])
            if depth % 2:
                others = above[owners[depth]]
                contexts[depth + 1] = np.maximum(0.0, others - charge) + (slack - 1) * others
            charge = above
        return cls(evaluation, evaluation.losses(g), own, enclosed_sum(used).low, contexts, slack)

    def cut(self, preference: Floats) -> Cut:
        """Return the cut that chooses among equal alternatives in proportion to a preference."""
        levels, owners = self.evaluation.tuples.levels, self.evaluation.owners
        liking = self._likings(preference)
        constant, charge = self.constant, np.zeros(len(levels[1]) - 1)
        for depth in range(1, len(levels)):
            passed = charge[owners[depth]]
            if len(levels[depth]) - 1 == levels[depth][-1]:
                pass
            elif depth % 2:
                clipped = segment_sums(self.losses[depth + 1], levels[depth]) >= 1
                constant -= enclosed_sum(charge[clipped]).high * self.slack
                passed = passed * ~clipped[owners[depth]]
            else:
                equal = self.losses[depth + 1] <= self.losses[depth][owners[depth]] + limits.FITTING_TIE
                share = liking[depth + 1] * equal
                passed = passed * (share / segment_sums(share, levels[depth])[owners[depth]])
            charge = passed + self.contexts.get(depth + 1, 0.0)
        slope = (self.own + _charged(self.evaluation, charge)) * self.slack
        return Cut(constant - UNIT * abs(constant), slope, np.zeros(0))

    def _likings(self, preference: Floats) -> list[Floats]:
        """Return the preference of every node: of an AND its least child's, of an OR its best."""
        levels = self.evaluation.tuples.levels
        found = [preference[self.evaluation.tuples.members]]
        for depth in range(len(levels) - 1, -1, -1):
            level = levels[depth]
            if len(level) - 1 == level[-1]:
                found.append(found[-1])
            else:
                combine = np.minimum if depth % 2 else np.maximum
                found.append(combine.reduceat(found[-1], level[:-1]))
        return found[::-1]


def _charged(evaluation: Evaluation, leaves: Floats) -> Floats:
    """Return the sum over everybody's leaves."""
    members, people = evaluation.tuples.members, evaluation.participants
    return np.asarray(np.bincount(members, weights=leaves, minlength=people), np.float64)


def _used_leaves(evaluation: Evaluation, g: Floats, entries: Floats) -> Floats:
    """Return multipliers of the leaves' values that no usage times its entry's multiplier falls below."""
    values = [evaluation.leaf_values(g)]
    for step in evaluation.steps:
        values.append(step(values[-1]))
    for step, below, above in zip(
        reversed(evaluation.steps), reversed(values[:-1]), reversed(values[1:]), strict=True
    ):
        sizes = np.diff(np.append(step.starts, len(step.order)))
        spread = np.repeat(entries, sizes)
        if step.combine is np.maximum:
            hits = below[step.order] == np.repeat(above, sizes)
            spread = spread * hits / np.repeat(np.add.reduceat(hits.astype(np.float64), step.starts), sizes)
        entries = np.empty(len(spread))
        entries[step.order] = spread
    return entries * (values[0] > 0) * (1 - 16 * UNIT)
