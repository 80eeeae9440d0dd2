"""One example of a function: what it gives in DuckDB, which must be what it means in Python."""

from __future__ import annotations

from functools import cache

import duckdb

from recuse.scalars import build, literals, types
from recuse.scalars.duckdb import Compiler
from recuse.scalars.evaluate import evaluate
from recuse.scalars.expression import Constant, Expression, Value, Variable
from recuse.scalars.spelling import constant, spelled
from support.scalars import extremes

Written = int | float | str | bool | None | Constant


def written(value: Written) -> Constant:
    """Return a value of Python as a constant; a number with a point is exact if it is in a string: "#1.5"."""
    match value:
        case Constant():
            return value
        case None:
            return literals.NULL
        case float():
            return Constant(value, types.Float(nan=value != value))
        case str() if value.startswith("#"):
            return literals.number(value[1:]) if value[1] != "-" else _opposite(value[2:])
    found = literals.of_python(value)
    assert found is not None
    return found


def _opposite(text: str) -> Constant:
    found = build.apply("neg", literals.number(text))
    assert isinstance(found, Constant)
    return found


def date(text: str) -> Constant:
    """Return a date."""
    return literals.literal(text, types.Date())


def moment(text: str) -> Constant:
    """Return a timestamp."""
    return literals.literal(text, types.Timestamp())


def time(text: str) -> Constant:
    """Return a time of day."""
    return literals.literal(text, types.Time())


@cache
def _database() -> tuple[duckdb.DuckDBPyConnection, object]:
    return duckdb.connect(), extremes.reading()


def gives(name: str, *arguments: Written, open: int | None = 0) -> Value:
    """Return what a function gives, in DuckDB and in Python: of a column that holds the first argument.

    `open` says which argument is the column, None that all are written down.
    """
    con, reading = _database()
    constants = [written(argument) for argument in arguments]
    folded = build.apply(name, *constants)
    values: list[Expression] = list(constants)
    cell: Constant | None = None
    if open is not None and constants:
        cell = constants[open]
        values[open] = Variable("t", "x", cell.type)
    found = build.apply(name, *values)
    source = f"(SELECT {constant(cell)} AS x) t" if cell else "(SELECT 1) t"
    kinds, rows = extremes.arrow(
        con, f"SELECT {Compiler().sql(found)}, {Compiler().sql(folded)} FROM {source}"
    )
    assert kinds[0].replace(" ", "") == spelled(found.type)
    (have,), (same,) = (
        extremes.plain(rows.column(place), one.type) for place, one in enumerate((found, folded))
    )
    meant = evaluate(found, lambda _: cell.value if cell else None, reading)  # type: ignore[arg-type]
    shown = [_digits(value, found.type) for value in (have, same, meant)]
    assert repr(shown[0]) == repr(shown[2]), f"DuckDB gives {have!r}, Python {meant!r}"
    assert repr(_digits(same, folded.type)) == repr(shown[0]), f"folded to {same!r}"
    return shown[0]


def _digits(value: Value, kind: types.Type) -> Value:
    """Return a value as a reader writes it: numbers with a point and dates as text."""
    con, _ = _database()
    if value is None or isinstance(kind, types.Float | types.Boolean | types.Text):
        return value
    if isinstance(kind, types.Number) and kind.scale == 0:
        return value
    written = constant(Constant(value, kind))
    return str(con.execute(f"SELECT CAST({written} AS VARCHAR)").fetchall()[0][0])
