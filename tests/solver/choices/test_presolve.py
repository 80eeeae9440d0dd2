"""Who withdraws for certain costs τ, and nothing else changes: X(τ) is that of the rest plus τ for each."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.graphs.choices import k_stars
from recuse.graphs.protect import Protected
from recuse.solver.choices.certificate import initial_loads
from recuse.solver.choices.presolve import withdrawn_for_certain
from support.judges.choices import graph_of, graphs, judge, without

levels = st.sampled_from([0.5, 1.0, 2.0, 3.3, 5.0, 8.0])


@given(graphs(), st.integers(2, 3), levels)
def test_leavers_cost_tau_each_and_the_rest_is_as_before(graph, k, tau):
    nodes, edges = graph
    choices = k_stars(graph_of(nodes, edges), k, Protected.NODE)
    found = withdrawn_for_certain(choices, initial_loads(choices), tau)
    names, rest = list(range(nodes)), edges
    for leaver in np.flatnonzero(found.leavers).tolist():
        names, rest = without(names, rest, leaver)
    whole = judge(range(nodes), edges, "star", "node", k).truncated(tau)
    left = judge(names, rest, "star", "node", k).truncated(tau)
    assert left + tau * found.leavers.sum() == pytest.approx(whole, abs=1e-6)
    assert (initial_loads(found.rest) == found.loads).all()
    assert (initial_loads(choices)[found.leavers] > tau).all()


def test_a_hub_of_leaves_withdraws_and_leaves_nothing():
    star = k_stars(graph_of(41, [(0, i) for i in range(1, 41)]), 2, Protected.NODE)
    found = withdrawn_for_certain(star, initial_loads(star), 100.0)
    assert np.flatnonzero(found.leavers).tolist() == [0]
    assert not found.loads.any()


def test_nobody_withdraws_where_nobody_is_overloaded():
    path = k_stars(graph_of(4, [(0, 1), (1, 2), (2, 3)]), 2, Protected.NODE)
    found = withdrawn_for_certain(path, initial_loads(path), 5.0)
    assert not found.leavers.any()
    assert found.rest is path
