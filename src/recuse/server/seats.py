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

    async def ready(self) -> None:
        """Return when the worker is there; raise what it refuses to open."""
        if self.stale:
            self.stale = False
            await self.clear()
        if self._worker is None and not self.closed:
            worker = Worker(self._opening)
            await worker.start()
            self._worker = worker

    async def ask(self, message: Message) -> Any:
        """Return what the worker found; one that failed is started anew while its question still waits."""
        try:
            await self.ready()
            if self._worker is None:
                raise WorkerFailed
            return await self._worker.ask(message)
        except WorkerFailed:
            await self.clear()
            with suppress(WorkerFailed, RecuseError, OSError):
                await self.ready()
            raise

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
            if seat.held_until > loop.time():
                loop.call_at(seat.held_until, self._free.put_nowait, seat)
            else:
                self._free.put_nowait(seat)

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
        await self._given_up(seat, looking)
        return None

    async def at_once(self, seat: Seat, message: Message) -> Any:
        """Return what is found as soon as it is: for a custodian, and for what is about nobody.

        The seat is held to the end of the slot all the same: who waits for it is no custodian, perhaps.
        """
        loop, looking = asyncio.get_running_loop(), asyncio.ensure_future(seat.ask(message))
        began = loop.time()
        await asyncio.wait([looking], timeout=self._answers.slot * self._answers.deadline)
        if not looking.done():
            await self._given_up(seat, looking)
            return None
        slots = max(1, ceil((loop.time() - began) / self._answers.slot))
        seat.held_until = began + slots * self._answers.slot
        return None if isinstance(looking.exception(), WorkerFailed) else looking.result()

    async def _given_up(self, seat: Seat, looking: asyncio.Future[Any]) -> None:
        self.exceeded += 1
        if not looking.done():
            looking.cancel()
            await seat.clear()
            with suppress(WorkerFailed, RecuseError, OSError):
                await seat.ready()
        with suppress(asyncio.CancelledError, WorkerFailed, RecuseError):
            await looking

    def restart(self) -> None:
        """Let every seat open the data as it is now, before its next question."""
        for seat in self._all:
            seat.stale = True

    async def stop(self) -> None:
        """End all workers."""
        for seat in self._all:
            seat.closed = True
            await seat.clear()
