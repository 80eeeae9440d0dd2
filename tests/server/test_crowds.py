"""Crowds at the doors: whoever says nothing, or too slowly, keeps nobody else out."""

from __future__ import annotations

import asyncio
import socket
import struct
import time
from contextlib import AsyncExitStack, ExitStack

import psycopg
import pytest

from recuse.server.http import connection
from recuse.server.http.connection import MOST_CONNECTIONS
from recuse.server.postgres import door
from recuse.server.run import _serve
from recuse.server.settings import Listen
from support.serving import COUNT, free_port, waited

ANALYST = "quin"
HALF = b"POST /api/v1/questions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Le"
SLOW = HALF + b"ngth: 90\r\n\r\n{"
STARTED = struct.pack(">ii", 200, 3 << 16) + b"user\0"


def crowd(port: int, many: int, said: bytes, stack: ExitStack) -> list[socket.socket]:
    """Return so many connections that have said so much, and no more."""
    found = []
    for _ in range(many):
        found.append(stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=10)))
        found[-1].sendall(said)
    return found


def is_closed(one: socket.socket) -> bool:
    try:
        return one.recv(1) == b""
    except ConnectionError:
        return True


@pytest.mark.parametrize("said", [b"", HALF, SLOW], ids=["idle", "half a head", "half a body"])
def test_who_says_nothing_more_keeps_nobody_from_asking_by_http(school, said):
    with ExitStack() as stack:
        others = crowd(school.ports["http"], MOST_CONNECTIONS + 50, said, stack)
        with school.http(school.token(ANALYST)) as ida:
            found = waited(ida, COUNT, "1/3")
        assert found["state"] == "done"
        assert is_closed(others[0]), "the first of them made room"


def test_nor_by_postgresql(school, place):
    with ExitStack() as stack:
        others = crowd(school.ports["postgres"], door.MOST_CONNECTIONS + 50, STARTED, stack)
        with psycopg.connect(**place, options="-c recuse.epsilon=0.25") as client:
            assert client.execute(COUNT).fetchone()[0] is not None
        assert is_closed(others[0])


def test_one_analyst_does_not_fill_the_door():
    class Visit:
        def __init__(self, who, busy=False):
            self.who, self.is_busy = who, busy

    bob, ada, busy = Visit("bob"), Visit("ada"), Visit("ada", busy=True)
    assert door._dispensable([bob, busy, ada]) is ada, "of whoever has most the first that is idle"
    assert door._dispensable([bob, busy, ada, stranger := Visit(None)]) is stranger
    assert door._dispensable([busy]) is None


@pytest.mark.parametrize("said", [b"", HALF, SLOW], ids=["idle", "half a head", "half a body"])
def test_what_does_not_come_whole_in_time_is_not_waited_for(monkeypatch, said):
    monkeypatch.setattr(connection, "PATIENCE", 0.3)

    async def app(scope, receive, send):
        while (await receive()).get("more_body"):
            pass
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    async def run():
        port = free_port()
        async with AsyncExitStack() as stack:
            await _serve(app, Listen(f"127.0.0.1:{port}"), stack)
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(said)
            async with asyncio.timeout(5):
                told = await reader.read()
            writer.close()
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            whole = await reader.readline()
            writer.close()
        return told, whole

    told, whole = asyncio.run(run())
    assert told == b""
    assert b"204" in whole


def test_a_body_that_is_too_long_is_not_read(school, ada):
    before = school.spent("ada")
    began = time.monotonic()
    response = ada.post("/questions", content=b"x" * 50_000_000, headers={"Content-Type": "application/json"})
    assert response.status_code == 413
    assert time.monotonic() - began < 20
    assert school.spent("ada") == before
