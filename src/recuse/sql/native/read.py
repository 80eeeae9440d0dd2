"""Syntax tree + catalogue → `NativeQuery`: any SELECT that an engine may run as it is, or a refusal."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sqlglot import exp

from recuse.errors import QueryError
from recuse.fold import fold
from recuse.scalars.expression import Variable
from recuse.scalars.types import Opaque, Type, common
from recuse.sql.elaborate import Lookup
from recuse.sql.named import NOTHING, Known, names_in, view_query
from recuse.sql.native.expressions import NativeExpressions, Queries
from recuse.sql.native.inner import Inner
from recuse.sql.native.items import From, FromReader, unique
from recuse.sql.native.selects import SelectReader
from recuse.sql.native.tables import Tables
from recuse.sql.native.tree import (
    NativeQuery,
    NativeSet,
    SetWord,
    named,
    names_of,
    nowhere,
    with_inner,
    with_scalars,
)
from recuse.sql.parse import parse
from recuse.sql.position import Span, refusal, span
from recuse.sql.query import Scalar, Scan
from recuse.sql.refuse import refuse_clauses, refuse_table_form
from recuse.sql.schema import Schema
from recuse.sql.scope import Entry, Scope

SET_CLAUSES = frozenset({"this", "expression", "distinct", "with_", "order", "limit", "offset"})
WORDS: dict[type[exp.Expr], SetWord] = {
    exp.Union: SetWord.UNION,
    exp.Intersect: SetWord.INTERSECT,
    exp.Except: SetWord.EXCEPT,
}


@dataclass(frozen=True, slots=True)
class NativeReader:
    """A reader of queries; `tables` knows the tables and gives aliases that nothing else has."""

    schema: Schema
    tables: Tables
    within: tuple[str, ...] = field(default=())
    """the views that are being read"""

    def query(
        self, tree: exp.Expr, known: Known = NOTHING, outer: Scope | None = None, around: Lookup = nowhere
    ) -> NativeQuery:
        """Return what a query is: `outer` are the names around it, `around` knows their types."""
        while isinstance(tree, exp.Subquery) and not _holds_more(tree):
            tree = tree.this
        known = names_in(tree, known, self.schema.text)
        if isinstance(tree, exp.SetOperation):
            return self._set(tree, known, outer, around)
        if isinstance(tree, exp.Select):
            return self._select(tree, known, outer, around)
        if isinstance(tree, exp.Values):
            return self._values(tree, known, outer, around)
        if isinstance(tree, exp.Subquery):
            return self._wrapped(tree, known, outer, around)
        if isinstance(tree, exp.Table):
            return self.query(exp.select("*").from_(tree.copy()), known, outer, around)
        raise self._refuse("only a SELECT is understood here", tree, "write SELECT … FROM …")

    def _select(self, tree: exp.Select, known: Known, outer: Scope | None, around: Lookup) -> NativeQuery:
        windows = {fold(one.this.name): one for one in tree.args.get("windows") or ()}

        def reader(rows: From) -> NativeExpressions:
            inside = self._inside(known)
            return NativeExpressions(self.schema, inside, rows.scope, rows.lookup(), windows=windows)

        start = From(Scope(self.schema.text, outer=outer), around)
        items = FromReader(
            self.schema.text, self.tables.alias, lambda item, left: self._item(item, left, known), reader
        )
        rows = items.read(tree, start)
        for window in windows.values():  # DuckDB passes over one that nothing uses, other engines do not
            for part in (window.args.get("order"), *(window.args.get("partition_by") or ())):
                if part is not None:
                    reader(rows).value(part)
        return SelectReader(tree, rows, reader(rows), self.schema.text).read()

    def _inside(self, known: Known) -> Queries:
        return lambda tree, scope, lookup: self.query(tree, known, scope, lookup)

    def _wrapped(self, tree: exp.Subquery, known: Known, outer: Scope | None, around: Lookup) -> NativeQuery:
        """Return (SELECT …) ORDER BY … LIMIT …, and the like."""
        refuse_clauses(tree, self.schema.text, {"this", "alias", "with_", "order", "limit", "offset"})
        if not any(tree.args.get(key) for key in ("order", "limit", "offset")):
            return self.query(tree.this, known, outer, around)
        held = {key: tree.args[key].copy() for key in ("order", "limit", "offset") if tree.args.get(key)}
        rows = exp.Subquery(this=tree.this.copy())
        select = exp.Select(expressions=[exp.Star()], from_=exp.From(this=rows), **held)
        return self._select(select, known, outer, around)

    # -------------------------------------------------------------- UNION, INTERSECT, EXCEPT

    def _set(self, tree: exp.SetOperation, known: Known, outer: Scope | None, around: Lookup) -> NativeSet:
        refuse_clauses(tree, self.schema.text, SET_CLAUSES)
        left, right = (self.query(part, known, outer, around) for part in (tree.this, tree.expression))
        every = not tree.args.get("distinct")
        found = self._pair(WORDS[type(tree)], left, right, tree, every=every)
        names = unique(found.names)
        columns = tuple((name, exp.column(exp.to_identifier(name, quoted=True))) for name in names)
        kinds = dict(zip(names, found.types, strict=True))

        def lookup(node: exp.Expr) -> Variable:
            return Variable("", node.name, kinds[node.name])

        scope = Scope(self.schema.text, (Entry("", columns),))
        reader = NativeExpressions(self.schema, self._no_query, scope, lookup)
        head = exp.Select(expressions=[exp.column(name, quoted=True) for name in names])
        for key in ("order", "limit", "offset"):
            if tree.args.get(key):
                head.set(key, tree.args[key].copy())
        shown = SelectReader(head, From(scope, lookup), reader, self.schema.text).read()
        return replace(found, names=tuple(names), order=shown.order, limit=shown.limit, offset=shown.offset)

    def _no_query(self, tree: exp.Expr, _: Scope, __: Lookup) -> NativeQuery:
        raise self._refuse("ORDER BY of a UNION takes columns", tree, "order by a column")

    def _pair(
        self, word: SetWord, left: NativeQuery, right: NativeQuery, tree: exp.Expr, *, every: bool
    ) -> NativeSet:
        if len(left.types) != len(right.types):
            hint = "select as many columns in each"
            raise self._refuse("the branches have different numbers of columns", tree, hint)
        kinds: list[Type] = []
        for name, *sides in zip(names_of(left), left.types, right.types, strict=True):
            kind = common(sides)
            if kind is None or (isinstance(kind, Opaque) and not every):
                problem = f"the branches differ in the type of {name}, or it is not known"
                raise self._refuse(problem, tree, "cast the column to one type in every branch")
            kinds.append(kind)
        return NativeSet(word, left, right, names_of(left), tuple(kinds), every)

    def _values(self, tree: exp.Values, known: Known, outer: Scope | None, around: Lookup) -> NativeQuery:
        """Return the rows that a VALUES list writes down."""
        refuse_clauses(tree, self.schema.text, {"expressions", "alias"})
        rows: list[NativeQuery] = []
        for node in tree.expressions:
            listed = node.expressions if isinstance(node, exp.Tuple) else [node]
            named = [exp.alias_(one.copy(), f"col{place}") for place, one in enumerate(listed)]
            rows.append(self._select(exp.Select(expressions=named), known, outer, around))
        while len(rows) > 1:  # two by two, so that the tree stays low
            pairs = [rows[place : place + 2] for place in range(0, len(rows), 2)]
            rows = [
                one[0] if len(one) == 1 else self._pair(SetWord.UNION, one[0], one[1], tree, every=True)
                for one in pairs
            ]
        return rows[0]

    # -------------------------------------------------------------- items of FROM

    def _item(
        self, item: exp.Expr, left: From, known: Known
    ) -> tuple[str, tuple[str, ...], Scan | NativeQuery]:
        """Return the name of one item, the names of its columns, and its rows."""
        alias = item.args.get("alias")
        renamed = [name.name for name in (alias.args.get("columns") or ())] if alias is not None else []
        rows: Scan | NativeQuery
        if isinstance(item, exp.Table):
            refuse_table_form(item, self.schema.text)
            cte = known.get(fold(item.name)) if not item.db else None
            if cte is not None:
                rows = self.query(cte.tree, cte.known)
                renamed = [*renamed, *cte.columns[len(renamed) :]]
            else:
                rows = self._table(item)
            name = item.alias or item.name
        elif isinstance(item, exp.Values | exp.Subquery):
            rows = self.query(item, known, left.scope, left.lookup())
            name = item.alias or self.tables.fresh("derived")
        elif isinstance(item, exp.Lateral) and isinstance(item.this, exp.Subquery):
            refuse_clauses(item, self.schema.text, {"this", "alias"})
            rows = self.query(item.this, known, left.scope, left.lookup())
            name = item.alias or self.tables.fresh("derived")
        else:
            hint = "name a table, or write a join" if not isinstance(item, exp.Unnest) else "join a table"
            raise self._refuse("FROM takes tables and subqueries only", item, hint)
        columns = [one.name for one in rows.table.columns] if isinstance(rows, Scan) else [*names_of(rows)]
        if len(renamed) > len(columns):
            raise self._refuse("there are more names than columns", item, "leave the column list out")
        columns[: len(renamed)] = renamed
        return name, tuple(columns), rows

    def _table(self, item: exp.Table) -> Scan | NativeQuery:
        table = self.tables.known_table(item)
        if table.view is None:
            scan = Scan(self.tables.fresh(item.alias or table.name), table)
            self.tables.met(scan, item)
            return scan
        if fold(table.name) in self.within:
            raise self._refuse(f"the view {table.name} refers to itself", item, "name another table")
        try:
            text = view_query(table.view)
            inside = NativeReader(
                replace(self.schema, text=text), self.tables, (*self.within, fold(table.name))
            )
            query = inside.query(parse(text, self.schema.catalogue.dialect))
        except QueryError as error:
            problem = f"the view {table.name} is refused: {error.problem}"
            raise self._refuse(problem, item, error.hint) from None
        if len(names_of(query)) != len(table.columns):
            raise self._refuse(f"the view {table.name} is older than its tables", item, "create it again")
        place = span(item, self.schema.text)
        return named(moved(query, place), [known.name for known in table.columns])

    def _refuse(self, problem: str, node: exp.Expr, hint: str | None) -> QueryError:
        return refusal(problem, self.schema.text, span(node, self.schema.text), hint=hint)


def moved(query: NativeQuery, place: Span | None) -> NativeQuery:
    """Return a query as if all of it stood at one place of another text."""

    def change(scalar: Scalar) -> Scalar:
        found = scalar.transform(lambda part: with_inner(part, change) if isinstance(part, Inner) else part)
        for part in found.walk():
            part.meta.clear()
        if place is not None:
            found.meta.update(start=place[0], end=place[1])
        return found

    return with_scalars(query, change)


def _holds_more(tree: exp.Subquery) -> bool:
    return bool({key for key, value in tree.args.items() if value} - {"this", "alias"})
