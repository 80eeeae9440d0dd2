"""The line that one full program proves lies below N at every τ, and meets it where it was solved."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from recuse.annotation import TRUE
from recuse.krelation.build import expressions
from recuse.krelation.evaluate import Evaluation
from recuse.solver import limits
from recuse.solver.index.full_newton import Whole
from recuse.solver.lp.program import Method
from support.judges import relations as judge
from support.neighbours import clique, shared
from support.strategies import relations

taus = st.sampled_from([0.5, 1.0, 1.5, 2.0, 4.0, 7.0])


@given(relations(largest=9), taus, taus)
def test_the_line_is_below_the_count_everywhere(relation, tau, other):
    assume(len(relation.positive))
    rows = [(k, q) for k, q in expressions(relation) if k != TRUE]
    whole = Whole.of(Evaluation.of(relation.positive, relation.participants))
    whole.insist()
    step = whole.at(tau).step(tau)
    assert step is not None
    line = whole.lower(step)
    assert line(tau) == pytest.approx(judge.withdrawals(rows, tau), abs=1e-6)
    assert line(other) <= judge.withdrawals(rows, other) + 1e-7
    assert step.value == pytest.approx(judge.withdrawals(rows, tau), abs=1e-6)


@pytest.mark.parametrize("relation", [clique(6), shared(9)], ids=["clique", "shared"])
def test_the_point_keeps_everybody_within_tau(relation):
    evaluation = Evaluation.of(relation.positive, relation.participants)
    whole = Whole.of(evaluation)
    step = whole.step(4.0)
    assert (evaluation.loads(whole.checker.within(step.g, 4.0)) <= 4.0).all()


def test_it_gives_up_after_so_many_programs_and_insists_once():
    whole = Whole.of(Evaluation.of(clique(4).positive, 4))
    assert (whole.methods[-1], whole.insist(), whole.methods[-1]) == (Method.INTERIOR, True, Method.SIMPLEX)
    assert not whole.insist()
    assert not whole.cut(whole.step(3.0))
    assert not whole.unfit()
    whole.left = 1
    assert whole.step(3.0) is not None
    assert whole.step(3.0) is None
    assert limits.FULL_NEWTON_PROGRAMS > 1
