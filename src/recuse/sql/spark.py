"""Spark's SQL: a question's words brought to functions that mean what Spark means by them.

    understood   the tree of a question, with Spark's own functions
    SPARK_SQL    the dialect

Functions are accepted by a list: what is not on it is refused. sqlglot reads the grammar; what a word means
is said here and in `scalars.spark`.
"""

from __future__ import annotations

from functools import reduce

from sqlglot import exp

from recuse.fold import fold
from recuse.scalars.duckdb import Bodies
from recuse.scalars.expression import Expression
from recuse.scalars.function import PREFIX, SPARK
from recuse.scalars.spark.compiler import SparkCompiler
from recuse.scalars.spark.moments import FIELDS
from recuse.scalars.spark.spelling import engine_type
from recuse.sql.dialect import Dialect, Understood
from recuse.sql.position import refusal, span
from recuse.sql.spoken import OWN

HINT = "see docs/reference/spark.md"
SUMMED = exp.DataType.build("DECIMAL(28, 0)")
"""what whole numbers of 64 bits are summed as: the sum has 38 digits, and no number of rows overflows it"""


def understood(tree: exp.Query, text: str) -> exp.Query:
    """Return the tree of a question with every part as Spark means it, or refuse a part."""
    if "\\" in text:
        raise refusal("a backslash means something else in Spark's text", text, None, hint="leave it out")
    for node in reversed(list(tree.walk(bfs=False))):
        read = READINGS.get(type(node))
        if read is not None:
            made = read(node, text)
            if made is not node:
                made.meta.update(node.meta)
                node.replace(made)
        elif isinstance(node, exp.Func) and not isinstance(node, KNOWN):
            raise _refused(node, text)
    return tree


def _refused(node: exp.Expr, text: str) -> Exception:
    if isinstance(node, exp.Func) and not isinstance(node, exp.Anonymous):
        name = fold(node.sql_name())
    else:
        name = fold(node.name)
    return refusal(f"{name} is not asked of Spark", text, span(node, text), hint=HINT)


def _own(prefix: str) -> Understood:
    """Return the reading of a node that is marked: Spark has a function of its own there."""

    def read(node: exp.Expr, _: str) -> exp.Expr:
        node.set(OWN, prefix.strip())
        return node

    return read


def _cast(node: exp.Expr, text: str) -> exp.Expr:
    """Return a cast: to whole numbers a fraction is cut off, and a TIMESTAMP is one in UTC."""
    target = node.args["to"].this
    if target in _MOMENTS:
        node.set("to", exp.DataType.build("timestamp"))
    elif target not in _TARGETS:
        hint = "cast to BIGINT, DECIMAL(p, s), DOUBLE, STRING, BOOLEAN, DATE or TIMESTAMP"
        raise refusal("this type is not accepted in a cast", text, span(node, text), hint=hint)
    value = node.this
    if target in exp.DataType.INTEGER_TYPES:
        value = exp.Trunc(this=value.copy(), **{OWN: SPARK.strip()})
    kind = exp.TryCast if node.args.get("safe") else exp.Cast
    return kind(this=value.copy(), to=node.args["to"].copy())


def _day(node: exp.Expr, _: str) -> exp.Expr:
    """Return the field of a date; sqlglot writes a cast down that is none."""
    if isinstance(node.this, exp.TsOrDsToDate):
        node.set("this", node.this.this.copy())
    return node


def _to_date(node: exp.Expr, text: str) -> exp.Expr:
    """Leave it to the field around: to_date itself is refused."""
    if isinstance(node.parent, DAY_FIELDS):
        return node
    raise refusal("to_date is not asked of Spark", text, span(node, text), hint="write CAST(x AS DATE)")


def _field(node: exp.Expr, text: str) -> exp.Expr:
    name = fold(node.this.name)
    if name not in _FIELDS:
        raise refusal(f"the field {name} is not asked of Spark", text, span(node, text), hint=HINT)
    return node


def _joined(node: exp.Expr, _: str) -> exp.Expr:
    """Return concat as ||: NULL if one of its arguments is."""
    parts: list[exp.Expr] = [one.copy() for one in node.expressions]
    return reduce(lambda left, right: exp.DPipe(this=left, expression=right), parts)


def _call(node: exp.Expr, text: str) -> exp.Expr:
    """Return a function that sqlglot has no node for, if Spark has it with the same meaning."""
    name = fold(node.name)
    if name in ("isnull", "isnotnull") and len(node.expressions) == 1:
        found = exp.Is(this=node.expressions[0].copy(), expression=exp.Null())
        return found if name == "isnull" else exp.Not(this=found)
    if name != "octet_length":
        raise _refused(node, text)
    return node


def _truncated(node: exp.Expr, text: str) -> exp.Expr:
    if not isinstance(node, exp.TimestampTrunc):
        raise refusal(
            "trunc is not asked of Spark", text, span(node, text), hint="write date_trunc('month', x)"
        )
    return node


_MOMENTS = frozenset({exp.DType.TIMESTAMPTZ, exp.DType.TIMESTAMPLTZ, exp.DType.TIMESTAMPNTZ})
_TARGETS = frozenset(
    {
        *(exp.DType.TINYINT, exp.DType.SMALLINT, exp.DType.INT, exp.DType.BIGINT, exp.DType.DECIMAL),
        *(exp.DType.DOUBLE, exp.DType.TEXT, exp.DType.BOOLEAN, exp.DType.DATE, exp.DType.TIMESTAMP),
    }
)
_FIELDS = frozenset({*FIELDS, "doy", "years", "months", "days", "hours", "minutes", "weeks", "quarters"})
DAY_FIELDS = (exp.Year, exp.Month, exp.Day, exp.DayOfMonth, exp.DayOfYear, exp.WeekOfYear)
KNOWN = (
    exp.AggFunc, exp.Connector, exp.Case, exp.If, exp.Coalesce, exp.Nullif, exp.Greatest, exp.Least,
    exp.Exists, exp.Any, exp.All, exp.Abs, exp.Sign, exp.Floor, exp.Ceil, exp.Round, exp.Sqrt, exp.Ln,
    exp.Log, exp.Exp,
    exp.Length, exp.Lower, exp.Upper, exp.StrPosition, exp.StartsWith, exp.EndsWith, exp.Contains, exp.IsNan,
    exp.Quarter, exp.Hour, exp.Minute, exp.TsOrDsToDate,
)  # fmt: skip
"""functions that Spark means as the table does, and aggregates; its compiler knows which have a form"""
READINGS: dict[type[exp.Expr], Understood] = {
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Div: _own(SPARK),
    exp.Substring: _own(SPARK),
    exp.Left: _own(SPARK),
    exp.Right: _own(SPARK),
    exp.Trim: _own(PREFIX),  # as in PostgreSQL
    exp.Concat: _joined,
    exp.Extract: _field,
    exp.Anonymous: _call,
    exp.TimestampTrunc: _truncated,
    exp.DateTrunc: _truncated,
    exp.TsOrDsToDate: _to_date,
    **dict.fromkeys(DAY_FIELDS, _day),
}


def _scalar(expression: Expression, bodies: Bodies) -> str:
    return SparkCompiler(bodies).sql(expression)


def exact(tree: exp.Expr) -> exp.Expr:
    """Return a statement of ours whose sums of whole numbers of 64 bits do not overflow.

    The opposite of a sum is a difference: Spark's own would have no more than 34 digits.
    """
    for node in list(tree.find_all(exp.Sum)):
        node.set("this", exp.Cast(this=node.this, to=SUMMED.copy()))
    for opposite in list(tree.find_all(exp.Neg)):
        if opposite.find(exp.Sum) is not None:
            opposite.replace(exp.Paren(this=exp.Sub(this=exp.Literal.number(0), expression=opposite.this)))
    return tree


CALLS = frozenset({"count", "min", "max"})
SPARK_SQL = Dialect("Spark", "spark", _scalar, engine_type, understood, calls=CALLS, exact=exact)
