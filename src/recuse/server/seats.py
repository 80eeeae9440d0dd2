"""Seats: workers that look at private rows, each occupied by one question for whole slots.

    charge ─ look ─────────┊─────────┊ the answer leaves      the question was answered in its second slot
           0               1         2 slots

The seat is free again when the answer leaves and not before, so that neither who asked nor who waits learns
more than in which slot it was. A worker that failed, or died, looks like one that is late: its question is
unanswered at the deadline, and no earlier.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from math import ceil
from typing import Any

from recuse.errors import RecuseError
from recuse.server.frames import Message
from recuse.server.process import Worker, WorkerFailed
from recuse.server.settings import Answers


class Seat:
    """Where one question at a time is looked at."""

    def __init__(self, opening: Message) -> None:
        self._opening = opening
        self._worker: Worker | None = None
        self.stale = False
        """whether its worker has opened data that is published anew"""
        self.closed = False
        self.held_until = 0.0
        """when others may have it: at the end of a slot, though its question was answered before"""
        self.failed = False
        """whether its question was not answered: its worker is then another one, whatever became of it"""

    async def ready(self) -> None:
        """Return when the worker is there; raise what it refuses to open."""
        if self.stale:
            self.stale = False
            await self.clear()
        if self._worker is None and not self.closed:
            self._worker = Worker(self._opening)  # known before it is there, so that it can be let go of
            await self._worker.start()

    async def ask(self, message: Message) -> Any:
        """Return what the worker found."""
        await self.ready()
        if self._worker is None:
            raise WorkerFailed
        return await self._worker.ask(message)

    async def clear(self) -> None:
        """End the worker, whatever it is doing."""
        worker, self._worker = self._worker, None
        if worker is not None:
            await worker.stop()


class Seats:
    """All seats of a dataset, and who waits for one."""

    def __init__(self, opening: Message, answers: Answers) -> None:
        self._answers = answers
        self._all = [Seat(opening) for _ in range(answers.workers)]
        self._free: asyncio.Queue[Seat] = asyncio.Queue()
        for seat in self._all:
            self._free.put_nowait(seat)
        self._renewing: set[asyncio.Task[None]] = set()
        self.waiting = 0
        self.exceeded = 0
        """answers that did not leave in their first slot: for the custodian, who makes slots longer"""

    async def start(self) -> None:
        """Start all workers."""
        await asyncio.gather(*(seat.ready() for seat in self._all))

    @property
    def is_full(self) -> bool:
        """Whether nobody else may wait."""
        return self.waiting >= self._answers.queue + self._free.qsize()

    @asynccontextmanager
    async def taken(self) -> AsyncIterator[Seat]:
        """Give a seat as soon as one is free."""
        self.waiting += 1
        try:
            seat = await self._free.get()
        finally:
            self.waiting -= 1
        loop, seat.held_until = asyncio.get_running_loop(), 0.0
        try:
            yield seat
        finally:
            if seat.failed:
                task = asyncio.ensure_future(self._renewed(seat))
                self._renewing.add(task)
                task.add_done_callback(self._renewing.discard)
            elif seat.held_until > loop.time():
                loop.call_at(seat.held_until, self._free.put_nowait, seat)
            else:
                self._free.put_nowait(seat)

    async def _renewed(self, seat: Seat) -> None:
        """Give a seat a new worker, and free it at the end of a slot: what became of the old is not seen."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        await seat.clear()
        with suppress(WorkerFailed, RecuseError, OSError):
            await seat.ready()
        await asyncio.sleep(self._end(began) - loop.time())
        seat.failed = False
        self._free.put_nowait(seat)

    def _end(self, began: float) -> float:
        """Return when the present slot ends of what began then."""
        slots = ceil((asyncio.get_running_loop().time() - began) / self._answers.slot)
        return began + max(1, slots) * self._answers.slot

    async def looked(self, seat: Seat, message: Message) -> Any:
        """Return what a question that is paid for was answered with, at the end of a slot; None: unanswered.

        Guarantee: when this returns depends on rows through a number of slots alone, up to the deadline;
        failures of every kind return at the deadline (tests/server/test_timing.py).
        """
        loop = asyncio.get_running_loop()
        began, looking = loop.time(), asyncio.ensure_future(seat.ask(message))
        for slot in range(1, self._answers.deadline + 1):
            await asyncio.sleep(began + slot * self._answers.slot - loop.time())
            if looking.done() and looking.exception() is None:
                self.exceeded += slot > 1
                return looking.result()
        self._given_up(seat, looking)
        return None

    async def at_once(self, seat: Seat, message: Message) -> Any:
        """Return what is found as soon as it is: for a custodian, and for what is about nobody.

        The seat is held to the end of the slot all the same: who waits for it is no custodian, perhaps.
        """
        loop, looking = asyncio.get_running_loop(), asyncio.ensure_future(seat.ask(message))
        began = loop.time()
        await asyncio.wait([looking], timeout=self._answers.slot * self._answers.deadline)
        if not looking.done() or isinstance(looking.exception(), WorkerFailed):
            self._given_up(seat, looking)
            return None
        seat.held_until = self._end(began)
        return looking.result()

    def _given_up(self, seat: Seat, looking: asyncio.Future[Any]) -> None:
        """Let a question go that failed, died or is late: from here on they are alike."""
        self.exceeded += 1
        seat.failed = True
        looking.add_done_callback(lambda done: done.cancelled() or done.exception())  # seen
        looking.cancel()

    def restart(self) -> None:
        """Let every seat open the data as it is now, before its next question."""
        for seat in self._all:
            seat.stale = True

    async def stop(self) -> None:
        """End all workers."""
        for task in self._renewing:
            task.cancel()
        for seat in self._all:
            seat.closed = True
            await seat.clear()
