"""What `recuse lab error` measures."""

from __future__ import annotations

import numpy as np
import pytest

from recuse.errors import ParameterError
from recuse.graphs.enumerate import occurrences, owned_by_edges, owned_by_nodes
from recuse.graphs.graph import simple_graph
from recuse.graphs.names import read_pattern
from recuse.graphs.protect import Protected
from recuse.lab.comparators.subgraphs import Motif, SubgraphCount
from recuse.lab.experiments.contestants import MECHANISMS, ON_GRAPHS, ON_RELATIONS, Asked, terms
from recuse.lab.experiments.error import ErrorSummary, measure
from recuse.mechanism.mechanisms import NAMES as OURS
from recuse.privacy import Epsilon
from recuse.solver.reference import reference
from support.neighbours import clique, shared
from support.noise import Seeded

ONE = Epsilon.of(1)


def test_summary_by_hand():
    found = ErrorSummary.of(10.0, np.array([10.0, 11, 12, 13, 20]), 0.0)
    assert found.median_relative_error == pytest.approx(0.2)
    assert found.mean_relative_error == pytest.approx((0 + 0.1 + 0.2 + 0.3 + 1) / 5)
    assert found.trimmed_relative_error == pytest.approx(0.2)
    assert found.p90_relative_error == pytest.approx(0.72)


def test_a_truth_of_zero_is_measured_absolutely():
    assert ErrorSummary.of(0.0, np.array([3.0]), 0.0).median_relative_error == 3


@pytest.mark.parametrize("mechanism", [*OURS, "paper-node", *ON_RELATIONS, "r2t=64", "lp=3"])
@pytest.mark.parametrize("relation", [clique(9), shared(30)], ids=["clique", "shared"])
def test_every_mechanism_is_measured(relation, mechanism):
    found = measure(relation, mechanism, ONE, 30, reference, Seeded(1))
    assert found.true_value == relation.true_answer()
    assert 0 <= found.median_relative_error <= found.p90_relative_error


WHEEL = simple_graph(
    list(range(21)), np.array([(0, i) for i in range(1, 21)] + [(i, i % 20 + 1) for i in range(1, 21)])
)
OWNED = {Protected.NODE: owned_by_nodes, Protected.EDGE: owned_by_edges}


@pytest.mark.parametrize(
    ("mechanism", "pattern", "protect"),
    [
        ("smooth", "triangle", "edge"),
        ("ladder", "2-star", "edge"),
        ("k-triangle", "2-triangle", "edge"),
        ("k-triangle=0.5", "2-triangle", "edge"),
        ("rhms", "rectangle", "edge"),
        ("naive=4", "triangle", "node"),
        ("global", "edge", "edge"),
    ],
)
def test_graph_mechanisms_are_measured(mechanism, pattern, protect):
    shape, who = read_pattern(pattern), Protected(protect)
    relation = OWNED[who](occurrences(WHEEL, shape))
    asked = Asked(SubgraphCount(WHEEL, Motif.of(shape), who), 1 if mechanism == "global" else None)
    found = measure(relation, mechanism, ONE, 30, reference, Seeded(1), asked)
    assert found.true_value == relation.true_answer() == Motif.of(shape).count(WHEEL)
    assert 0 < found.median_relative_error <= found.p90_relative_error


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_each_states_its_terms(mechanism):
    assert "ε" in terms(mechanism).privacy
    assert (terms(mechanism).guesses == "nothing") == (
        mechanism in (*OURS, "paper-node", "global", "smooth", "smooth-tight", "ladder", "opt2")
    )


@pytest.mark.parametrize("mechanism", [*ON_GRAPHS, "global"])
def test_what_does_not_apply_says_so(mechanism):
    with pytest.raises(ParameterError):
        measure(clique(3), mechanism, ONE, 10, reference)


@pytest.mark.parametrize("wrong", ["r2t=", "r2t=x", "r2t=-1", "lp=inf", "selective=3"])
def test_a_guess_is_a_number(wrong):
    with pytest.raises(ParameterError, match="guess"):
        measure(clique(3), wrong, ONE, 10, reference)


def test_bad_input():
    with pytest.raises(ParameterError, match="selective"):
        measure(clique(3), "magic", ONE, 10, reference)
    with pytest.raises(ParameterError, match="run"):
        measure(clique(3), "paper", ONE, 0, reference)
