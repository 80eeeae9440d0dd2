"""An event loop whose clock stands still while anything is to be done: times are exact on a busy machine."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class ClockworkLoop(asyncio.SelectorEventLoop):
    """A loop that does not wait for what is scheduled: its clock moves on to it."""

    def __init__(self) -> None:
        self._now = 0.0
        super().__init__()

    def time(self) -> float:
        return self._now

    def _run_once(self) -> None:
        if not self._ready and self._scheduled:  # type: ignore[attr-defined]
            self._now = max(self._now, self._scheduled[0].when())  # type: ignore[attr-defined]
        super()._run_once()  # type: ignore[misc]


def run_by_clockwork(work: Coroutine[Any, Any, T]) -> T:
    """Return what a coroutine comes to that waits for nothing but the clock."""
    with asyncio.Runner(loop_factory=ClockworkLoop) as runner:
        return runner.run(work)
