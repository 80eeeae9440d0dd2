"""A [[domain]] drafted from the data, for the custodian. NOT PRIVATE: what it prints becomes public."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from sqlglot import exp

from recuse.engines.engine import Engine
from recuse.engines.open import open_engine
from recuse.errors import ParameterError
from recuse.fold import same
from recuse.policy import Policy
from recuse.sql.catalogue import Table
from recuse.sql.grouping import MAX_GROUPS
from recuse.sql.ownership import Linked, ProtectedTable, own
from recuse.sql.query import Scan, column
from recuse.sql.render import table_reference

WARNING = (
    "# drafted from the data: whoever sees this policy, or an answer by these groups, sees the list.",
    "# Leave out what is rare or tells of somebody, and add what may come.",
)


def draft_domain(source: Path | str, policy: Policy, place: str) -> Iterator[str]:
    """Yield the lines of a [[domain]] of the values that a column has, or refuse one that names individuals.

    It is for the custodian: private rows are read, and nothing is charged.
    """
    name, _, asked = place.rpartition(".")
    with closing(open_engine(source, policy)) as engine:
        table = engine.catalogue().table(name)
        held = None if table is None else table.column(asked)
        if table is None or held is None:
            raise ParameterError("there is no such column", found=place, accepted="TABLE.COLUMN")
        if _names_somebody(table, held.name, policy, engine):
            raise ParameterError(
                "this column names individuals, or rows of theirs: a list of them is a list of people",
                found=place,
                hint="group by something that they share",
            )
        values = list(_values(engine, table, held.name))
    if len(values) > MAX_GROUPS:
        raise ParameterError(
            "there are too many values for a list",
            found=f"more than {MAX_GROUPS:,}",
            hint='state a range: from and to; or a query over public tables: query = "SELECT …"',
        )
    yield from WARNING
    yield "[[domain]]"
    yield f"table = {json.dumps(table.name)}"
    yield f"column = {json.dumps(held.name)}"
    yield f"values = [{', '.join(map(_written, values))}]"


def _names_somebody(table: Table, name: str, policy: Policy, engine: Engine) -> bool:
    """Return whether a column is part of a key or of a link, so that its values stand for people."""
    owned = own(policy, engine.catalogue()).of(table.name)
    parts: set[str] = set()
    if isinstance(owned, ProtectedTable):
        parts |= {part for item in owned.key for part in item.columns}
    if isinstance(owned, Linked):
        parts |= {part for hop in owned.hops for names in hop.alternatives for part in names}
    if isinstance(owned, ProtectedTable | Linked):
        parts |= {key[0] for key in (*table.keys, *policy.keys_of(table.name)) if len(key) == 1}
    return any(same(part, name) for part in parts)


def _values(engine: Engine, table: Table, name: str) -> Iterator[Any]:
    scan = Scan(table.name, table)
    value = column(scan.alias, name)
    filled = exp.Not(this=exp.Is(this=value.copy(), expression=exp.null()))
    query = exp.select(exp.alias_(value.copy(), "v")).from_(table_reference(scan)).where(filled).distinct()
    query = query.order_by(exp.column("v")).limit(MAX_GROUPS + 1)
    (found,) = engine.run([engine.dialect.statement(query)])
    yield from found["v"].to_pylist()


def _written(value: Any) -> str:
    """Return a value as TOML writes it."""
    if isinstance(value, bool | int | Decimal):
        return str(value).lower() if isinstance(value, bool) else str(value)
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value.isoformat() if isinstance(value, date) else str(value), ensure_ascii=False)
