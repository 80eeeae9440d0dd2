"""The programs of an aggregate: X(τ) of k-stars and k-triangles, certified, whatever k.

    aggregate_programs(k_stars(graph, 10, Protected.NODE)).truncated(tau, width) → Interval

There are no loads at a withdrawal here, only at none: mechanisms that need N or r refuse aggregates, and the
selective one scores by the deficit.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from recuse.graphs.aggregate import Aggregate
from recuse.krelation.relation import Floats, Integers
from recuse.solver.aggregate_certain import withdrawn_for_certain
from recuse.solver.aggregate_certificate import initial_loads, snapped, truncated_high
from recuse.solver.aggregate_cutting import AggregateCutting
from recuse.solver.aggregate_focus import Focus
from recuse.solver.aggregate_program import answer_program
from recuse.solver.aggregate_table import Table
from recuse.solver.attempt import attempted
from recuse.solver.certificate import down, up
from recuse.solver.interval import Interval, enclosed
from recuse.solver.reference import approaches

NARROWER = 1 - 2.0**-20
"""Leaves room for two roundings."""


@dataclass(slots=True, eq=False)
class AggregatePrograms:
    """What mechanisms ask of an aggregate. Each X(τ) starts from the withdrawal of the last one."""

    aggregate: Aggregate
    loads: Floats
    withdrawn: Integers

    def largest_load(self) -> float:
        """Return a double not below any participant's load: for τ from there on X(τ) is the true answer."""
        return float(self.loads.max(initial=0.0))

    def truncated(self, tau: float, width: float) -> Interval:
        """Return an interval that holds X(τ) = min_g F(g) + τ|g|, at most `width` wide."""
        if not self.largest_load() > tau:
            return enclosed(self.aggregate.true_answer())
        certain = withdrawn_for_certain(self.aggregate, self.loads, tau)
        rest, loads, count = certain.rest, certain.loads, int(certain.leavers.sum())
        movable = loads > tau
        if not movable.any():
            return _shifted(enclosed(rest.true_answer()), tau, count)
        focus = Focus.of(rest, movable)
        table = Table.of(rest.k, int(focus.sizes.max()), tau)
        cutting = AggregateCutting.of(focus, table, tau, loads[movable], self.withdrawn[movable])
        narrow = width * NARROWER
        found = attempted(lambda: cutting.interval(narrow)) or by_full_program(focus, table, tau, narrow)
        self.withdrawn[movable] = cutting.best
        return _shifted(found, tau, count)


def _shifted(found: Interval, tau: float, count: int) -> Interval:
    """Return the interval moved up by τ for each of those who withdraw for certain."""
    more = Fraction(tau) * count
    low, high = (float(more + Fraction(end)) for end in (found.low, found.high))
    return Interval(down(low), up(high)) if count else found


def by_full_program(focus: Focus, table: Table, tau: float, width: float) -> Interval:
    """Return an interval that holds X(τ), from one linear program: plain, and slow where many can move."""
    found, rest = Interval(0.0, float("inf")), enclosed(focus.rest)
    program = answer_program(focus, table)
    for x, low in approaches(program.program):
        proven = down(down(down(low + program.constant) * tau) + rest.low)
        high = truncated_high(focus, table, tau, snapped(x[: len(focus.people)]))
        found = found.narrowed(proven, high)
        if found.width <= width:
            return found
    raise RuntimeError("the linear program could not be solved to the width asked for")


def aggregate_programs(aggregate: Aggregate) -> AggregatePrograms:
    """Return the programs of an aggregate."""
    return AggregatePrograms(aggregate, initial_loads(aggregate), np.zeros(aggregate.participants, np.int64))
