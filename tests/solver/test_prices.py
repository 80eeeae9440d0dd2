"""Prices go through every room of the solver: X and N_s of participants who do not all pay the same."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recuse.krelation.build import expressions, without
from recuse.krelation.evaluate import Evaluation
from recuse.krelation.prices import Prices
from recuse.krelation.relation import Shape
from recuse.solver.bounds import Cut, truncated_low
from recuse.solver.certificate import Checker
from recuse.solver.cuts.restriction import focus_answer
from recuse.solver.cuts.truncation import Truncation
from recuse.solver.exact.programs import ExactPrograms
from recuse.solver.fast import fast_programs
from recuse.solver.lp import whole_tuples
from recuse.solver.lp.master import Tally
from recuse.solver.reference import reference
from support.judges import relations as judge
from support.profiles import examples
from support.strategies import NAMES, people, relations

WIDTH = 1e-3
TABLE = (Fraction(1), Fraction(13, 8), Fraction(7), Fraction(25))
taus = st.sampled_from([0.25, 0.5, 1.0, 1.5, 2.0, 3.0])
kinds = st.lists(st.integers(0, len(TABLE) - 1), min_size=len(NAMES), max_size=len(NAMES)).map(
    lambda drawn: dict(zip(NAMES, drawn, strict=True))
)


def rows_of(relation):
    return [(k, q) for k, q in expressions(relation) if q > 0]


def priced(relation, kind) -> Prices:
    return Prices(TABLE, np.array([kind[name] for name in relation.names], np.int64))


def in_floats(kind):
    return {name: float(TABLE[number]) for name, number in kind.items()}


def exactly(tuples, participants, prices):
    evaluation = Evaluation.of(tuples, participants, prices)
    found = ExactPrograms(evaluation, Checker.of(evaluation).initial_loads())

    class Rational:
        def truncated(self, tau, width):
            return found.truncated(Fraction(tau))

        def strict_withdrawals(self, tau, width):
            return found.withdrawals(Fraction(tau), 1)

    return Rational()


SOLVERS = pytest.mark.parametrize("solver", [reference, fast_programs, exactly])


@SOLVERS
@settings(max_examples=examples(60))
@given(relation=relations(), kind=kinds, tau=taus)
def test_every_interval_holds_what_the_judge_finds(solver, relation, kind, tau):
    programs = solver(relation.positive, relation.participants, priced(relation, kind))
    rows, prices = rows_of(relation), in_floats(kind)
    for found, truth in (
        (programs.truncated(tau, WIDTH), judge.truncated(rows, tau, prices)),
        (programs.strict_withdrawals(tau, WIDTH), judge.strict_withdrawals(rows, tau, prices)),
    ):
        assert found.low <= truth + 1e-6
        assert found.high >= truth - 1e-6
        assert found.width <= WIDTH


@settings(max_examples=examples(60))
@given(relation=relations(Shape.CONJUNCTIONS), kind=kinds, tau=taus)
def test_cuts_and_whole_tuples_agree_with_the_judge(relation, kind, tau):
    evaluation = Evaluation.of(relation.positive, relation.participants, priced(relation, kind))
    loads = Checker.of(evaluation).initial_loads()
    movable = focus_answer(evaluation, loads > evaluation.bounds(tau))
    if len(movable.tuples) == 0:
        return
    truth = judge.truncated(rows_of(relation), tau, in_floats(kind))
    cuts = Truncation.of(movable, tau, Tally()).interval(WIDTH)
    whole = whole_tuples.truncated(movable, tau, WIDTH, whole_tuples.METHODS)
    for found in (cuts, whole):
        assert found is None or found.low - 1e-6 <= truth <= found.high + 1e-6


@settings(max_examples=examples(60))
@given(relation=relations(), kind=kinds, leaver=people, tau=taus)
def test_a_withdrawal_moves_x_by_its_own_price_and_the_count_by_one(relation, kind, leaver, tau):
    left = without(relation, leaver)
    small, large = (
        fast_programs(part.positive, part.participants, priced(part, kind)) for part in (left, relation)
    )
    one, two = small.truncated(tau, WIDTH), large.truncated(tau, WIDTH)
    assert one.low <= two.high
    assert two.low - one.high <= tau * float(TABLE[kind[leaver]])
    one, two = small.strict_withdrawals(tau, WIDTH), large.strict_withdrawals(tau, WIDTH)
    assert one.low <= two.high
    assert two.low <= one.high + 1


def test_a_certificate_that_knows_one_price_is_caught():
    """The twin: everybody is charged the largest bound, and the lower end is above X."""
    cut = Cut(10.0, np.array([10.0, 10.0]), np.zeros(1))
    bounds = np.array([1.0, 8.0])
    assert truncated_low(cut, bounds, 0) <= 1.0, "a tuple of weight 10 goes with whoever pays 1"
    assert truncated_low(cut, np.full(2, bounds.max()), 0) > 1.0


@given(relation=relations(), kind=kinds)
def test_from_the_largest_load_on_nothing_is_truncated(relation, kind):
    programs = fast_programs(relation.positive, relation.participants, priced(relation, kind))
    tau = programs.largest_load()
    if tau > 0:
        found = programs.truncated(tau, WIDTH)
        assert found.low <= relation.positive.total() <= found.high
        assert programs.strict_withdrawals(tau, WIDTH).high == 0
        assert not math.isinf(tau)
