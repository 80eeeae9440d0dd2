"""(ε, δ) for those who report it: a tighter bound on many small charges, by Google's dp_accounting.

The budget itself is pure: charges add up exactly, whatever was asked after what. This is a report beside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from importlib import import_module
from typing import Any

from recuse.errors import ParameterError


def approximate_loss(charges: Sequence[Fraction], delta: Fraction) -> float:
    """Return an ε such that all charges together are (ε, δ)-private; never more than their sum.

    Guarantee: holds for every choice of ε-private mechanisms with these ε (the worst of them is randomised
    response, whose privacy loss is composed numerically, rounded up), if the sequence of ε was not itself
    chosen by what earlier answers said. The sum needs no such condition.
    """
    if not 0 < delta < 1:
        raise ParameterError("delta is out of range", found=str(float(delta)), accepted="0 < delta < 1")
    losses = _library("dp_accounting.pld.privacy_loss_distribution")
    common = _library("dp_accounting.pld.common")
    total = float(sum(charges, start=Fraction(0)))
    together: Any = None
    for epsilon, times in sorted(Counter(charges).items()):
        one = losses.from_privacy_parameters(common.DifferentialPrivacyParameters(float(epsilon), 0.0))
        several = one.self_compose(times)
        together = several if together is None else together.compose(several)
    if together is None:
        return 0.0
    return min(total, float(together.get_epsilon_for_delta(float(delta))))


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise ParameterError(
            "the (ε, δ) report needs the package dp-accounting",
            hint="pip install 'recuse[accounting]', or leave delta out",
        ) from None
