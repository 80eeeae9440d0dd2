"""Which columns tell the rows of FROM apart: unique keys that the database enforces.

Rows that tie in an order are told apart by all their columns; where some of them are a key, these say as
much, and sorting by them is cheaper. What is chosen depends on the rows alone either way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from recuse.sql.elaborate import Lookup
from recuse.sql.equalities import identical_columns
from recuse.sql.native.tree import JoinKind, NativeItem, NativeQuery, NativeSelect, native_lookup, nowhere
from recuse.sql.query import Scalar, Scan


def told_apart(items: Sequence[NativeItem], used: Sequence[Scalar]) -> list[Scalar] | None:
    """Return those of the columns that no two rows share, None if there are none such."""
    known = {(one.table, one.name): one for one in used if isinstance(one, exp.Column)}
    lookup = native_lookup(items, nowhere)
    found: list[Scalar] = []
    for place, item in enumerate(items):
        if item.kind is not JoinKind.INNER:
            return None
        before = {other.alias for other in items[:place]}
        keys = list(_keys(item.rows))
        if any(_is_looked_up(item, key, before, lookup) for key in keys):
            continue  # one row of it at most for every row of the others
        key = next((key for key in keys if all((item.alias, name) in known for name in key)), None)
        if key is None:
            return None
        found += [known[item.alias, name] for name in key]
    return found


def _keys(rows: Scan | NativeQuery) -> Iterator[tuple[str, ...]]:
    """Yield the names of columns that are never NULL and that no two rows share."""
    if isinstance(rows, Scan):
        for key in rows.table.keys:
            columns = [rows.table.column(name) for name in key]
            if all(one is not None and not one.nullable for one in columns):
                yield key
    elif isinstance(rows, NativeSelect) and rows.keys is None:
        names: dict[Scalar, str] = {
            one.value: one.name for one in rows.outputs if isinstance(one.value, exp.Column)
        }
        found = told_apart(rows.items, list(names))
        if found is not None:
            yield tuple(names[one] for one in found)


def _is_looked_up(item: NativeItem, key: Sequence[str], before: set[str], lookup: Lookup) -> bool:
    """Return whether ON says that a key of the item is what columns of the items before it are.

    A float may equal several whole numbers, so that only equalities that are identities count.
    """
    tied = {
        name
        for condition in item.on
        for pair in identical_columns(condition, lookup)
        for alias, name in pair
        if alias == item.alias and any(other in before for other, _ in pair)
    }
    return set(key) <= tied
