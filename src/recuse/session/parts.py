"""Parts: what a session is wired from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypedDict

from recuse.deferred import Deferred
from recuse.krelation.prices import Prices
from recuse.krelation.relation import Tuples
from recuse.noise import Noise, SecureNoise
from recuse.session.outward import NO_LOG, FailureLog
from recuse.solver.programs import Programs, Solver

if TYPE_CHECKING:
    from recuse.solver import fast
else:
    fast = Deferred("recuse.solver.fast")


def fast_programs(tuples: Tuples, participants: int, prices: Prices | None = None, /) -> Programs:
    """Return what the fast solver makes of tuples; it is loaded when the first have to be solved for."""
    return fast.fast_programs(tuples, participants, prices)


@dataclass(frozen=True, slots=True)
class Parts:
    """What a session is wired from; tests replace the noise.

    `failures` is where a graph's session logs what failed after a charge; a database's policy says it.
    """

    solver: Solver = fast_programs
    noise: Noise = field(default_factory=SecureNoise)
    failures: FailureLog = NO_LOG


class SessionOptions(TypedDict, total=False):
    """What may be said of a session by name."""

    analyst: str | None
    """whose limit is charged, too"""
    parts: Parts | None
