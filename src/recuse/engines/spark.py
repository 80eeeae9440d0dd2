"""Apache Spark, classic or Connect: ANSI mode, zone UTC, rows as Arrow. It only reads.

A session of our own is made beside the one that is given: its settings are ours, and nobody else's views are
in it. Before a question every table is looked at once, and all statements of the question see that state: the
files that a table had then, or its version. Spark's messages quote values, so no part of one is shown.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pyarrow
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from recuse.engines.spark_catalogue import (
    VERSIONS,
    SparkTable,
    catalogue_of,
    columns_of,
    described,
    in_folder,
    quoted,
)
from recuse.engines.spark_place import SparkPlace
from recuse.errors import DatabaseError
from recuse.policy import EngineLimits, Policy
from recuse.sql.catalogue import Catalogue, LeftOut
from recuse.sql.dialect import Dialect
from recuse.sql.spark import SPARK_SQL

OLDEST = 4
NO_LIMITS = EngineLimits()
"""what a cluster may use is its custodian's to say"""
SETTINGS = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.caseSensitive": "false",
    "spark.sql.groupByOrdinal": "true",
    "spark.sql.crossJoin.enabled": "true",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.variable.substitute": "false",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
}
"""what a session of ours is set to, whatever the cluster says"""
STARTED = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}
"""what Spark on this machine is started with: no page and no line tells of sizes, or quotes a value"""
_FAILURES = (PySparkException, Py4JError, pyarrow.ArrowException, OSError)
_CLOSED = "the database is closed"
# pyspark writes an error down with the values that it quotes
logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL + 1)


@dataclass(slots=True, eq=False)
class Spark:
    """Tables that Spark reads, in a session of our own; `paths` are those of a folder."""

    session: Any = field(repr=False)
    paths: Mapping[str, str] = field(default_factory=dict)
    database: tuple[str, str] = ("", "")
    started: bool = False
    limits: EngineLimits = NO_LIMITS
    dialect: Dialect = SPARK_SQL
    closed: bool = False
    known: tuple[list[SparkTable], list[LeftOut]] | None = field(default=None, repr=False)
    """the tables as they were when they were first asked for"""
    pinned: set[str] = field(default_factory=set, repr=False)

    def catalogue(self) -> Catalogue:
        """Return the tables with their columns and types; no values, and no keys, as none is enforced."""
        with self._asking("the catalogue cannot be read"):
            return catalogue_of(*self._tables())

    def bind(self, sql: str) -> str | None:
        """Return why a statement does not bind, in one line; it is analysed, and not run."""
        with self._asking("the database cannot be asked"):
            self._pin([sql], again=False)
            try:
                self._frame(sql).schema  # noqa: B018 - Connect analyses when it is asked for the columns
            except PySparkException as error:
                return str(error).strip().partition("\n")[0].strip() or "it is invalid"
        return None

    def run(self, statements: Sequence[str]) -> list[pyarrow.Table]:
        """Return the rows of the statements, all of the files and versions that tables had at the start."""
        with self._asking("the database could not run the query"):
            self._pin(statements, again=True)
            return [self._frame(sql).toArrow() for sql in statements]

    def close(self) -> None:
        """Close the session, and Spark if it was started for it; a second time does nothing."""
        if not self.closed and self.started:
            self.session.stop()
        self.closed = True

    def __enter__(self) -> Spark:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _frame(self, sql: str) -> Any:
        """Return what a statement gives; in brackets only a query can stand, so that nothing is written."""
        return self.session.sql(f"SELECT * FROM ({sql})")

    def _rows(self, sql: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.session.sql(sql).toArrow().to_pylist()
        return found

    def _tables(self) -> tuple[list[SparkTable], list[LeftOut]]:
        if self.known is None and self.paths:
            frames = {name: self.session.read.parquet(path) for name, path in self.paths.items()}
            found = [
                SparkTable(name, columns_of(frame.dtypes), self.paths[name], schema=frame.schema)
                for name, frame in frames.items()
            ]
            self.known = found, []
        elif self.known is None:
            self.known = described(self._rows, *self.database)
        return self.known

    def _pin(self, statements: Sequence[str], *, again: bool) -> None:
        """Let our views of the tables that statements name be the state in which those are now."""
        for table in self._tables()[0]:
            named = any(quoted(table.view) in sql for sql in statements)
            if named and (again or table.view not in self.pinned):
                self._state(table).createOrReplaceTempView(quoted(table.view))
                self.pinned.add(table.view)

    def _state(self, table: SparkTable) -> Any:
        if table.schema is not None:
            return self.session.read.schema(table.schema).parquet(table.place)
        self.session.catalog.refreshTable(table.place)
        return self.session.sql(table.statement(self._version(table)))

    def _version(self, table: SparkTable) -> int | None:
        if table.provider not in VERSIONS:
            return None
        ((found,),) = (row.values() for row in self._rows(VERSIONS[table.provider].format(table=table.place)))
        return int(found)

    @contextmanager
    def _asking(self, problem: str) -> Iterator[None]:
        """Say whatever fails in our own words: Spark's may quote a value."""
        if self.closed:
            raise DatabaseError(_CLOSED, hint="open it again")
        try:
            yield
        except _FAILURES:
            raise DatabaseError(problem, hint="is Spark there, and may it read the tables?") from None


def open_source(source: Any, policy: Policy | None) -> Spark:  # noqa: ARG001 - a cluster has limits of its own
    """Return the tables of a session, or of an address: what `engines.open` calls."""
    try:
        if isinstance(source, str):
            return _opened(SparkPlace(source))
        database = str(source.catalog.currentCatalog()), str(source.catalog.currentDatabase())
        return _set(Spark(source.newSession(), database=database))
    except _FAILURES:
        hint = "is it there, and is there a Java of version 17 or later?"
        raise DatabaseError("Spark cannot be opened", hint=hint) from None


def _opened(place: SparkPlace) -> Spark:
    folder = place.folder
    if folder is not None and not folder.is_dir():
        raise DatabaseError("there is no such folder", hint="name a folder of Parquet files")
    builder = SparkSession.builder
    if place.is_connect:
        session = builder.remote(place.uri).create()
    else:
        for name, value in STARTED.items() if folder is not None else ():
            builder = builder.config(name, value)
        session = builder.master(place.master).appName("recuse").getOrCreate()
    database = str(session.catalog.currentCatalog()), place.database or str(session.catalog.currentDatabase())
    paths = {} if folder is None else in_folder(folder)
    return _set(Spark(session, paths, database, started=True))


def _set(engine: Spark) -> Spark:
    """Return an engine whose session is set, and says so; an older Spark is refused."""
    session = engine.session
    if int(str(session.version).partition(".")[0]) < OLDEST:
        raise DatabaseError("this Spark is older than version 4", hint="see docs/reference/spark.md")
    for name, value in SETTINGS.items():
        session.conf.set(name, value)
        if str(session.conf.get(name)) != value:
            raise DatabaseError(f"{name} cannot be set to {value}", hint="see docs/reference/spark.md")
    if not engine.paths:
        session.sql(f"USE {quoted(engine.database[0])}.{quoted(engine.database[1])}")
    return engine
