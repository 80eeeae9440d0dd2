"""Where tables that Spark reads are: an address, of which nothing secret is ever shown."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from recuse.errors import DatabaseError

CLUSTER, CONNECT = "spark://", "sc://"
_CLUSTER = re.compile(r"spark://(?P<host>[\w.-]+:\d+)(?:/(?P<database>\w*))?", re.ASCII | re.IGNORECASE)
_CONNECT = re.compile(r"sc://(?P<host>[\w.-]+(?::\d+)?)(?:/(?:;.*)?)?", re.ASCII | re.IGNORECASE)
_FOLDER = re.compile(r"spark://(?P<folder>/.+)", re.IGNORECASE)


def is_spark(source: object) -> bool:
    """Return whether a source is the address of tables that Spark reads."""
    return isinstance(source, str) and source.lower().startswith((CLUSTER, CONNECT))


@dataclass(frozen=True, slots=True)
class SparkPlace:
    """An address: `spark://host:port/database`, `sc://host:port` of Connect, or `spark:///folder`."""

    uri: str = field(repr=False)

    def __str__(self) -> str:
        """Return the address for people and for the ledger, without a token.

        >>> str(SparkPlace("sc://db.example:15002/;token=secret"))
        'sc://db.example:15002'
        >>> str(SparkPlace("spark://db.example:7077/shop"))
        'spark://db.example:7077/shop'
        """
        if (folder := self.folder) is not None:
            return f"{CLUSTER}{folder}"
        if found := _CONNECT.fullmatch(self.uri):
            return f"{CONNECT}{found['host']}"
        return f"{CLUSTER}{self._cluster()['host']}/{self.database or 'default'}"

    @property
    def folder(self) -> Path | None:
        """The folder of Parquet files that Spark reads on this machine, if one is named."""
        found = _FOLDER.fullmatch(self.uri)
        return None if found is None else Path(unquote(found["folder"]))

    @property
    def database(self) -> str | None:
        """The database of a cluster's catalogue, if one is named."""
        if self.folder is not None or _CONNECT.fullmatch(self.uri):
            return None
        return self._cluster()["database"] or None

    @property
    def name(self) -> str:
        """The name of the database, for a file that is named after it."""
        return (self.folder.name if self.folder is not None else self.database) or "spark"

    @property
    def is_connect(self) -> bool:
        """Whether it is a server of Spark Connect."""
        return _CONNECT.fullmatch(self.uri) is not None

    @property
    def master(self) -> str:
        """What Spark calls the cluster; of a folder the machine itself."""
        return "local[*]" if self.folder is not None else f"{CLUSTER}{self._cluster()['host']}"

    def _cluster(self) -> re.Match[str]:
        found = _CLUSTER.fullmatch(self.uri)
        if found is None:
            raise DatabaseError(
                "this address of Spark cannot be read",
                accepted="spark://host:port/database, sc://host:port or spark:///folder",
            )
        return found
