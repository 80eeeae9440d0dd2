"""The middle that is found first: where it is, what it costs, and that three draws cost what they say."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from recuse.mechanism import axis
from recuse.mechanism.axis import DAYS, NUMBERS, Axis, Middle, is_nothing
from recuse.mechanism.middle import HALF, MIDDLE_SHARE, REST_SHARE, SPREAD_SHARE, Weighing
from recuse.mechanism.quantile import distance, draw_quantile
from support.noise import Seeded

TINY = Axis(zero=True, familiar=2)
RANK = Fraction(9, 10)


def one_row_each(values) -> Weighing:
    found = np.asarray(values, np.int64)
    return Weighing(found, lambda some: Fraction(int(some.sum())), Fraction(1))


@pytest.mark.parametrize(("axis_of", "at"), [(NUMBERS, 0), (NUMBERS, 50_000), (DAYS, 8_700)])
def test_the_middle_of_many_is_found_and_how_far_they_lie_from_it(axis_of, at):
    values = np.round(np.random.default_rng(3).normal(at, 400, 3_000))
    for seed in range(5):
        found = one_row_each(values).middle(Fraction(1), axis_of, Seeded(seed))
        assert found is not None
        assert abs(found.at - at) < 100
        assert 150 < found.spread < 450, "half of them lie within 270"


def test_too_few_people_have_no_middle():
    found = [one_row_each([7] * 5).middle(Fraction(1), NUMBERS, Seeded(seed)) for seed in range(20)]
    assert found.count(None) >= 17


def weights(envelope, m) -> dict[int, float]:
    found = {
        t: float(piece.density) * math.exp(-float(envelope.rate * distance(m(t))))
        for piece in envelope.pieces
        for t in range(piece.first, piece.last + 1)
    }
    total = sum(found.values())
    return {t: weight / total for t, weight in found.items()}


def joint(values, shares) -> dict[tuple[int, ...], float]:
    """Return the distribution of middle, spread and quantile, for parts of ε = 1."""
    weighing = one_row_each(values)
    at, spread, rest = shares
    found = {}
    for a, p in weights(weighing.envelope(at, HALF, TINY.far()), weighing.below(HALF)).items():
        if is_nothing(a):
            found[a, 0, 0] = found.get((a, 0, 0), 0) + p
            continue
        apart = weighing.balance(HALF, lambda d, a=a: (weighing.values >= a - d) & (weighing.values <= a + d))
        for s, q in weights(weighing.envelope(spread, HALF, TINY.sizes()), apart).items():
            near = weighing.envelope(rest, RANK, TINY.near(Middle(a, s)))
            for t, r in weights(near, weighing.below(RANK)).items():
                found[a, s, t] = p * q * r
    return found


SHARES = (MIDDLE_SHARE, SPREAD_SHARE, REST_SHARE)


def test_the_shares_are_the_whole():
    assert sum(SHARES) == 1
    assert min(SHARES) > 0


@pytest.mark.parametrize(("shares", "safe"), [(SHARES, True), ((1, 1, 1), False)])
def test_neighbours_release_alike_exactly(shares, safe, monkeypatch):
    """The audit of all three draws together; the twin has the whole of ε for each."""
    monkeypatch.setattr(axis, "LARGEST", 3)
    people = [-4, 1, 2, 2, 5, 6]
    whole = joint(people, tuple(map(Fraction, shares)))
    worst = 0.0
    for leaver in range(len(people)):
        other = joint(people[:leaver] + people[leaver + 1 :], tuple(map(Fraction, shares)))
        worst = max(worst, *(abs(math.log(whole[key] / other[key])) for key in whole))
    assert (worst <= 1) is safe


def test_the_draws_are_those_of_the_audit(monkeypatch):
    """The middle as it is drawn has the probabilities that the audit computes: within four deviations."""
    monkeypatch.setattr(axis, "LARGEST", 3)
    weighing, noise, draws = one_row_each([-4, 1, 2, 2, 5, 6, 6, 6]), Seeded(5), 600
    envelope = weighing.envelope(Fraction(2), HALF, TINY.far())
    expected = weights(envelope, weighing.below(HALF))
    found = [
        draw_quantile(weighing.envelope(Fraction(2), HALF, TINY.far()), weighing.below(HALF), noise)
        for _ in range(draws)
    ]
    for t, p in expected.items():
        assert abs(found.count(t) - draws * p) < 4 * math.sqrt(draws * p * (1 - p)) + 1
    assert any(abs(found.count(t) - draws / 15) > 4 * math.sqrt(draws / 15) for t in expected), "not uniform"


def test_a_spread_that_is_measured_from_the_true_middle_is_caught(monkeypatch):
    """The twin measures distances from the median itself: a leaver moves it, and with it all distances."""
    monkeypatch.setattr(axis, "LARGEST", 3)
    people = [0, 1, 2, 3, 4, 7, 7, 7, 7, 7]

    def spreads(values):
        weighing, at = one_row_each(values), sorted(values)[len(values) // 2]
        apart = weighing.balance(HALF, lambda d: (weighing.values >= at - d) & (weighing.values <= at + d))
        return weights(weighing.envelope(Fraction(1), HALF, TINY.sizes()), apart)

    whole = spreads(people)
    losses = []
    for leaver in range(len(people)):
        other = spreads(people[:leaver] + people[leaver + 1 :])
        losses += [abs(math.log(whole[d] / other[d])) for d in whole]
    assert max(losses) > 1
