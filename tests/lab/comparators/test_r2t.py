"""R2T as its authors define it."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings

from recuse.annotation import Participant
from recuse.errors import ParameterError
from recuse.krelation.build import from_expressions
from recuse.krelation.relation import Shape
from recuse.lab.comparators import r2t
from recuse.lab.comparators.r2t import R2T, most
from recuse.lab.experiments.contestants import Asked, answering
from recuse.lab.experiments.random_relations import random_relation
from recuse.mechanism.prepared import prepare
from recuse.privacy import Epsilon
from recuse.solver.memo import memoising
from recuse.solver.reference import reference
from support.neighbours import clique, shared, star
from support.noise import NoNoise, Scripted, Seeded
from support.packing import ROWS, packing, relation_of
from support.profiles import examples

ONE = Epsilon.of(1)


def test_candidates_double_up_to_the_guess():
    assert R2T(ONE, 2**20).rounds == 20
    assert R2T(ONE, 1e6).rounds == 20
    assert R2T(ONE, 1e6, base=5.5).rounds == 9


def test_its_authors_round_the_guess_down():
    assert R2T.of_authors(ONE, 1e6).rounds == 8
    assert R2T.of_authors(ONE, 1024).rounds == 4


def test_noise_and_margin_by_definition():
    """One owner a tuple: X(τ) = Σ min(q, τ); the winner is the best of X(τ) - L ln(L/β) τ/ε."""
    relation = from_expressions(
        [(Participant(i), 1 + i % 5) for i in range(400)], Shape.CONJUNCTIONS, signed=False
    )
    mechanism = R2T(ONE, 1024)
    found = mechanism.release(prepare(relation, memoising(reference)), NoNoise())
    rounds = mechanism.rounds
    by_hand = max(
        sum(min(1 + i % 5, 2**j) for i in range(400)) - rounds * math.log(rounds / 0.1) * 1.01 * 2**j
        for j in range(1, rounds + 1)
    )
    assert abs(float(found.value) - by_hand) < 0.1
    source = Scripted([0] * rounds)
    mechanism.release(prepare(relation, memoising(reference)), source)
    assert source.scales == [Fraction(1010) * rounds] * rounds


@pytest.mark.parametrize("name", ["r2t=1024", "r2t-5.5=1024"])
def test_a_guess_is_in_units_of_the_answer_however_fine_its_granules(name):
    """Thousandths are a thousand times as many, and R2T in granules would cut all of them off."""
    coarse, fine = (
        from_expressions(
            [(Participant(i), granules * (1 + i % 5)) for i in range(400)], Shape.CONJUNCTIONS, signed=False
        )
        for granules in (1, 1000)
    )
    answers = [
        answering(name, ONE, relation, Asked(unit=Fraction(unit)))(
            prepare(relation, memoising(reference)), NoNoise()
        ).value
        for relation, unit in ((coarse, 1), (fine, 1000))
    ]
    assert answers[0] > 0
    assert abs(answers[1] / 1000 - answers[0]) <= 0.01 * answers[0]


@settings(max_examples=examples(40))
@given(rows=ROWS)
def test_without_noise_it_is_the_best_of_its_lowered_packings(rows):
    """ε is so large that the margin matters little: the answer is max_j X(2^j) - margin·2^j, or 0."""
    mechanism = R2T(Epsilon.of(40), 16)
    found = float(mechanism.release(prepare(relation_of(rows), memoising(reference)), NoNoise()).value)
    margin = mechanism.rounds * math.log(mechanism.rounds / 0.1) * 1.01 / 40
    by_hand = max(0.0, *(packing(rows, 2.0**j) - margin * 2**j for j in range(1, mechanism.rounds + 1)))
    assert -1e-6 <= found - by_hand <= 0.012 * 16


def test_it_never_answers_below_zero_and_rarely_above_the_truth():
    work = prepare(star(200), memoising(reference))
    answers = [R2T(ONE, 1024).release(work, source).value for source in [Seeded(1)] for _ in range(300)]
    assert min(answers) >= 0
    assert sum(answer > 200 for answer in answers) / 300 <= 0.1


@pytest.mark.parametrize(
    "wrong", [{"global_sensitivity": 1}, {"base": 1.0}, {"failure": 0.0}, {"unit": Fraction(0)}]
)
def test_a_guess_must_make_sense(wrong):
    with pytest.raises(ParameterError):
        R2T(ONE, **wrong)


@pytest.mark.parametrize(
    "relation", [star(30), clique(7), shared(12), random_relation("3-CNF", 20, 2, "random", 3)]
)
def test_what_cannot_win_is_told_from_a_bound(relation):
    """The bound is never below X(τ), so that leaving out what cannot win changes nothing."""
    work = prepare(relation, memoising(reference))
    levels = [Fraction(2) ** k for k in range(8, -4, -1)]
    exact = {tau: Fraction(work.positive.truncated(float(tau), 1e-6).low) for tau in levels}
    for place, tau in enumerate(levels):
        for known in ([], [(t, exact[t] + t / 200) for t in levels[max(0, place - 2) : place]]):
            assert most(work, tau, known) >= exact[tau]
    assert most(work, Fraction(10**9), []) == relation.positive.total()


def test_leaving_out_changes_nothing(monkeypatch):
    """The same noise gives the same answer when nothing is left out."""
    work, mechanism = prepare(clique(12), memoising(reference)), R2T(Epsilon.of(20), 64)
    quick = [mechanism.release(work, Seeded(seed)).value for seed in range(40)]
    monkeypatch.setattr(r2t, "most", lambda *_: None)
    assert quick == [mechanism.release(work, Seeded(seed)).value for seed in range(40)]
    assert len(set(quick)) > 10
