"""A glance: a lower end of a count of withdrawals without a program, which must not exceed the count."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recuse.krelation.build import from_owners
from recuse.krelation.relation import Shape
from recuse.solver import limits
from recuse.solver.bounds import weighted_cut
from recuse.solver.cuts.counts import LoadCuts
from recuse.solver.fast import FastPrograms, fast_programs
from recuse.solver.limits import OVERCHARGES
from recuse.solver.lp import whole_tuples
from recuse.solver.reference import reference
from support.neighbours import clique
from support.strategies import relations

taus = st.sampled_from([0.5, 1.0, 2.0, 5.0, 40.0])


def descents(programs: FastPrograms, tau: float) -> list[LoadCuts]:
    return [programs._load_cuts(tau), programs._strict(tau)]


@given(relations(Shape.CONJUNCTIONS, largest=50), taus)
def test_a_glance_is_never_above_the_count(relation, tau):
    judge = reference(relation.positive, relation.participants)
    wanted = [judge.withdrawals(tau, 1e-6).high, judge.strict_withdrawals(tau, 1e-6).high]
    programs = fast_programs(relation.positive, relation.participants)
    if programs.largest_load() > tau:
        for descent, count in zip(descents(programs, tau), wanted, strict=True):
            assert descent.glance(tau) <= count


def test_a_glance_decides_what_is_clear_without_a_program():
    relation = clique(30)
    programs = fast_programs(relation.positive, relation.participants)
    found = programs.strict_withdrawals(2.0, 0.01, stop_above=3.0)
    assert found.low > 3.0
    assert programs.tally.masters == 0
    assert found.low <= reference(relation.positive, relation.participants).strict_withdrawals(2.0, 0.1).high


def test_a_glance_that_overcharges_for_nothing_would_be_above_it():
    """A broken twin: what others are charged beyond their one withdrawal is not taken off."""
    relation, tau = clique(30), 2.0
    judge = reference(relation.positive, relation.participants)
    pool = fast_programs(relation.positive, relation.participants)._strict(tau).pool
    slopes = pool.tangents.slopes(np.zeros(len(pool.focus.people)))
    steepest = weighted_cut(slopes, np.ones(len(pool.focus.people))).slope.max()
    overcharged = OVERCHARGES[-1] / steepest * float((pool.loads - tau).sum())
    assert overcharged > judge.strict_withdrawals(tau, 0.01).high


def test_where_few_are_overloaded_no_program_of_whole_tuples_is_solved(monkeypatch):
    """Pairs of a few authors and many commentators: an interior point took minutes, cuts do not."""
    asked = []
    monkeypatch.setattr(whole_tuples, "solve", lambda *given: asked.append(given))
    random = np.random.default_rng(1)
    authors, others = random.zipf(1.6, 40_000) % 12, 12 + random.zipf(1.2, 40_000) % 9000
    weights = random.geometric(0.1, 40_000)
    relation = from_owners(weights, np.stack((authors, others), axis=1), participants=9012, signed=False)
    assert len(relation.positive) >= limits.MANY_TUPLES
    programs = fast_programs(relation.positive, relation.participants)
    found = programs.strict_withdrawals(programs.largest_load() / 16, 0.01)
    assert found.width <= 0.01
    assert asked == []
