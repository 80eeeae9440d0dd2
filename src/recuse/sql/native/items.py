"""FROM of a query that is run as it is: tables, queries and joins of every kind → items and a scope."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from recuse.errors import QueryError
from recuse.fold import fold, same
from recuse.sql.elaborate import Lookup, type_of
from recuse.sql.native.expressions import NativeExpressions
from recuse.sql.native.tree import (
    JoinKind,
    NativeItem,
    NativeQuery,
    NativeSelect,
    named,
    names_of,
    native_lookup,
    outer_columns,
)
from recuse.sql.position import refusal, span
from recuse.sql.query import Output, Scalar, Scan, column
from recuse.sql.refuse import JOIN_PARTS
from recuse.sql.scope import Entry, Scope

MOST_ITEMS = 64
OUTER = frozenset({JoinKind.RIGHT, JoinKind.FULL})
CASES = "write JOIN … ON, LEFT, RIGHT or FULL JOIN, SEMI or ANTI JOIN, CROSS JOIN"


@dataclass(frozen=True, slots=True)
class From:
    """FROM as far as it has been read: items, what names mean, and what the rows around are."""

    scope: Scope
    around: Lookup
    items: tuple[NativeItem, ...] = ()

    def lookup(self) -> Lookup:
        """Return the function that says of which type a column is."""
        return native_lookup(self.items, self.around)

    def adding(self, item: NativeItem, *entries: Entry) -> From:
        """Return FROM with one more item."""
        scope = self.scope
        for entry in entries:
            scope = scope.adding(entry)
        return replace(self, scope=scope, items=(*self.items, item))


ItemRows = Callable[[exp.Expr, From], tuple[str, tuple[str, ...], Scan | NativeQuery]]
"""reads one item: the name it is called by, its columns, and its rows"""
Reader = Callable[[From], NativeExpressions]


@dataclass(frozen=True, slots=True)
class FromReader:
    """A reader of FROM; `rows` reads one item, `reader` gives the reader of expressions over a FROM."""

    text: str
    fresh: Callable[[str], str]
    rows: ItemRows
    reader: Reader

    def read(self, tree: exp.Select, start: From) -> From:
        """Return what FROM and its joins say: a comma binds less than any join."""
        first = tree.args.get("from_")
        if first is None:
            return start
        parts: list[tuple[exp.Expr, list[exp.Join]]] = [(first.this, [])]
        for join in tree.args.get("joins") or ():
            if _is_comma(join):
                parts.append((join.this, []))
            else:
                parts[-1][1].append(join)
        found = start
        for item, joins in parts:
            found = self._part(found, item, joins)
        if len(found.items) > MOST_ITEMS:
            place, hint = span(first, self.text), "ask for a part of it"
            raise refusal("too many tables in FROM", self.text, place, accepted=f"{MOST_ITEMS}", hint=hint)
        return found

    def _part(self, before: From, item: exp.Expr, joins: Sequence[exp.Join]) -> From:
        """Return FROM with one more part between commas."""
        kept = any(_kind(join, self.text) in OUTER for join in joins)
        if before.items and kept:
            inside = From(replace(before.scope, entries=(), merged=()), before.around)
            return self._boxed(before, self._part(inside, item, joins), JoinKind.INNER, item)[0]
        found = self._added(before, item, JoinKind.INNER)
        for join in joins:
            found = self._join(found, join)
        return found

    # -------------------------------------------------------------- joins

    def _join(self, left: From, join: exp.Join) -> From:
        kind = _kind(join, self.text)
        both = self._added(left, join.this, kind)
        last = both.items[-1]
        if last.lateral and kind in OUTER:
            hint = "write LEFT JOIN LATERAL"
            raise self._refuse("a query that uses the rows before it cannot be joined so", join, hint)
        both, equal = self._merged(left, both, join, kind)
        on = self.reader(both).conditions(join.args.get("on"))
        items = (*both.items[:-1], replace(last, on=(*last.on, *equal, *on)))
        scope = left.scope if kind in (JoinKind.SEMI, JoinKind.ANTI) else both.scope
        return replace(both, items=items, scope=scope)

    def _added(self, left: From, item: exp.Expr, kind: JoinKind) -> From:
        """Return FROM with one more item, which may be a join in parentheses."""
        nested = item.args.get("joins") or ()
        inside = item
        within = item.this if isinstance(item, exp.Subquery) else None
        if isinstance(within, exp.Table) or (isinstance(within, exp.Subquery) and within.args.get("joins")):
            inside, nested = within, (*(within.args.get("joins") or ()), *nested)
        if not nested:
            return self._one(left, inside if not item.alias else item, kind)
        if inside is not item and item.alias:
            start = From(Scope(self.text, outer=left.scope.outer), left.around)
            return self._shown_as(left, self._all(start, inside, nested), kind, item)
        if not left.items:
            return self._all(left, inside, nested)
        start = From(replace(left.scope, entries=(), merged=()), left.around)
        return self._boxed(left, self._all(start, inside, nested), kind, item)[0]

    def _all(self, start: From, item: exp.Expr, joins: Sequence[exp.Join]) -> From:
        bare = item.copy()
        bare.set("joins", None)
        found = self._added(start, bare, JoinKind.INNER)
        for join in joins:
            found = self._join(found, join)
        return found

    def _one(self, left: From, item: exp.Expr, kind: JoinKind) -> From:
        name, columns, rows = self.rows(item, left)
        if any(same(entry.name, name) for entry in left.scope.entries):
            hint = "give each its own alias: FROM t a, t b"
            raise self._refuse(f"two tables in FROM are called {name}", item, hint)
        if isinstance(rows, Scan):
            stored = [known.name for known in rows.table.columns]
            pairs = zip(columns, stored, strict=True)
            entry = Entry(name, tuple((shown, column(rows.alias, held)) for shown, held in pairs))
            return left.adding(NativeItem(rows.alias, rows, kind), entry)
        alias = self.fresh(name)
        names = unique(columns)
        entry = Entry(
            name, tuple((shown, column(alias, held)) for shown, held in zip(names, names, strict=True))
        )
        before = {one.alias for one in left.items}
        lateral = any(one.table in before for one in outer_columns(rows))
        return left.adding(NativeItem(alias, named(rows, names), kind, lateral=lateral), entry)

    # -------------------------------------------------------------- joins in parentheses

    def _boxed(self, left: From, box: From, kind: JoinKind, item: exp.Expr) -> tuple[From, str]:
        """Return FROM with a join in parentheses as one item, whose tables keep their names."""
        alias = self.fresh("joined")
        lookup = box.lookup()
        outputs: list[Output] = []
        seen: dict[Scalar, Scalar] = {}

        def shown(value: Scalar) -> Scalar:
            if value not in seen:
                outputs.append(Output(f"c{len(outputs) + 1}", value))
                seen[value] = column(alias, outputs[-1].name)
            return seen[value]

        entries = [
            Entry(entry.name, tuple((name, shown(value)) for name, value in entry.columns))
            for entry in box.scope.entries
        ]
        merged = [(name, shown(value)) for name, value in box.scope.merged]
        for entry in entries:
            if left.scope.entry(entry.name) is not None:
                hint = "give each its own alias"
                raise self._refuse(f"two tables in FROM are called {entry.name}", item, hint)
        types = tuple(type_of(output.value, lookup) for output in outputs)
        query = NativeSelect(box.items, tuple(outputs), types)
        before = {one.alias for one in left.items}
        lateral = any(one.table in before for one in outer_columns(query))
        found = left.adding(NativeItem(alias, query, kind, lateral=lateral), *entries)
        for name, value in merged:
            found = replace(found, scope=found.scope.merging(name, value))
        return found, alias

    def _shown_as(self, left: From, box: From, kind: JoinKind, item: exp.Expr) -> From:
        """Return FROM with a join in parentheses that has an alias of its own."""
        lookup = box.lookup()
        columns = box.scope.star()
        names = unique([name for name, _ in columns])
        outputs = tuple(Output(name, value) for name, (_, value) in zip(names, columns, strict=True))
        query = NativeSelect(box.items, outputs, tuple(type_of(o.value, lookup) for o in outputs))
        alias = self.fresh(item.alias)
        entry = Entry(item.alias, tuple((name, column(alias, name)) for name in names_of(query)))
        return left.adding(NativeItem(alias, query, kind), entry)

    # -------------------------------------------------------------- USING and NATURAL

    def _merged(self, left: From, both: From, join: exp.Join, kind: JoinKind) -> tuple[From, list[Scalar]]:
        """Return FROM in which the common columns have one meaning, and that both sides agree on them."""
        added = both.scope.entries[len(left.scope.entries) :]
        right = Scope(self.text, added, both.scope.merged[len(left.scope.merged) :])
        equal: list[Scalar] = []
        for name in left.scope.shared_names(right, join):
            ours, theirs = left.scope.alone(name), right.alone(name)
            if len(ours) != 1 or len(theirs) != 1:
                problem = f"column {name} does not stand exactly once on each side of the join"
                raise self._refuse(problem, join, "write JOIN … ON a.x = b.x")
            mine, other = ours[0][1], theirs[0][1]
            equal.append(exp.EQ(this=mine.copy(), expression=other.copy()))
            value = {
                JoinKind.RIGHT: other,
                JoinKind.FULL: exp.Coalesce(this=mine.copy(), expressions=[other.copy()]),
            }
            both = replace(both, scope=both.scope.merging(name, value.get(kind, mine)))
        for one in equal:
            self.reader(both).elaborator().condition(one)
        return both, equal

    def _refuse(self, problem: str, node: exp.Expr, hint: str | None) -> QueryError:
        return refusal(problem, self.text, span(node, self.text), hint=hint)


def _is_comma(join: exp.Join) -> bool:
    return not any(value for key, value in join.args.items() if key != "this")


def _kind(join: exp.Join, text: str) -> JoinKind:
    side, kind, method = (join.args.get(key) or "" for key in ("side", "kind", "method"))
    known = {key for key, value in join.args.items() if value} <= JOIN_PARTS
    if (
        not known
        or method not in ("", "NATURAL")
        or kind not in ("", "INNER", "OUTER", "CROSS", "SEMI", "ANTI")
    ):
        name = " ".join(word for word in (method, side, kind) if word) or "this kind of"
        raise refusal(f"{name} JOIN is not accepted", text, span(join, text), hint=CASES)
    if kind in ("SEMI", "ANTI"):
        return JoinKind(kind)
    return JoinKind(side) if side else JoinKind.FULL if kind == "OUTER" else JoinKind.INNER


def unique(names: Sequence[str]) -> list[str]:
    """Return names made different from each other.

    >>> unique(["x", "X", "y", "x"])
    ['x', 'X_1', 'y', 'x_2']
    """
    found: list[str] = []
    seen: set[str] = set()
    for name in names:
        tried = [name, *(f"{name}_{number}" for number in range(1, len(names) + 1))]
        found.append(next(one for one in tried if fold(one) not in seen))
        seen.add(fold(found[-1]))
    return found
