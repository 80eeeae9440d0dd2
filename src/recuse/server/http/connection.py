"""A connection to the HTTP door: whoever says nothing makes room for others.

uvicorn waits for a request without end, and turns everybody away when there are many connections: so a few
hundred that say nothing would close the door. Here one that has not asked in time is let go, and of too many
the one that has been idle for longest.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_CONNECTIONS = 200
PATIENCE = 20.0
"""seconds until a request must have come whole"""


class HttpConnection(H11Protocol):
    """One connection of a client."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.since = self.loop.time()
        self._expiry: asyncio.TimerHandle | None = None

    @property
    def is_idle(self) -> bool:
        """Whether no request is there, or not all of it."""
        return self.cycle is None or self.cycle.response_complete or self.cycle.more_body

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Let somebody in, and whoever has been idle for longest out, if there are too many."""
        super().connection_made(transport)
        self._expect()
        # who was let go already is forgotten a turn later: of many that come at once each makes its own room
        staying = [one for one in self.connections if not one.transport.is_closing()]
        if len(staying) > MOST_CONNECTIONS:
            idle = [one for one in staying if isinstance(one, HttpConnection) and one.is_idle]
            min(idle, key=lambda one: one.since).transport.abort()

    def data_received(self, data: bytes) -> None:
        """Take what came; what is no whole request yet must become one in time."""
        self.since = self.loop.time()
        super().data_received(data)
        if self.is_idle:
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
        if self.is_idle:
            self.transport.abort()
