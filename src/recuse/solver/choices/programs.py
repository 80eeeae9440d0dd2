"""The programs of an aggregate: X(τ) of k-stars and k-triangles, certified, whatever k.

    choice_programs(k_stars(graph, 10, Protected.NODE)).truncated(tau, width) → Interval

There are no loads at a withdrawal here, only at none: mechanisms that need N or r refuse aggregates, and the
selective one scores by the deficit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from recuse.krelation.choices import Choices
from recuse.krelation.relation import Floats
from recuse.solver.attempt import attempted
from recuse.solver.bounds import down, up
from recuse.solver.choices.binomials import Binomials
from recuse.solver.choices.certificate import initial_loads, snapped, truncated_high
from recuse.solver.choices.cuts import ChoiceCuts
from recuse.solver.choices.exact import exactly_truncated
from recuse.solver.choices.full import answer_program
from recuse.solver.choices.matching import by_matching
from recuse.solver.choices.pendants import Edges, Settled
from recuse.solver.choices.presolve import withdrawn_for_certain
from recuse.solver.choices.restriction import ChoiceFocus
from recuse.solver.interval import Interval, enclosed, nearest
from recuse.solver.reference import approaches

NARROWER = 1 - 2.0**-20
"""Leaves room for two roundings."""


@dataclass(frozen=True, slots=True, eq=False)
class ChoicePrograms:
    """What mechanisms ask of an aggregate. X(τ) is a function of the choices and τ: none knows of another."""

    choices: Choices
    edges: Edges | None
    loads: Floats

    def largest_load(self) -> float:
        """Return a double not below any participant's load: for τ from there on X(τ) is the true answer."""
        return float(self.loads.max(initial=0.0))

    def truncated(self, tau: float, width: float) -> Interval:
        """Return an interval that holds X(τ) = min_g F(g) + τ|g|, at most `width` wide.

        Guarantee: for every graph, every k and every τ; where doubles do not close it, integers do.
        """
        if not self.largest_load() > tau:
            return enclosed(self.choices.true_answer())
        part = self._settled(tau)
        more, narrow = Fraction(tau) * part.gone, width * NARROWER
        if len(part.focus.people) == 0:
            return _shifted(enclosed(part.focus.rest), more)
        found = self.edges and attempted(lambda: by_matching(part.focus, part.table, tau, narrow))
        found = found or self._by_cuts(part, tau, narrow)
        found = found or attempted(lambda: by_full_program(part.focus, part.table, tau, narrow))
        return _shifted(found or exactly_truncated(part.focus, part.table, Fraction(tau)), more)

    def _settled(self, tau: float) -> Settled:
        """Return what is left when those who stay and those who withdraw for certain are settled."""
        if self.edges:
            return self.edges.settled(tau)
        certain = withdrawn_for_certain(self.choices, self.loads, tau)
        focus = ChoiceFocus.of(certain.rest, certain.loads > tau)
        table = Binomials.of(self.choices.k, int(focus.sizes.max(initial=0)), tau)
        return Settled(focus, table, int(certain.leavers.sum()))

    def _by_cuts(self, part: Settled, tau: float, width: float) -> Interval | None:
        """Return an interval that holds X(τ) of what is left; start from no withdrawal."""
        loads = self.loads[part.focus.people]
        cutting = attempted(lambda: ChoiceCuts.of(part.focus, part.table, tau, loads))
        return attempted(lambda: cutting.interval(width)) if cutting else None


def _shifted(found: Interval, more: Fraction) -> Interval:
    """Return the interval moved up."""
    if more == 0 or math.isinf(found.high):
        return found
    low, high = (nearest(more + Fraction(end)) for end in (found.low, found.high))
    return Interval(down(low), up(high))


def by_full_program(focus: ChoiceFocus, table: Binomials, tau: float, width: float) -> Interval | None:
    """Return an interval that holds X(τ), from one linear program; nothing if doubles do not close it.

    Plain, and slow where many can move.
    """
    found, rest = Interval(0.0, float("inf")), enclosed(focus.rest)
    program = answer_program(focus, table)
    for x, low in approaches(program.program):
        proven = down(down(down(low + program.constant) * tau) + rest.low)
        high = truncated_high(focus, table, tau, snapped(x[: len(focus.people)]))
        found = found.narrowed(proven, high)
        if found.width <= width:
            return found
    return None


def choice_programs(choices: Choices) -> ChoicePrograms:
    """Return the programs of an aggregate."""
    return ChoicePrograms(choices, Edges.of(choices), initial_loads(choices))
