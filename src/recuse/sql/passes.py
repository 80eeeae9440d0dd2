"""The passes after reading: each takes a query and returns one that is nearer to its derivations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlglot import exp

from recuse.privacy import decimal_text
from recuse.sql.complete import equal_columns
from recuse.sql.families import Family, family
from recuse.sql.query import Owner, Query, Scalar, Schema, attempt
from recuse.sql.scalars import guard

Pass = Callable[[Query, Schema], Query]


def guard_rows(query: Query, _: Schema) -> Query:
    """Return the query in which no row can raise: a failed predicate is NULL, so the row is not taken."""

    def lookup(node: exp.Expr) -> str | None:
        known = query.column(node)
        return known.type if known is not None else None

    return replace(query, conditions=tuple(guard(part, lookup) for part in query.conditions))


def drop_equal_owners(query: Query, _: Schema) -> Query:
    """Return the query without owners that its equalities make equal to others: a participant counts once.

    Only for integers: there SQL's equality is identity.
    """
    leader: dict[tuple[str, str], tuple[str, str]] = {}

    def find(name: tuple[str, str]) -> tuple[str, str]:
        while name in leader:
            name = leader[name]
        return name

    for condition in query.conditions:
        for pair in equal_columns(condition):
            left, right = map(find, sorted(pair)) if len(pair) == 2 else (None, None)
            if left is not None and right is not None and left != right and _whole(query, *pair):
                leader[right] = left
    seen: dict[object, Owner] = {}
    for owner in query.owners:
        seen.setdefault((owner.kind, tuple(_identity(value, find) for value in owner.values)), owner)
    return replace(query, owners=tuple(seen.values()))


def _whole(query: Query, *names: tuple[str, str]) -> bool:
    scans = [(query.scan(alias), name) for alias, name in names]
    columns = [scan.table.column(name) if scan is not None else None for scan, name in scans]
    return all(known is not None and family(known.type) is Family.WHOLE for known in columns)


def _identity(value: Scalar, find: Callable[[tuple[str, str]], tuple[str, str]]) -> object:
    return find((value.table, value.name)) if isinstance(value, exp.Column) else value


def weigh_rows(query: Query, schema: Schema) -> Query:
    """Return the query whose rows have a weight in whole granules.

    A count's rows weigh 1. A sum's value is divided by the granularity and rounded, row by row; what does
    not fit 64 bits, NaN, infinities and failed rows are NULL, and SUM ignores NULL.
    """
    if query.argument is None:
        return replace(query, weight=exp.Literal.number(1))
    scaled = query.argument
    if schema.granularity != 1:
        factor = decimal_text(1 / schema.granularity)
        # a decimal, not an integer: a 32-bit column must not overflow when multiplied by a hundred
        literal = exp.Literal.number(factor if "." in factor else f"{factor}.0")
        scaled = exp.Mul(this=exp.paren(scaled.copy()), expression=literal)
    return replace(query, weight=exp.TryCast(this=attempt(scaled), to=exp.DataType.build("bigint")))
