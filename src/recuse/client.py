"""The same session on a server: `recuse.connect("https://…", token="rcs_…")`. It needs no other package."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from ipaddress import ip_address
from os import PathLike
from typing import Any, Self, Unpack, overload
from urllib.parse import urlsplit

from recuse.deferred import http_client
from recuse.engines.open import Source
from recuse.errors import DatabaseError, ParameterError, RecuseError, UnansweredError
from recuse.ledger import Balance
from recuse.mechanism.mechanisms import DEFAULT
from recuse.policy import Policy
from recuse.privacy import Delta, Epsilon, NumberLike
from recuse.refusal import error_of
from recuse.session.answer import Answer
from recuse.session.carried import received
from recuse.session.estimate import Estimate, Expected
from recuse.session.parts import Parts, SessionOptions
from recuse.session.session import Session
from recuse.session.session import connect as open_session
from recuse.session.statistics import Statistics

ROOT = "/api/v1"
PATIENCE = 120.0
"""seconds that one request may take"""
WAIT = 0.2
"""seconds between two looks at a question that waits"""
SCHEMES = ("http", "https")


@dataclass(frozen=True, slots=True)
class Explained:
    """What a server understood of a question: the text for people, and its fields."""

    text: str
    fields: Mapping[str, Any]

    def __str__(self) -> str:
        return self.text


class RemoteSession:
    """A dataset on a server, asked as a local one; which dataset and who asks, the token says."""

    def __init__(self, address: str, token: str) -> None:
        parts = urlsplit(address)
        if parts.scheme not in SCHEMES or not parts.hostname:
            raise ParameterError(
                "this is no address of a server", accepted="https://host or https://host:port"
            )
        if parts.scheme == "http" and not _is_here(parts.hostname):
            raise ParameterError("others could read the token on its way", hint="write https://")
        self._host, self._port = parts.hostname, parts.port
        self._kind = http_client.HTTPConnection if parts.scheme == "http" else http_client.HTTPSConnection
        self._token = token

    def ask(
        self, sql: str, epsilon: NumberLike, *, delta: NumberLike | None = None, mechanism: str = DEFAULT
    ) -> Answer:
        """Return the private answer to an SQL question: as `Session.ask`, when its slot has ended."""
        chance = None if delta is None else str(Delta.of(delta))
        body = {"sql": sql, "epsilon": str(Epsilon.of(epsilon)), "delta": chance, "mechanism": mechanism}
        job = self._send("POST", "/questions", body)
        while job["state"] == "waiting":
            time.sleep(max(job["wait"], WAIT))
            job = self._send("GET", f"/questions/{job['id']}")
        if job["state"] != "done":
            raise error_of(job["problem"]) if "problem" in job else UnansweredError()
        return received(job["answer"]["exact"])

    def explain(self, sql: str) -> Explained:
        """Return what is understood of a question and who owns the rows: it is free."""
        found = self._send("POST", "/explain", {"sql": sql})
        return Explained(found["text"], found["explanation"])

    def estimate(self, sql: str, epsilon: NumberLike, *, like: Statistics, runs: int = 60) -> Estimate:
        """Return how far the answer will lie from the truth, from statistics that you state: it is free."""
        body = {
            "sql": sql,
            "epsilons": [str(Epsilon.of(epsilon))],
            "rows": dict(like.rows),
            "largest": dict(like.largest),
            "runs": runs,
        }
        (found,) = self._send("POST", "/estimate", body)
        columns = []
        for column in found["columns"]:
            typical, mostly, value = column["exact"]
            middle = None if value is None else Fraction(value)
            columns.append(Expected(column["name"], Fraction(typical), Fraction(mostly), middle))
        return Estimate(Fraction(found["exact"]), found["basis"], tuple(columns), tuple(found["cautions"]))

    @property
    def budget(self) -> Balance:
        """What is granted, spent and left."""
        found = self._send("GET", "/budget")
        ends = [found[name] for name in ("granted", "spent")]
        return Balance(*map(Fraction, [*ends, *(found["delta"][name] for name in ("granted", "spent"))]))

    def history(self) -> list[dict[str, Any]]:
        """Return what was charged, newest first: your own questions."""
        found: list[dict[str, Any]] = self._send("GET", "/history")
        return found

    def _send(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Return what the server says; raise what it refuses. Redirections are not followed with a token."""
        connection = self._kind(self._host, self._port, timeout=PATIENCE)
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        try:
            connection.request(method, ROOT + path, None if body is None else json.dumps(body), headers)
            response = connection.getresponse()
            found = json.loads(response.read())
        except (OSError, http_client.HTTPException, ValueError):
            raise DatabaseError("the server does not answer", found=f"{self._host}:{self._port}") from None
        finally:
            connection.close()
        if response.status >= 300:
            raise _refusal(found)
        return found

    def close(self) -> None:
        """Do nothing: every request has a connection of its own."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<RemoteSession on {self._host}>"


def _refusal(found: Any) -> RecuseError:
    if isinstance(found, dict) and "code" in found and "title" in found:
        return error_of({"problem": found["title"], **found})
    return DatabaseError("the server refused, and does not say why")


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@overload
def connect(source: str, *, token: str) -> RemoteSession: ...


@overload
def connect(
    source: Source,
    policy: Policy | str | PathLike[str],
    ledger: str | PathLike[str] | None = None,
    **more: Unpack[SessionOptions],
) -> Session: ...


def connect(
    source: Source,
    policy: Policy | str | PathLike[str] | None = None,
    ledger: str | PathLike[str] | None = None,
    *,
    analyst: str | None = None,
    parts: Parts | None = None,
    token: str | None = None,
) -> Session | RemoteSession:
    """Return a session on a DuckDB file, a folder of CSV or Parquet files, frames by name, or a connection.

    A database on a PostgreSQL server is named by its connection string, `postgresql://…`.
    A dataset that `recuse serve` serves is named by the server's address, `https://…`, and a token: then
    policy and ledger are the server's, and the session is a `RemoteSession`.

    The ledger of a file or folder lies beside it as `NAME.ledger` unless another is named, that of a server's
    database beside the policy file; frames and connections without one are counted in memory, for as long as
    the session lives. `analyst` is whose limit is charged too, if the custodian has named analysts. A policy
    that does not fit the database is refused.
    """
    if isinstance(source, str) and source.startswith(tuple(f"{scheme}://" for scheme in SCHEMES)):
        if token is None or policy is not None or ledger is not None or analyst is not None:
            raise ParameterError("a server is asked with a token, and knows the rest", hint='token="rcs_…"')
        return RemoteSession(source, token)
    if policy is None or token is not None:
        raise ParameterError("a database needs a policy, and no token", hint='policy="shop.toml"')
    return open_session(source, policy, ledger, analyst=analyst, parts=parts)
