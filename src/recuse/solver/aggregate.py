"""The programs of an aggregate: X(τ) of k-stars and k-triangles, certified, whatever k.

    aggregate_programs(k_stars(graph, 10, Protected.NODE)).truncated(tau, width) → Interval

There are no loads at a withdrawal here, only at none: mechanisms that need N or r refuse aggregates, and the
selective one scores by the deficit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from recuse.graphs.aggregate import Aggregate
from recuse.krelation.relation import Floats, Integers
from recuse.solver.aggregate_alone import Alone
from recuse.solver.aggregate_certain import withdrawn_for_certain
from recuse.solver.aggregate_certificate import initial_loads, snapped, truncated_high
from recuse.solver.aggregate_cutting import AggregateCutting
from recuse.solver.aggregate_exact import exactly_truncated
from recuse.solver.aggregate_focus import Focus
from recuse.solver.aggregate_program import answer_program
from recuse.solver.aggregate_table import Table
from recuse.solver.attempt import attempted
from recuse.solver.certificate import down, up
from recuse.solver.interval import Interval, enclosed, nearest
from recuse.solver.reference import approaches

NARROWER = 1 - 2.0**-20
"""Leaves room for two roundings."""


@dataclass(slots=True, eq=False)
class AggregatePrograms:
    """What mechanisms ask of an aggregate. Each X(τ) starts from the withdrawal of the last one."""

    aggregate: Aggregate
    alone: Alone
    largest: float
    loads: Floats
    """of the groups that do not stand alone"""
    withdrawn: Integers

    def largest_load(self) -> float:
        """Return a double not below any participant's load: for τ from there on X(τ) is the true answer."""
        return self.largest

    def truncated(self, tau: float, width: float) -> Interval:
        """Return an interval that holds X(τ) = min_g F(g) + τ|g|, at most `width` wide.

        Guarantee: for every graph, every k and every τ; where doubles do not close it, integers do.
        """
        if not self.largest_load() > tau:
            return enclosed(self.aggregate.true_answer())
        if not self.alone.sizes:
            return self._together(tau, width)
        found = self._together(tau, width * NARROWER)
        return _shifted(found, self.alone.truncated(Fraction(tau)))

    def _together(self, tau: float, width: float) -> Interval:
        """Return an interval that holds X(τ) of the groups that do not stand alone."""
        aggregate = self.alone.rest
        if not (self.loads > tau).any():
            return enclosed(aggregate.true_answer())
        certain = withdrawn_for_certain(aggregate, self.loads, tau)
        rest, loads, count = certain.rest, certain.loads, int(certain.leavers.sum())
        movable = loads > tau
        if not movable.any():
            return _shifted(enclosed(rest.true_answer()), Fraction(tau) * count)
        focus = Focus.of(rest, movable)
        table = Table.of(rest.k, int(focus.sizes.max()), tau)
        cutting = attempted(
            lambda: AggregateCutting.of(focus, table, tau, loads[movable], self.withdrawn[movable])
        )
        narrow = width * NARROWER
        found = attempted(lambda: cutting.interval(narrow)) if cutting else None
        found = found or attempted(lambda: by_full_program(focus, table, tau, narrow))
        if cutting:
            self.withdrawn[movable] = cutting.best
        return _shifted(found or exactly_truncated(focus, table, Fraction(tau)), Fraction(tau) * count)


def _shifted(found: Interval, more: Fraction) -> Interval:
    """Return the interval moved up."""
    if more == 0 or math.isinf(found.high):
        return found
    low, high = (nearest(more + Fraction(end)) for end in (found.low, found.high))
    return Interval(down(low), up(high))


def by_full_program(focus: Focus, table: Table, tau: float, width: float) -> Interval | None:
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


def aggregate_programs(aggregate: Aggregate) -> AggregatePrograms:
    """Return the programs of an aggregate."""
    alone, people, loads = Alone.of(aggregate), aggregate.participants, initial_loads(aggregate)
    largest = float(loads.max(initial=0.0))
    together = initial_loads(alone.rest) if alone.sizes else loads
    return AggregatePrograms(aggregate, alone, largest, together, np.zeros(people, np.int64))
