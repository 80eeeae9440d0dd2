"""X(τ) of an aggregate in exact arithmetic: Kelley's method, a column for each group, where doubles fail.

At a rational g a group has a cut with integers, tangent there (proofs.md, lemma A5): a slope of B and
the petals that are left. There are finitely many, so this ends for every graph and every k.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

from recuse.solver.choices.binomials import Binomials
from recuse.solver.choices.restriction import ChoiceFocus
from recuse.solver.exact.kelley import ExactCut, Kelley
from recuse.solver.interval import Interval, outward

ZERO, ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True, slots=True, eq=False)
class ExactGroups:
    """The groups of a focus: their owners, units that go with the group, and the owners of every petal."""

    owners: list[list[int]]
    fixed: list[int]
    petals: list[list[list[int]]]
    table: Binomials

    @classmethod
    def of(cls, focus: ChoiceFocus, table: Binomials) -> Self:
        owners = [[p for p in row if p >= 0] for row in focus.group_owners.tolist()]
        petals: list[list[list[int]]] = [[] for _ in owners]
        for group, row in zip(focus.petal_group.tolist(), focus.petal_owners.tolist(), strict=True):
            petals[group].append([p for p in row if p >= 0])
        return cls(owners, focus.fixed.tolist(), petals, table)

    def most(self, group: int) -> int:
        """Return what a group counts without withdrawals."""
        return self.table.values[self.fixed[group] + len(self.petals[group])]

    def cut(self, group: int, g: Sequence[Fraction]) -> ExactCut:
        """Return the cut of what a group counts, tangent at g."""
        t = 1 - sum((g[p] for p in self.owners[group]), start=ZERO)
        if t <= 0:
            return ExactCut(ZERO, 0, {})
        lost = [sum((g[p] for p in petal), start=ZERO) for petal in self.petals[group]]
        active = [petal for petal, loss in zip(self.petals[group], lost, strict=True) if loss < t]
        y = self.fixed[group] * t + sum((t - loss for loss in lost if loss < t), start=ZERO)
        j = int(y // t)
        slope, value = self.table.slopes[j], self.table.values[j]
        constant = slope * (self.fixed[group] + len(active) - j) + value
        slopes = dict.fromkeys(self.owners[group], constant)
        for petal in active:
            for p in petal:
                slopes[p] = slopes.get(p, 0) + slope
        return ExactCut(value * t + slope * (y - j * t), constant, slopes)


def exactly_truncated(focus: ChoiceFocus, table: Binomials, tau: Fraction) -> Interval:
    """Return the narrowest interval of doubles that holds X(τ)."""
    groups, people = ExactGroups.of(focus, table), len(focus.people)
    counted = [c for c in range(len(groups.fixed)) if groups.most(c)]
    master = Kelley.over([*[tau] * people, *(Fraction(groups.most(c)) for c in counted)])
    while True:
        x = master.solve()
        cuts = [groups.cut(c, x[:people]) for c in counted]
        wrong = [i for i, cut in enumerate(cuts) if cut.value > x[people + i] * groups.most(counted[i])]
        if not wrong:
            high = sum((cut.value for cut in cuts), start=tau * sum(x[:people]))
            return outward(master.proven() + focus.rest, high + focus.rest)
        for i in wrong:
            row = {p: Fraction(a) for p, a in cuts[i].slope.items()}
            master.add(row | {people + i: Fraction(groups.most(counted[i]))}, Fraction(cuts[i].constant))
