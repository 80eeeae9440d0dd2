"""PostgreSQL's SQL: a question's words brought to functions that mean what PostgreSQL means by them.

    understood   the tree of a question, with PostgreSQL's own functions, names folded as it folds them
    POSTGRES     the dialect

What PostgreSQL does not have, or has with another meaning that is not built here, is refused. sqlglot reads
the grammar; what a word means is said here and in `scalars.postgres`.
"""

from __future__ import annotations

from decimal import Decimal

from sqlglot import exp

from recuse.errors import QueryError
from recuse.fold import fold
from recuse.scalars.duckdb import Bodies
from recuse.scalars.expression import Expression
from recuse.scalars.function import PREFIX
from recuse.scalars.postgres.compiler import PostgresCompiler
from recuse.scalars.postgres.spelling import engine_type
from recuse.sql.dialect import Dialect, Understood
from recuse.sql.position import refusal, span
from recuse.sql.spoken import OWN

HINT = "see docs/reference/postgresql.md"


def understood(tree: exp.Query, text: str) -> exp.Query:
    """Return the tree of a question with every part as PostgreSQL means it, or refuse a part.

    Names without quotes are folded to small letters, as PostgreSQL folds them.
    """
    for node in reversed(list(tree.walk(bfs=False))):
        if type(node) in REFUSED and not isinstance(node.parent, exp.Case):
            raise _refused(node, text)
        read = READINGS.get(type(node))
        if read is not None:
            made = read(node, text)
            if made is not node:
                made.meta.update(node.meta)
                node.replace(made)
    return tree


def _refused(node: exp.Expr, text: str) -> QueryError:
    name = node.sql_name().lower() if isinstance(node, exp.Func) else type(node).__name__.upper()
    return refusal(f"{name} is not asked of PostgreSQL", text, span(node, text), hint=HINT)


def _own(node: exp.Expr, _: str) -> exp.Expr:
    """Return a node that is marked: PostgreSQL has a function of its own there."""
    node.set(OWN, PREFIX.strip())
    return node


def _field(node: exp.Expr, text: str) -> exp.Expr:
    """Return a field of a date: some have a fraction in PostgreSQL."""
    return _own(node, text) if fold(node.this.name) in _FRACTIONS else node


def _folded(node: exp.Expr, _: str) -> exp.Expr:
    if not node.args.get("quoted"):
        node.set("this", fold(node.name))
    return node


def _number(node: exp.Expr, _: str) -> exp.Expr:
    """Return a number with an exponent as a decimal: that is what it is in PostgreSQL."""
    if node.args.get("is_string") or "e" not in node.name.lower():
        return node
    written = f"{Decimal(node.name):f}"
    return exp.Literal.number(written if "." in written else f"{written}.0")


def _like(node: exp.Expr, _: str) -> exp.Expr:
    """Return LIKE with the character that escapes if none is named."""
    if isinstance(node.parent, exp.Escape):
        return node
    return exp.Escape(this=node.copy(), expression=exp.Literal.string("\\"))


def _is(node: exp.Expr, _: str) -> exp.Expr:
    """Return IS NOT NULL as NOT … IS NULL: of a single value they are the same."""
    plain = exp.Is(this=node.this.copy(), expression=node.args["expression"].copy())
    return exp.Not(this=plain) if node.args.get("negate") else node


def _any(node: exp.Expr, _: str) -> exp.Expr:
    return listed(node)


def listed(node: exp.Expr) -> exp.Expr:
    """Return x = ANY (ARRAY[…]) as IN: so PostgreSQL itself writes an IN of a view down."""
    side, every = node.args["expression"], isinstance(node, exp.NEQ)
    if not (_is_all(side) if every else isinstance(side, exp.Any)) or side.find(exp.Query) is not None:
        return node
    array = side.find(exp.Array)
    if array is None:
        return node
    found = exp.In(this=node.this.copy(), expressions=[one.copy() for one in array.expressions])
    return exp.Not(this=found) if every else found


def _is_all(node: exp.Expr) -> bool:
    """Return whether a node is ALL (…); of an array sqlglot takes it for a function."""
    return isinstance(node, exp.All) or (isinstance(node, exp.Anonymous) and fold(node.name) == "all")


def _cast(node: exp.Expr, text: str) -> exp.Expr:
    """Return a cast: to numeric without digits it changes nothing, to varchar(n) it cuts."""
    target, sizes = node.args["to"], node.args["to"].expressions
    kind = target.this
    if isinstance(node.this, exp.Literal) and node.this.is_string and kind in _TEXTS and not sizes:
        return node.this.copy()
    if kind is exp.DType.DECIMAL and not sizes:
        return node.this.copy() if isinstance(node.this, exp.IntDiv) else _own(node, text)
    if kind is exp.DType.VARCHAR and sizes:
        plain = exp.Cast(this=node.this.copy(), to=exp.DataType.build("text"))
        return exp.Left(this=plain, expression=exp.Literal.number(sizes[0].name))
    if kind in _OTHER or (sizes and kind is not exp.DType.DECIMAL):
        hint = "cast to bigint, numeric(p, s), double precision, text, date, timestamp …"
        raise refusal("this type is not accepted in a cast", text, span(node, text), hint=hint)
    return node


def _call(node: exp.Expr, text: str) -> exp.Expr:
    """Return a function that sqlglot has no node for, if PostgreSQL has it."""
    name = fold(node.name)
    if name == "make_date" and len(node.expressions) == 3:
        year, month, day = node.expressions
        return exp.DateFromParts(year=year, month=month, day=day)
    if name not in _CALLS:
        raise refusal(f"{name} is not asked of PostgreSQL", text, span(node, text), hint=HINT)
    return node


_FRACTIONS = frozenset({"second", "seconds", "epoch", *(f"millisecond{s}" for s in ("", "s"))})
_CALLS = frozenset({"octet_length", "all"})
_TEXTS = frozenset({exp.DType.TEXT, exp.DType.VARCHAR, exp.DType.CHAR, exp.DType.BPCHAR})
_OTHER = frozenset(
    {exp.DType.TINYINT, exp.DType.INT128, exp.DType.CHAR, exp.DType.BPCHAR, exp.DType.TIMESTAMPTZ}
)
REFUSED = frozenset(
    {
        exp.SimilarTo, exp.RegexpILike, exp.RegexpFullMatch, exp.Initcap, exp.Unicode, exp.Contains,
        exp.EndsWith, exp.TimeToStr, exp.ToChar, exp.UnixToTime, exp.TimeToUnix, exp.DateDiff, exp.LastDay,
        exp.Dayname, exp.Monthname, exp.Year, exp.Quarter, exp.Month, exp.Day, exp.DayOfMonth, exp.DayOfWeek,
        exp.DayOfWeekIso, exp.DayOfYear, exp.Week, exp.WeekOfYear, exp.Hour, exp.Minute, exp.Second,
        exp.IsNan, exp.IsInf, exp.If,
        exp.TryCast, exp.DateAdd, exp.DateSub, exp.Pow, exp.Collate, exp.AtTimeZone, exp.ByteString,
    }
)  # fmt: skip
"""what PostgreSQL does not have, or means otherwise"""
READINGS: dict[type[exp.Expr], Understood] = {
    exp.Identifier: _folded,
    exp.Literal: _number,
    exp.Like: _like,
    exp.ILike: _like,
    exp.Is: _is,
    exp.EQ: _any,
    exp.NEQ: _any,
    exp.Cast: _cast,
    exp.Anonymous: _call,
    exp.Div: _own,
    exp.Round: _own,
    exp.Trim: _own,
    exp.Substring: _own,
    exp.SplitPart: _own,
    exp.Reverse: _own,
    exp.RegexpLike: _own,
    exp.Extract: _field,
}


def _scalar(expression: Expression, bodies: Bodies) -> str:
    return PostgresCompiler(bodies).sql(expression)


CALLS = frozenset(
    {
        *("count", "sum", "min", "max", "bool_and", "bool_or"),
        *("row_number", "rank", "dense_rank", "lag", "lead", "first_value", "last_value"),
        "ORDER BY and LIMIT",
    }
)
POSTGRES = Dialect("PostgreSQL", "postgres", _scalar, engine_type, understood, calls=CALLS, wide="NUMERIC")
