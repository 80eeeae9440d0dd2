"""The pool of cuts of loads: a relation in focus, its classes, and the cuts found so far.

Over g alone every load is convex, and at any g there is a cut ℓ_p(h) ≥ b - C·h. Cuts do not depend on τ, so
they serve every τ.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from recuse.krelation.evaluate import Evaluation
from recuse.krelation.relation import Floats, Integers
from recuse.solver.bounds import Cut, weighted_cut
from recuse.solver.certificate import Checker
from recuse.solver.cuts.restriction import Focus
from recuse.solver.cuts.symmetry import Classes
from recuse.solver.cuts.tangents import LoadTangents, Slopes
from recuse.solver.lp.program import Matrix


@dataclass(frozen=True, slots=True, eq=False)
class Round:
    """The cuts found at one g: one row a class, divided by its constant, over the classes."""

    slopes: Slopes
    people: Integers
    constants: Floats
    rows: Matrix


@dataclass(frozen=True, slots=True, eq=False)
class CutPool:
    """A relation in focus with everything that cutting its loads needs."""

    focus: Focus
    evaluation: Evaluation
    checker: Checker
    tangents: LoadTangents
    classes: Classes
    loads: Floats
    seen: NDArray[np.bool_]
    rounds: list[Round] = field(default_factory=list)

    @classmethod
    def of(cls, focus: Focus) -> Self:
        people = len(focus.people)
        evaluation = focus.evaluation()
        tangents = LoadTangents.of(evaluation)
        return cls(
            focus,
            evaluation,
            Checker.of(evaluation),
            tangents,
            Classes.of(evaluation),
            tangents.slopes(np.zeros(people)).sums,
            np.zeros(people, bool),
        )

    def unseen(self, tau: float) -> Integers:
        """Return a participant of every class that is overloaded at τ and was never cut."""
        heads = self.classes.representatives
        new = heads[(self.loads > self.evaluation.bounds(tau))[heads] & ~self.seen[heads]]
        self.seen[new] = True
        return new

    def heads_above(self, loads: Floats, allowed: Floats) -> Integers:
        """Return a participant of every class whose load is above what is allowed."""
        heads = self.classes.representatives
        return heads[(loads > allowed)[heads]]

    def cut(self, slopes: Slopes, people: Integers) -> None:
        """Keep the cuts of these participants' loads."""
        constants, rows = slopes.jacobian(people)
        rows = self.classes.collapsed(rows)
        rows.data *= np.repeat(1.0 / constants, np.diff(rows.indptr))
        self.rounds.append(Round(slopes, people, constants, rows))

    def proven(self, duals: Floats) -> tuple[Cut, Floats]:
        """Return the cut of Σ_p ν_p ℓ_p that the master's duals suggest, and ν, one row a round.

        A class shares its multiplier equally; what that proves is computed from every member's own tuples.
        """
        people = len(self.focus.people)
        cut, start = Cut.nothing(people, len(self.focus.tuples.clauses) - 1), 0
        multipliers = np.zeros((len(self.rounds), people))
        for found, mine in zip(self.rounds, multipliers, strict=True):
            share = np.zeros(len(self.classes.sizes))
            stop = start + len(found.people)
            np.add.at(share, self.classes.of_people[found.people], duals[start:stop] / found.constants)
            start = stop
            if share.any():
                mine[:] = self.classes.expanded(share / self.classes.sizes)
                cut += weighted_cut(found.slopes, mine)
        return cut, multipliers
