"""Parts: what a session is wired from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypedDict

from recuse.noise import Noise, SecureNoise
from recuse.session.outward import NO_LOG, FailureLog
from recuse.solver.fast import fast_programs
from recuse.solver.programs import Solver


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
