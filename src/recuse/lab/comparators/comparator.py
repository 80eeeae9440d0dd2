"""Comparator: what every mechanism that we are compared with looks like. None is for release of real data.

A comparator is a frozen value: its parameters, what it promises (`privacy`), what its user must know before
seeing the data (`guesses`), and `release`, which takes what the mechanism works on: a relation with its
programs (`Prepared`), or a graph and the subgraph to count in it (`SubgraphCount`). Noise is simulated in
doubles.
"""

from __future__ import annotations

from enum import Enum
from typing import Protocol, TypeVar

from recuse.mechanism.release import Release
from recuse.noise import Noise
from recuse.privacy import Epsilon

Subject = TypeVar("Subject", contravariant=True)


class Privacy(Enum):
    """What a mechanism promises, and to whom."""

    PURE = "pure ε, whoever the relation's participants are"
    PURE_EDGE = "pure ε, one edge"
    PURE_NODE = "pure ε, one node with all its edges"
    APPROXIMATE_EDGE = "(ε, δ), one edge"
    ADVERSARIAL_EDGE = "(ε, γ)-adversarial: one edge, against adversaries with a bounded prior only"


class Comparator(Protocol[Subject]):
    """A mechanism with its parameters."""

    @property
    def epsilon(self) -> Epsilon:
        """The privacy loss."""

    @property
    def privacy(self) -> Privacy:
        """What is promised."""

    @property
    def guesses(self) -> tuple[str, ...]:
        """What its user must know beforehand; an empty tuple if nothing."""

    def release(self, subject: Subject, noise: Noise) -> Release:
        """Return one noisy answer, or refuse a question that the mechanism was not made for."""
