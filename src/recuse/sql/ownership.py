"""Policy + catalogue → what the rows of each table belong to, every name checked and spelled.

    Public      the rows are about nobody
    Protected   each key value of the table is one participant
    Linked      a row is present iff the rows that it links to are

Tables that the policy does not mention have no entry: a query that touches one is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from recuse.errors import PolicyError
from recuse.fold import same
from recuse.policy import KeyItem, Link, Policy, Protect
from recuse.policy.terms import LinkChoice
from recuse.scalars.types import Date, Float, Number, Text, Timestamp, Uuid, stored
from recuse.sql.catalogue import REFINED, Catalogue, Column, Table
from recuse.sql.references import refuse_contradiction


@dataclass(frozen=True, slots=True)
class PublicTable:
    """Rows about nobody."""


@dataclass(frozen=True, slots=True)
class Linked:
    """Rows that are present iff all their hops lead to present rows."""

    hops: tuple[Hop, ...]


@dataclass(frozen=True, slots=True)
class Hop:
    """One link with its names resolved: from `alternatives` of a row to the key of `target`.

    `table` is None when the target is a virtual kind. `enforced` says that the database itself keeps the
    reference intact, so that a value cannot dangle.
    """

    alternatives: tuple[tuple[str, ...], ...]
    target: str
    table: str | None
    key: tuple[KeyItem, ...]
    enforced: bool


@dataclass(frozen=True, slots=True)
class ProtectedTable:
    """Rows that are participants."""

    kind: str
    key: tuple[KeyItem, ...]
    """what names one among those of its kind"""


Owned = PublicTable | ProtectedTable | Linked


@dataclass(frozen=True, slots=True)
class Ownership:
    """How every table that the policy mentions is owned."""

    entries: tuple[tuple[str, Owned], ...]

    def of(self, table: str) -> Owned | None:
        """Return how a table is owned, or None where the policy does not say."""
        return next((owned for name, owned in self.entries if same(name, table)), None)


def own(policy: Policy, catalogue: Catalogue) -> Ownership:
    """Return the policy's roles over the tables of the catalogue, or refuse with the line and the fix."""
    entries: list[tuple[str, Owned]] = []
    for name, line in policy.tables():
        table = _table(name, catalogue, line)
        protect = policy.protected_table(name)
        if protect is not None:
            entries.append((table.name, _protected(protect, table)))
        elif policy.is_public(name):
            entries.append((table.name, PublicTable()))
        else:
            hops = tuple(_hop(link, table, policy, catalogue) for link in policy.links_of(name))
            entries.append((table.name, Linked(hops)))
    for key in policy.keys:
        table = _table(key.table, catalogue, key.line)
        for column in key.columns:
            _told_apart(_column(column, table, key.line), table, key.line)
    for declared in policy.nonnegative:
        table = _table(declared.table, catalogue, declared.line)
        for name in declared.columns:
            _summed(_column(name, table, declared.line), table, declared.line)
    for sized in policy.typical:
        table = _table(sized.table, catalogue, sized.line)
        for name in sized.columns:
            _summed(_column(name, table, sized.line), table, sized.line)
    for domain in policy.domains:
        _column(domain.column, _table(domain.table, catalogue, domain.line), domain.line)
    for typed in policy.columns:
        _column(typed.column, _table(typed.table, catalogue, typed.line), typed.line)
    _same_types_within_kinds(policy, catalogue)
    return Ownership(tuple(entries))


def _told_apart(column: Column, table: Table, line: int | None) -> None:
    """Refuse a declared key of a type of which two stored values are read as one: it holds of neither."""
    if column.type in REFINED:
        raise PolicyError(
            f"{table.name}.{column.name} is {column.type}, read in microseconds: two may be read as one",
            line=line,
            hint="declare a key without it, or store it as TIMESTAMP",
        )


def _summed(column: Column, table: Table, line: int | None) -> None:
    if not isinstance(stored(column.type), Number | Float):
        problem = f"{table.name}.{column.name} is {column.type}, which is said of numbers"
        raise PolicyError(problem, line=line, hint="name columns of numbers")


def _unknown(problem: str, line: int | None, known: Sequence[str], near: str | None) -> PolicyError:
    hint = f"did you mean {near}?" if near else None
    return PolicyError(problem, line=line, accepted=", ".join(known) or None, hint=hint)


def _table(name: str, catalogue: Catalogue, line: int | None) -> Table:
    table = catalogue.table(name)
    if table is None and (why := catalogue.why_not(name)) is not None:
        raise PolicyError(f"{name} is not read: {why}", line=line, hint="leave it out of the policy")
    if table is None:
        known = sorted(t.name for t in catalogue.tables)
        raise _unknown(f"the database has no table {name}", line, known, catalogue.nearest_table(name))
    if table.view is not None:
        raise PolicyError(
            f"{table.name} is a view",
            line=line,
            hint="write the policy for the tables beneath it",
        )
    return table


def _column(name: str, table: Table, line: int | None) -> Column:
    column = table.column(name)
    if column is None:
        known = [c.name for c in table.columns]
        raise _unknown(f"table {table.name} has no column {name}", line, known, table.nearest_column(name))
    return column


def _owner_column(name: str, table: Table, line: int | None) -> Column:
    """Return a column whose values can name participants: equality there means identity."""
    column = _column(name, table, line)
    if not isinstance(stored(column.type), NAMING):
        raise PolicyError(
            f"column {column.name} of {table.name} cannot name participants",
            line=line,
            found=column.type,
            accepted="integers, decimals, text without collation, dates, timestamps, UUIDs",
            hint=f"declare the type of a frame's or CSV file's column: [columns.{table.name}], "
            f'{column.name} = "BIGINT"',
        )
    return column


NAMING = (Number, Text, Date, Timestamp, Uuid)


def _item(item: KeyItem, table: Table, line: int | None) -> KeyItem:
    columns = tuple(_owner_column(name, table, line) for name in item.columns)
    if len({_identity(column) for column in columns}) > 1:
        raise PolicyError(
            f"the columns of {item} have different types", line=line, found=", ".join(c.type for c in columns)
        )
    return KeyItem(item.choice, tuple(column.name for column in columns))


def _protected(protect: Protect, table: Table) -> ProtectedTable:
    return ProtectedTable(table.name, tuple(_item(item, table, protect.line) for item in protect.key))


def _hop(link: Link, table: Table, policy: Policy, catalogue: Catalogue) -> Hop:
    alternatives = tuple(
        tuple(_owner_column(name, table, link.line).name for name in names) for names in link.alternatives
    )
    virtual = policy.virtual_kind(link.to)
    if virtual is not None:
        for columns in alternatives:
            refuse_contradiction(link, columns, (), policy, catalogue)
        return Hop(alternatives, virtual.kind, None, (), enforced=False)
    target = _table(link.to, catalogue, link.line)
    key = _target_key(link, alternatives, table, target, policy)
    for columns in alternatives:
        refuse_contradiction(link, columns, key, policy, catalogue)
    names = tuple(str(item) for item in key)
    enforced = all(
        any(
            same(reference.target, target.name)
            and set(zip(reference.columns, reference.target_columns, strict=True))
            == set(zip(columns, names, strict=True))
            for reference in table.foreign_keys
        )
        for columns in alternatives
    )
    for columns in alternatives:
        for name, item in zip(columns, key, strict=True):
            ours, theirs = table.column(name), target.column(item.columns[0])
            if ours is None or theirs is None or _identity(ours) != _identity(theirs):
                raise PolicyError(
                    f"{table.name}.{name} and {target.name}.{item.columns[0]} have different types",
                    line=link.line,
                    found=f"{ours.type if ours else None} and {theirs.type if theirs else None}",
                    hint="a link compares values: give both columns one type",
                )
    return Hop(alternatives, target.name, target.name, key, enforced=enforced)


def _target_key(
    link: Link, alternatives: tuple[tuple[str, ...], ...], table: Table, target: Table, policy: Policy
) -> tuple[KeyItem, ...]:
    """Return the key of the target that the link's columns hold, in their order.

    A protected table is named by its own key. Of any other the key must be unique: the one that an
    enforced reference names, else the one that the policy declares, else the catalogue's.
    """
    protect = policy.protected_table(target.name)
    if protect is not None:
        return tuple(_item(item, target, protect.line) for item in protect.key)
    for reference in table.foreign_keys:
        if same(reference.target, target.name) and set(reference.columns) == set(alternatives[0]):
            named = dict(zip(reference.columns, reference.target_columns, strict=True))
            return tuple(KeyItem(LinkChoice.ITSELF, (named[column],)) for column in alternatives[0])
    for keys in (policy.keys_of(target.name), target.keys):
        fitting = [key for key in keys if len(key) == link.width]
        if len(fitting) == 1:
            columns = tuple(_owner_column(name, target, link.line) for name in fitting[0])
            return tuple(KeyItem(LinkChoice.ITSELF, (column.name,)) for column in columns)
        if fitting:
            raise PolicyError(
                f"{link.table} links to {target.name}, which has several keys of {link.width} columns",
                line=link.line,
                found=" and ".join("(" + ", ".join(key) + ")" for key in fitting),
                hint="declare the one that is meant with a [[key]] entry",
            )
    raise PolicyError(
        f"{link.table} links to {target.name}, which has no unique key of {link.width} columns",
        line=link.line,
        hint=f'declare it: [[key]], table = "{target.name}", column = ["…"]',
    )


def _identity(column: Column) -> object:
    """Return what two columns must share so that equal values are the same name."""
    found = stored(column.type)
    whole = isinstance(found, Number) and found.scale == 0
    return type(found) if whole or isinstance(found, Text) else column.type


def _same_types_within_kinds(policy: Policy, catalogue: Catalogue) -> None:
    """Refuse a virtual kind whose links hold values of different types: 1 and '1' are not one person."""
    for kind in policy.protect:
        seen: tuple[object, ...] | None = None
        for link in policy.links if kind.table is None else ():
            table = catalogue.table(link.table)
            if not same(link.to, kind.kind) or table is None:
                continue
            for names in link.alternatives:
                columns = tuple(_column(name, table, link.line) for name in names)
                types = tuple(map(_identity, columns))
                if seen is not None and types != seen:
                    raise PolicyError(
                        f"the links to {kind.kind} hold values of different types",
                        line=link.line,
                        found=", ".join(f"{column.name} {column.type}" for column in columns),
                        hint="give the linking columns one type",
                    )
                seen = types
