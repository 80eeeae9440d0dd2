"""The exact programs: equal to the judge where doubles suffice, self-certified, the same by either rule."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recuse.annotation import TRUE
from recuse.graphs.choices import k_stars, k_triangles
from recuse.graphs.protect import Protected
from recuse.krelation.build import expressions
from recuse.krelation.evaluate import Evaluation
from recuse.krelation.relation import KRelation
from recuse.solver import limits
from recuse.solver.certificate import Checker
from recuse.solver.choices.binomials import Binomials
from recuse.solver.choices.exact import exactly_truncated
from recuse.solver.choices.programs import choice_programs
from recuse.solver.choices.restriction import ChoiceFocus
from recuse.solver.exact.kelley import Tangents
from recuse.solver.exact.programs import ExactPrograms, exact_loads
from recuse.solver.exact.simplex import Dictionary, ExactProgram
from recuse.solver.interval import Interval, outward
from support.judges import relations as judge
from support.judges.choices import graph_of, graphs
from support.profiles import examples
from support.strategies import relations

levels = st.sampled_from([Fraction(1, 4), Fraction(1), Fraction(3, 2), Fraction(2), Fraction(5)])
TINY = 2.0**-40


def programs(relation: KRelation) -> ExactPrograms:
    evaluation = Evaluation.of(relation.positive, relation.participants)
    return ExactPrograms(evaluation, Checker.of(evaluation).initial_loads())


@given(relation=relations(rows=8, largest=9), tau=levels)
def test_they_find_what_the_judge_finds(relation, tau):
    rows, exactly = [(k, q) for k, q in expressions(relation) if k != TRUE], programs(relation)
    for found, truth in (
        (exactly.truncated(tau), judge.truncated(rows, float(tau))),
        (exactly.withdrawals(tau, 0), judge.withdrawals(rows, float(tau))),
        (exactly.withdrawals(tau, 1), judge.strict_withdrawals(rows, float(tau))),
        (exactly.least_answer(tau), judge.least_answer(rows, float(tau))),
        (exactly.least_load(tau), judge.least_load(rows, float(tau))),
    ):
        assert found.width <= TINY * (1 + found.high)
        assert found.high == pytest.approx(truth, abs=1e-6)


@given(relation=relations(rows=8, largest=9), tau=levels)
def test_blands_rule_finds_the_same(relation, tau):
    worst = programs(relation).withdrawals(tau, 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "STEPS_WITHOUT_PROGRESS", -1)
        assert programs(relation).withdrawals(tau, 1) == worst


@given(relation=relations(rows=6), data=st.data())
def test_cuts_touch_the_loads_and_lie_below_them(relation, data):
    evaluation = Evaluation.of(relation.positive, relation.participants)
    points = st.lists(
        st.integers(0, 6).map(lambda sixths: Fraction(sixths, 6)),
        min_size=relation.participants,
        max_size=relation.participants,
    )
    g, h = data.draw(points), data.draw(points)
    cuts = Tangents.of(evaluation).loads(g)
    assert [cut.value for cut in cuts] == exact_loads(evaluation, g)
    for cut, load in zip(cuts, exact_loads(evaluation, h), strict=True):
        assert cut.constant - sum(a * g[p] for p, a in cut.slope.items()) == cut.value
        assert cut.constant - sum(a * h[p] for p, a in cut.slope.items()) <= load


@settings(max_examples=examples(60))
@given(
    graph=graphs(),
    make=st.sampled_from([k_stars, k_triangles]),
    protect=st.sampled_from(list(Protected)),
    tau=st.sampled_from([0.5, 1.0, 2.0, 3.3]),
)
def test_aggregates_are_what_their_programs_say(graph, make, protect, tau):
    aggregate = make(graph_of(*graph), 2, protect)
    programs = choice_programs(aggregate)
    movable = programs.loads > tau
    if movable.any():
        focus = ChoiceFocus.of(aggregate, movable)
        found = exactly_truncated(focus, Binomials.of(2, int(focus.sizes.max()), tau), Fraction(tau))
        other = programs.truncated(tau, tau / 100)
        assert found.width <= TINY * (1 + found.high)
        assert max(found.low, other.low) <= min(found.high, other.high)


def test_a_degenerate_program_ends():
    """Beale's example, boxed: the rule of the worst can go in circles on its like."""
    rows = [
        {0: Fraction(-1, 4), 1: Fraction(60), 2: Fraction(1, 25), 3: Fraction(-9)},
        {0: Fraction(-1, 2), 1: Fraction(90), 2: Fraction(1, 50), 3: Fraction(-3)},
        {2: Fraction(-1)},
        {0: Fraction(1), 1: Fraction(1), 2: Fraction(1)},
    ]
    right = [Fraction(0), Fraction(0), Fraction(-1), Fraction(1)]
    program = ExactProgram([Fraction(0)] * 3 + [Fraction(1)], rows, right, [Fraction(10)] * 4)
    found = Dictionary.of(program)
    found.descend()
    optimum = found.optimum()
    assert program.bound(optimum.y) == found.value()
    assert max(program.residuals(optimum.x)) <= 0


def test_ends_are_rounded_outwards_whatever_the_size():
    third = Fraction(1, 3)
    found = outward(third, third)
    assert Fraction(found.low) < third < Fraction(found.high)
    assert outward(Fraction(2), Fraction(2)) == Interval(2.0, 2.0)
    huge = outward(Fraction(10**400), Fraction(10**400))
    assert huge.low < huge.high == float("inf")
