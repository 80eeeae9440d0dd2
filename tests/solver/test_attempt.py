"""Attempts: whatever goes wrong in doubles is nothing found; whatever is not theirs passes."""

from __future__ import annotations

import numpy as np
import pytest

from recuse.solver.attempt import FAILURES, attempted


@pytest.mark.parametrize("failure", FAILURES)
def test_a_failure_is_nothing_found(failure):
    def fails():
        raise failure("of some data")

    assert attempted(fails) is None


@pytest.mark.parametrize(
    "arithmetic",
    [
        lambda: np.array([1e308]) * 10,
        lambda: np.array([1.0]) / 0.0,
        lambda: np.array([np.inf]) - np.inf,
    ],
    ids=["overflow", "division", "not a number"],
)
def test_arithmetic_that_leaves_the_doubles_is_nothing_found(arithmetic):
    """Not even a warning is seen: the suite turns warnings into errors."""
    assert attempted(arithmetic) is None


def test_what_is_found_comes_back_and_settings_are_left_alone():
    before = np.geterr()
    assert attempted(lambda: 7) == 7
    assert attempted(lambda: 1 / 0) is None
    assert np.geterr() == before


@pytest.mark.parametrize("other", [KeyboardInterrupt, SystemExit, AssertionError])
def test_what_is_no_failure_of_arithmetic_passes(other):
    def ends():
        raise other

    with pytest.raises(other):
        attempted(ends)
