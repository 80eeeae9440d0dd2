"""Programs: the seam between mechanisms and solvers.

A solver turns the tuples of one sign into `Programs`. Every number it returns is an `Interval` that has
passed the certificate checker, no wider than asked for. How it was found cannot be seen from outside.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Protocol, runtime_checkable

from recuse.krelation.prices import Prices
from recuse.krelation.relation import Tuples
from recuse.solver.interval import Interval


class TruncationPrograms(Protocol):
    """What every query has programs for: an aggregate too, whose tuples are too many to list."""

    def largest_load(self) -> float:
        """Return a double not below max_p ℓ_p(0): for τ from there on X(τ) is the true answer, N(τ) is 0."""

    def truncated(self, tau: float, width: float) -> Interval:
        """Return an interval that holds X(τ) = min_g F(g) + τ|g|, at most `width` wide.

        With prices, here and below, τ is for everybody τ times their price (`krelation.prices`).
        """


@runtime_checkable
class Programs(TruncationPrograms, Protocol):
    """The optimisation problems over the tuples of one sign (proofs.md, sections 0 to 4)."""

    def withdrawals(self, tau: float, width: float, stop_above: float = float("inf")) -> Interval:
        """Return an interval that holds N(τ) = min{|g| : ℓ_p(g) ≤ τ for all p}.

        It is at most `width` wide, or its low end exceeds `stop_above`: then the rest was not worth finding.
        """

    def strict_withdrawals(self, tau: float, width: float, stop_above: float = float("inf")) -> Interval:
        """Return an interval that holds N_s(τ) = min{|g| : ℓ_p(g) ≤ τ(1-g_p) for all p}; as `withdrawals`."""

    def index(self, theta: float, beta: float, width: float) -> Interval:
        """Return an interval that holds r = min{s ≥ 0 : Γ(s) ≤ θ e^{βs}}, at most `width` wide."""

    def integer_index(self, theta: Fraction, beta: Fraction, factor: int) -> int:
        """Return min{s = 0, 1, … : factor·Γ(s) ≤ θ e^{βs}}, decided exactly."""


def with_index(programs: Sequence[TruncationPrograms]) -> list[Programs]:
    """Return programs that know more than X(τ); choices, whose tuples are too many to list, do not."""
    found = [part for part in programs if isinstance(part, Programs)]
    if len(found) < len(programs):
        raise TypeError(
            "these programs know X(τ) only: the shape of a question says which mechanism it takes"
        )
    return found


class Solver(Protocol):
    """The tuples of one sign, the number of participants and what they pay → their programs."""

    def __call__(self, tuples: Tuples, participants: int, prices: Prices | None = None, /) -> Programs: ...
