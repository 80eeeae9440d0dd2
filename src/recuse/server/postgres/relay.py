"""A client's connection to the empty PostgreSQL: its messages go there and come back as they are.

Statements go by the extended protocol alone, which takes one at a time. What takes too long, or gives too
much, is cancelled from here: what a client sets there cannot prevent it.
"""

from __future__ import annotations

import asyncio
import struct
from contextlib import suppress
from pathlib import Path
from typing import Self

from recuse.errors import RecuseError
from recuse.server.postgres.states import StateError
from recuse.server.postgres.wire import Received, message, read_message, text

ROLE = "analyst"
"""as whom clients are there: somebody who may read what is empty, and nothing else"""
PATIENCE = 4.0
MOST_BYTES = 16_000_000
LONGEST = 2**30
PASSED_ON = b"12TtnDCIs3NE"
CANCEL = 80877102


class RelayBrokenError(RecuseError, code="relay"):
    """The empty PostgreSQL does not answer."""

    def __init__(self) -> None:
        super().__init__("the catalogue is not to be had now", hint="SELECT * FROM recuse.policy")


class Relay:
    """One connection."""

    def __init__(self, path: Path, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._path = path
        self._reader, self._writer = reader, writer
        self._key = b""
        self._used = False

    @classmethod
    async def opened(cls, path: Path, database: str, role: str) -> Self:
        """Return a connection that is ready."""
        try:
            reader, writer = await asyncio.open_unix_connection(str(path), limit=2**20)
            found = cls(path, reader, writer)
            said = b"".join(map(text, ("user", role, "database", database, "client_encoding", "UTF8")))
            writer.write(struct.pack(">ii", len(said) + 9, 3 << 16) + said + b"\0")
            while (answer := await read_message(reader, LONGEST))[0] != b"Z":
                if answer[0] == b"E":
                    writer.close()
                    raise RelayBrokenError
                if answer[0] == b"K":
                    found._key = answer[1]
        except (OSError, EOFError):
            raise RelayBrokenError from None
        return found

    async def ask(self, letter: bytes, body: bytes, ends: bytes) -> bytes:
        """Return what is answered to a message, up to one of the letters `ends`; raise what is refused."""
        self._used = True
        self._writer.write(message(letter, body) + message(b"H"))
        try:
            return await asyncio.wait_for(self._read(ends), PATIENCE)
        except TimeoutError:
            await self._give_up()
            raise StateError("the catalogue was asked for too much", "57014") from None
        except asyncio.CancelledError:
            await self._give_up()
            raise
        except (OSError, EOFError):
            raise RelayBrokenError from None

    async def _read(self, ends: bytes) -> bytes:
        found, size = [], 0
        while True:
            letter, body = await read_message(self._reader, LONGEST)
            if letter == b"E":
                await self.synced()
                raise refusal(body)
            if letter in PASSED_ON:
                found.append(message(letter, body))
                size += len(body)
            if size > MOST_BYTES:
                raise TimeoutError
            if letter in ends:
                return b"".join(found)

    async def synced(self) -> None:
        """End what was begun since the last time."""
        if self._used:
            self._used = False
            self._writer.write(message(b"S"))
            while (await read_message(self._reader, LONGEST))[0] != b"Z":
                pass

    async def whole(self, sql: str) -> bytes:
        """Return all that one statement comes to, as the simple protocol has it: columns, rows, end."""
        await self.ask(b"P", text("") + text(sql) + struct.pack(">h", 0), b"1")
        await self.ask(b"B", text("") + text("") + struct.pack(">hhh", 0, 0, 0), b"2")
        columns = await self.ask(b"D", b"P" + text(""), b"Tn")
        rows = await self.ask(b"E", text("") + struct.pack(">i", 0), b"CIs")
        await self.synced()
        return (columns if columns[:1] == b"T" else b"") + rows

    async def run(self, sql: str) -> None:
        """Run a statement of ours; what is refused is left out."""
        with suppress(StateError):
            await self.whole(sql)

    async def _give_up(self) -> None:
        """Cancel what is running, and leave."""
        with suppress(OSError, EOFError):
            _, writer = await asyncio.open_unix_connection(str(self._path))
            writer.write(struct.pack(">ii", 16, CANCEL) + self._key)
            await writer.drain()
            writer.close()
        await self.close()

    async def close(self) -> None:
        """Leave."""
        self._writer.close()
        with suppress(OSError, EOFError):
            await self._writer.wait_closed()

    @property
    def is_open(self) -> bool:
        """Whether it can still be asked."""
        return not self._writer.is_closing() and not self._reader.at_eof()


def refusal(body: bytes) -> StateError:
    """Return what PostgreSQL says of an error."""
    received, said = Received(body), dict[bytes, str]()
    while (key := received.take(1)) != b"\0":
        said[key] = received.string()
    return StateError(said.get(b"M", "refused"), said.get(b"C", "XX000"), said.get(b"H"))
