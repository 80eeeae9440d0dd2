"""Programs of tuples that stay in an engine: true, moving as they may, and a function of the set."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recuse.krelation.build import from_owners, without
from recuse.krelation.relation import Shape
from recuse.solver.fast import FastPrograms
from recuse.solver.interval import NOTHING, Interval
from recuse.solver.kept import source
from recuse.solver.kept.loads import KeptLoads
from recuse.solver.kept.outside import KeptOutside
from recuse.solver.kept.programs import kept_programs
from recuse.solver.kept.source import InEngine
from recuse.solver.reference import reference
from support.kept import kept_relation, kept_rows
from support.neighbours import clique
from support.profiles import examples
from support.strategies import people, relations

WIDTH = 1e-3
ASKED = ("truncated", "withdrawals", "strict_withdrawals")
taus = st.sampled_from([0.5, 1.0, 2.5, 5.0, 40.0])
owned = relations(Shape.CONJUNCTIONS, largest=50)


def agree(relation, programs, tau):
    judge = reference(relation.positive, relation.participants)
    for name in ASKED:
        found, wanted = (getattr(one, name)(tau, WIDTH) for one in (programs, judge))
        assert found.width <= WIDTH
        assert found.low <= wanted.high
        assert wanted.low <= found.high


@settings(max_examples=examples(40, least=4))
@given(owned, taus, st.integers(0, 9))
def test_intervals_overlap_with_those_of_tuples_in_memory(relation, tau, seed):
    positive, negative = kept_relation(relation, seed=seed)
    assert (positive.total, negative.total) == (relation.positive.total(), relation.negative.total())
    agree(relation, kept_programs(positive), tau)
    agree(relation, FastPrograms(InEngine(positive)), tau)  # without the loads in front of it


@settings(max_examples=examples(20, least=2))
@given(owned, people, taus)
def test_a_withdrawal_moves_what_is_kept_as_it_may(relation, leaver, tau):
    left = without(relation, leaver)
    small, large = (kept_programs(kept_relation(part)[0]) for part in (left, relation))
    one, two = small.truncated(tau, WIDTH), large.truncated(tau, WIDTH)
    assert one.low <= two.high
    assert two.low - one.high <= tau
    one, two = small.strict_withdrawals(tau, WIDTH), large.strict_withdrawals(tau, WIDTH)
    assert one.low <= two.high
    assert two.low <= one.high + 1


def moved(relation, tau, seed):
    """What of the answer the overloaded can move, as it is stored, and who they are."""
    positive, _ = kept_relation(relation, seed)
    people = f"SELECT kind, p, load FROM {positive.loads} AS l WHERE load > {tau} ORDER BY kind, p"
    focus = InEngine(positive).movable(tau)
    names = [row["p"] for row in positive.warehouse.read(people).to_pylist()]
    members = [names[member] for member in focus.tuples.members]
    return str((focus.tuples.weights.tolist(), focus.tuples.clauses.tolist(), members, focus.rest))


@settings(max_examples=examples(20, least=2))
@given(owned, taus, st.integers(1, 9))
def test_what_the_overloaded_can_move_is_stored_alike(relation, tau, seed):
    assert moved(relation, tau, 0) == moved(relation, tau, seed)


@settings(max_examples=examples(20, least=2))
@given(owned, taus, st.integers(1, 9))
def test_the_answer_is_a_function_of_the_set(relation, tau, seed):
    """Rows in another order, and what was asked before, change nothing of X."""
    first, second = (kept_programs(kept_relation(relation, seed=one)[0]) for one in (0, seed))
    second.strict_withdrawals(tau / 2, WIDTH)
    second.truncated(2 * tau, WIDTH)
    assert first.truncated(tau, WIDTH) == second.truncated(tau, WIDTH)
    assert first.largest_load() == second.largest_load()


@pytest.mark.parametrize(
    ("name", "kinds"),
    [(int, "abc"), (str, "aaa"), (lambda i: f"n{9 - i}", "aba")],
    ids=["kinds", "text", "mixed"],
)
def test_kinds_are_apart_and_names_may_be_text(name, kinds):
    rows = np.unique(np.random.default_rng(3).integers(0, 4, (12, 3)), axis=0)
    weights, offsets = np.arange(1, len(rows) + 1), [{"a": 0, "b": 4, "c": 8}[kind] for kind in kinds]
    relation = from_owners(weights, rows + offsets, participants=12, signed=False)
    positive, negative = kept_rows(rows, weights.tolist(), name=name, kinds=kinds)
    assert positive.total == relation.positive.total()
    assert (negative.count, kept_programs(negative).largest_load()) == (0, 0.0)
    for tau in (2.0, 9.0):
        agree(relation, kept_programs(positive), tau)


def test_a_set_may_stand_in_several_rows():
    """A customer and a supplier who meet three times: one tuple of three times the weight."""
    rows = np.unique(np.random.default_rng(5).integers(0, 4, (12, 2)), axis=0)
    weights = np.arange(1, len(rows) + 1)
    relation = from_owners(3 * weights, rows + np.array([0, 4]), participants=8, signed=False)
    apart, together = (
        kept_rows(np.tile(rows, (times, 1)), (np.tile(weights, times) * 3 // times).tolist(), kinds="ab")[0]
        for times in (3, 1)
    )
    assert apart.count == 3 * together.count
    assert (apart.total, apart.largest) == (together.total, together.largest)
    for tau in (2.0, 9.0, 30.0):
        agree(relation, kept_programs(apart), tau)
        agree(relation, FastPrograms(InEngine(apart)), tau)
        assert kept_programs(apart).truncated(tau, WIDTH) == kept_programs(together).truncated(tau, WIDTH)
    one, other = (InEngine(found).everything().evaluation.tuples for found in (apart, together))
    assert (one.weights.tolist(), one.members.tolist()) == (other.weights.tolist(), other.members.tolist())


def test_the_twin_that_keeps_rows_of_one_owner_apart_counts_too_few():
    """Nobody has a load above τ, as it stands in two rows."""
    apart, _ = kept_rows(np.array([[0], [0]]), [3, 3])
    relation = from_owners(np.array([6]), np.array([[0]]), participants=1, signed=False)
    with pytest.raises(AssertionError):
        agree(relation, kept_programs(replace(apart, kinds=(0,))), 5.0)


def test_rows_of_one_owner_have_closed_forms():
    relation = from_owners(np.array([3, 8, 2**60]), np.arange(3)[:, None], participants=3, signed=False)
    positive, _ = kept_rows(np.arange(3)[:, None], relation.positive.weights.tolist())
    programs = kept_programs(positive)
    assert programs.truncated(5.0, WIDTH).high == 13.0
    assert programs.strict_withdrawals(5.0, WIDTH) == Interval(2.0, 2.0)
    assert programs.withdrawals(5.0, WIDTH).low <= 3 / 8 + 1 <= programs.withdrawals(5.0, WIDTH).high + 5e-18
    assert programs.withdrawals(2.0**61, WIDTH) == programs.strict_withdrawals(2.0**61, WIDTH) == NOTHING
    assert programs.truncated(2.0**61, WIDTH).low <= 2**60 + 11 <= programs.truncated(2.0**61, WIDTH).high
    agree(relation, programs, 5.0)
    judge = reference(relation.positive, 3)
    assert programs.index(1.0, 0.5, 0.1).low <= judge.index(1.0, 0.5, 0.1).high
    exact = Fraction(1), Fraction(1, 2), 1
    assert programs.integer_index(*exact) == judge.integer_index(*exact)


def test_whom_a_proof_needs_is_asked_in():
    """Three people who are not overloaded meet eight who are, and are cheaper to withdraw."""
    relation = star(8, 3)
    positive, _ = kept_relation(relation)
    for tau in (20.0, 70.0):
        agree(relation, FastPrograms(InEngine(positive)), tau)


def test_levels_that_loads_decide_move_a_few_rows(monkeypatch):
    positive, _ = kept_relation(clique(12))
    monkeypatch.setattr(InEngine, "focus", None)
    monkeypatch.setattr(InEngine, "movable", None)
    programs = kept_programs(positive)
    assert programs.strict_withdrawals(2.0, 0.01, stop_above=1.0).low > 1.0
    assert programs.truncated(programs.largest_load(), 0.01).high == clique(12).true_answer()


def test_one_hub_is_enough_to_withdraw():
    """A hub and those who meet it: only a bound that counts both owners of a row says so."""
    relation = star(1, 9)
    count = reference(relation.positive, relation.participants).strict_withdrawals(5.0, 1e-6)
    assert KeptLoads(kept_relation(relation)[0]).counted(5.0, 1.0).low <= count.high


def test_a_load_just_above_a_level_is_above_it():
    relation = star(1, 3)
    agree(relation, kept_programs(kept_relation(relation)[0]), 29.5)


@settings(max_examples=examples(30, least=3))
@given(owned, taus)
def test_a_histogram_of_loads_never_proves_more_than_the_count(relation, tau):
    judge = reference(relation.positive, relation.participants)
    loads = KeptLoads(kept_relation(relation)[0])
    if judge.largest_load() > tau:
        for strictness, ask in ((0.0, judge.withdrawals), (1.0, judge.strict_withdrawals)):
            found = loads.counted(tau, strictness)
            assert found.low <= ask(tau, 1e-6).high
            assert found.high >= ask(tau, 1e-6).low


# ------------------------------------------------------------------ twins


def star(hubs: int, spokes: int):
    """Everybody in one set is in a tuple with everybody in another."""
    rows = np.array([[hub, hubs + spoke] for hub in range(hubs) for spoke in range(spokes)])
    return from_owners(np.full(len(rows), 10), rows, participants=hubs + spokes, signed=False)


def test_the_twin_that_forgets_outsiders_proves_too_much(monkeypatch):
    """What is charged to people outside the focus is not taken off."""
    relation = star(8, 3)
    monkeypatch.setattr(KeptOutside, "excess", lambda *_: 0.0)
    positive, _ = kept_relation(relation)
    with pytest.raises(AssertionError):
        agree(relation, FastPrograms(InEngine(positive)), 70.0)


def test_the_twin_that_rounds_loads_down_answers_too_little(monkeypatch):
    """Whoever is just above τ is taken to be just below it, and stays whole in X, but N counts nobody."""
    relation = star(1, 3)
    monkeypatch.setattr("recuse.solver.kept.source.whole", lambda tau: math.ceil(tau) + 10)
    positive, _ = kept_relation(relation)
    with pytest.raises(AssertionError):
        agree(relation, FastPrograms(InEngine(positive)), 25.0)


def test_the_twin_that_says_one_owner_fewer_proves_too_much(monkeypatch):
    pair = from_owners(np.array([10]), np.array([[0, 1]]), participants=2, signed=False)
    positive, _ = kept_relation(pair)
    count = reference(pair.positive, 2).strict_withdrawals(1.0, 1e-6)
    assert KeptLoads(positive).counted(1.0, 1.0).low <= count.high
    careless = KeptLoads(replace(positive, kinds=(0,)))
    assert careless.counted(1.0, 1.0).low > count.high


def test_the_twin_that_numbers_people_by_chance_is_no_function_of_the_set(monkeypatch):
    """People are numbered by chance, as an engine may find them."""
    found = set()
    even = star(6, 4)
    uneven = from_owners(np.arange(10, 34), even.positive.members.reshape(-1, 2), participants=10)
    for chance in range(3):
        monkeypatch.setattr(source, "BY_NAME", f"ORDER BY hash(p + {chance})")
        found.add(moved(uneven, 5.0, 0))
    assert len(found) > 1
