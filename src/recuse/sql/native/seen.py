"""Looking at a SELECT that is run as it is: what lasts, what is kept, and owners as columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlglot import exp

from recuse.fold import fold
from recuse.sql.equalities import Name, constant_column, equal_columns, is_never
from recuse.sql.native.facts import Clause, Facts
from recuse.sql.native.follow import Attributed
from recuse.sql.native.tree import (
    JoinKind,
    NativeItem,
    NativeSelect,
    names_of,
)
from recuse.sql.query import Output, Owner, Scalar, Scan, column


class NotOwn(Exception):  # noqa: N818 - an answer, not a failure
    """Why a query's rows cannot be given owners."""


def seen_from(clause: Clause, alias: str, shown: Attributed) -> Clause:
    """Return a clause over the columns of an item instead of what is inside of it."""
    names = names_of(shown.query)
    meant = {v.sql(): column(alias, n) for n, v in zip(names, shown.outputs, strict=True) if v is not None}
    alternatives = tuple(
        tuple(Owner(o.kind, tuple(meant[value.sql()] for value in o.values)) for o in owners)
        for owners in clause.alternatives
    )
    return replace(clause, alternatives=alternatives)


def unused_name(outputs: Sequence[Output]) -> str:
    """Return a name for one more column."""
    taken = {fold(output.name) for output in outputs}
    return next(name for n in range(1, len(taken) + 2) if (name := f"owner_{n}") not in taken)


def name_of(value: Scalar | None) -> Name | None:
    return (value.table, value.name) if isinstance(value, exp.Column) else None


def lasting(select: NativeSelect) -> Iterator[Scalar]:
    """Yield the equalities of WHERE over items that no outer join fills with NULLs."""
    empty = {item.alias for item in select.items} - {item.alias for item in _kept(select)}
    for condition in select.where:
        names = {name for pair in equal_columns(condition) for name in pair}
        names |= {name for name in [constant_column(condition)] if name is not None}
        if is_never(condition) or (names and not any(alias in empty for alias, _ in names)):
            yield condition


def _kept(select: NativeSelect) -> list[NativeItem]:
    """Return the items that have a row in every row."""
    found: list[NativeItem] = []
    for item in select.items:
        if item.kind in (JoinKind.RIGHT, JoinKind.FULL):
            found = []
        if item.kind in (JoinKind.INNER, JoinKind.RIGHT):
            found.append(item)
    return found


def beside_item(select: NativeSelect, item: NativeItem, where: tuple[Scalar, ...]) -> Facts:
    """Return what is known of the rows of an item and of those that stand beside them, whatever they are."""
    kept = _kept(select)
    scans = tuple(other.rows for other in kept if isinstance(other.rows, Scan) and other is not item)
    if item in kept:
        tied = tuple(on for other in kept if other.kind is JoinKind.INNER for on in other.on)
        return Facts(conditions=where + tied, scans=scans)
    tied = item.on if item.kind in (JoinKind.LEFT, JoinKind.SEMI, JoinKind.ANTI) else ()
    return Facts(conditions=tied, scans=scans)


def windows_of(select: NativeSelect) -> Iterator[exp.Window]:
    """Yield the windows of a SELECT."""
    scalars = [*(output.value for output in select.outputs), *select.qualify]
    scalars += [item.value for item in select.order] + list(select.once_by)
    for scalar in scalars:
        yield from scalar.find_all(exp.Window)


def bare_value(value: Scalar, select: NativeSelect) -> Scalar | None:
    """Return the column that an output is; of a group, if it is one of its keys."""
    if not isinstance(value, exp.Column) or (select.keys is not None and value not in select.keys):
        return None
    return value
