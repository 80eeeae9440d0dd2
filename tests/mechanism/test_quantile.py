"""Quantiles: the sampler is exact, and what it looks at moves as theorem V1 says."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from recuse.krelation.build import expressions, from_expressions, without
from recuse.krelation.relation import Shape
from recuse.mechanism import quantile
from recuse.mechanism.axis import Stretch
from recuse.mechanism.parameters import SLACK
from recuse.mechanism.pick import pick
from recuse.mechanism.prepared import prepare, truncated_high
from recuse.mechanism.quantile import Envelope, distance, draw_quantile, quantile_rate
from recuse.noise import happens
from recuse.solver.reference import reference
from support.noise import Seeded
from support.profiles import examples
from support.strategies import BY_SHAPE

VALUES = [-3, -1, 0, 0, 2, 5, 5, 6, 9, 12]
DRAWS = 2_000


def prior() -> list[Stretch]:
    """Return 31 numbers, of which the outer ones are less likely."""
    pieces = [(-15, -8, 1), (-7, -1, 3), (0, 0, 3), (1, 7, 3), (8, 15, 1)]
    return [Stretch(first, last, Fraction(density)) for first, last, density in pieces]


def paired(m):
    """Return what is looked at of m: before a number, and at it."""
    return lambda t: (m(t - 1), m(t))


def balance(rank: Fraction, values=tuple(VALUES)):
    def found(t: int) -> Fraction:
        low = sum(value <= t for value in values)
        return (1 - rank) * low - rank * (len(values) - low)

    return paired(found)


def probabilities(rate: Fraction, m) -> dict[int, float]:
    weights = {
        t: float(piece.density) * math.exp(-float(rate * distance(m(t))))
        for piece in prior()
        for t in range(piece.first, piece.last + 1)
    }
    total = sum(weights.values())
    return {t: weight / total for t, weight in weights.items()}


def fits(drawn: list[int], expected: dict[int, float]) -> bool:
    """Return whether a chi-square test at level 10⁻⁶ accepts the distribution; rare numbers are one cell."""
    counts = Counter(drawn)
    common = [t for t, p in expected.items() if p * len(drawn) >= 5]
    cells = [(counts[t], expected[t] * len(drawn)) for t in common]
    rest = len(drawn) - sum(found for found, _ in cells), len(drawn) - sum(wanted for _, wanted in cells)
    cells += [rest] if rest[1] > 1 else []
    statistic = sum((found - wanted) ** 2 / wanted for found, wanted in cells)
    return statistic < chi2.isf(1e-6, len(cells) - 1)


@pytest.mark.parametrize("rank", [Fraction(1, 2), pytest.param(Fraction(9, 10), marks=pytest.mark.slow)])
def test_the_sampler_draws_what_it_should(rank):
    rate, m, noise = Fraction(1, 2), balance(rank), Seeded(3)
    drawn = [draw_quantile(Envelope(rate, Fraction(0), prior()), m, noise) for _ in range(DRAWS)]
    assert fits(drawn, probabilities(rate, m))
    assert not fits(drawn, probabilities(rate * Fraction(13, 10), m))
    assert not fits(drawn, probabilities(rate * Fraction(7, 10), m))


def test_a_sampler_that_accepts_whatever_the_envelope_says_is_caught(monkeypatch):
    """The twin without the last coin."""
    monkeypatch.setattr(quantile, "happens", lambda *_: True)
    monkeypatch.setattr(quantile, "HEAVY", 0.9)
    rate, m, noise = Fraction(1, 2), balance(Fraction(1, 2)), Seeded(3)
    drawn = [draw_quantile(Envelope(rate, Fraction(0), prior()), m, noise) for _ in range(DRAWS)]
    assert not fits(drawn, probabilities(rate, m))


@pytest.mark.slow
def test_values_that_are_only_nearly_monotone_are_drawn_exactly_too():
    """Certified values err by η at most: the envelope leaves room for that."""
    slack, exact = Fraction(1, 2), balance(Fraction(1, 2))
    rate, noise = Fraction(1, 2), Seeded(5)
    m = paired(lambda t: exact(t)[1] + (slack / 2 if t % 2 else -slack / 2))

    drawn = [draw_quantile(Envelope(rate, slack, prior()), m, noise) for _ in range(DRAWS)]
    assert fits(drawn, probabilities(rate, m))


@given(st.lists(st.integers(-15, 15), max_size=12), st.fractions(0, 1), st.lists(st.integers(-15, 15)))
def test_the_envelope_lies_above_every_weight(values, rank, places):
    m = balance(rank, values)
    envelope = Envelope(Fraction(1, 3), Fraction(0), prior())
    for t in dict.fromkeys(places):
        envelope.learn(t, m(t))
    fresh = Envelope(envelope.rate, envelope.slack, envelope.pieces, envelope.places, envelope.found)
    assert (envelope.exponents, envelope.nearly) == (fresh.exponents, fresh.nearly), "kept up to date"
    numbers = [t for piece in envelope.pieces for t in range(piece.first, piece.last + 1)]
    assert numbers == list(range(-15, 16))
    for piece, exponent in zip(envelope.pieces, envelope.exponents, strict=True):
        for t in range(piece.first, piece.last + 1):
            assert exponent <= envelope.rate * distance(m(t))
            if envelope.is_known(t):
                assert piece.first == piece.last
                assert exponent == envelope.rate * distance(m(t))


@pytest.mark.parametrize("exponents", [(0, 1, 2), (Fraction(1, 3), Fraction(1, 3), 5), (40, 41, 40)])
def test_a_pick_has_its_probabilities(exponents):
    masses = [Fraction(1, 3), Fraction(2), Fraction(5, 7)]
    weights = [float(m) * math.exp(-float(x)) for m, x in zip(masses, exponents, strict=True)]
    expected = {place: weight / sum(weights) for place, weight in enumerate(weights)}
    noise = Seeded(11)
    drawn = [pick(masses, [Fraction(x) for x in exponents], noise) for _ in range(DRAWS)]
    assert fits(drawn, expected)
    twin = dict(enumerate(float(m) / float(sum(masses)) for m in masses))
    if len(set(exponents)) == 3:
        assert not fits(drawn, twin)


def test_a_pick_asks_for_more_digits_near_an_edge():
    """A number that begins like 1/3, on the edge between 1 and 2: its first bits decide nothing."""

    class Bits:
        def __init__(self) -> None:
            self.asked = 0

        def bits(self, count: int) -> int:
            self.asked += 1
            return (1 << count) // 3 if self.asked == 1 else 0

    source = Bits()
    assert pick([Fraction(1), Fraction(2)], [Fraction(1), Fraction(1)], source) == 0
    assert source.asked > 1


# ------------------------------------------------------------------ the law

placed = st.sampled_from(list(Shape)).flatmap(
    lambda shape: st.tuples(
        st.just(shape),
        st.lists(st.tuples(BY_SHAPE[shape], st.integers(1, 3), st.integers(0, 3)), min_size=1, max_size=5),
    )
)


def m_of(shape, rows, t, rank, tau):
    def x(part):
        relation = from_expressions([(k, w) for k, w, _ in part], shape, signed=False)
        return truncated_high(prepare(relation, reference).positive, tau)

    return (1 - rank) * x([r for r in rows if r[2] <= t]) - rank * x([r for r in rows if r[2] > t])


@settings(max_examples=examples(20))
@given(placed, st.sampled_from([Fraction(1, 2), Fraction(9, 10)]), st.sampled_from([1, 3]))
def test_a_participant_moves_the_balance_within_the_interval(found, rank, tau):
    shape, rows = found
    tau, slack = Fraction(tau), SLACK * tau
    people = from_expressions([(k, w) for k, w, _ in rows], shape, signed=False).names
    found = [m_of(shape, rows, t, rank, tau) for t in range(4)]
    assert all(b >= a - slack for a, b in pairwise(found)), "monotone up to slack"
    for leaver in people:
        fewer = []
        for k, w, v in rows:
            kept = without(from_expressions([(k, w)], shape, signed=False), leaver)
            fewer += [] if not len(kept.positive) else [(from_tree(kept), w, v)]
        for t in range(4):
            move = found[t] - m_of(shape, fewer, t, rank, tau)
            assert -rank * tau - slack <= move <= (1 - rank) * tau + slack


def from_tree(relation):
    ((k, _),) = expressions(relation)
    return k


Owned = list[tuple[int, int]]
"""rows of one owner each, with their values"""


def balance_of(rows: Owned, rank: Fraction, tau: Fraction):
    def found(t: int) -> Fraction:
        def x(above: bool) -> Fraction:
            counts = Counter(p for p, v in rows if (v > t) == above)
            return sum((min(Fraction(c), tau) for c in counts.values()), Fraction(0))

        return (1 - rank) * x(False) - rank * x(True)

    return paired(found)


def loss(rate: Fraction, rows: Owned, rank: Fraction, tau: Fraction) -> float:
    """Return the worst log-ratio of the whole distribution, whoever leaves."""
    worst = 0.0
    for leaver in {owner for owner, _ in rows}:
        rest = [row for row in rows if row[0] != leaver]
        one, other = (probabilities(rate, balance_of(some, rank, tau)) for some in (rows, rest))
        worst = max(worst, *(abs(math.log(one[t] / other[t])) for t in one))
    return worst


FEW = [(0, 0), (0, 0), (1, 8), (1, 8)]
"""with the first there the balance is zero between the two, and far from zero beyond them"""
SOME = [(0, 3), (0, 3), (1, 5), (2, -2), (3, 9), (3, -9), (4, 12)]
ALIKE = [(0, 3), (0, 3), (1, 3), (1, 3), (2, 3)]
"""all of one value"""


@pytest.mark.parametrize(
    ("rows", "rank", "times"),
    [(SOME, Fraction(3, 4), 3), (FEW, Fraction(1, 2), 2), (ALIKE, Fraction(1, 2), 4)],
    ids=["some", "few", "alike"],
)
def test_neighbours_draw_alike_exactly(rows, rank, times):
    """The audit: the worst log-ratio of all that can be drawn; a rate so many times as large is caught."""
    epsilon, tau = Fraction(1), Fraction(2)
    rate = quantile_rate(epsilon, tau, rank)
    assert loss(rate, rows, rank, tau) <= float(epsilon)
    assert loss(times * rate, rows, rank, tau) > float(epsilon), "the twin"


def test_a_value_that_nearly_all_rows_share_is_said():
    values = (7,) * 40 + (-2, 11)
    m, rate = balance(Fraction(1, 2), values), Fraction(1, 2)
    assert probabilities(rate, m)[7] > 0.99
    drawn = [draw_quantile(Envelope(rate, Fraction(0), prior()), m, Seeded(seed)) for seed in range(20)]
    assert drawn == [7] * 20


def test_a_score_of_one_side_is_caught():
    """The twin, |m_t|, as it was: nothing speaks for the value that all share more than for any beyond it."""
    values, rate = (7,) * 40, Fraction(1, 2)
    before = balance(Fraction(1, 2), values)
    found = probabilities(rate, lambda t: (before(t)[1], before(t)[1]))
    assert found[7] < 0.2


def test_what_is_certain_happens():
    assert happens(Fraction(0), Seeded(1))
