"""TRY around what can raise on a row, so that no error, nor the lack of one, tells about data.

A failed predicate or value is NULL. TRY cannot stand around a subquery: `conditions` lets one stand only
where every comparison with it is between types that never raise.
"""

from __future__ import annotations

from sqlglot import exp

from recuse.sql.families import Family
from recuse.sql.render import attempt
from recuse.sql.scalars import COMPARISONS, Lookup, all_comparable, family_of


def guard(node: exp.Expr, lookup: Lookup) -> exp.Expr:
    """Return the condition with TRY wherever a row could raise: a failed predicate is NULL.

    TRY goes around the smallest predicate, so that `a = 0 OR 1 // a > 2` keeps the rows that `a = 0` takes.
    Comparisons that cannot raise stay bare, so that the engine can still join by hash on them.
    """
    match node:
        case exp.And():
            return exp.and_(*(guard(part, lookup) for part in node.flatten(unnest=False)), copy=False)
        case exp.Or():
            return exp.or_(*(guard(part, lookup) for part in node.flatten(unnest=False)), copy=False)
        case exp.Not() | exp.Paren():
            return type(node)(this=guard(node.this, lookup))
        case exp.Boolean() | exp.Null():
            return node.copy()
        case exp.Exists():
            return exp.Exists(this=_guard_query(node.this, lookup))
        case exp.In() if node.args.get("query") is not None:
            query = exp.Subquery(this=_guard_query(node.args["query"].this, lookup))
            return exp.In(this=guard_value(node.this, lookup), query=query)
        case exp.Is() if isinstance(node.expression, exp.Null) or node.find(exp.Query):
            return exp.Is(this=guard_value(node.this, lookup), expression=node.expression.copy())
        case exp.Case() if node.find(exp.Query):
            return exp.TryCast(this=guard_value(node, lookup), to=exp.DataType.build("boolean"))
        case exp.Column() if lookup(node) == "BOOLEAN":
            return node.copy()
        case exp.Between() if all_comparable([node.this, node.args["low"], node.args["high"]], lookup):
            low, high = (guard_value(node.args[key], lookup) for key in ("low", "high"))
            return exp.Between(this=guard_value(node.this, lookup), low=low, high=high)
        case exp.In() if all_comparable([node.this, *node.expressions], lookup):
            values = [guard_value(value, lookup) for value in node.expressions]
            return exp.In(this=guard_value(node.this, lookup), expressions=values)
    if isinstance(node, COMPARISONS) and all_comparable([node.left, node.right], lookup):
        return type(node)(this=guard_value(node.left, lookup), expression=guard_value(node.right, lookup))
    boolean = family_of(node, lookup) is Family.BOOLEAN
    return attempt(node if boolean else exp.cast(node.copy(), "boolean"))


def _guard_query(query: exp.Expr, lookup: Lookup) -> exp.Expr:
    """Return a query of our own making in which no row can raise."""

    def guarded(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Where):
            return exp.Where(this=guard(node.this, lookup))
        if isinstance(node, exp.Join) and node.args.get("on") is not None:
            return exp.Join(this=node.this.copy(), side=node.side, on=guard(node.args["on"], lookup))
        return node

    found = query.transform(guarded)
    for select in found.find_all(exp.Select):
        select.set("expressions", [_guard_output(node, lookup) for node in select.expressions])
    return found


def _guard_output(node: exp.Expr, lookup: Lookup) -> exp.Expr:
    if isinstance(node, exp.Alias):
        return exp.alias_(guard_value(node.this, lookup), node.args["alias"].copy())
    return guard_value(node, lookup)


def guard_value(node: exp.Expr, lookup: Lookup) -> exp.Expr:
    """Return the value, NULL where computing it raises."""
    match node:
        case exp.Column() | exp.Literal() | exp.Boolean() | exp.Null() | exp.Star():
            return node.copy()
        case exp.Paren() | exp.AggFunc():
            return type(node)(this=guard_value(node.this, lookup))
        case exp.Neg() if isinstance(node.this, exp.Literal):
            return node.copy()
        case exp.Cast() if isinstance(node.this, exp.Literal):
            return exp.TryCast(this=node.this.copy(), to=node.to.copy())
        case exp.Subquery():
            return exp.Subquery(this=_guard_query(node.this, lookup))
        case exp.Case() if node.find(exp.Query, exp.AggFunc):
            return _guard_case(node, lookup)
    return guard(node, lookup) if node.find(exp.Query) else attempt(node)


def _guard_case(node: exp.Case, lookup: Lookup) -> exp.Expr:
    """Return CASE with its conditions and values guarded one by one: TRY cannot stand around all of it."""
    branches = [
        exp.If(this=guard(branch.this, lookup), true=guard_value(branch.args["true"], lookup))
        for branch in node.args["ifs"]
    ]
    default = node.args.get("default")
    return exp.Case(ifs=branches, default=None if default is None else guard_value(default, lookup))


def unguardable(node: exp.Expr, lookup: Lookup) -> exp.Expr | None:
    """Return the first part that holds a subquery and would need TRY around it, which no database allows."""
    if not node.find(exp.Query):
        return None
    below: list[exp.Expr] = []
    match node:
        case exp.Exists() | exp.Subquery():
            return None
        case exp.And() | exp.Or() | exp.Not() | exp.Paren() | exp.Is() | exp.If():
            below = list(node.iter_expressions())
        case exp.Case() if node.this is None:
            below = list(node.iter_expressions())
        case exp.In() if node.args.get("query") is not None:
            outputs = [select.expressions[0] for select in _branches(node.args["query"].this)]
            if not all_comparable([node.this, *outputs], lookup):
                return node
            below = [node.this]
        case _ if isinstance(node, COMPARISONS) and all_comparable([node.left, node.right], lookup):
            below = [node.left, node.right]
        case _:
            return node
    return next(filter(None, (unguardable(part, lookup) for part in below)), None)


def _branches(query: exp.Expr) -> list[exp.Expr]:
    """Return the SELECTs that a set operation is made of."""
    if isinstance(query, exp.SetOperation):
        return [*_branches(query.this), *_branches(query.expression)]
    return [query]
