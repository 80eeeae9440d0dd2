"""What `recuse lab error` measures."""

from __future__ import annotations

import numpy as np
import pytest

from neighbours import clique, shared
from recuse.errors import ParameterError
from recuse.experiments.error import MECHANISMS, ErrorSummary, measure
from recuse.privacy import Epsilon
from recuse.solver.reference import reference
from sources import Seeded

ONE = Epsilon.of(1)


def test_summary_by_hand():
    found = ErrorSummary.of(10.0, np.array([10.0, 11, 12, 13, 20]), 0.0)
    assert found.median_relative_error == pytest.approx(0.2)
    assert found.mean_relative_error == pytest.approx((0 + 0.1 + 0.2 + 0.3 + 1) / 5)
    assert found.trimmed_relative_error == pytest.approx(0.2)
    assert found.p90_relative_error == pytest.approx(0.72)


def test_a_truth_of_zero_is_measured_absolutely():
    assert ErrorSummary.of(0.0, np.array([3.0]), 0.0).median_relative_error == 3


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("relation", [clique(9), shared(30)], ids=["clique", "shared"])
def test_every_mechanism_is_measured(relation, mechanism):
    found = measure(relation, mechanism, ONE, 30, reference, Seeded(1))
    assert found.true_value == relation.true_answer()
    assert 0 <= found.median_relative_error <= found.p90_relative_error


def test_bad_input():
    with pytest.raises(ParameterError, match="selective"):
        measure(clique(3), "magic", ONE, 10, reference)
    with pytest.raises(ParameterError, match="run"):
        measure(clique(3), "paper", ONE, 0, reference)
