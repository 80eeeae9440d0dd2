"""Lemmas that solvers and certificates rest on: heavy tuples, deficits, and reductions used together."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from recuse.annotation import Participant
from recuse.graphs.choices import k_stars, k_triangles
from recuse.graphs.protect import Protected
from recuse.krelation.build import from_expressions
from recuse.krelation.relation import Shape, Tuples
from recuse.solver.choices.presolve import withdrawn_for_certain
from recuse.solver.choices.programs import choice_programs
from recuse.solver.choices.restriction import ChoiceFocus
from recuse.solver.reference import reference
from support.judges.choices import graph_of, graphs, judge
from support.profiles import examples
from support.strategies import relations

FUZZ = 1e-6
levels = st.sampled_from([0.25, 0.5, 1.0, 1.5, 3.0, 5.0])


# ------------------------------------------------------------------ lemma H


def lightened(tuples: Tuples, tau: float, share: float) -> Tuples:
    lids = np.maximum(1, np.floor(share * tau * tuples.alternatives())).astype(np.int64)
    return Tuples(np.minimum(tuples.weights, lids), tuples.levels, tuples.members)


@settings(max_examples=examples(60))
@given(relations(signed=False, rows=4, largest=60), st.sampled_from([1.0, 2.0, 5.0]))
def test_cutting_weights_at_twice_tau_changes_no_truncated_answer(relation, tau):
    """Lemma H."""
    heavy, light = relation.positive, lightened(relation.positive, tau, 2)
    one, two = (reference(part, relation.participants).truncated(tau, 1e-6) for part in (heavy, light))
    assert one.low - FUZZ <= two.high
    assert two.low - FUZZ <= one.high


def test_cutting_weights_at_half_of_tau_would():
    relation = from_expressions([(Participant("a"), 10)], Shape.CONJUNCTIONS, signed=False)
    light = lightened(relation.positive, 4.0, 0.5)
    assert (
        reference(light, 1).truncated(4.0, 1e-6).high
        < 3
        < reference(relation.positive, 1).truncated(4.0, 1e-6).low
    )


# ------------------------------------------------------------------ T2


@settings(max_examples=examples(10))
@given(relations(signed=False, rows=4, largest=9), levels)
def test_a_deficit_is_how_many_withdrawals_explain_it(relation, tau):
    """T2: s = max_T (X(T)-X(τ))/T is the least s with H(s) ≤ X(τ); on doublings it is at most halved."""
    found = reference(relation.positive, relation.participants)
    least = found.truncated(tau, 1e-7)
    grid = [(found.truncated(tau * 2**j, 1e-7).high - least.low) / (tau * 2**j) for j in range(1, 12)]
    fine = [(found.truncated(tau * 1.05**j, 1e-7).high - least.low) / (tau * 1.05**j) for j in range(1, 90)]
    s = max(0.0, *fine)
    assert found.least_answer(1.06 * s + 1e-4, 1e-7).low <= least.high + 1e-4
    assert max(0.0, *grid) <= 1.06 * s + 1e-4
    assert s <= 2 * max(0.0, *grid) + 1e-4
    if s > 1e-3:
        assert found.least_answer(0.9 * s, 1e-7).high > least.low - 1e-4


# ------------------------------------------------------------------ lemmas A3, A4 and A6 together


COUNTS = {"star": k_stars, "k-triangle": k_triangles}
CASES = st.tuples(
    graphs(7), st.sampled_from(sorted(COUNTS)), st.sampled_from(["node", "edge"]), st.integers(2, 4)
)


HUB = [(0, leaf) for leaf in range(1, 8)]
HUBS = st.lists(st.sampled_from(list(combinations(range(1, 8), 2))), unique=True, max_size=4).map(
    lambda more: (8, HUB + sorted(more))
)


@settings(max_examples=examples(40))
@given(
    st.tuples(HUBS, st.just("star"), st.just("node"), st.integers(2, 3)),
    st.sampled_from([6.0, 7.5, 9.0, 15.0, 18.0, 20.0]),
)
def test_who_leaves_for_certain_costs_tau_and_nothing_else(case, tau):
    """Lemma A6, by the judge's own X of both databases."""
    (nodes, edges), pattern, protect, k = case
    aggregate = COUNTS[pattern](graph_of(nodes, edges), k, Protected(protect))
    found = withdrawn_for_certain(aggregate, choice_programs(aggregate).loads, tau)
    gone = {aggregate.names[p] if protect == "node" else edges[p] for p in np.flatnonzero(found.leavers)}
    assume(gone)
    kept = [e for e in edges if e not in gone and not gone.intersection(e)]
    left = judge([v for v in range(nodes) if v not in gone], kept, pattern, protect, k)
    whole = judge(range(nodes), edges, pattern, protect, k)
    assert whole.truncated(tau) == pytest.approx(tau * len(gone) + left.truncated(tau), abs=FUZZ)


@settings(max_examples=examples(100))
@given(CASES, st.sampled_from([0.5, 1.0, 2.0, 3.3, 5.0]))
def test_where_a_slope_is_cut_everybody_can_move(case, tau):
    """Lemma A7: so lemma A4 may be used after lemma A3, and after lemma A6 in what is left."""
    (nodes, edges), pattern, protect, k = case
    aggregate = COUNTS[pattern](graph_of(nodes, edges), k, Protected(protect))
    loads = choice_programs(aggregate).loads
    for rest, own in (
        (aggregate, loads),
        ((found := withdrawn_for_certain(aggregate, loads, tau)).rest, found.loads),
    ):
        movable = own > tau
        if not movable.any():
            continue
        focus = ChoiceFocus.of(rest, movable)
        steep = np.array([comb(max(0, int(m) - 1), k - 1) > np.ceil(tau) for m in focus.sizes])
        assert (focus.fixed[steep] == 0).all()
        assert (focus.group_owners[steep] >= 0).all()


def test_cutting_slopes_where_some_cannot_move_would_change_the_answer():
    """The twin: four of a hub's six edges held still, although their loads exceed τ, and slopes cut at τ."""
    tau, k = 1, 2

    def least(most: int) -> int:
        """Return the objective's least value over who of the other two withdraws, slopes cut at `most`."""
        return min(sum(min(most, comb(j, k - 1)) for j in range(6 - gone)) + tau * gone for gone in range(3))

    assert least(tau) < least(10**9)
