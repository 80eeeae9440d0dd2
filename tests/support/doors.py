"""A small server whose doors examples knock at: what they are refused with comes back as the error it was."""

from __future__ import annotations

import signal
import socket
import struct
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

import httpx
import psycopg

from recuse.errors import RecuseError
from support.serving import Serving, serving

WHO = "ada"
FIELDS = (
    psycopg.pq.DiagnosticField.SOURCE_FUNCTION,
    psycopg.pq.DiagnosticField.MESSAGE_PRIMARY,
    psycopg.pq.DiagnosticField.MESSAGE_HINT,
)


class Doors:
    """A server of a school, with an analyst's token."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._server: Serving = serving(Path(self._folder.name), "http", "postgres", workers=1, slot=2.0)
        self._clients = ExitStack()
        self.token = self._server.token(WHO)
        self.address = self._server.address

    def close(self) -> None:
        self._clients.close()
        self._server.kill(signal.SIGTERM)
        self._folder.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def psql(self, *statements: str) -> None:
        """Say one statement after another; the last may be refused, and those before it."""
        made = self.client()
        for statement in statements[:-1]:
            try:
                made.execute(statement)
            except psycopg.Error:
                continue
        with told():
            made.execute(statements[-1])

    def client(self) -> psycopg.Connection[Any]:
        """Return a client of the PostgreSQL door, which stays until the server is closed."""
        place = {"host": "127.0.0.1", "port": self._server.ports["postgres"], "dbname": "school"}
        made = psycopg.connect(**place, user=WHO, password=self.token, autocommit=True)
        return self._clients.enter_context(made)

    def raised(self, result: psycopg.pq.PGresult) -> None:
        """Raise what a message of the extended protocol was refused with."""
        code, words, hint = (result.error_field(field) for field in FIELDS)
        if code is not None:
            raise said(code.decode(), (words or b"").decode(), None if hint is None else hint.decode())

    def request(self, method: str, path: str, **more: Any) -> httpx.Response:
        """Return what the HTTP door says, or raise it if it is a refusal."""
        headers = {"Authorization": f"Bearer {self.token}"} | more.pop("headers", {})
        found = httpx.request(method, self.address + path, headers=headers, timeout=60, **more)
        if found.status_code >= 400:
            raise said(**found.json())
        return found

    def send(self, *raw: bytes) -> None:
        """Send bytes to the PostgreSQL door, and raise what it refuses them with."""
        with socket.create_connection(("127.0.0.1", self._server.ports["postgres"]), timeout=60) as made:
            made.sendall(b"".join(raw))
            while head := made.recv(5, socket.MSG_WAITALL):
                body = made.recv(struct.unpack(">i", head[1:])[0] - 4, socket.MSG_WAITALL)
                if head[:1] == b"E":
                    fields = {part[:1]: part[1:].decode() for part in body.split(b"\0") if part}
                    raise said(fields[b"R"], fields[b"M"], hint=fields.get(b"H"))


def said(
    code: str, title: str, hint: str | None = None, accepted: str | None = None, **_: Any
) -> RecuseError:
    """Return a refusal with the code that was said."""
    error = RecuseError(title, accepted=accepted, hint=hint)
    error.code = code  # type: ignore[misc]
    return error


class told:  # noqa: N801 - a word of a snippet
    """Raise what a client of PostgreSQL was told as the refusal that it is."""

    def __enter__(self) -> None: ...

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, psycopg.Error) and error.diag.source_function is not None:
            accepted = (error.diag.message_detail or "").removeprefix("accepted: ")
            raise said(
                error.diag.source_function,
                error.diag.message_primary or "",
                error.diag.message_hint,
                accepted or None,
            ) from None
