"""A server for tests, as `recuse serve --config` starts it: in processes and on ports of its own."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from recuse.ledger import Ledger, Role, open_or_create
from recuse.privacy import Epsilon

if TYPE_CHECKING:  # the quick tests are without it
    import httpx

POLICY = """
[[protect]]
table = "pupil"
key = ["id"]
[[link]]
table = "friendship"
column = ["a"]
to = "pupil"
[[link]]
table = "friendship"
column = ["b"]
to = "pupil"
[[public]]
table = "town"
[[domain]]
table = "pupil"
column = "sex"
values = ["f", "m"]
[budget]
epsilon = 1000
"""
COUNT = "SELECT COUNT(*) AS n FROM pupil"
TRIANGLES = (
    "SELECT COUNT(*) AS n FROM friendship x JOIN friendship y ON x.b = y.a JOIN friendship z"
    " ON x.a = z.a AND y.b = z.b"
)
CANARY = "canary7731"
"""a value in the data, which must be in no log, no metric and no refusal"""


def make_school(folder: Path, pupils: int = 40, hub: int = 0) -> Path:
    """Return a database of pupils in a ring of friends; `hub`: how many friends one of them has besides."""
    path = folder / "school.duckdb"
    with duckdb.connect(str(path)) as made:
        made.execute(
            "CREATE TABLE pupil (id BIGINT PRIMARY KEY, age INTEGER, sex VARCHAR, name VARCHAR, born DATE)"
        )
        made.execute(
            f"INSERT INTO pupil SELECT range, 6 + range % 12, CASE range % 2 WHEN 0 THEN 'f' ELSE 'm' END,"
            f" CASE range WHEN 1 THEN '{CANARY}' ELSE 'x' END, DATE '2015-01-01' FROM range({pupils})"
        )
        made.execute("CREATE TABLE friendship (a BIGINT, b BIGINT)")
        made.execute(
            f"INSERT INTO friendship SELECT range, (range + step) % {pupils} FROM range({pupils}), "
            "(VALUES (1), (2)) AS s(step)"
        )
        if hub:
            made.execute(f"INSERT INTO friendship SELECT 0, range FROM range(3, {hub})")
        made.execute("CREATE TABLE town (name VARCHAR PRIMARY KEY)")
        made.execute("INSERT INTO town VALUES ('Aa'), ('Bb')")
    (folder / "school.toml").write_text(POLICY)
    return path


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@dataclass
class Serving:
    """A running server."""

    folder: Path
    settings: str
    ports: dict[str, int]
    process: Any = None
    said: list[str] = field(default_factory=list)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.ports['http']}"

    @property
    def ledger(self) -> Path:
        return self.folder / "school.duckdb.ledger"

    def start(self) -> Serving:
        (self.folder / "serve.toml").write_text(self.settings)
        with (self.folder / "stderr").open("ab") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "recuse", "serve", "--config", self.folder / "serve.toml"],
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            )
        for line in self.process.stdout:
            self.said.append(line.rstrip())
            if line == "ready\n":
                return self
        self.process.wait(30)
        self.process.stdout.close()
        raise RuntimeError((self.folder / "stderr").read_text())

    def workers(self) -> list[int]:
        """Return the processes that the front process has started."""
        return children(self.process.pid)

    def kill(self, sign: int = signal.SIGKILL) -> None:
        self.process.send_signal(sign)
        self.process.wait(60)
        self.process.stdout.close()

    def token(self, name: str, role: Role = Role.ANALYST, grant: str = "1000") -> str:
        """Return a token of somebody, who is granted a limit first."""
        ledger, _ = open_or_create(self.ledger, Epsilon.of(1000))
        if role is Role.ANALYST:
            ledger.grant(Epsilon.of(grant), name)
        _, text = ledger.tokens().create(name, role)
        ledger.close()
        return text

    def book(self) -> Ledger:
        return Ledger.open(self.ledger)

    def spent(self, name: str) -> Fraction:
        """Return what somebody has spent."""
        book = self.book()
        found = book.balance(name).spent
        book.close()
        return found

    def http(self, token: str | None) -> httpx.Client:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        from httpx import Client

        return Client(base_url=f"{self.address}/api/v1", headers=headers, timeout=60)


def children(pid: int) -> list[int]:
    return [int(found) for found in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except FileNotFoundError:
        return False


def gone(pids: Iterable[int]) -> bool:
    """Return whether processes are no more, or will not be in half a minute."""
    until = time.monotonic() + 30
    while any(map(is_running, pids)) and time.monotonic() < until:
        time.sleep(0.05)
    return not any(map(is_running, pids))


def settings_of(folder: Path, ports: dict[str, int], slot: float, deadline: int, workers: int) -> str:
    doors = "".join(f'[{door}]\nlisten = "127.0.0.1:{port}"\n' for door, port in ports.items())
    return (
        f'[[dataset]]\nname = "school"\ndatabase = "school.duckdb"\npolicy = "school.toml"\n'
        f"[answers]\nslot = {slot}\ndeadline = {deadline}\nworkers = {workers}\n{doors}"
    )


def serving(
    folder: Path, *doors: str, slot: float = 0.3, deadline: int = 40, workers: int = 1, **made: int
) -> Serving:
    """Return a server of a new school that is ready."""
    make_school(folder, **made)
    ports = {door: free_port() for door in doors or ("http",)}
    return Serving(folder, settings_of(folder, ports, slot, deadline, workers), ports).start()


def waited(client: httpx.Client, sql: str, epsilon: str) -> dict[str, Any]:
    """Return a question when it waits no longer."""
    response = client.post("/questions", json={"sql": sql, "epsilon": epsilon})
    found = response.json()
    until = time.monotonic() + 60
    while found.get("state") == "waiting" and time.monotonic() < until:
        time.sleep(0.05)
        found = client.get(f"/questions/{found['id']}").json()
    return json.loads(json.dumps(found))
