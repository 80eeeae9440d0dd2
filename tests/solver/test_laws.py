"""The theorems that privacy rests on, as laws; beside each a weakened twin that fails."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recuse.annotation import TRUE, Participant, conjunction, kept, usage, withdraw
from recuse.krelation.build import expressions, from_expressions, without
from recuse.krelation.relation import KRelation, Shape
from recuse.solver.reference import Reference, reference
from support.counterexamples import friends_with_a_common_friend, spread
from support.profiles import examples
from support.static_bound import static_index
from support.strategies import NAMES, fractions, people, relations

WIDTH = 1e-6
FUZZ = 1e-5
levels = st.sampled_from([0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0])
amounts = st.sampled_from([0.0, 0.25, 0.5, 1.0, 1.75, 3.0])


def programs(relation: KRelation) -> Reference:
    return reference(relation.positive, relation.participants)


def neighbours(relation: KRelation, leaver: str) -> tuple[Reference, Reference]:
    """Return the programs of D1 (without the leaver) and of D2."""
    return programs(without(relation, leaver)), programs(relation)


@given(relations(), people, amounts)
def test_a_withdrawal_shifts_the_least_load_and_answer_by_at_most_one(relation, leaver, s):
    small, large = neighbours(relation, leaver)
    for one, two, shifted in (
        (small.least_load(s, WIDTH), large.least_load(s, WIDTH), large.least_load(s + 1, WIDTH)),
        (small.least_answer(s, WIDTH), large.least_answer(s, WIDTH), large.least_answer(s + 1, WIDTH)),
    ):
        assert shifted.low <= one.high
        assert one.low <= two.high


@settings(max_examples=examples(40))
@given(relations(), people)
def test_a_withdrawal_moves_the_index_by_at_most_one(relation, leaver):
    small, large = neighbours(relation, leaver)
    one, two = small.index(1.0, 0.3, 1e-3), large.index(1.0, 0.3, 1e-3)
    assert one.low <= two.high
    assert two.low <= one.high + 1
    whole_one = small.integer_index(Fraction(1), Fraction(3, 10), 1)
    whole_two = large.integer_index(Fraction(1), Fraction(3, 10), 1)
    assert whole_one <= whole_two <= whole_one + 1


@given(relations(), people, levels)
def test_a_withdrawal_moves_the_truncated_answer_by_at_most_tau(relation, leaver, tau):
    small, large = neighbours(relation, leaver)
    one, two = small.truncated(tau, WIDTH), large.truncated(tau, WIDTH)
    assert two.high - one.low >= -WIDTH
    assert two.low - one.high <= tau


@given(relations(), people, levels)
def test_a_withdrawal_moves_both_counts_of_withdrawals_by_at_most_one(relation, leaver, tau):
    small, large = neighbours(relation, leaver)
    for one, two in (
        (small.withdrawals(tau, WIDTH), large.withdrawals(tau, WIDTH)),
        (small.strict_withdrawals(tau, WIDTH), large.strict_withdrawals(tau, WIDTH)),
    ):
        assert one.low <= two.high
        assert two.low <= one.high + 1


@given(relations(), levels)
def test_the_strict_count_is_not_below_the_plain_one_and_vanishes_with_it(relation, tau):
    found = programs(relation)
    plain, strict = found.withdrawals(tau, WIDTH), found.strict_withdrawals(tau, WIDTH)
    assert plain.low <= strict.high
    fits = bool((found.loads <= tau).all())
    assert fits == (plain.high == 0.0) == (strict.high == 0.0)


@given(
    relations(signed=False),
    st.fixed_dictionaries(dict.fromkeys(NAMES, fractions)),
    st.fixed_dictionaries(dict.fromkeys(NAMES, fractions)),
)
def test_the_loads_bound_how_the_answer_moves(relation, g, h):  # theorem B
    rows = [(k, q) for k, q in expressions(relation) if k != TRUE]
    moved = sum(q * (kept(k, g) - kept(k, h)) for k, q in rows)
    assert moved <= sum(q * h[name] * usage(k, name, g) for k, q in rows for name in NAMES)


@given(relations(), amounts, amounts)
def test_the_least_load_bounds_the_least_answer(relation, s, x):  # theorem B, over sizes
    found = programs(relation)
    low = found.least_answer(s, WIDTH).low
    assert low <= found.least_answer(x, WIDTH).high + x * found.least_load(s, WIDTH).high + FUZZ


@given(relations(), amounts, amounts)
def test_the_least_answer_is_convex(relation, s, x):
    found = programs(relation)
    ends = found.least_answer(s, WIDTH).high + found.least_answer(x, WIDTH).high
    assert found.least_answer((s + x) / 2, WIDTH).low <= ends / 2


@given(relations())
def test_nothing_is_truncated_once_tau_reaches_the_largest_load(relation):
    found = programs(relation)
    tau = float(found.loads.max(initial=1.0))
    answer = found.truncated(tau, WIDTH)
    assert answer.low <= relation.positive.total() <= answer.high + WIDTH


# ------------------------------------------------------------------ power: what fails when weakened


def relation_of(*rows):
    return from_expressions(rows, Shape.CLAUSES)


def test_no_smaller_constant_would_do():
    """One hub in five tuples: the index moves by more than 0.9, X by τ itself, N_s by 1 itself."""
    hub = [conjunction(Participant("h"), Participant(name)) for name in "abcde"]
    small, large = neighbours(relation_of(*((k, 1) for k in hub)), "h")
    assert large.truncated(3.0, WIDTH).low - small.truncated(3.0, WIDTH).high > 0.99 * 3.0
    assert large.strict_withdrawals(3.0, WIDTH).low - small.strict_withdrawals(3.0, WIDTH).high > 0.99
    assert large.index(1.0, 1e-4, WIDTH).low - small.index(1.0, 1e-4, WIDTH).high > 0.79
    heavy = relation_of((Participant("h"), 10**6))
    assert programs(heavy).index(1.0, 1e-4, WIDTH).low > 0.99


def test_a_load_without_its_context_is_not_natural():
    """Theorem A's left half breaks when a tuple's kept fraction stands in for the usage."""
    rows = spread(12)
    large = programs(from_expressions(rows, Shape.CLAUSES))
    small = programs(from_expressions([(withdraw(k, "p"), q) for k, q in rows], Shape.CLAUSES))
    assert large.least_load(1.0, WIDTH).low <= small.least_load(0.0, WIDTH).high
    assert static_index(rows, 1.0, 0.1) > static_index([(withdraw(k, "p"), q) for k, q in rows], 1.0, 0.1) + 1


@pytest.mark.parametrize(
    ("rows", "leaver", "static", "repaired"),
    [
        (spread(200), "p", (7, 57), (7, 7)),
        (friends_with_a_common_friend(60), "hub", (16, 46), (16, 16)),
    ],
    ids=["a_i or p", "friends with a common friend"],
)
def test_the_papers_static_bound_is_not_private_and_the_repaired_one_is(rows, leaver, static, repaired):
    left = [(withdraw(k, leaver), q) for k, q in rows]
    left = [(k, q) for k, q in left if k.children or isinstance(k, Participant)] if leaver == "hub" else left
    assert (static_index(left, 1.0, 0.1), static_index(rows, 1.0, 0.1)) == static
    small, large = (programs(from_expressions(pairs, Shape.CLAUSES)) for pairs in (left, rows))
    indices = tuple(part.integer_index(Fraction(1), Fraction(1, 10), 2) for part in (small, large))
    assert indices == repaired
