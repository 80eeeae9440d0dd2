"""Where the tuples of one sign are, and what of them a program needs.

Only overloaded participants and what touches them matter (proofs.md, withdrawal form): a `Focus`. A solver
asks its source for that and for nothing else, so that the relation may be in memory or stay in an engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, Self

from recuse.krelation.evaluate import Evaluation
from recuse.krelation.prices import Prices
from recuse.krelation.relation import Floats, Integers, Tuples
from recuse.solver.certificate import Checker
from recuse.solver.cuts.restriction import Focus, Mask, focus_answer, focus_loads


class TupleSource(Protocol):
    """The tuples of one sign.

    Guarantee: whatever is returned is a function of the tuples as a multiset, of the participants' names and
    of what is asked (proofs.md, lemma P): not of the order of rows, nor of what was asked before.
    """

    def __len__(self) -> int:
        """Return how many tuples there are."""

    def total(self) -> int:
        """Return the sum of the weights, exactly."""

    def largest_load(self) -> float:
        """Return a double not below max_p ℓ_p(0), in units of p's price."""

    def overloaded(self, tau: float) -> int:
        """Return how many participants have a load above their bound at τ."""

    def movable(self, tau: float) -> Focus:
        """Return what of the answer those who are overloaded at τ can move."""

    def focus(self, tau: float, invited: Sequence[Integers]) -> Focus:
        """Return what the loads of those who are overloaded at τ, or were `Outside.above`, depend on."""

    def listed(self) -> InMemory | None:
        """Return all tuples, if it is no great matter to list them."""

    def everything(self) -> InMemory:
        """Return all tuples, whatever it takes."""


@dataclass(frozen=True, slots=True, eq=False)
class InMemory:
    """`TupleSource` of tuples that are listed: the relation is in memory."""

    evaluation: Evaluation
    loads: Floats

    @classmethod
    def of(cls, tuples: Tuples, participants: int, prices: Prices | None = None) -> Self:
        """Return the source of tuples, laid out."""
        evaluation = Evaluation.of(tuples, participants, prices)
        return cls(evaluation, Checker.of(evaluation).initial_loads())

    def __len__(self) -> int:
        return len(self.evaluation.tuples)

    def total(self) -> int:
        return self.evaluation.tuples.total()

    def largest_load(self) -> float:
        return self.evaluation.prices.least_tau(self.loads)

    def overloaded(self, tau: float) -> int:
        return int(self.above(tau).sum())

    def above(self, tau: float) -> Mask:
        """Return who is overloaded at τ."""
        return self.loads > self.evaluation.bounds(tau)

    def movable(self, tau: float) -> Focus:
        return focus_answer(self.evaluation, self.above(tau))

    def focus(self, tau: float, invited: Sequence[Integers]) -> Focus:
        chosen = self.above(tau)
        for people in invited:
            chosen[people] = True
        return focus_loads(self.evaluation, chosen)

    def listed(self) -> InMemory:
        return self

    def everything(self) -> InMemory:
        return self
