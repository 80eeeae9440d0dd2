"""Groups in FROM that show aggregates → the same without them, where a condition is all they serve.

    SELECT COUNT(*) FROM (SELECT p, COUNT(*) AS n FROM s GROUP BY p) g WHERE g.n >= 20
    SELECT COUNT(*) FROM (SELECT p FROM s GROUP BY p HAVING COUNT(*) >= 20) g

Both say the same while every join is an inner one: a row of the first comes from a group for which the
condition holds. An aggregate that nothing uses is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from sqlglot import exp

from recuse.errors import QueryError
from recuse.fold import fold, same
from recuse.sql.having import group_condition, group_keys
from recuse.sql.named import Known, Named
from recuse.sql.query import BlockSource
from recuse.sql.rollup import has_sets

ReadAs = TypeVar("ReadAs")
INNER = frozenset({"", "INNER", "CROSS"})


def read_narrowed(
    read: Callable[[exp.Select, Known], ReadAs], tree: exp.Select, known: Known, sources: list[BlockSource]
) -> ReadAs:
    """Return what a SELECT is read as; where it is refused, what it is without aggregates not needed."""
    met = len(sources)
    try:
        return read(tree, known)
    except QueryError as refused:
        del sources[met:]
        other = narrowed(tree, known)
        if other is None:
            raise
        try:
            return read(*other)
        except QueryError as again:
            raise (refused if again.problem == refused.problem else again) from None


def narrowed(tree: exp.Select, known: Known) -> tuple[exp.Select, Known] | None:
    """Return a SELECT, and the CTEs it sees, whose groups show no aggregate that they need not; or None."""
    tree = tree.copy()
    joins = tree.args.get("joins") or []
    if tree.args.get("from_") is None or any(join.args.get("method") for join in joins):
        return None
    changed = False
    for item in [tree.args["from_"].this, *(join.this for join in joins)]:
        groups = GroupedItem.of(item, known)
        if groups is None or not groups.totals:
            continue
        moved = list(groups.conditions(tree, joins)) if all(map(_is_inner, joins)) else []
        for condition in moved:
            condition.replace(exp.true())
        made = groups.without_unused(tree, moved)
        if made is not None:
            known = groups.put_in_place(made, known)
            changed = True
    return (tree, known) if changed else None


@dataclass(frozen=True, slots=True)
class GroupedItem:
    """An item of FROM that groups rows: what it selects, by the names that are seen."""

    item: exp.Expr
    tree: exp.Select
    named: Named | None
    outputs: tuple[tuple[str, exp.Expr], ...]

    @classmethod
    def of(cls, item: exp.Expr, known: Known) -> GroupedItem | None:
        """Return the groups that an item is, None if it is none."""
        named = known.get(fold(item.name)) if isinstance(item, exp.Table) and not item.db else None
        inside = named.tree if named is not None else item.this if isinstance(item, exp.Subquery) else None
        tree = inside.unnest() if inside is not None else None
        if not isinstance(tree, exp.Select) or tree.args.get("group") is None or item.args.get("joins"):
            return None
        if has_sets(tree.args["group"]):
            return None
        if any(tree.args.get(key) for key in ("limit", "offset", "distinct", "qualify", "with_")):
            return None
        if any(node.is_star or node.find(exp.Window) for node in tree.expressions):
            return None
        alias = item.args.get("alias")
        names = [name.name for name in (alias.args.get("columns") or ())] if alias else []
        names = names or list(named.columns if named is not None else ())
        own = [node.alias_or_name for node in tree.expressions]
        pairs = zip([*names, *own[len(names) :]], (n.unalias() for n in tree.expressions), strict=True)
        return cls(item, tree, named, tuple(pairs))

    @property
    def totals(self) -> list[str]:
        """The names of what it shows besides its keys."""
        return [name for name, value in self.outputs if value.find(exp.AggFunc)]

    def conditions(self, tree: exp.Select, joins: Sequence[exp.Expr]) -> Iterator[exp.Expr]:
        """Yield what the SELECT around asks of these groups alone, and of their aggregates."""
        where = tree.args.get("where")
        tests = [where.this] if where is not None else []
        tests += [join.args["on"] for join in joins if join.args.get("on") is not None]
        for test in (part for whole in tests for part in _parts(whole)):
            columns = list(test.find_all(exp.Column))
            mine = test.find(exp.Query) is None and all(self._shows(column, joins) for column in columns)
            if mine and any(same(column.name, name) for column in columns for name in self.totals):
                yield test

    def _shows(self, column: exp.Column, joins: Sequence[exp.Expr]) -> bool:
        """Return whether a column is surely one of these; without a table it is if there is no other item."""
        alone = not joins or any(same(column.name, name) for name in self.totals)
        mine = same(column.table, self.item.alias_or_name) if column.table else alone
        return mine and any(same(column.name, name) for name, _ in self.outputs)

    def without_unused(self, tree: exp.Select, moved: Sequence[exp.Expr]) -> exp.Select | None:
        """Return the groups that fulfil the conditions, without aggregates that nothing else uses."""
        used = [name for name in self.totals if self._is_used(name, tree)]
        kept = [(n, v) for n, v in self.outputs if not v.find(exp.AggFunc) or n in used]
        if len(kept) == len(self.outputs) and not moved:
            return None
        made = self.tree.copy()
        made.set("order", None)
        made.set("group", exp.Group(expressions=[key.copy() for key in group_keys(self.tree)]))
        having = group_condition(self.tree)
        tests = [*([] if having is None else [having]), *map(self._of_rows, moved)]
        if tests:
            made.set("having", exp.Having(this=exp.and_(*tests, copy=False)))
        outputs = kept or [("one", exp.Literal.number(1))]
        made.set("expressions", [exp.alias_(value.copy(), name, quoted=True) for name, value in outputs])
        return made

    def _of_rows(self, condition: exp.Expr) -> exp.Expr:
        """Return a condition on what is shown as one on what it is made of."""
        changed = condition.copy().transform(self._meant)
        return exp.paren(changed, copy=False) if isinstance(changed, exp.Or) else changed

    def _meant(self, node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column):
            return node
        found = next(value for name, value in self.outputs if same(name, node.name))
        return found.copy() if isinstance(found, exp.AggFunc | exp.Column) else exp.paren(found)

    def _is_used(self, name: str, tree: exp.Select) -> bool:
        inside = set(map(id, self.item.walk()))
        for node in tree.walk():
            if id(node) in inside:
                continue
            if isinstance(node, exp.Column) and same(node.name, name) and self._may_be_mine(node):
                return True
            if isinstance(node, exp.Star) and not isinstance(node.parent, exp.Count):
                return True
            if isinstance(node, exp.Join) and any(same(n.name, name) for n in node.args.get("using") or ()):
                return True
        return False

    def _may_be_mine(self, column: exp.Column) -> bool:
        return not column.table or same(column.table, self.item.alias_or_name)

    def put_in_place(self, made: exp.Select, known: Known) -> Known:
        """Put the query where the item stands, and return the CTEs that can be seen then."""
        alias = exp.TableAlias(this=exp.to_identifier(self.item.alias_or_name, quoted=True))
        if self.named is None:
            self.item.replace(exp.Subquery(this=made, alias=alias))
            return known
        name = _unused(self.item.name, known)
        self.item.replace(exp.Table(this=exp.to_identifier(name, quoted=True), alias=alias))
        return {**known, fold(name): Named(made, self.named.known, ())}


def _unused(name: str, known: Known) -> str:
    return next(made for n in range(1, len(known) + 2) if fold(made := f"{name} {n}") not in known)


def _is_inner(join: exp.Expr) -> bool:
    return not join.args.get("side") and (join.args.get("kind") or "").upper() in INNER


def _parts(test: exp.Expr) -> Iterable[exp.Expr]:
    """Yield what a condition is a conjunction of."""
    bare = test.unnest()
    if isinstance(bare, exp.And):
        for side in (bare.left, bare.right):
            yield from _parts(side)
    else:
        yield bare
