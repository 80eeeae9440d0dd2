"""Relations too crowded for cuts: whole programs, of which a first-order method proves what it has found.

Here every relation counts as crowded, so that these routes are taken on ones small enough for the judge.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.annotation import TRUE
from recuse.krelation.build import expressions
from recuse.krelation.relation import Tuples
from recuse.solver import limits
from recuse.solver.cuts.restriction import touching
from recuse.solver.fast import fast_programs
from recuse.solver.lp import whole_tuples
from recuse.solver.lp.program import Method
from recuse.solver.reference import reference
from support.judges import relations as judge
from support.strategies import relations

WIDTH = 1e-3
NONE = (
    "CROWD",
    "FEW_TUPLES_EACH",
    "SPARSE_TUPLES_EACH",
    "ROUNDS_AT_FIRST",
    "FEW_OVERLOADED",
    "SECOND_LOOK_GAP",
    "SEEN_AT_ONCE",
)
"""what is taken away: a second look is then always worth it"""
levels = st.sampled_from([0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0])


@pytest.fixture(autouse=True, scope="module")
def crowded():
    """Take the thresholds away, and count the whole programs that were solved."""
    solved, solve = [], whole_tuples.solve
    with pytest.MonkeyPatch.context() as patched:
        for name in NONE:
            patched.setattr(limits, name, 0)
        patched.setattr(whole_tuples, "solve", lambda *asked: (solved.append(asked), solve(*asked))[1])
        yield solved


@given(relation=relations(), tau=levels, stop_above=st.sampled_from([0.0, 1.0, np.inf]))
def test_every_interval_holds_what_the_judge_finds(relation, tau, stop_above):
    programs = fast_programs(relation.positive, relation.participants)
    rows = [(k, q) for k, q in expressions(relation) if k != TRUE]
    for found, truth in (
        (programs.truncated(tau, WIDTH), judge.truncated(rows, tau)),
        (programs.strict_withdrawals(tau, WIDTH, stop_above), judge.strict_withdrawals(rows, tau)),
    ):
        assert found.low <= truth + 1e-7
        assert found.high >= truth - 1e-7
        assert found.width <= WIDTH or found.low > stop_above


def test_the_routes_of_crowds_were_taken(crowded):
    programs = fast_programs(*random_relation(0))
    crowded.clear()
    programs.truncated(2.0, WIDTH)
    programs.strict_withdrawals(2.0, WIDTH)
    assert [method for _, method, *_ in crowded[:1] + crowded[-1:]] == [Method.FIRST_ORDER] * 2


def random_relation(seed: int) -> tuple[Tuples, int]:
    """Return eighty tuples of three of twenty participants."""
    generator = np.random.default_rng(seed)
    members = np.sort(generator.permuted(np.tile(np.arange(20), (80, 1)), axis=1)[:, :3], axis=1)
    return Tuples(np.ones(80, np.int64), (np.arange(81), 3 * np.arange(81)), members.ravel()), 20


def lower_ends(iterations: int) -> list[tuple[float, float]]:
    """Return what a stopped method proves of N_s, and a number not below it, of several relations."""
    found = []
    for seed in range(10):
        tuples, people = random_relation(seed)
        judged = reference(tuples, people)
        met = touching(tuples, judged.loads > 2.0)
        stopped = whole_tuples.strict_withdrawals(met, 2.0, Method.FIRST_ORDER, iterations)
        found.append((stopped.low, judged.strict_withdrawals(2.0, 1e-6).high))
    return found


STOPPED = pytest.mark.parametrize("iterations", [1, 5, 20, 100])


@STOPPED
def test_what_a_stopped_method_proves_is_true(iterations: int) -> None:
    assert all(low <= truth for low, truth in lower_ends(iterations))


def test_multipliers_that_are_taken_at_their_word_prove_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: multipliers of a stopped method are not feasible, and what they lack must be paid for."""
    monkeypatch.setattr(whole_tuples, "dual_bound", lambda program, y: float(program.right @ y))
    assert any(low > truth for iterations in (1, 5, 20, 100) for low, truth in lower_ends(iterations))
