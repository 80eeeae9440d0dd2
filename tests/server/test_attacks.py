"""What an analyst tried who means harm: to stop the server, to keep others out, to pay nothing."""

from __future__ import annotations

import ast
import asyncio
import socket
import struct
import threading
import time
from decimal import Decimal

import psycopg
import pytest

from recuse.errors import ParameterError
from recuse.server import process
from recuse.server.limits import GUESSES, MOST_SQL
from recuse.server.postgres.empty import programs
from recuse.server.postgres.exchange import MOST_KEPT
from recuse.server.postgres.statements import ClientStatement, parameters_of, split
from recuse.server.postgres.values import parameter
from recuse.server.postgres.wire import BrokenProtocolError
from support.clockwork import run_by_clockwork
from support.serving import COUNT, waited
from support.sources import SOURCE, parsed

ANALYST = "mal"
NESTED = "SELECT " + "ARRAY[" * 40 + "1" + "]" * 40
"""what keeps a parser for longer than anybody lives"""


def test_only_workers_parse_what_is_sent():
    """The front process serves all: what takes a parser long must not be parsed there."""
    found = set()
    for path in (SOURCE / "server").rglob("*.py"):
        for node in ast.walk(parsed(path)):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [one.name for one in node.names] if isinstance(node, ast.Import) else []
            found |= {path.stem for name in names if name.partition(".")[0] == "sqlglot"}
    assert found == {"asked"}
    assert ClientStatement.of(NESTED).kind == "select", "at once"


def test_texts_are_read_in_proportion_to_their_length():
    assert split("/*" * 400_000) == ["/*" * 400_000]
    assert ClientStatement.of("/* " * (MOST_SQL // 3)).kind == "empty"
    for sql in (
        "SELECT 1" + " " * MOST_SQL,
        "SELECT COUNT(*) FROM pupil WHERE age IN (" + "1," * MOST_SQL + "1)",
    ):
        with pytest.raises(ParameterError, match="too long"):
            ClientStatement.of(sql)
    with pytest.raises(ParameterError, match="too many parameters"):
        parameters_of("SELECT $" + "9" * 5_000)


def test_numbers_are_read_as_they_are_or_not_at_all():
    digits = (1234, 5678, 9012, 3456, 7890, 1234, 5678, 9012, 5000)
    raw = struct.pack(">hhHh9h", 9, 7, 0x4000, 4, *digits)
    assert parameter(raw, 1700, 1) == "(-12345678901234567890123456789012.5000)"
    assert Decimal(parameter(struct.pack(">hhHh", 0, 0, 0, 0), 1700, 1)) == 0
    for huge in (b"1e999999999", b"-1e-999999999"):
        with pytest.raises(BrokenProtocolError, match="type"):
            parameter(huge, 1700, 0)


@pytest.mark.skipif(programs() is None, reason="no PostgreSQL")
@pytest.mark.parametrize(
    "sql",
    [
        "DO $$ BEGIN LOOP END LOOP; END $$",
        "/* epsilon = 1 */ DO $$ BEGIN NULL; END $$",
        "/* /* */ SELECT */ DO $$ BEGIN NULL; END $$",
        "CALL pg_sleep(1)",
        "LOCK TABLE pupil",
        "PREPARE x AS SELECT 1",
        "VACUUM",
        "NOTIFY a",
        "LOAD 'x'",
        "CHECKPOINT",
        "SELECT 1 INTO x",
        "SELECT set_config('role', 'recuse_owner', false)",
        "SELECT pg_ls_dir('.')",
        "SELECT current_setting('data_directory')",
        "COPY (SELECT 1) TO PROGRAM 'true'",
        "COPY (SELECT relname FROM pg_class) TO STDOUT",
    ],
)
def test_nothing_but_reading_reaches_the_empty_database(school, client, sql):
    before = school.spent(ANALYST)
    with pytest.raises(psycopg.Error) as found:
        client.execute(sql)
    assert found.value.sqlstate not in (None, "XX000"), sql
    assert client.execute("SELECT relname FROM pg_class WHERE relname = 'pupil'").fetchall() == [("pupil",)]
    assert school.spent(ANALYST) == before


def test_prepared_statements_are_forgotten_when_a_client_says_so(client):
    for turn in range(2):
        for number in range(MOST_KEPT - 10):
            sql = b"SELECT name FROM town" if number else b"SELECT relname FROM pg_class"
            made = client.pgconn.prepare(f"p{turn}-{number}".encode(), sql)
            assert made.status == psycopg.pq.ExecStatus.COMMAND_OK, made.error_message
        client.execute("DEALLOCATE ALL" if turn else 'DEALLOCATE "p0-1"', prepare=False)
        if not turn:
            assert (
                client.pgconn.prepare(b"p0-1", b"SELECT name FROM town").status
                == psycopg.pq.ExecStatus.COMMAND_OK
            )
            client.execute("DISCARD ALL", prepare=False)


@pytest.mark.skipif(programs() is None, reason="no PostgreSQL")
def test_a_prepared_statement_of_the_catalogue_can_wait(client):
    """The time limit of the empty database counts from the first message to the end of what was begun."""
    client.pgconn.prepare(b"later", b"SELECT relname FROM pg_class WHERE relname = 'town'")
    time.sleep(3.5)
    assert client.pgconn.exec_prepared(b"later", []).get_value(0, 0) == b"town"


def test_prepared_statements_are_ones_own(school, place, client):
    client.pgconn.prepare(b"mine", b"SELECT name FROM town")
    with psycopg.connect(**place | {"user": "mel", "password": school.token("mel")}) as other:
        found = other.pgconn.exec_prepared(b"mine", [])
        assert found.error_field(psycopg.pq.DiagnosticField.SQLSTATE) == b"26000"


def test_a_question_about_nobody_takes_one_seat_at_most(school):
    """It is free, and takes a worker: one at a time, so that others are answered meanwhile."""
    heavy = "SELECT COUNT(*) FROM " + ", ".join(f"town t{n}" for n in range(27))
    token = school.token(ANALYST)

    def ask():
        with school.http(token) as client:
            outcomes.append(client.post("/questions", json={"sql": heavy, "epsilon": "1"}).status_code)

    outcomes: list[int] = []
    with school.http(token) as mal, school.http(school.token("vic")) as victim:
        for _ in range(20):
            thread = threading.Thread(target=ask)
            thread.start()
            while thread.is_alive() and 429 not in outcomes:
                told = mal.post("/questions", json={"sql": heavy + " ", "epsilon": "1"})
                outcomes.append(told.status_code)
            answered = waited(victim, COUNT, "1/5")
            thread.join()
            if 429 in outcomes:
                break
        assert 429 in outcomes, "whichever of two comes second"
        assert answered["state"] == "done"
        assert set(outcomes) <= {200, 429}


def test_who_guesses_keeps_out_nobody_who_knows(school, ada):
    """Behind a proxy all have one address."""
    address = {"X-Forwarded-For": "10.9.8.7"}
    with school.http("rcs_0_0") as guessing:
        told = {guessing.get("/me", headers=address).status_code for _ in range(int(GUESSES) + 100)}
        assert told == {401, 429}
        assert ada.get("/me", headers=address).status_code == 200


def test_whoever_stops_waiting_does_not_stop_a_worker_that_others_wait_for(monkeypatch):
    started = []

    class Acting:
        def __init__(self, opening):
            started.append(opening)

        async def start(self):
            pass

        async def ask(self, message):
            await asyncio.sleep(1)
            return message["n"]

        async def stop(self):
            pass

    async def run():
        standing = process.Standing({}, 20)
        first, second = (asyncio.ensure_future(standing.ask({"n": n})) for n in (1, 2))
        await asyncio.sleep(0.5)
        first.cancel()
        return await second

    monkeypatch.setattr(process, "Worker", Acting)
    assert run_by_clockwork(run()) == 2
    assert len(started) == 1


@pytest.mark.parametrize(
    "body", [b"[" * 30_000, b'{"sql":' * 9_000, b'{"sql": "\\ud800", "epsilon": "1"}', b"\xff\xfe"]
)
def test_bodies_that_are_no_json_of_ours_are_refused(school, ada, body):
    before = school.spent("ada")
    response = ada.post("/questions", content=body, headers={"Content-Type": "application/json"})
    assert 400 <= response.status_code < 500
    assert response.headers["content-type"] == "application/problem+json"
    assert school.spent("ada") == before


@pytest.mark.parametrize(
    "raw",
    [
        b"POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /api/v1/questions HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        b"POST /api/v1/questions HTTP/1.1\r\nHost: x\r\nContent-Length: " + b"9" * 5_000 + b"\r\n\r\nhello",
        b"POST /api/v1/questions HTTP/1.1\r\nHost: x\r\nContent-Length: \xb2\r\n\r\nhello",
        b"GET /api/v1/me HTTP/1.1\r\nHost: x\r\n X: folded\r\n\r\n",
        b"GET /api/v1/me HTTP/1.1\r\nHost: x\r\nX: " + b"y" * 200_000 + b"\r\n\r\n",
    ],
)
def test_requests_with_two_meanings_have_none(school, raw):
    with socket.create_connection(("127.0.0.1", school.ports["http"]), timeout=60) as client:
        client.sendall(raw)
        said = client.recv(65_536)
    assert not said or said.split(b" ")[1] in (b"400", b"401", b"404", b"405", b"413", b"415", b"431"), said[
        :200
    ]
