"""Crowds at the doors: whoever says nothing, or too slowly, keeps nobody else out."""

from __future__ import annotations

import asyncio
import socket
import struct
import time
from contextlib import AsyncExitStack, ExitStack
from types import SimpleNamespace

import psycopg
import pytest

from recuse.server import room
from recuse.server.http import connection
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
        found.append(stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=60)))
        found[-1].sendall(said)
    return found


def is_closed(one: socket.socket) -> bool:
    """Return whether the other side has closed a connection by now."""
    one.setblocking(False)
    try:
        return one.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


@pytest.mark.parametrize("said", [b"", HALF, SLOW], ids=["idle", "half a head", "half a body"])
def test_who_says_nothing_more_keeps_nobody_from_asking_by_http(school, said):
    with ExitStack() as stack:
        crowd(school.ports["http"], 2 * room.MOST_CONNECTIONS + 100, said, stack)
        with school.http(school.token(ANALYST)) as ida:
            found = waited(ida, COUNT, "1/3")
        assert found["state"] == "done"


def test_nor_by_postgresql(school, place):
    with ExitStack() as stack:
        crowd(school.ports["postgres"], 2 * room.MOST_CONNECTIONS + 100, STARTED, stack)
        with psycopg.connect(**place, options="-c recuse.epsilon=0.25") as client:
            assert client.execute(COUNT).fetchone()[0] is not None


async def nothing(scope, receive, send):
    """An application that reads what comes, and has nothing to say."""
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body"})


async def http_door(listen: Listen, stack: AsyncExitStack) -> bytes:
    await _serve(nothing, listen, stack)
    return b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


async def postgres_door(listen: Listen, stack: AsyncExitStack) -> bytes:
    stack.callback((await door.opened({}, listen, {}, "16.0")).close)
    return struct.pack(">ii", 8, 80877103)


@pytest.mark.parametrize("made", [http_door, postgres_door])
def test_of_many_who_come_at_once_the_oldest_make_room(monkeypatch, made):
    """All are there before the door looks: each of the later ones lets another go, not the same one."""
    monkeypatch.setattr(room, "MOST_CONNECTIONS", 4)

    async def run():
        async with AsyncExitStack() as stack:
            port = free_port()
            asked = await made(Listen(f"127.0.0.1:{port}"), stack)
            others = crowd(port, 10, b"", stack.enter_context(ExitStack()))
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(asked)
            told = await reader.read(1)
            gone = [is_closed(one) for one in others]
            writer.close()
            return told, gone

    told, gone = asyncio.run(run())
    assert told, "who asks is answered"
    assert gone == [True] * 7 + [False] * 3


def test_one_analyst_does_not_fill_the_door():
    def guest(who, since, *, busy=False):
        return SimpleNamespace(who=who, since=since, is_busy=busy)

    bob, ada, busy = guest("bob", 1), guest("ada", 2), guest("ada", 0, busy=True)
    assert room.dispensable([bob, ada, busy]) is ada, "of whoever has most the longest silent that is idle"
    strangers = [guest(None, 4), guest(None, 3)]
    assert room.dispensable([bob, *strangers, ada, busy]) is strangers[1]
    assert room.dispensable([busy]) is None


@pytest.mark.parametrize("said", [b"", HALF, SLOW], ids=["idle", "half a head", "half a body"])
def test_what_does_not_come_whole_in_time_is_not_waited_for(monkeypatch, said):
    monkeypatch.setattr(connection, "PATIENCE", 0.3)

    async def run():
        port = free_port()
        async with AsyncExitStack() as stack:
            whole_request = await http_door(Listen(f"127.0.0.1:{port}"), stack)
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(said)
            async with asyncio.timeout(15):  # far below the patience that is not ours here
                told = await reader.read()
            writer.close()
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(whole_request)
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
    assert time.monotonic() - began < 60
    assert school.spent("ada") == before
