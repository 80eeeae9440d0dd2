"""X(τ) with thresholds: one suite for both solvers, the laws of neighbours, torture, and twins."""

from __future__ import annotations

import random
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.annotation import TRUE, Annotation, Participant, at_least, conjunction, disjunction, threshold
from recuse.krelation.build import expressions, from_expressions, without
from recuse.krelation.relation import NO_TUPLES, KRelation, Shape
from recuse.solver import attempt
from recuse.solver.interval import Interval
from recuse.solver.lp.extended import power_of_two_near, truncated_program
from recuse.solver.lp.program import Method, solve
from recuse.solver.programs import TruncationPrograms
from recuse.solver.thresholds import programs as room
from recuse.solver.thresholds.exact import exact_load, exact_truncated
from recuse.solver.thresholds.programs import threshold_programs, threshold_reference
from support.judges import relations as judge
from support.profiles import examples
from support.strategies import people, relations

SOLVERS = pytest.mark.parametrize("solver", [threshold_programs, threshold_reference], ids=["quick", "plain"])
WIDTH = 1e-3
levels = st.sampled_from([0.0625, 0.25, 0.5, 1.0, 1.5, 3.0, 8.0])


def rows_of(relation: KRelation) -> list[tuple[Annotation, int]]:
    return [(k, q) for k, q in expressions(relation) if k != TRUE]


@SOLVERS
@given(relation=relations(Shape.THRESHOLDS), tau=levels)
def test_every_interval_holds_what_the_judge_finds(solver, relation, tau):
    found = solver(relation.positive, relation.participants).truncated(tau, WIDTH)
    truth = judge.truncated(rows_of(relation), tau)
    assert found.low <= truth + 1e-7
    assert found.high >= truth - 1e-7
    assert found.width <= WIDTH


@SOLVERS
@given(relation=relations(Shape.THRESHOLDS), leaver=people, tau=levels)
def test_a_withdrawal_moves_the_truncated_answer_by_at_most_tau(solver, relation, leaver, tau):
    left = without(relation, leaver)
    one = solver(left.positive, left.participants).truncated(tau, WIDTH)
    two = solver(relation.positive, relation.participants).truncated(tau, WIDTH)
    change = left.constant - relation.constant
    assert change == 0
    assert one.low <= two.high
    assert two.low - one.high <= tau


@given(relation=relations(Shape.THRESHOLDS))
def test_from_the_largest_load_on_nothing_is_truncated(relation):
    programs = threshold_programs(relation.positive, relation.participants)
    tau = programs.largest_load()
    assert programs.truncated(max(tau, 1e-3), WIDTH).high == pytest.approx(relation.positive.total())
    if tau:
        truth = exact_truncated(relation.positive, relation.participants, Fraction(tau))
        assert truth.high == pytest.approx(relation.positive.total(), rel=1e-12)


@given(relation=relations(Shape.THRESHOLDS))
def test_from_the_exact_load_on_nothing_is_truncated(relation):
    tuples, people = relation.positive, relation.participants
    tau = exact_load(tuples, people)
    assert exact_truncated(tuples, people, tau).low == pytest.approx(tuples.total(), rel=1e-12)


def test_loads_beyond_doubles_end_the_levels_too(monkeypatch):
    """Without an end there was a program for each of a thousand levels."""

    def fails(*_):
        raise OverflowError

    relation, _ = tormented(7)
    expected = threshold_programs(relation.positive, relation.participants)
    monkeypatch.setattr(room, "largest_load", fails)
    found = threshold_programs(relation.positive, relation.participants)
    assert expected.largest_load() / 100 <= found.largest_load() <= expected.largest_load() * 100


def test_many_owners_hold_a_group_far_below_its_weight():
    """A group of a hundred that needs forty falls when 61 leave: it is whole from 1/61 on."""
    group = threshold([Participant(i) for i in range(100)], [1] * 100, 40)
    relation = from_expressions([(group, 1)], Shape.THRESHOLDS, signed=False)
    for solver in (threshold_programs, threshold_reference):
        programs = solver(relation.positive, 100)
        assert programs.largest_load() == pytest.approx(1 / 61)
        assert programs.truncated(1 / 60, 1e-6).high == pytest.approx(1.0)
        assert programs.truncated(1 / 122, 1e-6).high == pytest.approx(0.5)


@SOLVERS
def test_no_tuples(solver):
    programs = solver(NO_TUPLES, 0)
    assert programs.largest_load() == 0.0
    assert programs.truncated(1.0, WIDTH) == Interval(0.0, 0.0)


# ------------------------------------------------------------------ torture


def nested(source: random.Random, everybody: int, depth: int) -> Annotation:
    if depth == 0 or source.random() < 0.2:
        return conjunction(*(Participant(source.randrange(everybody)) for _ in range(source.randint(1, 3))))
    parts = [nested(source, everybody, depth - 1) for _ in range(source.randint(1, 5))]
    build = source.choice((conjunction, disjunction, threshold, at_least if depth == 1 else threshold))
    if build in (conjunction, disjunction):
        return build(*parts)
    values = [source.choice((1, 1, 2, 7, 10**6, 2**40 + 1, 2**50)) for _ in parts]
    least = source.choice((1, 2, len(parts), sum(values), sum(values) // 2 + 1, 10**6, 2**40))
    return build(parts, [min(v, 2**50) for v in values], min(max(1, least), 2**50))


def tormented(seed: int) -> tuple[KRelation, float]:
    source = random.Random(seed)
    everybody = source.randint(1, 8)
    weights = (1, 2, 10**6, 2**53 + 1, 2**62)
    rows = [
        (nested(source, everybody, source.randint(1, 3)), source.choice(weights))
        for _ in range(source.randint(1, 5))
    ]
    tau = 2.0 ** source.choice((-30, -6, -3, -1, 0, 1, 5, 20, 40, 62, 80)) * source.choice((1, 1.25, 1 / 3))
    return from_expressions(rows, Shape.THRESHOLDS, signed=False), tau


def answered(seed: int, solver) -> bool:
    """Return whether a question is answered as narrowly as it is asked, and as rationals answer it."""
    relation, tau = tormented(seed)
    found = solver(relation.positive, relation.participants).truncated(tau, tau / 100)
    finest = max(tau / 100, 4 * np.spacing(float(relation.positive.total())))
    if found.width > finest:
        return False
    if relation.participants > 6:
        return True
    truth = exact_truncated(relation.positive, relation.participants, Fraction(tau))
    return found.low <= truth.high and truth.low <= found.high


@pytest.mark.parametrize("chunk", range(3))
def test_tormenting_relations_are_answered(chunk):
    """Others in every run; a failure names its seed."""
    start = random.SystemRandom().randrange(10**6)
    assert [
        seed for seed in range(start, start + examples(100)) if not answered(seed, threshold_programs)
    ] == []


def test_the_reference_answers_too():
    assert [seed for seed in range(30) if not answered(seed, threshold_reference)] == []


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(20))
def test_ten_thousand_tormenting_relations_are_answered(chunk):
    seeds = range(chunk * 500, (chunk + 1) * 500)
    assert [seed for seed in seeds if not answered(seed, threshold_programs)] == []


def test_levels_at_the_ends_of_doubles():
    relation = from_expressions(
        [(threshold([Participant(i) for i in range(5)], [1] * 5, 3), 7)], Shape.THRESHOLDS, signed=False
    )
    programs = threshold_programs(relation.positive, 5)
    for tau in (5e-324, 1e-300, 2.0**-40, 1e300):
        found = programs.truncated(tau, max(tau / 100, 5e-324))
        assert found.width <= max(tau / 100, 5e-324)
        assert found.high <= 7


# ------------------------------------------------------------------ twins


@dataclass(frozen=True, slots=True, eq=False)
class Trusting:
    """The broken twin that believes what HiGHS says of its optimum, asked for few digits."""

    tuples: object
    participants: int

    def truncated(self, tau: float, width: float) -> Interval:
        program = truncated_program(self.tuples, self.participants, tau)
        found = solve(program, Method.FIRST_ORDER, 200, 0.1)
        value = power_of_two_near(tau) * float(program.cost @ found.x)
        return Interval(max(0.0, value - width / 2), max(0.0, value) + width / 2)


def test_the_twin_that_believes_a_solver_is_caught():
    small = [seed for seed in range(300) if tormented(seed)[0].participants <= 6][:40]
    assert [seed for seed in small if not answered(seed, threshold_programs)] == []
    assert any(not answered(seed, Trusting) for seed in small)


def test_the_twin_without_a_last_resort_is_caught(monkeypatch):
    monkeypatch.setattr(room, "exact_truncated", lambda *_: None)

    def unanswered(seed: int) -> bool:
        relation, tau = tormented(seed)
        programs: TruncationPrograms = threshold_programs(relation.positive, relation.participants)
        return programs.truncated(tau, tau / 100) is None

    assert any(map(unanswered, range(200)))


def test_whatever_doubles_raise_is_answered_all_the_same(monkeypatch):
    def fails(*_):
        raise attempt.FAILURES[0]

    monkeypatch.setattr(room, "truncated_program", fails)
    monkeypatch.setattr(room.Flat, "of", fails)
    relation = from_expressions(
        [(threshold([Participant(i) for i in range(5)], [1] * 5, 3), 7)], Shape.THRESHOLDS, signed=False
    )
    found = threshold_programs(relation.positive, 5).truncated(0.5, 1e-9)
    assert found.low == pytest.approx(1.5) == found.high
