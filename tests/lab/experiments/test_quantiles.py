"""The measurement of quantiles: what it compares is what it says, and OpenDP gives what it is told to."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import opendp.prelude as dp

from recuse.lab.experiments.quantiles import _rank_error, halves, made, opendp_quantile, settings
from recuse.mechanism.owned import OwnedGroup
from recuse.solver.fast import fast_programs

HALF = Fraction(1, 2)


def test_halves_count_a_person_on_both_sides():
    """Three rows each, τ = 2: whoever has rows on both sides of a number counts for more than τ together."""
    _, rows = next(made())
    group = OwnedGroup(rows, fast_programs)
    below = group.values <= np.median(group.values)
    apart, together = halves(group, Fraction(2)), group.counting(Fraction(2))
    both = [weighing.weigh(below) + weighing.weigh(~below) for weighing in (apart, together)]
    each = [
        sum(min(2, int((some & (rows.owners == owner)).sum())) for some in (below, ~below))
        for owner in range(1_000)
    ]
    assert both[0] == sum(each) > 2_000
    assert 2_000 - 1 < both[1] <= 2_000


def test_all_settings_spend_all_of_epsilon():
    assert all(choosing.epsilon == HALF for _, choosing, _ in settings(HALF))


def test_a_null_errs_by_half():
    values = np.arange(100)
    assert _rank_error(values, HALF, [50, 50, None]) == "0.0%, NULL 33%"
    assert _rank_error(values, HALF, [60, 60, 70]) == "10.0%"


def test_opendp_draws_a_quantile_between_its_ends():
    dp.enable_features("contrib")
    values = np.arange(1_000)
    assert 400 < opendp_quantile(values, HALF, (0.0, 1_000.0), Fraction(1)) < 600
    assert opendp_quantile(values, HALF, (0.0, 100.0), Fraction(1)) <= 100
