"""The integer index is decided exactly, also where doubles cannot tell."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.annotation import TRUE, Participant
from recuse.exponential import exponential
from recuse.krelation.build import expressions, from_expressions
from recuse.krelation.evaluate import Evaluation
from recuse.krelation.relation import Shape
from recuse.solver.exact.programs import least_load
from recuse.solver.fast import fast_programs
from recuse.solver.index.integer import integer_index
from recuse.solver.interval import Interval
from recuse.solver.lp.extended import FullPrograms
from recuse.solver.lp.refinement import rational, refinements
from recuse.solver.reference import reference
from support.judges import relations as judge
from support.strategies import relations


@dataclass
class Vague:
    """Programs whose certified intervals decide nothing."""

    hint: float = 0.0

    def index(self, *_):
        return Interval(self.hint, math.inf)

    def withdrawals(self, *_):
        return Interval(0.0, math.inf)


def by_definition(rows, theta, beta, factor):
    s = 0
    while factor * judge.least_load(rows, s) > theta * math.exp(beta * s) * (1 + 1e-9):
        s += 1
    return s


@given(relations(rows=5), st.sampled_from([1, 2]), st.sampled_from([Fraction(1, 10), Fraction(1, 2)]))
def test_it_is_what_the_definition_says(relation, factor, beta):
    rows = [(k, q) for k, q in expressions(relation) if k != TRUE]
    found = reference(relation.positive, relation.participants).integer_index(Fraction(1), beta, factor)
    assert found == by_definition(rows, 1.0, float(beta), factor)


@given(relations(rows=4), st.sampled_from([0.0, 3.0]))
def test_intervals_that_decide_nothing_change_nothing(relation, hint):
    evaluation = Evaluation.of(relation.positive, relation.participants)
    sure = reference(relation.positive, relation.participants).integer_index(Fraction(1), Fraction(1, 4), 1)
    assert integer_index(Vague(hint), evaluation, Fraction(1), Fraction(1, 4), 1) == sure


@dataclass
class Precise:
    """Programs that know the real index as closely as asked for, and nothing else."""

    relation: object

    def index(self, theta, beta, width):
        found = fast_programs(self.relation.positive, self.relation.participants).index(
            theta, beta, width / 4
        )
        return Interval(found.low - width / 4, found.high + width / 4)


@given(relations(rows=4), st.sampled_from([Fraction(1, 10), Fraction(1, 3)]))
def test_an_interval_without_an_integer_inside_decides(relation, beta):
    """Where one is inside, more is asked for; nothing else may be."""
    evaluation = Evaluation.of(relation.positive, relation.participants)
    programs = fast_programs(relation.positive, relation.participants)
    sure = programs.integer_index(Fraction(1), beta, 2)
    real = programs.index(0.5, float(beta), 1e-6)
    if real.low > 0 and 0.1 < real.low % 1 < 0.9:
        assert integer_index(Precise(relation), evaluation, Fraction(1), beta, 2) == sure
        assert sure == math.ceil(real.low)


@pytest.mark.parametrize("excess", [-1, 1])
def test_a_tie_to_forty_digits_is_decided(excess):
    """Two participants with a tuple of weight 2Q each: Γ(1) = Q; θe^β lies a relative 10⁻⁴⁰ beside it."""
    weight = 2 * 10**45
    relation = from_expressions([(Participant("a"), weight), (Participant("b"), weight)], Shape.CONJUNCTIONS)
    evaluation = Evaluation.of(relation.positive, relation.participants)
    least = Fraction(weight, 2)
    e, _ = exponential(Fraction(1, 2), 120)
    theta = least / e * (1 - Fraction(excess, 10**40))
    found = integer_index(reference(relation.positive, 2), evaluation, theta, Fraction(1, 2), 1)
    assert found == (1 if excess < 0 else 2)


@given(relations(rows=4), st.integers(0, 3))
def test_the_least_load_is_exact(relation, s):
    evaluation = Evaluation.of(relation.positive, relation.participants)
    rows = [(k, q) for k, q in expressions(relation) if k != TRUE]
    low, high = least_load(evaluation, Fraction(s))
    assert low == high
    assert float(low) == pytest.approx(judge.least_load(rows, s), abs=1e-7)


def test_any_multipliers_prove_a_bound():
    relation = from_expressions([(Participant("a"), 3), (Participant("b"), 5)], Shape.CONJUNCTIONS)
    programs = FullPrograms(Evaluation.of(relation.positive, 2))
    program = rational(programs.least_load(1.0, 1.0))
    best = next(iter(refinements(program)))[1]
    assert program.bound([Fraction(0)] * len(program.rows)) == 0
    assert program.bound([value * 7 - 1 for value in best]) <= Fraction(15, 8)
    assert program.bound(best) > Fraction(15, 8) - Fraction(1, 1000)
