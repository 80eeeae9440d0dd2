"""Cutting planes for the loads: N(τ), N_s(τ) and, between them, the real index r.

Over g alone every load is convex, and at any g there is a cut ℓ_p(h) ≥ b - C·h. Kelley's method: solve the
master of the cuts found so far, cut off its optimum where a load is still above its bound, again. The cuts do
not depend on τ, so they serve every τ.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from recuse.krelation.evaluate import Evaluation
from recuse.krelation.relation import Floats, Integers
from recuse.solver.certificate import Checker, Cut, weighted_cut
from recuse.solver.colours import Classes
from recuse.solver.focus import Focus
from recuse.solver.linear import Matrix
from recuse.solver.slopes import Slopes, Tangents


@dataclass(frozen=True, slots=True, eq=False)
class Round:
    """The cuts found at one g: one row a class, scaled to right-hand sides near one."""

    slopes: Slopes
    people: Integers
    constants: Floats
    rows: Matrix


@dataclass(frozen=True, slots=True, eq=False)
class Workshop:
    """A relation in focus with everything that cutting its loads needs."""

    focus: Focus
    evaluation: Evaluation
    checker: Checker
    tangents: Tangents
    classes: Classes
    by_person: Matrix
    loads: Floats
    seen: NDArray[np.bool_]
    rounds: list[Round] = field(default_factory=list)

    @classmethod
    def of(cls, focus: Focus) -> Self:
        people = len(focus.people)
        evaluation = Evaluation.of(focus.tuples, people)
        entries = len(evaluation.entry_tuple)
        weights = evaluation.weights[evaluation.entry_tuple]
        by_person = sparse.csr_array(
            (weights, (evaluation.entry_member, np.arange(entries))), shape=(people, entries)
        )
        return cls(
            focus,
            evaluation,
            Checker.of(evaluation),
            Tangents.of(evaluation),
            Classes.of(focus.tuples, people),
            by_person,
            evaluation.loads(np.zeros(people)),
            np.zeros(people, bool),
        )

    def unseen(self, tau: float) -> Integers:
        """Return a participant of every class that is overloaded at τ and was never cut."""
        heads = self.classes.representatives
        new = (self.loads[heads] > tau) & ~self.seen[heads]
        self.seen[heads[new]] = True
        return heads[new]

    def violated(self, g: Floats, allowed: Floats) -> Integers:
        """Return a participant of every class whose load at g is above what is allowed."""
        heads = self.classes.representatives
        return heads[(self.evaluation.loads(g) > allowed)[heads]]

    def cut(self, slopes: Slopes, people: Integers) -> Round:
        """Return (and keep) the cuts of these participants' loads, collapsed over the classes."""
        constants, rows = slopes.jacobian(self.by_person[people])
        scale = 1.0 / constants
        found = Round(slopes, people, constants, _scaled(self.classes.collapsed(rows), scale))
        self.rounds.append(found)
        return found

    def proven(self, duals: Floats) -> tuple[Cut, Floats]:
        """Return the cut of Σ_p ν_p ℓ_p that the master's duals suggest, and ν, one row a round.

        A class shares its multiplier equally; what that proves is computed from every member's own tuples.
        """
        where = self.evaluation
        cut, start = Cut(0.0, np.zeros(where.participants)), 0
        multipliers = np.zeros((len(self.rounds), where.participants))
        for found, mine in zip(self.rounds, multipliers, strict=True):
            share = np.zeros(len(self.classes.sizes))
            stop = start + len(found.people)
            np.add.at(share, self.classes.of_people[found.people], duals[start:stop] / found.constants)
            start = stop
            if share.any():
                mine[:] = self.classes.expanded(share / self.classes.sizes)
                weights = self.checker.low_weights[where.entry_tuple] * mine[where.entry_member]
                cut += weighted_cut(found.slopes, weights)
        return cut, multipliers


def _scaled(rows: Matrix, scale: Floats) -> Matrix:
    rows = rows.tocsr()
    rows.data *= np.repeat(scale, np.diff(rows.indptr))
    return rows
