"""A question on its way through a server: who asks, what, and what became of it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Any

from recuse.ledger import Bill, Role, Token
from recuse.mechanism.mechanisms import DEFAULT
from recuse.privacy import Delta, Epsilon
from recuse.server.frames import Message
from recuse.session.answer import Answer
from recuse.sql.clock import present


@dataclass(frozen=True, slots=True)
class Holder:
    """Somebody who proved to hold a token."""

    token: Token
    analyst: str | None
    """whose limit is charged; None for a custodian who is no analyst"""

    @property
    def is_custodian(self) -> bool:
        """Whether the custodian's acts are open."""
        return self.token.role is Role.CUSTODIAN


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A question as it came."""

    sql: str
    epsilon: str
    """as it was written: the ledger reads it"""
    delta: str | None = None
    mechanism: str = DEFAULT
    door: str = "http"
    moment: datetime = field(default_factory=present)
    """when it was asked: every process that reads it means the same day"""

    def message(self, do: str, **more: Any) -> Message:
        """Return what a worker is told."""
        told = {"sql": self.sql, "epsilon": self.epsilon, "delta": self.delta, "mechanism": self.mechanism}
        return {"do": do, **told, "moment": self.moment.isoformat(), **more}

    def bill(self, found: Message, analyst: str | None) -> Bill:
        """Return what the ledger is asked to pay for."""
        return Bill(
            found["text"],
            Epsilon.of(self.epsilon),
            found["key"],
            found["policy"],
            analyst,
            found["source"],
            None if self.delta is None else Delta.of(self.delta),
            self.door,
        )


class Price(Enum):
    """What a question would cost."""

    EPSILON = "epsilon"
    STORED = "stored"
    """nothing: the same was asked before"""
    ABOUT_NOBODY = "public"
    """nothing: it is about nobody"""


@dataclass(slots=True)
class Job:
    """A question on its way: waiting, then answered, refused or unanswered. Nothing tells how far it is."""

    id: str
    who: str
    """the name under which it was asked"""
    columns: list[Message]
    not_before: datetime | None = None
    """when it can be answered at the earliest, once that is known"""
    done: asyncio.Future[Answer] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
