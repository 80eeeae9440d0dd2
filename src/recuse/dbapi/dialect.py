"""SQLAlchemy's dialect of private answers: `recuse:///shop.duckdb?policy=shop.toml&epsilon=0.5`.

Tools that speak to databases through SQLAlchemy can ask: text, Core, inspection of tables. Nothing can be
written, and rows are never returned, so the object-relational mapper has nothing to load. What a question
may cost is said in the address, in a leading comment, or by `execution_options(recuse_epsilon="0.1")`.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType
from typing import Any

from sqlalchemy import Connection as CoreConnection
from sqlalchemy import types as column_types
from sqlalchemy.engine import URL, reflection
from sqlalchemy.engine.default import DefaultDialect, DefaultExecutionContext
from sqlalchemy.engine.interfaces import (
    ReflectedColumn,
    ReflectedForeignKeyConstraint,
    ReflectedIndex,
    ReflectedPrimaryKeyConstraint,
    ReflectedUniqueConstraint,
)
from sqlalchemy.exc import ArgumentError, NoSuchTableError
from sqlalchemy.sql.compiler import GenericTypeCompiler, SQLCompiler

import recuse.dbapi
from recuse.fold import same
from recuse.privacy import Delta, Epsilon
from recuse.scalars.types import Number, stored
from recuse.sql.catalogue import Catalogue, Table
from recuse.sql.kinds import ColumnKind, kind_of

OPTIONS = ("policy", "ledger", "epsilon", "analyst", "mechanism", "intervals")
"""what may stand behind the ? of an address: the parameters of `recuse.dbapi.connect`"""
SCHEMA = "main"

TYPES: dict[ColumnKind, type[column_types.TypeEngine[Any]]] = {
    ColumnKind.INTEGER: column_types.BigInteger,
    ColumnKind.NUMBER: column_types.Double,
    ColumnKind.TEXT: column_types.String,
    ColumnKind.BOOLEAN: column_types.Boolean,
    ColumnKind.DATE: column_types.Date,
    ColumnKind.TIME: column_types.Time,
    ColumnKind.TIMESTAMP: column_types.DateTime,
    ColumnKind.UUID: column_types.Uuid,
    ColumnKind.OTHER: column_types.NullType,
}


class QuestionContext(DefaultExecutionContext):
    """One statement on its way: what `execution_options` say of its cost goes before it as a comment."""

    def pre_exec(self) -> None:
        """Write the ε and δ of the options before the text."""
        epsilon = self.execution_options.get("recuse_epsilon")
        if epsilon is not None:
            delta = self.execution_options.get("recuse_delta")
            chance = "" if delta is None else f", delta = {Delta.of(delta)}"
            self.statement = f"/* epsilon = {Epsilon.of(epsilon)}{chance} */ {self.statement}"


class QuestionCompiler(SQLCompiler):
    """How Core writes a question: OFFSET may stand without a LIMIT."""

    def limit_clause(self, select: Any, **said: Any) -> str:
        """Return LIMIT and OFFSET, where they are asked for."""
        parts = (("LIMIT", select._limit_clause), ("OFFSET", select._offset_clause))
        return "".join(f"\n {word} {self.process(part, **said)}" for word, part in parts if part is not None)


class CastTypes(GenericTypeCompiler):
    """How Core writes types: DuckDB's FLOAT has half the digits of Python's."""

    def visit_FLOAT(self, type_: Any, **said: Any) -> str:  # noqa: ARG002, N802
        """Return the type of Python's floats."""
        return "DOUBLE"


class AnsweredNumeric(column_types.Numeric[Any]):
    """A number as the program wants it: answers are floats, and public columns of DECIMAL are Decimal."""

    def result_processor(self, dialect: Any, coltype: object) -> Any:
        """Return what makes a Decimal or a float of a value."""
        decimal = super().result_processor(dialect, coltype)  # type: ignore[no-untyped-call]
        return decimal if self.asdecimal else _as_float


class AnsweredFloat(column_types.Float[Any]):
    """The same of what is declared a float."""

    def result_processor(self, dialect: Any, coltype: object) -> Any:
        """Return what makes a Decimal or a float of a value."""
        decimal = super().result_processor(dialect, coltype)  # type: ignore[no-untyped-call]
        return decimal if self.asdecimal else _as_float


def _as_float(value: Any) -> float | None:
    return None if value is None else float(value)


class RecuseDialect(DefaultDialect):
    """What SQLAlchemy has to know of `recuse.dbapi`; the catalogue is public, so inspection is free."""

    name = "recuse"
    driver = "recuse"
    default_paramstyle = "qmark"
    execution_ctx_cls = QuestionContext
    statement_compiler = QuestionCompiler
    type_compiler_cls = CastTypes
    colspecs = {  # noqa: RUF012 - SQLAlchemy's own form
        column_types.Numeric: AnsweredNumeric,
        column_types.Float: AnsweredFloat,
    }
    div_is_floordiv = False
    """whether 3 / 2 is 1: in DuckDB it is 1.5"""
    supports_statement_cache = True
    supports_native_boolean = True
    supports_sane_rowcount = False
    supports_alter = False
    postfetch_lastrowid = False

    @classmethod
    def import_dbapi(cls) -> ModuleType:
        """Return the driver."""
        return recuse.dbapi

    def create_connect_args(self, url: URL) -> tuple[list[Any], dict[str, Any]]:
        """Return what an address says, as parameters of the driver's `connect`."""
        unknown = [name for name in url.query if name not in OPTIONS]
        if unknown or url.host or url.database is None or "policy" not in url.query:
            raise ArgumentError(
                "write recuse:///shop.duckdb?policy=shop.toml&epsilon=0.5, with four slashes before a whole "
                f"path; behind the ? may stand {', '.join(OPTIONS)}"
            )
        said = {name: value if isinstance(value, str) else value[-1] for name, value in url.query.items()}
        intervals = said.pop("intervals", "false")
        if intervals not in ("true", "false"):
            raise ArgumentError("intervals is true or false")
        return [], {"database": url.database, **said, "intervals": intervals == "true"}

    def do_rollback(self, dbapi_connection: Any) -> None:
        """Do nothing: there is no transaction, and a charge is never taken back."""

    def do_ping(self, dbapi_connection: Any) -> bool:
        """Return that a connection is there: no question is asked to find out."""
        return dbapi_connection.session is not None

    def get_schema_names(self, connection: CoreConnection, **_: Any) -> list[str]:  # noqa: ARG002
        """Return the one schema that there is."""
        return [SCHEMA]

    def _get_default_schema_name(self, connection: CoreConnection) -> str:  # noqa: ARG002
        return SCHEMA

    @reflection.cache
    def has_table(
        self, connection: CoreConnection, table_name: str, schema: str | None = None, **_: Any
    ) -> bool:
        """Return whether a table or view has that name."""
        return _is_ours(schema) and _catalogue(connection).table(table_name) is not None

    def get_table_names(self, connection: CoreConnection, schema: str | None = None, **_: Any) -> list[str]:
        """Return the names of tables."""
        return [table.name for table in _tables(connection, schema) if table.view is None]

    def get_view_names(self, connection: CoreConnection, schema: str | None = None, **_: Any) -> list[str]:
        """Return the names of views."""
        return [table.name for table in _tables(connection, schema) if table.view is not None]

    def get_view_definition(
        self, connection: CoreConnection, view_name: str, schema: str | None = None, **_: Any
    ) -> str:
        """Return the text of a view."""
        found = _table(connection, view_name, schema).view
        if found is None:
            raise NoSuchTableError(view_name)
        return found

    def get_columns(
        self, connection: CoreConnection, table_name: str, schema: str | None = None, **_: Any
    ) -> list[ReflectedColumn]:
        """Return the columns of a table."""
        return [
            {"name": c.name, "type": column_type(c.type), "nullable": c.nullable, "default": None}
            for c in _table(connection, table_name, schema).columns
        ]

    def get_pk_constraint(
        self, connection: CoreConnection, table_name: str, schema: str | None = None, **_: Any
    ) -> ReflectedPrimaryKeyConstraint:
        """Return the first enforced key that is never NULL."""
        return {"name": None, "constrained_columns": _primary(_table(connection, table_name, schema))}

    def get_unique_constraints(
        self, connection: CoreConnection, table_name: str, schema: str | None = None, **_: Any
    ) -> list[ReflectedUniqueConstraint]:
        """Return the other enforced keys."""
        table = _table(connection, table_name, schema)
        primary = _primary(table)
        return [{"name": None, "column_names": list(key)} for key in table.keys if list(key) != primary]

    def get_foreign_keys(
        self, connection: CoreConnection, table_name: str, schema: str | None = None, **_: Any
    ) -> list[ReflectedForeignKeyConstraint]:
        """Return the enforced references."""
        return [
            {
                "name": None,
                "constrained_columns": list(key.columns),
                "referred_schema": None,
                "referred_table": key.target,
                "referred_columns": list(key.target_columns),
            }
            for key in _table(connection, table_name, schema).foreign_keys
        ]

    def get_indexes(
        self, connection: CoreConnection, table_name: str, schema: str | None = None, **_: Any
    ) -> list[ReflectedIndex]:
        """Return no index: none is known of."""
        _table(connection, table_name, schema)
        return []


def column_type(spelled: str) -> column_types.TypeEngine[Any]:
    """Return SQLAlchemy's type for a type as the engine spells it.

    >>> column_type("BIGINT"), column_type("DECIMAL(10,2)")
    (BigInteger(), Numeric(precision=10, scale=2))
    """
    found = stored(spelled)
    if isinstance(found, Number) and found.scale:
        return column_types.Numeric(found.digits, found.scale)
    return TYPES[kind_of(found)]()


def _catalogue(connection: CoreConnection) -> Catalogue:
    driver: Any = connection.connection.dbapi_connection
    found: Catalogue = driver.session.engine.catalogue()
    return found


def _is_ours(schema: str | None) -> bool:
    return schema is None or same(schema, SCHEMA)


def _tables(connection: CoreConnection, schema: str | None) -> Iterable[Table]:
    return _catalogue(connection).tables if _is_ours(schema) else ()


def _table(connection: CoreConnection, name: str, schema: str | None) -> Table:
    found = _catalogue(connection).table(name) if _is_ours(schema) else None
    if found is None:
        raise NoSuchTableError(name)
    return found


def _primary(table: Table) -> list[str]:
    required = {column.name for column in table.columns if not column.nullable}
    return next((list(key) for key in table.keys if required.issuperset(key)), [])
