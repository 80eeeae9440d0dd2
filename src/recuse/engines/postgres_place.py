"""Where a PostgreSQL database is: a connection string, of which nothing secret is ever shown."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import parse_qs, unquote, urlsplit

from recuse.errors import DatabaseError

PREFIXES = ("postgresql://", "postgres://")
PORT = 5432
_HOSTS = re.compile(r"(\[[0-9A-Fa-f:]+\]|[\w.%-]*)(:\d*)?(,(\[[0-9A-Fa-f:]+\]|[\w.%-]*)(:\d*)?)*", re.ASCII)


def is_postgres(source: object) -> bool:
    """Return whether a source is the connection string of a PostgreSQL database."""
    return isinstance(source, str) and source.lower().startswith(PREFIXES)


@dataclass(frozen=True, slots=True)
class PostgresPlace:
    """A connection string. What is shown of it is host, port and database, and nothing else."""

    uri: str = field(repr=False)

    def __str__(self) -> str:
        """Return the database's name for people and for the ledger.

        >>> str(PostgresPlace("postgresql://ann:secret@db.example/shop?sslmode=require&password=x"))
        'postgresql://db.example:5432/shop'
        >>> str(PostgresPlace("postgresql:///shop?host=/run/pg&port=5433"))
        'postgresql:///run/pg:5433/shop'
        """
        try:
            parts = urlsplit(self.uri)
        except ValueError:
            raise unreadable() from None
        said = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        hosts = parts.netloc.rpartition("@")[2]
        if parts.fragment or "@" in parts.path or not _HOSTS.fullmatch(hosts):
            raise unreadable()  # a password with / or # in it, perhaps
        if "host" in said or ":" not in hosts:
            hosts = f"{said.get('host', hosts)}:{said.get('port', PORT)}"
        return f"postgresql://{hosts}/{said.get('dbname') or unquote(parts.path.lstrip('/'))}"

    @property
    def name(self) -> str:
        """The name of the database, for a file that is named after it."""
        return str(self).rpartition("/")[2] or "postgresql"


def unreadable() -> DatabaseError:
    """Return that a connection string is none; nothing of it is quoted."""
    return DatabaseError(
        "this connection string cannot be read",
        accepted="postgresql://user@host:port/database, spark://host:port/database or sc://host:port",
        hint="keep the password in PGPASSFILE or ~/.pgpass",
    )
