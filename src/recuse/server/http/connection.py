"""A connection to the HTTP door: whoever says nothing makes room for others.

uvicorn waits for a request without end, and its own limit turns away whoever comes when there are many: so a
few hundred that say nothing would close the door. Here one that has not asked in time is let go, and of too
many one that waits for nothing.
"""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import Request
from uvicorn.protocols.http.h11_impl import H11Protocol

from recuse.server import room

CONNECTION = "connection"
PATIENCE = 20.0
"""seconds until a request must have come whole"""


class HttpConnection(H11Protocol):
    """One connection of a client."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.app_state = {**self.app_state, CONNECTION: self}
        self.who: str | None = None
        self.since = self.loop.time()
        self._expiry: asyncio.TimerHandle | None = None

    @property
    def is_busy(self) -> bool:
        """Whether a request is there, all of it, and waits for its answer."""
        return self.cycle is not None and not (self.cycle.response_complete or self.cycle.more_body)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Let somebody in, and another out if there are too many."""
        super().connection_made(transport)
        self.since = self.loop.time()  # those who were let in meanwhile have said something since it was made
        self._expect()
        # who was let go already is forgotten a turn later: of many that come at once each makes its own room
        known = (one for one in self.connections if isinstance(one, HttpConnection))
        staying = [one for one in known if not one.transport.is_closing()]
        if len(staying) > room.MOST_CONNECTIONS:
            (room.dispensable(staying) or self).transport.abort()

    def data_received(self, data: bytes) -> None:
        """Take what came; what is no whole request yet must become one in time."""
        self.since = self.loop.time()
        super().data_received(data)
        if not self.is_busy:
            self._expect()
        elif self._expiry is not None:
            self._expiry.cancel()
            self._expiry = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection."""
        if self._expiry is not None:
            self._expiry.cancel()
        super().connection_lost(exc)

    def _expect(self) -> None:
        if self._expiry is None:
            self._expiry = self.loop.call_later(PATIENCE, self._let_go)

    def _let_go(self) -> None:
        self._expiry = None
        if not self.is_busy:
            self.transport.abort()


def is_known(request: Request, name: str) -> None:
    """Tell a request's connection who has proved to ask by it."""
    connection = getattr(request.state, CONNECTION, None)
    if isinstance(connection, HttpConnection):
        connection.who = name
