"""Solvers always answer where people pay prices, and where groups are released together."""

from __future__ import annotations

import random

import numpy as np
import pytest

from recuse.krelation.prices import Prices
from recuse.solver.fast import fast_programs
from recuse.solver.reference import reference
from support.profiles import examples
from support.torture import LONGEST
from support.vector_torture import priced_torment, vector_torment

CHUNK = 100


def test_prices_are_answered():
    """Others in every run; a failure names its seed."""
    start = random.SystemRandom().randrange(10**6)
    assert max(map(priced_torment, range(start, start + examples(600)))) < LONGEST


def test_groups_that_are_released_together_are_answered():
    start = random.SystemRandom().randrange(10**6)
    assert max(map(vector_torment, range(start, start + examples(50)))) < LONGEST


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(50))
def test_five_thousand_prices_are_answered(chunk):
    assert max(map(priced_torment, range(chunk * CHUNK, (chunk + 1) * CHUNK))) < LONGEST


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(10))
def test_a_thousand_vectors_are_answered(chunk):
    assert max(map(vector_torment, range(chunk * CHUNK, (chunk + 1) * CHUNK))) < LONGEST


@pytest.mark.parametrize("seed", range(20))
def test_the_reference_answers_with_prices_too(seed):
    priced_torment(seed, reference)


def test_the_twin_that_forgets_prices_is_caught():
    def forgetful(tuples, participants, _):
        return fast_programs(tuples, participants, Prices.alike(participants))

    assert np.any([fails(seed, forgetful) for seed in range(60)])


def fails(seed: int, solver) -> bool:
    try:
        priced_torment(seed, solver)
    except AssertionError:
        return True
    return False
