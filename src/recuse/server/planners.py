"""Planners: workers that read texts and no private row, shared so that nobody's texts keep another's waiting.

Somebody has one text at a time with them, so that a queue of one's own is in nobody's way. Those whose texts
are slow share all planners but one: that one is left for those whose texts are quick.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from recuse.server.frames import Message
from recuse.server.process import Standing
from recuse.server.refusals import BusyError

PLANNERS = 2
PATIENCE = 10.0
"""seconds after which a text is given up, and its planner with it"""
SLOW = 1.0
"""seconds after which a text is slow"""
REMEMBERED = 60.0
"""seconds for which somebody's texts are taken to be slow after one that was"""
MOST_WAITING = 64
"""texts of one's own that may wait"""


@dataclass(eq=False)
class _Turn:
    """A text that waits for a planner, or is with one."""

    who: str
    given: asyncio.Future[Standing]
    began: float = field(default=0.0)


class Planners:
    """All planners of a dataset, and who waits for one."""

    def __init__(self, opening: Message) -> None:
        self._all = [Standing(opening, PATIENCE) for _ in range(PLANNERS)]
        self._free = list(self._all)
        self._waiting: list[_Turn] = []
        self._reading: dict[str, _Turn] = {}
        self._last: dict[str, Standing] = {}
        self._slow_until: dict[str, float] = {}

    async def start(self) -> None:
        """Start them all; raise what they refuse to open."""
        await asyncio.gather(*(planner.ask({"do": "ready"}) for planner in self._all))

    async def ask(self, who: str, message: Message) -> Any:
        """Return what a planner found; raise its refusal, or `WorkerFailed`.

        Whoever stops waiting does not stop the planner: it is not started anew for that.
        """
        if Counter(turn.who for turn in self._waiting)[who] >= MOST_WAITING:
            raise BusyError(
                "too many of your texts wait", hint="wait for what they mean: nothing was charged"
            )
        work = asyncio.ensure_future(self._in_turn(who, message))
        work.add_done_callback(lambda done: done.cancelled() or done.exception())  # seen, whoever waits
        return await asyncio.shield(work)

    async def _in_turn(self, who: str, message: Message) -> Any:
        loop = asyncio.get_running_loop()
        turn = _Turn(who, loop.create_future())
        self._waiting.append(turn)
        self._give(loop.time())
        planner = await turn.given
        try:
            return await planner.ask(message)
        finally:
            if self._is_slow(turn, loop.time()):
                self._slow_until[who] = loop.time() + REMEMBERED
            del self._reading[who]
            self._free.append(planner)
            self._give(loop.time())

    def _give(self, now: float) -> None:
        """Give planners that are free to those who waited longest, and may have one."""
        self._slow_until = {who: until for who, until in self._slow_until.items() if until > now}
        for turn in list(self._waiting):
            if self._free and turn.who not in self._reading and self._has_room(turn, now):
                last = self._last.get(turn.who)  # it may know this text already
                planner = last if last in self._free else self._free[0]
                self._free.remove(planner)
                self._waiting.remove(turn)
                self._reading[turn.who], self._last[turn.who], turn.began = turn, planner, now
                turn.given.set_result(planner)

    def _has_room(self, turn: _Turn, now: float) -> bool:
        if turn.who not in self._slow_until:
            return True
        return sum(self._is_slow(other, now) for other in self._reading.values()) < PLANNERS - 1

    def _is_slow(self, turn: _Turn, now: float) -> bool:
        return now - turn.began > SLOW or turn.who in self._slow_until

    async def restart(self) -> None:
        """Let all open the data as it is now, before they read another text."""
        await asyncio.gather(*(planner.restart() for planner in self._all))

    async def stop(self) -> None:
        """End them, whatever they are doing."""
        await asyncio.gather(*(planner.stop() for planner in self._all))
