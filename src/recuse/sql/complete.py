"""Query → the same query with the owners of every row: links followed to their participants.

Guarantee: a row of the query belongs to exactly those whose withdrawal would remove it. Following a link
never multiplies rows: the last hop, to a protected table, is a semi-join; any other hop joins on a unique
key. (Were such a key declared wrongly, rows would be multiplied, and the count would be too large; each
copy would still carry its own owners, so that nobody's protection depends on the declaration.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from sqlglot import exp

from recuse.errors import QueryError
from recuse.policy.terms import Choice, KeyItem
from recuse.sql.ownership import Hop, Linked, Protected
from recuse.sql.query import Owner, Query, Scalar, Scan, Schema, column, table_reference


def complete_links(query: Query, schema: Schema) -> Query:
    """Return the query with the owners of its rows, and with the joins that lead to them."""
    follower = _Follower(query, schema)
    for scan in query.sources:
        follower.follow(scan)
    return replace(
        query,
        sources=tuple(follower.sources),
        conditions=tuple(follower.conditions),
        owners=tuple(follower.owners),
        completed=tuple(follower.completed),
    )


@dataclass(slots=True)
class _Follower:
    query: Query
    schema: Schema
    sources: list[Scan] = field(init=False)
    conditions: list[Scalar] = field(init=False)
    owners: list[Owner] = field(default_factory=list)
    completed: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.sources = list(self.query.sources)
        self.conditions = list(self.query.conditions)

    def follow(self, scan: Scan) -> None:
        """Add the owners of one source's rows."""
        owned = self.schema.ownership.of(scan.table.name)
        if isinstance(owned, Protected):
            self._require(scan, [name for item in owned.key for name in item.columns])
            self.owners.append(Owner(owned.kind, tuple(key_value(scan.alias, item) for item in owned.key)))
        elif isinstance(owned, Linked):
            for hop in owned.hops:
                self._hop(scan, hop)

    def _hop(self, scan: Scan, hop: Hop) -> None:
        if len(hop.alternatives) > 1:
            raise QueryError(
                f"table {scan.table.name} belongs to any of several owners, which is not answered yet",
                hint="leave the table out of the query",
            )
        columns = hop.alternatives[0]
        target = self.schema.catalogue.table(hop.table) if hop.table is not None else None
        if target is None or isinstance(self.schema.ownership.of(target.name), Protected):
            self.owners.append(Owner(hop.target, tuple(column(scan.alias, name) for name in columns)))
            if target is None or hop.enforced:
                self._require(scan, columns)
            elif self._joined(scan, hop) is None:
                self.conditions.append(present(scan, hop, Scan(self._fresh("present"), target)))
                self.completed.append(f"rows of {scan.alias} whose {target.name} exists")
        elif self._joined(scan, hop) is None:
            added = Scan(self._fresh(f"{scan.alias}_{target.name}"), target)
            self.sources.append(added)
            self.conditions += _key_equalities(scan, hop, added)
            self.completed.append(f"{scan.alias} joined with {target.name} as {added.alias}")
            self.follow(added)

    def _joined(self, scan: Scan, hop: Hop) -> Scan | None:
        """Return the query's own source that is joined by exactly this key equality, if there is one."""
        stated = {pair for condition in self.query.conditions for pair in equal_columns(condition)}
        for other in self.query.sources:
            wanted = [
                frozenset({(scan.alias, name), (other.alias, item.columns[0])})
                for name, item in zip(hop.alternatives[0], hop.key, strict=True)
                if item.choice is Choice.ITSELF
            ]
            same_table = hop.table is not None and other.table.name.lower() == hop.table.lower()
            if (
                same_table
                and other.alias != scan.alias
                and len(wanted) == len(hop.key)
                and stated >= set(wanted)
            ):
                return other
        return None

    def _require(self, scan: Scan, names: list[str] | tuple[str, ...]) -> None:
        """Drop rows whose owner is NULL: nobody contributed them."""
        for name in dict.fromkeys(names):
            known = scan.table.column(name)
            if known is None or known.nullable:
                self.conditions.append(
                    exp.Not(this=exp.Is(this=column(scan.alias, name), expression=exp.Null()))
                )

    def _fresh(self, wish: str) -> str:
        taken = {scan.alias.lower() for scan in self.sources}
        names = [wish, *(f"{wish}_{number}" for number in range(2, len(taken) + 3))]
        return next(name for name in names if name.lower() not in taken)


def _not_null(scan: Scan, name: str) -> Scalar:
    return exp.Not(this=exp.Is(this=column(scan.alias, name), expression=exp.Null()))


def key_value(alias: str, item: KeyItem) -> Scalar:
    """Return one component of a key as an expression over a source."""
    columns: list[Scalar] = [column(alias, name) for name in item.columns]
    if item.choice is Choice.ITSELF:
        return columns[0]
    function = exp.Least if item.choice is Choice.LEAST else exp.Greatest
    return function(this=columns[0], expressions=columns[1:], ignore_nulls=True)


def _key_equalities(scan: Scan, hop: Hop, target: Scan) -> list[Scalar]:
    return [
        exp.EQ(this=column(scan.alias, name), expression=key_value(target.alias, item))
        for name, item in zip(hop.alternatives[0], hop.key, strict=True)
    ]


def present(scan: Scan, hop: Hop, target: Scan) -> Scalar:
    """Return EXISTS(the row that the link leads to), which no duplicate multiplies."""
    inner = exp.Select(expressions=[exp.Literal.number(1)])
    inner.set("from_", exp.From(this=table_reference(target)))
    # LEAST and GREATEST pass over NULL, but a row whose key holds a NULL is nobody's
    chosen = [name for item in hop.key if item.choice is not Choice.ITSELF for name in item.columns]
    filled = [_not_null(target, name) for name in dict.fromkeys(chosen)]
    inner.set("where", exp.Where(this=exp.and_(*_key_equalities(scan, hop, target), *filled, copy=False)))
    return exp.Exists(this=inner)


def equal_columns(condition: Scalar) -> Iterator[frozenset[tuple[str, str]]]:
    """Yield the two (alias, column) names of a condition that is one bare equality."""
    if isinstance(condition, exp.EQ):
        left, right = condition.left, condition.right
        if isinstance(left, exp.Column) and isinstance(right, exp.Column):
            yield frozenset({(left.table, left.name), (right.table, right.name)})
