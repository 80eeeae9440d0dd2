"""Catalogue → a policy to edit: what keys and references say about who owns which rows. Never a value.

Tables that reach a protected table through foreign keys are linked; the others are written down as
comments, with the question that their custodian must answer. So are tables whose reference names a
participant by another key than the policy does: a link there would give rows to others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from recuse.errors import PolicyError
from recuse.privacy import decimal_text
from recuse.sql.catalogue import Catalogue, Column, ForeignKey, Table
from recuse.sql.typical import UNSAID

BUDGET = 10
CONTROLS = dict.fromkeys((*range(32), 127), " ")
"""what may stand in a name, but in no comment"""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A table to protect, and the column that names its participants where the catalogue has no key."""

    table: Table
    key: tuple[str, ...]


def wanted_table(name: str, catalogue: Catalogue) -> Table:
    """Return the table of that name."""
    table = catalogue.table(name)
    if table is None or table.view is not None:
        near = catalogue.nearest_table(name)
        raise PolicyError(
            f"the database has no table {name}" if table is None else f"{name} is a view",
            accepted=", ".join(sorted(t.name for t in catalogue.tables if t.view is None)) or None,
            hint=f"did you mean {near}?" if near else None,
        )
    return table


def wanted(text: str, catalogue: Catalogue) -> Wanted:
    """Return what TABLE or TABLE.KEY means; several key columns are separated by commas."""
    name, _, columns = text.partition(".")
    table = wanted_table(name, catalogue)
    if not columns:
        if not table.keys:
            raise PolicyError(
                f"table {table.name} declares no key",
                hint=f"say which column names a participant: protect {table.name}.COLUMN",
            )
        return Wanted(table, table.keys[0])
    found = [table.column(column.strip()) for column in columns.split(",")]
    if None in found:
        raise PolicyError(
            f"table {table.name} has no column {columns}",
            accepted=", ".join(column.name for column in table.columns),
        )
    return Wanted(table, tuple(column.name for column in found if column is not None))


def draft(
    catalogue: Catalogue, protect: Sequence[str], *, typed: Sequence[str] = (), public: Sequence[str] = ()
) -> Iterator[str]:
    """Yield the lines of the policy.

    `typed` are the tables whose columns need types, such as CSV files, and whose keys nothing enforces;
    `public` those of which it is said that they are about nobody.
    """
    nobody = {wanted_table(name, catalogue).name for name in public}
    chosen = {entry.table.name: entry for entry in (wanted(text, catalogue) for text in protect)}
    tables = [table for table in catalogue.tables if table.view is None]
    yield "# Who is protected, and how rows belong to them. Drafted from keys and references; read it well."
    for entry in chosen.values():
        yield from _section("protect", table=entry.table.name, key=entry.key)
    doubts = undecided(tables, chosen)
    links = [(table, keys) for table, keys in linked(tables, chosen) if table.name not in {*doubts, *nobody}]
    for name in typed:
        yield from _unforced_key(catalogue, name)
    for table, references in links:
        for reference in references:
            columns = _in_order(reference, chosen.get(reference.target))
            yield from _section("link", table=table.name, column=columns, to=reference.target)
    for table in tables:
        if table.name in nobody:
            yield from _section("public", table=table.name)
        elif table.name not in chosen and table.name not in {other.name for other, _ in links}:
            yield from _undecided(table, list(chosen), doubts.get(table.name, ()))
    for name in typed:
        yield from _never_below(catalogue, name)
        yield from _about(catalogue, name)
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


def undecided(tables: Sequence[Table], chosen: dict[str, Wanted]) -> dict[str, tuple[str, ...]]:
    """Return the tables that cannot be linked as their references say, with the reasons.

    A reference to another key than the one that names participants says whose a row is, but a link cannot:
    its columns hold that other key. To link the table by its other references would leave an owner out.
    """
    found: dict[str, tuple[str, ...]] = {}
    for table in tables:
        wrong = [key for key in table.foreign_keys if _names_another_key(key, chosen.get(key.target))]
        if wrong and table.name not in chosen:
            found[table.name] = tuple(_question(table, key, chosen[key.target]) for key in wrong)
    reached = {table.name for table, _ in linked(tables, chosen)}
    while True:
        more = {
            table.name: (
                f"{table.name} references {key.target}, of which it is not decided whose rows they are.",
            )
            for table in tables
            for key in table.foreign_keys
            if key.target in found
            and table.name in reached
            and table.name not in {*found, *chosen, key.target}
        }
        if not more:
            return found
        found |= more


def _names_another_key(reference: ForeignKey, target: Wanted | None) -> bool:
    return target is not None and sorted(reference.target_columns) != sorted(target.key)


def _question(table: Table, reference: ForeignKey, target: Wanted) -> str:
    columns, named, key = (
        ", ".join(names) for names in (reference.columns, reference.target_columns, target.key)
    )
    there = target.table.name
    return (
        f"{table.name}({columns}) references {there}({named}), but participants are named by {there}({key}): "
        f"a link would name others. Should {there}({named}) name them? Then protect {there}.{named}"
    )


def _in_order(reference: ForeignKey, target: Wanted | None) -> tuple[str, ...]:
    """Return the columns of a reference in the order of the key that names participants."""
    if target is None:
        return reference.columns
    named = dict(zip(reference.target_columns, reference.columns, strict=True))
    return tuple(named[column] for column in target.key)


def _section(name: str, **fields: str | tuple[str, ...]) -> Iterator[str]:
    yield ""
    yield f"[[{name}]]"
    for field, value in fields.items():
        yield f"{field} = {_text(value)}"


def _text(value: str | tuple[str, ...]) -> str:
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_text, value)) + "]"
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _undecided(table: Table, protected: Sequence[str], doubts: Sequence[str]) -> Iterator[str]:
    """Yield a table of which no reference says whose it is, or none that can be followed, as comments."""
    columns = tuple(column.name for column in table.columns)
    yield ""
    yield f"# {table.name}({', '.join(columns)})"
    for doubt in doubts:
        yield f"# {doubt.translate(CONTROLS)}"
    yield f"# Is {table.name} about nobody? Then remove the marks of these two lines."
    yield "# [[public]]"
    yield f"# table = {_text(table.name)}"
    yield "# Is a row about participants? Then remove those of these four; which column says who?"
    yield "# If several do (both ends of a friendship), write them for each: one left out is not protected."
    yield "# [[link]]"
    yield f"# table = {_text(table.name)}"
    yield f"# column = {_text(columns[:1])}"
    yield f"# to = {_text(protected[0])}" if protected else '# to = "…"'


def _unforced_key(catalogue: Catalogue, name: str) -> Iterator[str]:
    """Yield the key of a table that nothing enforces: whoever keeps the data vouches for it."""
    table = catalogue.table(name)
    for key in table.keys[:1] if table is not None else ():
        yield from _section("key", table=name, column=key)


def _never_below(catalogue: Catalogue, name: str) -> Iterator[str]:
    """Yield the columns that seem to hold no number below 0 and name nothing; one that is counts for 0."""
    found = tuple(column.name for column in _telling(catalogue, name) if column.nonnegative)
    if found:
        yield from _section("nonnegative", table=name, column=found)


def _about(catalogue: Catalogue, name: str) -> Iterator[str]:
    """Yield about how large the numbers of columns seem to be that name nothing, as comments.

    It comes from rows, and is public where it stands: so it does not stand there unless somebody says so.
    """
    sizes: dict[Fraction, list[str]] = {}
    for column in _telling(catalogue, name):
        if column.typical is not None and column.typical != UNSAID:
            sizes.setdefault(column.typical, []).append(column.name)
    for size, columns in sorted(sizes.items()):
        yield ""
        yield "# May all know about how large these are? Then remove the marks: sums need fewer people."
        yield "# [[typical]]"
        yield f"# table = {_text(name)}"
        yield f"# column = {_text(tuple(columns))}"
        yield f"# value = {decimal_text(size)}"


def _telling(catalogue: Catalogue, name: str) -> list[Column]:
    """Return the columns of a table that are part of no key and of no reference."""
    table = catalogue.table(name)
    if table is None:
        return []
    naming = {part for key in (*table.keys, *(key.columns for key in table.foreign_keys)) for part in key}
    return [column for column in table.columns if column.name not in naming]


def _types(catalogue: Catalogue, name: str) -> Iterator[str]:
    table = catalogue.table(name)
    yield ""
    yield f"[columns.{_text(name)}]   # a file does not say its columns' types: BIGINT, DATE, DECIMAL(9,2) …"
    for column in table.columns if table is not None else ():
        yield f"{_text(column.name)} = {_text(column.type)}"
