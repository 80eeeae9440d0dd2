"""PostgreSQL's messages, as bytes: a letter, a length, a body. Protocol 3.0, "Message Formats"."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from recuse.errors import RecuseError

MOST_BEFORE = 10_000
MOST_AFTER = 1_000_000
"""bytes of a message, before and after somebody has signed in"""


class BrokenProtocolError(RecuseError, code="protocol"):
    """What came is no message of the protocol."""


@dataclass(frozen=True, slots=True)
class ResultColumn:
    """A column of a result: its name, and the number of its type."""

    name: str
    type: int


async def read_message(reader: asyncio.StreamReader, most: int) -> tuple[bytes, bytes]:
    """Return a message's letter and body."""
    letter = await reader.readexactly(1)
    return letter, await read_body(reader, most)


async def read_body(reader: asyncio.StreamReader, most: int) -> bytes:
    """Return what stands behind a length."""
    (length,) = struct.unpack(">i", await reader.readexactly(4))
    if not 4 <= length <= most:
        raise BrokenProtocolError("a message is too long, or has no length")
    return await reader.readexactly(length - 4)


def message(letter: bytes, *parts: bytes) -> bytes:
    """Return a message."""
    body = b"".join(parts)
    return letter + struct.pack(">i", len(body) + 4) + body


def text(value: str) -> bytes:
    """Return a string as messages have it."""
    return value.replace("\0", "").encode() + b"\0"


def fields(letter: bytes, said: dict[str, str]) -> bytes:
    """Return an error (E) or a notice (N)."""
    return message(letter, *(key.encode() + text(value) for key, value in said.items()), b"\0")


def row_description(columns: Sequence[ResultColumn], formats: Sequence[int]) -> bytes:
    """Return the names and types of columns."""
    parts = [struct.pack(">h", len(columns))]
    for column, how in zip(columns, formats, strict=True):
        parts += [text(column.name), struct.pack(">ihihih", 0, 0, column.type, -1, -1, how)]
    return message(b"T", *parts)


def data_row(values: Iterable[bytes | None]) -> bytes:
    """Return a row."""
    found = list(values)
    parts = [struct.pack(">h", len(found))]
    for value in found:
        parts.append(struct.pack(">i", -1) if value is None else struct.pack(">i", len(value)) + value)
    return message(b"D", *parts)


class Received:
    """A body that is read from its beginning; what is not there is a broken message."""

    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        self.at = 0

    def take(self, size: int) -> bytes:
        """Return the next so many bytes."""
        if size < 0 or self.at + size > len(self.raw):
            raise BrokenProtocolError("a message ends too early")
        self.at += size
        return self.raw[self.at - size : self.at]

    def number(self) -> int:
        """Return the next number of two bytes."""
        return int(struct.unpack(">h", self.take(2))[0])

    def long(self) -> int:
        """Return the next number of four bytes."""
        return int(struct.unpack(">i", self.take(4))[0])

    def string(self) -> str:
        """Return the next string."""
        end = self.raw.find(b"\0", self.at)
        if end < 0:
            raise BrokenProtocolError("a string does not end")
        found = self.take(end - self.at)
        self.at += 1
        try:
            return found.decode()
        except UnicodeDecodeError:
            raise BrokenProtocolError("a string is not UTF-8") from None

    def rest(self) -> bytes:
        """Return what is left."""
        return self.take(len(self.raw) - self.at)
