"""A worker as the front process sees it: started, asked one thing at a time, killed when it is late."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
from contextlib import suppress
from typing import Any

from recuse.refusal import error_of
from recuse.server.frames import LENGTH, MOST_BYTES, Message, framed

STARTING = 120.0
"""seconds until a worker must have opened the data: as long as a busy machine needs"""


class WorkerFailed(Exception):  # noqa: N818 - what happened
    """A worker failed, or is no more; nothing says why."""


class Worker:
    """A process that holds the data."""

    def __init__(self, opening: Message) -> None:
        self._opening = opening
        self._process: asyncio.subprocess.Process | None = None
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    @property
    def pid(self) -> int | None:
        """The number of its process."""
        return None if self._process is None else self._process.pid

    async def start(self) -> None:
        """Start the process and let it open the data; raise what it refuses."""
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                *("-m", "recuse.server.worker", str(theirs.fileno())),
                pass_fds=[theirs.fileno()],
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,  # what a library prints may depend on a row
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                start_new_session=True,
            )
        self._streams = await asyncio.open_connection(sock=ours, limit=2**20)
        await self.ask(self._opening)

    async def ask(self, message: Message) -> Any:
        """Return what the worker found; raise its refusal, or that it failed."""
        if self._streams is None:
            raise WorkerFailed
        reader, writer = self._streams
        try:
            writer.write(framed(message))
            await writer.drain()
            (size,) = LENGTH.unpack(await reader.readexactly(LENGTH.size))
            if size > MOST_BYTES:
                raise WorkerFailed
            answer = json.loads(await reader.readexactly(size))
        except (OSError, asyncio.IncompleteReadError):
            raise WorkerFailed from None
        if "refused" in answer:
            raise error_of(answer["refused"])
        if "found" not in answer:
            raise WorkerFailed
        return answer["found"]

    async def stop(self) -> None:
        """End the process at once, whatever it is doing."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()
            self._process = None


class Standing:
    """A worker that others wait for in turn, and that is started anew when it has failed: for what is public.

    A request that takes longer than `patience` fails, and the worker with it: so nobody can stop others.
    """

    def __init__(self, opening: Message, patience: float) -> None:
        self._opening = opening
        self._patience = patience
        self._turn = asyncio.Lock()
        self._worker: Worker | None = None
        self._closed = False

    async def ask(self, message: Message) -> Any:
        """Return what the worker found; raise its refusal, or `WorkerFailed`.

        Whoever stops waiting does not stop the worker: others wait for it.
        """
        work = asyncio.ensure_future(self._in_turn(message))
        work.add_done_callback(lambda done: done.cancelled() or done.exception())  # seen, whoever waits
        return await asyncio.shield(work)

    async def _in_turn(self, message: Message) -> Any:
        """Return what the worker found; one that has died since is started anew, once."""
        async with self._turn:
            for last in (False, True):
                try:
                    worker = await asyncio.wait_for(self._started(), STARTING)
                    return await asyncio.wait_for(worker.ask(message), self._patience)
                except (TimeoutError, WorkerFailed) as error:
                    await self._drop()
                    if last or isinstance(error, TimeoutError):
                        raise WorkerFailed from None
            raise WorkerFailed

    async def _started(self) -> Worker:
        if self._closed:
            raise WorkerFailed
        if self._worker is None:
            self._worker = Worker(self._opening)  # known before it is there, so that it can be let go of
            await self._worker.start()
        return self._worker

    async def restart(self) -> None:
        """Let go of the worker: the next request starts one that opens the data as it is then."""
        async with self._turn:
            await self._drop()

    async def stop(self) -> None:
        """End the worker, whatever it is doing, and start none any more."""
        self._closed = True
        await self._drop()

    async def _drop(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            await worker.stop()
