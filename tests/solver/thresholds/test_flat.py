"""Flat thresholds: the small program has the optimum of the full one, and restrictions prove what holds."""

from __future__ import annotations

import random
from functools import cache
from itertools import product

import numpy as np
import pytest

from recuse.annotation import Annotation, Or, Participant, at_least, conjunction, threshold
from recuse.krelation.build import from_expressions
from recuse.krelation.relation import KRelation, Shape
from recuse.solver import limits
from recuse.solver.attempt import tolerated
from recuse.solver.bounds import dual_bound
from recuse.solver.interval import Interval
from recuse.solver.lp.extended import power_of_two_near, truncated_program
from recuse.solver.lp.program import solve
from recuse.solver.thresholds.active_set import active_set
from recuse.solver.thresholds.flat import Flat
from recuse.solver.thresholds.programs import threshold_programs, threshold_reference
from recuse.solver.thresholds.restriction import Restriction
from support.profiles import some

EVERY_KIND = pytest.mark.parametrize("seed", range(4))
"""counts and sums, of rows with one owner and of rows with two"""


def market(seed: int, people: int = 40, groups: int = 12) -> KRelation:
    """Return counts, or sums, over rows with one owner or two, some owners in many groups."""
    source = random.Random(seed)
    rows: list[tuple[Annotation, int]] = []
    while len(rows) < groups:
        owners = source.sample(range(people), source.randint(4, 20))
        clauses: list[Annotation] = [
            conjunction(Participant(p), Participant(people + p % 5)) if seed % 2 else Participant(p)
            for p in owners
        ]
        if seed < 2:
            rows.append((threshold(clauses, [1] * len(owners), source.randint(2, len(owners))), 1))
            continue
        values = [source.randint(1, 9) for _ in owners]
        found = at_least(clauses, values, source.randint(1, sum(values)))
        if isinstance(found, Or):  # of several levels, as SQL writes every sum
            rows.append((found, source.randint(1, 3)))
    return from_expressions(rows, Shape.THRESHOLDS, signed=False)


@cache
def truth_of(seed: int, tau: float) -> Interval:
    """Return what the reference finds: the judge of several tests."""
    relation = market(seed)
    return threshold_reference(relation.positive, relation.participants).truncated(tau, 1e-6)


def flat_of(relation: KRelation, tau: float) -> Flat:
    found = Flat.of(relation.positive, relation.participants, tau)
    assert found is not None
    return found


@EVERY_KIND
@pytest.mark.parametrize("tau", [0.125, 0.7])
def test_the_small_program_has_the_optimum_of_the_full_one(seed, tau):
    relation = market(seed)
    small = flat_of(relation, tau).program()
    full = truncated_program(relation.positive, relation.participants, tau)
    assert small.rows.shape[0] < full.rows.shape[0]
    assert dual_bound(small, solve(small).y) == pytest.approx(dual_bound(full, solve(full).y), abs=1e-6)


@pytest.mark.parametrize(("seed", "size"), some([*product(range(4), [0, limits.SMALL_CORE])], 0.25))
def test_the_interior_point_closes_what_the_reference_closes(seed, size, monkeypatch):
    """With everybody from the start, and with few who are asked in later."""
    monkeypatch.setattr(limits, "SMALL_CORE", size)
    relation = market(seed)
    for tau in (0.125, 0.5, 1.0):
        flat, unit, truth = flat_of(relation, tau), power_of_two_near(tau), truth_of(seed, tau)
        lows = [unit * low for _, low in tolerated(active_set(flat, flat.program(), tau / 100 / unit))]
        assert max(lows) <= truth.high + 1e-9
        assert truth.low - max(lows) <= tau / 100
        found = threshold_programs(relation.positive, relation.participants).truncated(tau, tau / 100)
        assert found.low <= truth.high
        assert truth.low <= found.high


@EVERY_KIND
def test_whoever_may_withdraw_and_whatever_is_multiplied_a_lifted_bound_holds(seed):
    relation, source = market(seed), np.random.default_rng(seed)
    flat = flat_of(relation, 0.5)
    truth = truth_of(seed, 0.5)
    for share in (0.0, 0.3, 0.8, 1.0):
        chosen, asked = (source.random(n) < share for n in (relation.participants, len(flat.least)))
        restriction = Restriction.of(flat, chosen, asked)
        size = len(restriction.children) + len(restriction.nodes)
        lifted = restriction.multipliers(source.random(size))
        assert 0.5 * dual_bound(flat.program(), lifted) <= truth.high


def test_the_twin_that_forgets_those_who_stay_is_caught():
    """Their load is not charged: with nobody chosen everything would be kept, whatever τ is."""
    relation = market(0)
    flat = flat_of(relation, 0.125)
    nobody = Restriction.of(flat, np.zeros(relation.participants, bool), np.ones(len(flat.least), bool))
    honest = 0.125 * dual_bound(flat.program(), nobody.multipliers(np.zeros(0)))
    forgetful = float(flat.weights.sum()) * 0.125  # what the part alone says
    truth = truth_of(0, 0.125)
    assert honest <= truth.high < forgetful


def test_a_threshold_inside_an_and_is_not_flat():
    inner = threshold([Participant(i) for i in range(5)], [1] * 5, 3)
    relation = from_expressions([(conjunction(inner, Participant(9)), 1)], Shape.THRESHOLDS, signed=False)
    assert Flat.of(relation.positive, relation.participants, 1.0) is None
    assert threshold_programs(relation.positive, relation.participants).truncated(0.5, 0.005).width <= 0.005
