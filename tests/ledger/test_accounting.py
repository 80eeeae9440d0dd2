"""The (ε, δ) report: true and tight, with all outcomes of randomised responses as judge."""

from __future__ import annotations

import math
import sys
from fractions import Fraction

import pytest

from recuse.errors import ParameterError
from recuse.ledger.accounting import approximate_loss


def exact_delta(charges, epsilon):
    """Return δ(ε) of randomised responses together, by listing all their outcomes: the worst there is."""
    outcomes = [(1.0, 1.0)]
    for charge in map(float, charges):
        high = math.exp(charge) / (1 + math.exp(charge))
        outcomes = [
            pair for p, q in outcomes for pair in ((p * high, q * (1 - high)), (p * (1 - high), q * high))
        ]
    return sum(max(0.0, p - math.exp(epsilon) * q) for p, q in outcomes)


@pytest.mark.parametrize(
    "charges", [["0.1"] * 12, ["0.5", "0.25", "0.25", "1/3"], ["1"], ["0.01"] * 8 + ["0.7"]]
)
def test_the_approximate_report_is_true_and_tight(charges):
    pytest.importorskip("dp_accounting")
    for delta in (Fraction(1, 100), Fraction(1, 10**6)):
        epsilon = approximate_loss([Fraction(text) for text in charges], delta)
        assert epsilon <= float(sum(map(Fraction, charges)))
        assert exact_delta(map(Fraction, charges), epsilon) <= float(delta) * (1 + 1e-9)
        assert exact_delta(map(Fraction, charges), epsilon - 0.01) > float(delta) * 0.5, (
            "and not much smaller"
        )


def test_nothing_spent_is_nothing_lost():
    pytest.importorskip("dp_accounting")
    assert approximate_loss([], Fraction(1, 100)) == 0


@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1), Fraction(-1, 2), Fraction(3)])
def test_a_delta_that_is_no_probability_is_refused(delta):
    with pytest.raises(ParameterError, match="out of range"):
        approximate_loss([Fraction(1)], delta)


def test_without_the_library_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "dp_accounting.pld.privacy_loss_distribution", None)
    with pytest.raises(ParameterError, match="dp-accounting") as refused:
        approximate_loss([Fraction(1)], Fraction(1, 100))
    assert refused.value.__cause__ is None
