"""The table of a binomial with its slopes cut: integers as defined, doubles not above them and near."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, comb

import pytest

from recuse.solver.choices.binomials import Binomials

NEAR = Fraction(1, 2**48)


@pytest.mark.parametrize("k", [2, 3, 10, 200])
@pytest.mark.parametrize("tau", [0.5, 1.0, 3.3, 1e9, 2.0**200, 2.0**1000])
@pytest.mark.parametrize("most", [0, 1, 12, 700])
def test_entries_are_as_defined(k, tau, most):
    table = Binomials.of(k, most, tau)
    slopes = [min(ceil(tau), comb(j, k - 1)) for j in range(most + 1)]
    values = [sum(slopes[:j]) for j in range(most + 1)]
    assert (table.slopes, table.values) == (slopes, values)
    for exact, doubles in ((slopes, table.low_slopes), (values, table.low_values)):
        for number, low in zip(exact, doubles.tolist(), strict=True):
            unit = Fraction(number) / Fraction(tau)
            assert unit * (1 - NEAR) - Fraction(1, 2**1000) <= Fraction(low) <= unit
