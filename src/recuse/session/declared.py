"""Keys that a policy declares and that do not hold: rows with the same values. For the custodian alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

from sqlglot import exp

from recuse.engines.engine import Engine
from recuse.engines.open import Source, open_engine
from recuse.policy import Policy
from recuse.sql.catalogue import Table
from recuse.sql.query import Scan, column
from recuse.sql.render import table_reference


@dataclass(frozen=True, slots=True)
class FalseKey:
    """A declared key that is none: how many of its values several rows have, and how many rows those are."""

    table: str
    columns: tuple[str, ...]
    values: int
    rows: int

    def __str__(self) -> str:
        key = ", ".join(self.columns)
        return f"{self.table} ({key}): declared unique, but {self.rows:,} rows share {self.values:,} values"


def false_keys(source: Source, policy: Policy) -> Iterator[FalseKey]:
    """Yield the declared keys that do not hold of the rows as questions see them; NULLs repeat nothing.

    Guarantee: none; NOT PRIVATE. What rests on these keys is lemma P of docs/explanation/proofs.md, which
    assumes that they hold. A table or a column that is not there is for `recuse policy check` to name.
    """
    if not policy.keys:
        return
    with closing(open_engine(source, policy)) as engine:
        catalogue = engine.catalogue()
        for key in policy.keys:
            table = catalogue.table(key.table)
            known = [] if table is None else [table.column(name) for name in key.columns]
            columns = tuple(one.name for one in known if one is not None)
            if table is not None and len(columns) == len(key.columns):
                values, rows = _repeated(engine, table, columns)
                if values:
                    yield FalseKey(table.name, columns, values, rows)


def _repeated(engine: Engine, table: Table, columns: tuple[str, ...]) -> tuple[int, int]:
    """Return how many values of a key several rows have, and how many rows have one of them."""
    scan = Scan(table.name, table)
    parts = [column(scan.alias, name) for name in columns]
    number = exp.Count(this=exp.Star())
    query = exp.select(exp.alias_(number.copy(), "n")).from_(table_reference(scan))
    for part in parts:
        query = query.where(exp.Not(this=exp.Is(this=part.copy(), expression=exp.null())))
    query = query.group_by(*parts).having(exp.GT(this=number.copy(), expression=exp.Literal.number(1)))
    counted = exp.select(
        exp.alias_(number, "v"), exp.alias_(exp.cast(exp.Sum(this=exp.column("n")), "bigint"), "r")
    ).from_(query.subquery("repeated"))
    (found,) = engine.run([engine.dialect.statement(counted)])
    return int(found["v"][0].as_py()), int(found["r"][0].as_py() or 0)
