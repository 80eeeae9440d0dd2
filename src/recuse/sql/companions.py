"""Public tables that stand beside groups in FROM, one row for each group: what they say are keys, too.

    WITH r(k, total) AS (SELECT x, SUM(v) FROM t GROUP BY x)
    SELECT p.id, p.name, total FROM p, r WHERE p.id = r.k AND total = (SELECT MAX(total) FROM r)

asks for the groups of `SELECT p.id, p.name, SUM(v) FROM t, p WHERE p.id = x GROUP BY p.id, p.name`, and of
these for the largest: `QUALIFY SUM(v) = MAX(SUM(v)) OVER ()`, which is free. Both have the same rows if `x`
is a reference to `p.id` that the database enforces and `p.id` is unique: each group then has one row of p.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from recuse.fold import fold, same
from recuse.sql.answered import is_aggregated
from recuse.sql.catalogue import Table
from recuse.sql.having import group_keys
from recuse.sql.named import Known
from recuse.sql.ownership import PublicTable
from recuse.sql.refuse import lists_keys
from recuse.sql.schema import Schema

LOOKING = frozenset({"expressions", "from_", "joins", "where", "order", "limit", "offset", "with_"})
GROUPED = frozenset({"expressions", "from_", "joins", "where", "group", "having"})
EXTREMES = (exp.Max, exp.Min)
MOST_STEPS = 4


@dataclass(frozen=True, slots=True)
class GroupsInFrom:
    """A query in FROM that groups rows: how it is called, and what its columns are."""

    name: str
    tree: exp.Select
    columns: dict[str, exp.Expr]
    source: str
    """the CTE that it is, by which subqueries call it"""


def with_companions(tree: exp.Select, known: Known, schema: Schema) -> exp.Select | None:
    """Return a SELECT over groups and public tables as one SELECT with GROUP BY; None if it is none."""
    items = _items(tree)
    found = [groups for item in items if (groups := _groups(item, known)) is not None]
    if (
        len(found) != 1
        or len(items) < 2
        or set(_held(tree)) - LOOKING
        or any(map(is_aggregated, tree.expressions))
    ):
        return None
    groups = found[0]
    public = {
        item.alias_or_name: table for item in items if (table := _public(item, known, schema)) is not None
    }
    if len(public) != len(items) - 1 or any(table.find(exp.Star) for table in tree.expressions):
        return None
    conditions = _conditions(tree)
    tied = [one for one in conditions if _tie(one, groups, public, schema) is not None]
    if {_tie(one, groups, public, schema) for one in tied} != set(public):
        return None
    told = [one for one in conditions if one not in tied]
    if any(not _asks_totals(one, groups) for one in told):
        return None
    return _written(tree, groups, [item for item in items if item.alias_or_name in public], tied, told)


def _written(
    tree: exp.Select,
    groups: GroupsInFrom,
    tables: Sequence[exp.Expr],
    tied: Sequence[exp.Expr],
    told: Sequence[exp.Expr],
) -> exp.Select:
    """Return the groups with the tables among what they are made of, and their columns among the keys."""
    found = groups.tree.copy()
    names = [exp.alias_(_meant(node.unalias(), groups), node.alias_or_name) for node in tree.expressions]
    found.set("expressions", names)
    found.set("joins", [*(found.args.get("joins") or ()), *(exp.Join(this=_bare(item)) for item in tables)])
    for condition in tied:
        found.where(_meant(condition, groups), copy=False)
    found.set("group", exp.Group(expressions=_keys(tree, groups, tied)))
    if told:
        found.set("qualify", exp.Qualify(this=exp.and_(*(_meant(one, groups) for one in told), copy=False)))
    for key in ("order", "limit", "offset"):
        if tree.args.get(key) is not None:
            found.set(key, _meant(tree.args[key], groups))
    return found


def _keys(tree: exp.Select, groups: GroupsInFrom, tied: Sequence[exp.Expr]) -> list[exp.Expr]:
    """Return what keeps groups apart: keys of the tables for what refers to them, and what is shown."""
    sides = [side for one in tied for side in (one.this, one.expression)]
    referring = {_meant(side, groups).sql() for side in sides if _column(side, groups) is not None}
    keys = [side for side in sides if _column(side, groups) is None]
    keys += [key for key in group_keys(groups.tree) if key.sql() not in referring]
    shown = [_meant(node.unalias(), groups) for node in tree.expressions]
    keys += [part for node in shown if not is_aggregated(node) for part in node.find_all(exp.Column)]
    return [key.copy() for key in {key.sql(): key for key in keys}.values()]


def _meant(node: exp.Expr, groups: GroupsInFrom) -> exp.Expr:
    """Return an expression in which columns of the groups are what they are made of."""

    def change(part: exp.Expr) -> exp.Expr:
        extreme = _extreme(part, groups)
        if extreme is not None:
            return exp.Window(this=type(extreme)(this=_column(extreme.this, groups)))
        if isinstance(part, exp.Column):
            return _column(part, groups) or part
        return part

    return node.copy().transform(change)


def _column(node: exp.Expr, groups: GroupsInFrom) -> exp.Expr | None:
    """Return what a column of the groups is made of; None if it is none."""
    if not isinstance(node, exp.Column) or (node.table and not same(node.table, groups.name)):
        return None
    found = groups.columns.get(fold(node.name))
    return None if found is None else found.copy()


def _extreme(node: exp.Expr, groups: GroupsInFrom) -> exp.Expr | None:
    """Return MAX(x) or MIN(x) of (SELECT MAX(x) FROM the groups)."""
    query = node.unnest() if isinstance(node, exp.Subquery) else None
    if not isinstance(query, exp.Select) or set(_held(query)) != {"expressions", "from_"}:
        return None
    item, output = query.args["from_"].this, query.expressions[0].unalias()
    whole = isinstance(item, exp.Table) and not item.db and same(item.name, groups.source)
    if not whole or len(query.expressions) != 1 or not isinstance(output, EXTREMES):
        return None
    column = output.this if isinstance(output.this, exp.Column) else None
    return output if column is not None and fold(column.name) in groups.columns else None


def _asks_totals(condition: exp.Expr, groups: GroupsInFrom) -> bool:
    """Return whether a condition is on what the groups show, and on nothing else: it is free."""
    meant = _meant(condition, groups)
    inside = [part for part in condition.find_all(exp.Query) if _extreme(part.parent or part, groups) is None]
    return is_aggregated(meant) and not [part for part in inside if not isinstance(part, exp.Subquery)]


def _tie(condition: exp.Expr, groups: GroupsInFrom, public: dict[str, Table], schema: Schema) -> str | None:
    """Return the public table of which `condition` gives every group exactly one row."""
    if not isinstance(condition, exp.EQ):
        return None
    for mine, theirs in ((condition.this, condition.expression), (condition.expression, condition.this)):
        made = _column(mine, groups)
        if not isinstance(made, exp.Column) or not isinstance(theirs, exp.Column):
            continue
        for name, table in public.items():
            told = table.column(theirs.name)
            if told is None or (theirs.table and not same(theirs.table, name)) or _column(theirs, groups):
                continue
            if (told.name,) in table.keys and _refers(made, groups, table, told.name, schema):
                return name
    return None


def _refers(node: exp.Column, groups: GroupsInFrom, table: Table, key: str, schema: Schema) -> bool:
    """Return whether the database enforces that a column of the groups' rows is the key of a table."""
    for item in _items(groups.tree):
        held = schema.catalogue.table(item.name) if isinstance(item, exp.Table) else None
        named = held is not None and held.column(node.name) is not None
        if held is not None and named and (not node.table or same(node.table, item.alias_or_name)):
            return _leads(held, node.name, (table.name, key), schema, MOST_STEPS)
    return False


def _leads(table: Table, column: str, goal: tuple[str, str], schema: Schema, steps: int) -> bool:
    """Return whether enforced references lead from a column, which is never NULL, to another."""
    if same(table.name, goal[0]) and same(column, goal[1]):
        return True
    for reference in table.foreign_keys if steps else ():
        held = [table.column(name) for name in reference.columns]
        target = schema.catalogue.table(reference.target)
        if target is None or any(one is None or one.nullable for one in held):
            continue
        for mine, theirs in zip(reference.columns, reference.target_columns, strict=True):
            if same(mine, column) and _leads(target, theirs, goal, schema, steps - 1):
                return True
    return False


# ---------------------------------------------------------------------- the parts of a SELECT


def _groups(item: exp.Expr, known: Known) -> GroupsInFrom | None:
    cte = known.get(fold(item.name)) if isinstance(item, exp.Table) and not item.db else None
    tree = cte.tree.unnest() if cte is not None else None
    if cte is None or not isinstance(tree, exp.Select) or set(_held(tree)) - GROUPED:
        return None
    group = tree.args.get("group")
    if group is None or not lists_keys(group) or tree.find(exp.Star, exp.Window):
        return None
    keys = {key.sql() for key in group_keys(tree)}
    names = list(cte.columns) or [node.alias_or_name for node in tree.expressions]
    made = [node.unalias() for node in tree.expressions]
    if len(names) != len(made) or any(not is_aggregated(one) and one.sql() not in keys for one in made):
        return None
    return GroupsInFrom(item.alias_or_name, tree, dict(zip(map(fold, names), made, strict=True)), item.name)


def _public(item: exp.Expr, known: Known, schema: Schema) -> Table | None:
    if not isinstance(item, exp.Table) or fold(item.name) in known:
        return None
    table = schema.catalogue.table(item.name)
    return table if table is not None and isinstance(schema.ownership.of(item.name), PublicTable) else None


def _items(tree: exp.Select) -> list[exp.Expr]:
    start = tree.args.get("from_")
    return [] if start is None else [start.this, *(join.this for join in tree.args.get("joins") or ())]


def _conditions(tree: exp.Select) -> list[exp.Expr]:
    where = tree.args.get("where")
    given = [where.this] if where is not None else []
    given += [join.args["on"] for join in tree.args.get("joins") or () if join.args.get("on") is not None]
    return [part.unnest() for one in given for part in (one.flatten() if isinstance(one, exp.And) else [one])]


def _bare(item: exp.Expr) -> exp.Expr:
    copy = item.copy()
    copy.set("joins", None)
    return copy


def _held(tree: exp.Expr) -> list[str]:
    return [key for key, value in tree.args.items() if value]
