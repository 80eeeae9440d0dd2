"""OPT²: its count against the linear program of its authors, its search against exact distributions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from recuse.errors import ParameterError
from recuse.lab.comparators.opt2 import OPT2
from recuse.mechanism.parameters import SLACK
from recuse.mechanism.prepared import prepare
from recuse.privacy import Epsilon
from recuse.solver.memo import memoising
from recuse.solver.reference import reference
from support.distributions import worst_log_ratio
from support.neighbours import PAIRS, clique, star
from support.noise import Seeded
from support.packing import ROWS, Rows, people_of, relation_of
from support.profiles import examples

ONE = Epsilon.of(1)
LEVELS = 14


def prepared(relation):
    return prepare(relation, memoising(reference))


def staying(rows: Rows, tau: float) -> float:
    """Return G(τ) by its authors' program: max Σy, z_t ≥ Σ_{i∈t} y_i - (|t| - 1), Σ_{t∋i} q_t z_t ≤ τ."""
    people = people_of(rows)
    place = {name: i for i, name in enumerate(people)}
    matrix = np.zeros((len(rows) + len(people), len(people) + len(rows)))
    for t, (owners, weight) in enumerate(rows):
        matrix[t, len(people) + t] = -1
        for name in owners:
            matrix[t, place[name]] = 1
            matrix[len(rows) + place[name], len(people) + t] = weight
    right = [len(owners) - 1 for owners, _ in rows] + [tau] * len(people)
    gain = [-1.0] * len(people) + [0.0] * len(rows)
    return -float(linprog(gain, A_ub=matrix, b_ub=right, bounds=(0, 1)).fun)


@settings(max_examples=examples(60))
@given(rows=ROWS, tau=st.sampled_from([1.0, 2.0, 4.0, 8.0]))
def test_withdrawals_are_whom_its_authors_do_not_keep(rows, tau):
    found = prepared(relation_of(rows)).positive.withdrawals(tau, 1e-6)
    assert found.low - 1e-6 <= len(people_of(rows)) - staying(rows, tau) <= found.high + 1e-6


def levels(mechanism: OPT2, relation, factor: float = 1.0) -> list[float]:
    """Return the exact probability of every τ = 2^k; `factor` scales the noise, for a broken twin."""
    positive = prepared(relation).positive
    counts = [positive.withdrawals(2.0**k, float(SLACK) / 2).high for k in range(LEVELS)]
    scale = factor * mechanism.scale
    drawn = np.linspace(-40, 40, 80_001)
    left = np.exp(-np.abs(drawn)) / 2 * (drawn[1] - drawn[0])
    found = []
    for count in counts:
        short = (count - mechanism.few - scale * drawn) / (2 * scale)
        passes = np.where(short < 0, 1 - np.exp(-np.abs(short)) / 2, np.exp(-np.abs(short)) / 2)
        found.append(float((left * passes).sum()))
        left = left * (1 - passes)
    return found


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("epsilon", ["0.5", "3"])
def test_the_search_is_private(pair, epsilon):
    mechanism = OPT2(Epsilon.of(epsilon), failure=0.5)
    one, other = (levels(mechanism, relation) for relation in PAIRS[pair])
    assert worst_log_ratio(one, other) <= 2 / 3 * float(epsilon)


def test_a_third_of_the_noise_is_not_private():
    mechanism = OPT2(Epsilon.of(3), failure=0.5)
    twins = ([levels(mechanism, relation, 1 / 3) for relation in pair] for pair in PAIRS.values())
    assert max(worst_log_ratio(*twin) for twin in twins) > 2


def test_every_level_is_as_likely_as_it_should_be():
    mechanism, relation, source = OPT2(Epsilon.of(4)), clique(9), Seeded(8)
    work = prepared(relation)
    scales = [float(mechanism.release(work, source).noise_scale) for _ in range(4000)]
    drawn = np.log2(np.array(scales) / (3 * 1.01 / 4)).round().astype(int)
    expected = levels(mechanism, relation)
    assert sum(expected) == pytest.approx(1, abs=1e-3)
    for level in range(6):
        share = float(np.mean(drawn == level))
        assert share == pytest.approx(expected[level], abs=5 * math.sqrt(expected[level] / 4000) + 1e-3)


class Silent:
    """Uniform bits in the middle: Laplace noise is 0."""

    def bits(self, count):
        return 1 << (count - 1)

    def laplace(self, scale):
        raise AssertionError("this comparator draws bits")


def test_without_noise_by_hand():
    """At ε = 6 ln(1/β) withdrawals are few. A star of 40 has N(τ) = 1 - τ/40."""
    work = prepared(star(40))
    # few = 1.2
    generous = OPT2(Epsilon.of(6), failure=0.3).release(work, Silent())
    assert (float(generous.value), float(generous.noise_scale)) == (
        pytest.approx(1, abs=0.02),
        pytest.approx(0.505),
    )
    strict = OPT2(Epsilon.of(6), failure=0.6).release(work, Silent())  # few = 0.51, N(16) = 0.6, N(32) = 0.2
    assert float(strict.noise_scale) == pytest.approx(32 * 0.505)


def test_what_does_not_make_sense_is_refused():
    with pytest.raises(ParameterError):
        OPT2(ONE, failure=1.0)
    assert OPT2(ONE).guesses == ()
