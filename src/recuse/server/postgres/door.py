"""The PostgreSQL door: listens, and gives every client a connection."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from recuse.errors import ParameterError
from recuse.server import room
from recuse.server.limits import Pace
from recuse.server.postgres.conversation import VERSION
from recuse.server.postgres.empty import EmptyDatabase, programs, version_of
from recuse.server.postgres.tls import Certificate
from recuse.server.postgres.visit import Running, Visit
from recuse.server.service import Service
from recuse.server.settings import Listen

BACKLOG = 1_024


def empty_databases(services: Mapping[str, Service]) -> tuple[dict[str, EmptyDatabase], str]:
    """Return an empty PostgreSQL for each dataset, not started yet, and its version; none where none is."""
    place = programs()
    version = None if place is None else version_of(place)
    if place is None or version is None:
        return {}, VERSION
    return {name: EmptyDatabase(name, place) for name in services}, version


async def opened(
    services: Mapping[str, Service], listen: Listen, catalogues: Mapping[str, EmptyDatabase], version: str
) -> asyncio.Server:
    """Return the door, open."""
    host, port = listen.address()
    certificate, running, pace = Certificate.of(listen), dict[int, Running](), Pace()
    visits: list[Visit] = []

    async def came(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Let somebody in, and another out if there are too many."""
        staying = [visit for visit in visits if not visit.writer.is_closing()]
        if len(staying) >= room.MOST_CONNECTIONS:
            other = room.dispensable(staying)
            (writer if other is None else other.writer).transport.abort()
            if other is None:
                return
        visit = Visit(reader, writer, services, pace, certificate, running, catalogues, version)
        visits.append(visit)
        try:
            await visit.serve()
        finally:
            visits.remove(visit)

    try:
        return await asyncio.start_server(came, host, port, limit=2**20, backlog=BACKLOG)
    except OSError:
        raise ParameterError(
            "the door cannot be opened", found=listen.listen, hint="is the port in use?"
        ) from None
