"""X(τ) and N_s(τ) from programs with the tuples left in: for alternatives (OR), few tuples, and crowds.

A cut of max_C (1 - m_C·g)⁺ knows one alternative at a time, and a product with a thousand buyers has a
thousand. Where every alternative is one participant, the dual of X is a flow from tuples (capacity q_t)
through their participants (capacity τ). Elsewhere HiGHS solves the program: many overloaded participants make
masters of cuts dense, but a first-order method passes over each tuple once an iteration, whoever they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

import numpy as np

from recuse.deferred import sparse
from recuse.krelation.evaluate import Evaluation
from recuse.krelation.relation import Floats, Tuples, exact_sum
from recuse.solver import limits
from recuse.solver.bounds import down, dual_bound, up
from recuse.solver.certificate import Checker
from recuse.solver.cuts.restriction import Focus
from recuse.solver.interval import Interval, enclosed
from recuse.solver.lp.extended import FullPrograms, power_of_two_near
from recuse.solver.lp.program import LinearProgram, Method, Suggestion, patience, solve

LARGEST_FLOW = 2**31 - 1
"""scipy's flows are 32-bit integers."""
METHODS = (Method.FIRST_ORDER, Method.INTERIOR)
"""How the whole program is solved, the quicker method first."""

CountOfFocus = Callable[[Focus, float, Method, int, float], Interval]
"""N or N_s of a focus at τ: by which method, in how many iterations, to which relative gap."""


def has_alternatives(tuples: Tuples) -> bool:
    """Return whether some annotation contains an OR."""
    return any(len(level) - 1 < level[-1] for level in tuples.levels[0::2])


def truncated(focus: Focus, tau: float, width: float, methods: Sequence[Method]) -> Interval | None:
    """Return an interval that holds X(τ), at most `width` wide; nothing if no method closes it."""
    evaluation = focus.evaluation()
    checker, program = Checker.of(evaluation), FullPrograms(evaluation).truncated(tau)
    found, rest, unit = Interval(0.0, math.inf), enclosed(focus.rest), power_of_two_near(tau)
    bounds = evaluation.bounds(tau)
    closed = width / min(float(exact_sum(focus.tuples.weights)), float(bounds.sum()))
    for g, duals in _suggestions(focus.tuples, program, tau, bounds, methods, closed):
        point = checker.lowered(g + checker.grid / 2)
        high = up(checker.truncated_high(point, tau) + rest.high)
        found = found.narrowed(down(unit * dual_bound(program, duals) + rest.low), high)
        if found.width <= width:
            return found
    return None


def strict_withdrawals(
    focus: Focus,
    tau: float,
    method: Method,
    iterations: int = limits.FIRST_ORDER_ITERATIONS,
    gap: float = limits.GLIMPSE_GAP,
) -> Interval:
    """Return an interval that holds N_s(τ), as wide as the method leaves it, from whole tuples."""
    evaluation = focus.evaluation()
    program, lift = FullPrograms(evaluation).strict_withdrawals(tau), Checker.of(evaluation).strictly_within
    return _counted(program, lambda g: lift(g, tau), evaluation, solve(program, method, iterations, gap))


def withdrawals(focus: Focus, tau: float, method: Method, iterations: int, gap: float) -> Interval:
    """Return an interval that holds N(τ), as wide as the method leaves it, from whole tuples."""
    evaluation = focus.evaluation()
    program, lift = FullPrograms(evaluation).withdrawals(tau), Checker.of(evaluation).within
    return _counted(program, lambda g: lift(g, tau), evaluation, solve(program, method, iterations, gap))


def _counted(
    program: LinearProgram, lift: Callable[[Floats], Floats], evaluation: Evaluation, suggested: Suggestion
) -> Interval:
    """Return what a suggestion proves of a count: its multipliers from below, its lifted point from above."""
    high = Checker.of(evaluation).size(lift(suggested.x[: evaluation.participants]))
    return Interval(0.0, high).narrowed(dual_bound(program, suggested.y), high)


def glimpsed(count: CountOfFocus, focus: Focus, tau: float, width: float, stop_above: float) -> Interval:
    """Return an interval that holds a count: what a first-order method sees, and sees closer if that may do.

    What is left open falls about as the gap that it is asked for, so the first look tells how close the
    second must be.
    """
    members = len(focus.tuples.members)
    ahead = min(limits.GLIMPSE_ITERATIONS, patience(members, limits.GLIMPSE_WORK))
    found = count(focus, tau, Method.FIRST_ORDER, ahead, limits.GLIMPSE_GAP)
    if found.width <= width or found.low > stop_above:
        return found
    gap = limits.GLIMPSE_GAP * limits.SECOND_LOOK_MARGIN * width / found.width
    if gap < limits.SECOND_LOOK_GAP:
        return found
    again = patience(members, limits.WHOLE_TUPLES_WORK)
    closer = count(focus, tau, Method.FIRST_ORDER, again, gap)
    return found.narrowed(closer.low, closer.high)


def _suggestions(
    tuples: Tuples,
    program: LinearProgram,
    tau: float,
    bounds: Floats,
    methods: Sequence[Method],
    closed: float,
) -> Iterator[tuple[Floats, Floats]]:
    """Yield withdrawals and multipliers of the clauses, the cheapest to find first."""
    if len(tuples.levels) == 2 and len(tuples.members) == len(tuples.clauses) - 1:
        yield _flow(tuples, tau, bounds)
    iterations = patience(program.rows.nnz, limits.WHOLE_TUPLES_WORK)
    for method in methods:
        for gap in limits.WHOLE_TUPLES_GAPS if method is Method.FIRST_ORDER else (0.0,):
            found = solve(program, method, iterations, gap * closed)
            yield found.x[: len(bounds)], found.y
            if found.stopped:
                break


def _flow(tuples: Tuples, tau: float, bounds: Floats) -> tuple[Floats, Floats]:
    """Return the minimum cut as withdrawals, and the flow of every (tuple, participant) pair in the
    program's unit, a power of two near τ.
    """
    count, people = len(tuples), len(bounds)
    unit = _unit(float(bounds.sum()) / tau, tau)
    scale = unit / tau
    most = np.floor(bounds * scale)
    owner = np.repeat(np.arange(count), np.diff(tuples.levels[0]))
    carriers = np.add.reduceat(most[tuples.members], tuples.levels[0][:-1])
    supply = np.minimum(np.floor(tuples.weights_down() * scale), carriers)
    source, sink = count + people, count + people + 1
    start = np.concatenate((np.full(count, source), owner, count + np.arange(people)))
    end = np.concatenate((np.arange(count), count + tuples.members, np.full(people, sink)))
    capacity = np.concatenate((supply, most[tuples.members], most)).astype(np.int32)
    graph = sparse.csr_array((capacity, (start, end)), shape=(sink + 1, sink + 1))
    flow = sparse.csgraph.maximum_flow(sparse.csr_matrix(graph), source, sink).flow
    residual = sparse.csr_matrix(graph - flow)
    residual.eliminate_zeros()
    reached = np.zeros(sink + 1, bool)
    reached[sparse.csgraph.breadth_first_order(residual, source, return_predecessors=False)] = True
    carried = np.asarray(flow[owner, count + tuples.members]).ravel()
    return reached[count:source].astype(np.float64), carried / scale / power_of_two_near(tau)


def _unit(people: float, tau: float) -> int:
    """Return the capacity that stands for τ: one that makes all capacities integers, else as fine as fits."""
    exact, finest = Fraction(tau).numerator, LARGEST_FLOW // max(1, math.ceil(people))
    return exact if exact <= finest else max(1, finest // 2)
