"""Beside tools that are told a bound: what is kept of everybody's rows, and how far answers are off."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from recuse.lab.experiments.told import bought, ours, with_opendp


def test_nobody_brings_more_than_the_bound():
    data = bought("a few", "SUM(price)", 200, 5, 1.0)
    bound = data.right_bound() // 5
    kept = data.within(bound, np.random.default_rng(1))
    left = np.bincount(data.person[kept], data.weights()[kept], data.people)
    assert left.max() <= bound
    assert 0 < kept.sum() < len(kept)
    assert data.within(data.right_bound(), np.random.default_rng(1)).all()


def test_errors_are_of_the_size_of_the_noise():
    data = bought("a few", "COUNT(*)", 500, 5, 0.4)
    told = with_opendp(data, Fraction(10), Fraction(1), np.random.default_rng(1))
    assert np.abs(told - data.truth()).mean() < data.right_bound()
    (found,) = ours(data, Fraction(10), 1)
    assert np.abs(found - data.truth()).mean() < data.right_bound()
