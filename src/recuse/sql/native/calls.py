"""A call of an aggregate or window function in a resolved expression → what it is, typed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from recuse.errors import QueryError
from recuse.scalars.expression import Constant, Expression
from recuse.scalars.function import Mistyped
from recuse.sql.elaborate import Elaborator
from recuse.sql.native.asked import Over, RowsCall, Sorted, in_order, within
from recuse.sql.native.frames import frame_of
from recuse.sql.native.functions import TABLE
from recuse.sql.native.windows import WINDOWS
from recuse.sql.query import Scalar

NODES: dict[type[exp.Expr], str] = {
    exp.Count: "count",
    exp.CountIf: "count_if",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
    exp.AnyValue: "any_value",
    exp.First: "first",
    exp.Last: "last",
    exp.ArgMin: "arg_min",
    exp.ArgMax: "arg_max",
    exp.LogicalAnd: "bool_and",
    exp.LogicalOr: "bool_or",
    exp.Median: "median",
    exp.PercentileCont: "quantile_cont",
    exp.PercentileDisc: "quantile_disc",
    exp.Quantile: "quantile_disc",
    exp.Mode: "mode",
    exp.Variance: "var_samp",
    exp.VariancePop: "var_pop",
    exp.Stddev: "stddev_samp",
    exp.StddevSamp: "stddev_samp",
    exp.StddevPop: "stddev_pop",
    exp.CovarPop: "covar_pop",
    exp.CovarSamp: "covar_samp",
    exp.Corr: "corr",
    exp.RegrSlope: "regr_slope",
    exp.RowNumber: "row_number",
    exp.Rank: "rank",
    exp.DenseRank: "dense_rank",
    exp.PercentRank: "percent_rank",
    exp.CumeDist: "cume_dist",
    exp.Ntile: "ntile",
    exp.Lag: "lag",
    exp.Lead: "lead",
    exp.FirstValue: "first_value",
    exp.LastValue: "last_value",
    exp.NthValue: "nth_value",
}
HELD = ("this", "expression", "offset", "default", "expressions", "quantile")
"""The arguments of such nodes, in their order."""
HARMLESS = frozenset({"big_int"})
AROUND = (exp.Filter, exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls)
GROWING = {exp.GroupConcat, exp.ArrayAgg, exp.ArrayConcatAgg, exp.JSONObjectAgg, exp.JSONArrayAgg}


def is_call(node: exp.Expr) -> bool:
    """Return whether a node is a call of a function of many rows, with what belongs to it."""
    if isinstance(node, AROUND):
        return is_call(node.this)
    return isinstance(node, exp.AggFunc) or type(node) in NODES


def calls(node: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the outermost aggregates of an expression; of a window the aggregates inside of it."""
    if isinstance(node, exp.Window):
        for part in _inside(node):
            yield from calls(part)
    elif is_call(node):
        yield node
    else:
        for part in node.iter_expressions():
            yield from calls(part)


def _inside(node: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the parts of a window and of the function in it, but not the function itself."""
    for part in node.iter_expressions():
        if part is not node.this:
            yield part
    if isinstance(node.this, AROUND):
        yield from _inside(node.this)
    elif isinstance(node.this, exp.Expr):
        yield from node.this.iter_expressions()


def windows(node: exp.Expr) -> Iterator[exp.Window]:
    """Yield the windows of an expression, outermost first."""
    yield from node.find_all(exp.Window)


@dataclass(slots=True)
class _Parts:
    """A call taken apart, not yet typed."""

    name: str = ""
    arguments: Sequence[exp.Expr] = ()
    distinct: bool = False
    order: Sequence[exp.Expr] = ()
    test: exp.Expr | None = None
    ignore_nulls: bool = False


def _itself(value: Expression) -> Expression:
    return value


@dataclass(frozen=True, slots=True)
class Calls:
    """The reader of calls, over rows whose columns `elaborator` knows; `ties` tell rows apart.

    `prepare` is given every expression about one row, and returns what stands for it.
    """

    elaborator: Elaborator
    ties: tuple[Expression, ...] = ()
    prepare: Callable[[Expression], Expression] = _itself

    def expression(self, node: exp.Expr) -> Expression:
        """Return a call of a function of many rows as a typed expression, or refuse it."""
        window = node if isinstance(node, exp.Window) else None
        parts = self._parts(node if window is None else window.this)
        function = TABLE[parts.name]
        if window is None and parts.name in WINDOWS:
            raise self._refuse(f"{parts.name} needs a window", "write OVER (PARTITION BY … ORDER BY …)", node)
        if window is not None and not function.windowed:
            raise self._refuse(f"{parts.name} has no window here", "write first_value(x) OVER (…)", node)
        try:
            asked = self._asked(parts)
            if window is not None:
                asked = replace(asked, over=self._over(window))
            return function.made(asked)
        except Mistyped as mistake:
            inside = mistake.place is not None and mistake.place < len(parts.arguments)
            place = parts.arguments[mistake.place or 0] if inside else node
            raise self._refuse(mistake.problem, mistake.hint, place) from None
        except ValueError:
            raise self._refuse(
                f"{parts.name} takes other arguments", f"write {function.form}", node
            ) from None

    def _asked(self, parts: _Parts) -> RowsCall:
        return RowsCall(
            arguments=tuple(map(self._value, parts.arguments)),
            distinct=parts.distinct,
            order=self._sorted(parts.order),
            test=None if parts.test is None else self.prepare(self.elaborator.condition(parts.test)),
            ignore_nulls=parts.ignore_nulls,
        )

    def _value(self, node: exp.Expr) -> Expression:
        return self.prepare(self.elaborator.expression(node))

    def _sorted(self, order: Sequence[exp.Expr]) -> tuple[Sorted, ...]:
        return tuple(
            Sorted(
                in_order(self._value(item.this)),
                descending=bool(item.args.get("desc")),
                nulls_first=bool(item.args.get("nulls_first")),
            )
            for item in order
        )

    def _over(self, window: exp.Window) -> Over:
        order = window.args.get("order")
        ordered = self._sorted(order.expressions if order is not None else ())
        ordered = tuple(item for item in ordered if not isinstance(item.value, Constant))
        partition = tuple(map(self._value, window.args.get("partition_by") or ()))
        kept = tuple(in_order(one) for one in partition if not isinstance(one, Constant))
        found = frame_of(window.args.get("spec"), ordered)
        ordered = tuple(
            replace(item, value=within(item.value, kind))
            for item, kind in zip(ordered, found.kinds, strict=True)
        )
        return Over(kept, ordered, found.words, found.by_rows, self.ties)

    # -------------------------------------------------------------- taken apart

    def _parts(self, node: exp.Expr) -> _Parts:
        parts = _Parts()
        call = node
        while isinstance(call, AROUND):
            if isinstance(call, exp.Filter):
                parts.test = call.expression.this
            elif isinstance(call, exp.WithinGroup):
                parts.order = call.expression.expressions
            elif isinstance(call, exp.IgnoreNulls):
                parts.ignore_nulls = True
            call = call.this
        self._named(call, parts)
        if isinstance(node.find(exp.WithinGroup), exp.WithinGroup) and parts.order:
            self._within(call, parts)
        return parts

    def _named(self, call: exp.Expr, parts: _Parts) -> None:
        if type(call) in GROWING:
            hint = "aggregate numbers, or count"
            raise self._refuse("what is put together of many rows has no bound", hint, call)
        name = NODES.get(type(call))
        held = {key for key, value in call.args.items() if value} - HARMLESS
        if name is None or held - set(HELD) or self.elaborator.is_macro(call):
            listed = "write it with the aggregates that docs/reference/sql.md lists"
            raise self._refuse("this aggregate is not among the accepted ones", listed, call)
        parts.name = name
        found: list[exp.Expr] = []
        for key in HELD:
            value = call.args.get(key)
            found += value if isinstance(value, list) else [] if value is None else [value]
        if found and isinstance(found[0], exp.Order):
            parts.order = found[0].expressions
            found[0] = found[0].this
        if found and isinstance(found[0], exp.Distinct):
            parts.distinct = True
            found[:1] = found[0].expressions
            if found and isinstance(found[0], exp.Order):
                parts.order, found[0] = found[0].expressions, found[0].this
        if name == "count" and found and isinstance(found[0], exp.Star):
            if parts.distinct or any(found[0].args.values()):
                raise self._refuse("this form of * is not accepted", "write COUNT(*)", call)
            found = []
        parts.arguments = found

    def _within(self, call: exp.Expr, parts: _Parts) -> None:
        if len(parts.order) != 1 or len(parts.arguments) != 1 or not parts.name.startswith("quantile"):
            hint = "write percentile_cont(0.5) WITHIN GROUP (ORDER BY x)"
            raise self._refuse("this form of WITHIN GROUP is not accepted", hint, call)
        parts.arguments = [parts.order[0].this, *parts.arguments]

    def _refuse(self, problem: str, hint: str | None, node: exp.Expr) -> QueryError:
        return self.elaborator.refuse(problem, hint, node)


def is_same(left: Scalar, right: Scalar) -> bool:
    """Return whether two resolved expressions are written alike, but for parentheses."""
    return left.unnest() == right.unnest()
