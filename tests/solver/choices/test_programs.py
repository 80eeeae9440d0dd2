"""The theorems on aggregates as laws, with brute force as the judge; beside them twins that fail."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from recuse.graphs.choices import k_stars, k_triangles
from recuse.graphs.protect import Protected
from recuse.solver.choices.binomials import Binomials
from recuse.solver.choices.certificate import PARTS, ChoiceCut, truncated_high, truncated_low
from recuse.solver.choices.cuts import ChoiceCuts
from recuse.solver.choices.programs import ChoicePrograms, by_full_program, choice_programs
from recuse.solver.choices.restriction import ChoiceFocus
from recuse.solver.interval import Interval
from support.judges.choices import Judge, graph_of, graphs, judge, without
from support.profiles import examples

COUNTS = {"star": k_stars, "k-triangle": k_triangles}
CASES = st.tuples(
    graphs(), st.sampled_from(sorted(COUNTS)), st.sampled_from(["node", "edge"]), st.integers(2, 3)
)
levels = st.sampled_from([0.5, 1.0, 2.0, 3.3, 5.0, 8.0])
FUZZ = 1e-6


def judged(case) -> Judge:
    (nodes, edges), pattern, protect, k = case
    return judge(range(nodes), edges, pattern, protect, k)


def programs(case) -> ChoicePrograms:
    (nodes, edges), pattern, protect, k = case
    return choice_programs(COUNTS[pattern](graph_of(nodes, edges), k, Protected(protect)))


def left_by(case, leaver) -> Judge:
    (nodes, edges), pattern, protect, k = case
    return judge(*without(range(nodes), edges, leaver), pattern, protect, k)


def withdrawal(data, people):
    parts = st.sampled_from([0, 0, 1, 2, 3, 4, 6, 8, 12])
    return {p: Fraction(data.draw(parts), 12) for p in people}


# ---------------------------------------------------------------------------------------- theorem A1


@given(CASES, st.data())
def test_the_answer_is_convex_and_falls_with_withdrawals(case, data):
    whole = judged(case)
    g, h = (withdrawal(data, whole.participants) for _ in range(2))
    middle = {p: (g[p] + h[p]) / 2 for p in g}
    most = {p: max(g[p], h[p]) for p in g}
    assert whole.answer(middle) <= (whole.answer(g) + whole.answer(h)) / 2
    assert whole.answer(most) <= whole.answer(g)


@given(CASES, st.data())
def test_who_withdraws_wholly_might_as_well_not_be_there(case, data):
    whole = judged(case)
    assume(whole.participants)
    leaver = data.draw(st.sampled_from(whole.participants))
    less = left_by(case, leaver)
    g = withdrawal(data, whole.participants) | {leaver: Fraction(1)}
    assert whole.answer(g) == less.answer(g)


@settings(max_examples=examples(60))
@given(CASES, st.data(), levels)
def test_a_withdrawal_moves_the_truncated_answer_by_at_most_tau(case, data, tau):
    whole = judged(case)
    assume(whole.participants)
    less = left_by(case, data.draw(st.sampled_from(whole.participants)))
    assert -FUZZ <= whole.truncated(tau) - less.truncated(tau) <= tau + FUZZ


class WithoutClipping(Judge):
    """A broken twin: t is 1 - Σ g even where that is negative."""

    def answer(self, g):
        total = Fraction(0)
        for owners, petals in self.groups:
            t = 1 - sum((g[p] for p in owners), start=Fraction(0))
            y = sum((max(Fraction(0), t - sum(g[p] for p in petal)) for petal in petals), Fraction(0))
            pieces = [comb(j, self.k - 1) * (y - j * t) + comb(j, self.k) * t for j in range(len(petals) + 1)]
            total += max(Fraction(0), *pieces)
        return total


def test_a_kept_fraction_below_zero_would_not_be_natural():
    book = judge(range(4), [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3)], "k-triangle", "node", 2)
    gone = {0: Fraction(1), 1: Fraction(1), 2: Fraction(0), 3: Fraction(0)}
    assert book.answer(gone) == 0
    assert WithoutClipping(book.k, book.groups, book.participants).answer(gone) > 0


# ------------------------------------------------------------------------------------- lemmas A2 to A4


@given(CASES, st.data())
def test_the_loads_are_those_of_the_listed_copies_and_bound_the_answer(case, data):
    whole, found = judged(case), programs(case)
    loads = whole.loads()
    assert found.loads.tolist() == [loads[p] for p in whole.participants]
    g = withdrawal(data, whole.participants)
    assert whole.count() - whole.answer(g) <= sum(g[p] * loads[p] for p in g)
    for p in g:  # lemma A3, at any place
        assert whole.answer(g | {p: Fraction(0)}) - whole.answer(g) <= g[p] * loads[p]


@given(CASES)
def test_nothing_is_truncated_from_the_largest_load_on_and_something_below(case):
    found, truth = programs(case), judged(case).count()
    largest = found.largest_load()
    assume(largest > 0)
    assert found.truncated(largest, 0.01) == Interval(truth, truth)
    assert found.truncated(largest - 0.5, 0.01).low < truth


@settings(max_examples=examples(150))
@given(CASES, levels)
def test_both_routes_hold_the_judges_answer(case, tau):
    found, expected = programs(case), judged(case).truncated(tau)
    width = tau / 1000
    routes = [found.truncated(tau, width)]
    if found.largest_load() > tau:
        focus, table = narrowed(found, tau)
        routes.append(by_full_program(focus, table, tau, width))
        quick = ChoiceCuts.of(focus, table, tau, np.ones(len(focus.people)))
        routes.append(quick.interval(width))
    for interval in routes:
        assert interval.width <= width
        assert interval.low - FUZZ <= expected <= interval.high + FUZZ


def narrowed(found: ChoicePrograms, tau: float) -> tuple[ChoiceFocus, Binomials]:
    focus = ChoiceFocus.of(found.choices, found.loads > tau)
    return focus, Binomials.of(found.choices.k, int(focus.sizes.max()), tau)


# ----------------------------------------------------------------------------------------- lemma A5


@given(CASES, levels, st.data())
def test_any_withdrawal_and_any_portions_of_any_cuts_enclose_the_answer(case, tau, data):
    found = programs(case)
    tau = min(tau, found.largest_load() / 2)
    assume(tau > 0)
    focus, table = narrowed(found, tau)
    shares = st.sampled_from([0, PARTS // 4, PARTS // 3, PARTS // 2, PARTS])
    points = [np.array([data.draw(shares) for _ in focus.people]) for _ in range(2)]
    cuts = [ChoiceCut.at(focus, table, point) for point in points]
    portions = np.array([[data.draw(st.floats(0, 1)) for _ in focus.fixed] for _ in cuts])
    expected = judged(case).truncated(tau)
    assert truncated_low(focus, tau, cuts, portions) <= expected + FUZZ
    assert all(truncated_high(focus, table, tau, point) >= expected - FUZZ for point in points)


def test_a_cut_that_forgets_half_of_its_slope_proves_too_much():
    """The law above can fail: a clique, whose edges each lose at both ends."""
    edges = list(combinations(range(5), 2))
    found = choice_programs(k_stars(graph_of(5, edges), 2, Protected.EDGE))
    focus, table = narrowed(found, 4.0)
    cut = ChoiceCut.at(focus, table, np.zeros(len(focus.people), np.int64))
    expected = judge(range(5), edges, "star", "edge", 2).truncated(4.0)
    whole = np.ones((1, len(focus.fixed)))
    assert truncated_low(focus, 4.0, [cut], whole) <= expected + FUZZ
    assert truncated_low(focus, 4.0, [replace(cut, slope=cut.slope / 2)], whole) > expected + 1


def test_slopes_cut_below_tau_would_change_the_answer():
    found = choice_programs(k_stars(graph_of(9, [(0, i) for i in range(1, 9)]), 2, Protected.EDGE))
    focus, table = narrowed(found, 4.0)
    light = Binomials.of(2, len(table.slopes) - 1, 1.0)
    nobody = np.zeros(len(focus.people), np.int64)
    expected = found.truncated(4.0, 0.01)
    assert truncated_high(focus, light, 4.0, nobody) < expected.low


# ------------------------------------------------------------------------------------------ magnitudes


@pytest.mark.parametrize("k", [2, 3, 10])
@pytest.mark.parametrize("doublings", [3, 20, 60])
def test_a_hub_under_node_privacy_counts_for_tau(k, doublings):
    """X is concave, 0 at 0 and the truth from the hub's load C(d, k) on; withdrawing the hub costs τ."""
    degree, tau = 1000, 2.0**doublings
    found = choice_programs(
        k_stars(graph_of(degree + 1, [(0, i + 1) for i in range(degree)]), k, Protected.NODE)
    )
    expected = min(Fraction(tau), Fraction(comb(degree, k)))
    interval = found.truncated(tau, tau / 100)
    assert interval.width <= tau / 100
    assert Fraction(interval.low) <= expected <= Fraction(interval.high)


@pytest.mark.parametrize("k", [2, 3, 10])
@pytest.mark.parametrize("doublings", [3, 20, 60])
def test_a_hub_under_edge_privacy_keeps_the_edges_that_cost_less_than_tau(k, doublings):
    degree, tau = 1000, 2.0**doublings
    found = choice_programs(
        k_stars(graph_of(degree + 1, [(0, i + 1) for i in range(degree)]), k, Protected.EDGE)
    )
    expected = min(comb(kept, k) + Fraction(tau) * (degree - kept) for kept in range(degree + 1))
    interval = found.truncated(tau, tau / 100)
    assert interval.width <= tau / 100
    assert Fraction(interval.low) <= expected <= Fraction(interval.high)


@pytest.mark.parametrize("protect", Protected)
@pytest.mark.parametrize("make", COUNTS.values(), ids=COUNTS)
def test_an_empty_graph_has_programs(make, protect):
    found = choice_programs(make(graph_of(0, []), 2, protect))
    assert found.largest_load() == 0
    assert found.truncated(1.0, 0.01) == Interval(0.0, 0.0)
