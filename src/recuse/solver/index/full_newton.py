"""Whole: N(τ) as one full linear program a step, for `root.real_index` where cuts do not close.

Its multipliers prove a line below N, as those of cuts do, so that Newton's method needs a few programs where
bisection needs a dozen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from recuse.krelation.evaluate import Evaluation
from recuse.solver import limits
from recuse.solver.bounds import dual_bound
from recuse.solver.certificate import Checker
from recuse.solver.cuts.counts import CutStep
from recuse.solver.cuts.tangents import LoadTangents
from recuse.solver.lp.extended import FullPrograms, power_of_two_near
from recuse.solver.lp.program import Method, solve


@dataclass(slots=True, eq=False)
class Whole:
    """The full programs of N, solved by ever slower and more exact methods."""

    checker: Checker
    programs: FullPrograms
    tangents: LoadTangents
    left: int = limits.FULL_NEWTON_PROGRAMS
    methods: list[Method] = field(default_factory=lambda: [Method.SIMPLEX, Method.INTERIOR])

    @classmethod
    def of(cls, evaluation: Evaluation) -> Self:
        return cls(Checker.of(evaluation), FullPrograms(evaluation), LoadTangents.of(evaluation))

    def at(self, _: float) -> Self:
        """Return itself: it serves every τ."""
        return self

    def step(self, tau: float) -> CutStep | None:
        """Return the optimum at τ."""
        self.left -= 1
        if self.left < 0:
            return None
        people = self.programs.evaluation.participants
        found = solve(self.programs.withdrawals(tau), self.methods[-1])
        g = self.checker.raised(found.x[:people])
        rate = float(np.maximum(0.0, found.y[-people:]).sum()) / power_of_two_near(tau)
        bounds, value = self.programs.evaluation.bounds(tau), float(found.x[:people].sum())
        return CutStep(tau, bounds, g, self.tangents.slopes(g), value, rate, found.y)

    def lower(self, step: CutStep) -> Callable[[float], float]:
        """Return a lower end for every τ from the step's duals: only right-hand sides move."""
        program, unit = self.programs.withdrawals(step.tau), power_of_two_near(step.tau)
        people = self.programs.evaluation.participants

        def proven(tau: float) -> float:
            right = np.concatenate((program.right[:-people], np.full(people, -tau / unit)))
            return dual_bound(replace(program, right=right), step.duals)

        return proven

    def cut(self, _: CutStep) -> bool:
        """Return False: nothing is missing from a whole program."""
        return False

    def unfit(self) -> bool:
        """Return False: no variable is."""
        return False

    def insist(self) -> bool:
        """Go on to the next method; return whether there is one."""
        if len(self.methods) > 1:
            self.methods.pop()
            return True
        return False
