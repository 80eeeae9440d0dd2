"""Catalogue → a policy to edit: what keys and references say about who owns which rows. Never a value.

Tables that reach a protected table through foreign keys are linked; the others are written down as
comments, with the question that their custodian must answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from recuse.errors import PolicyError
from recuse.sql.catalogue import Catalogue, ForeignKey, Table

BUDGET = 10


@dataclass(frozen=True, slots=True)
class Wanted:
    """A table to protect, and the column that names its participants where the catalogue has no key."""

    table: Table
    key: tuple[str, ...]


def wanted(text: str, catalogue: Catalogue) -> Wanted:
    """Return what TABLE or TABLE.KEY means; several key columns are separated by commas."""
    name, _, columns = text.partition(".")
    table = catalogue.table(name)
    if table is None or table.view is not None:
        near = catalogue.nearest_table(name)
        raise PolicyError(
            f"the database has no table {name}" if table is None else f"{name} is a view",
            accepted=", ".join(sorted(t.name for t in catalogue.tables if t.view is None)) or None,
            hint=f"did you mean {near}?" if near else None,
        )
    if not columns:
        if not table.keys:
            raise PolicyError(
                f"table {table.name} declares no key",
                hint=f"say which column names a participant: --protect {table.name}.COLUMN",
            )
        return Wanted(table, table.keys[0])
    found = [table.column(column.strip()) for column in columns.split(",")]
    if None in found:
        raise PolicyError(
            f"table {table.name} has no column {columns}",
            accepted=", ".join(column.name for column in table.columns),
        )
    return Wanted(table, tuple(column.name for column in found if column is not None))


def draft(catalogue: Catalogue, protect: Sequence[str], *, typed: Sequence[str] = ()) -> Iterator[str]:
    """Yield the lines of the policy; `typed` are the tables whose columns need types, such as CSV files."""
    chosen = {entry.table.name: entry for entry in (wanted(text, catalogue) for text in protect)}
    tables = [table for table in catalogue.tables if table.view is None]
    yield "# Who is protected, and how rows belong to them. Drafted from keys and references; read it well."
    for entry in chosen.values():
        yield from _section("protect", table=entry.table.name, key=entry.key)
    links = linked(tables, chosen)
    for table, references in links:
        for reference in references:
            yield from _section("link", table=table.name, column=reference.columns, to=reference.target)
    for table in tables:
        if table.name not in chosen and table.name not in {other.name for other, _ in links}:
            yield from _undecided(table, list(chosen))
    for name in typed:
        yield from _types(catalogue, name)
    yield ""
    yield "[budget]                     # what all answers together may cost: 1 is strict, 10 is generous"
    yield f"epsilon = {BUDGET}"


def linked(tables: Sequence[Table], chosen: dict[str, Wanted]) -> list[tuple[Table, tuple[ForeignKey, ...]]]:
    """Return the tables whose references lead to protected ones, with those references."""
    reached = set(chosen)
    while True:
        more = {
            table.name for table in tables for key in table.foreign_keys if key.target in reached
        } - reached
        if not more:
            break
        reached |= more
    found = []
    for table in tables:
        if table.name in reached and table.name not in chosen:
            keys = tuple(
                key for key in table.foreign_keys if key.target in reached and key.target != table.name
            )
            found.append((table, keys))
    return found


def _section(name: str, **fields: str | tuple[str, ...]) -> Iterator[str]:
    yield ""
    yield f"[[{name}]]"
    for field, value in fields.items():
        yield f"{field} = {_text(value)}"


def _text(value: str | tuple[str, ...]) -> str:
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_text, value)) + "]"
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _undecided(table: Table, protected: Sequence[str]) -> Iterator[str]:
    """Yield a table that no reference leads from, as comments: whose rows are these?"""
    columns = tuple(column.name for column in table.columns)
    yield ""
    yield f"# {table.name}({', '.join(columns)})"
    yield f"# Is {table.name} about nobody? Then remove the marks of these two lines."
    yield "# [[public]]"
    yield f"# table = {_text(table.name)}"
    yield "# Is a row about participants? Then remove those of these four; which column says who?"
    yield "# If several do (both ends of a friendship), write them for each: one left out is not protected."
    yield "# [[link]]"
    yield f"# table = {_text(table.name)}"
    yield f"# column = {_text(columns[:1])}"
    yield f"# to = {_text(protected[0])}" if protected else '# to = "…"'


def _types(catalogue: Catalogue, name: str) -> Iterator[str]:
    table = catalogue.table(name)
    yield ""
    yield f"[columns.{_text(name)}]   # a file does not say its columns' types: BIGINT, DATE, DECIMAL(9,2) …"
    for column in table.columns if table is not None else ():
        yield f"{_text(column.name)} = {_text(column.type)}"
