"""Row-wise expressions: which are accepted, and of which type their values are.

Accepted by allow-list: operators, CASE, casts to plain types, and functions that look at nothing but
their arguments. `docs/sql.md` lists them for users.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from sqlglot import exp

from recuse.errors import QueryError
from recuse.sql.catalogue import Catalogue
from recuse.sql.families import NUMBERS, Family, comparable, family
from recuse.sql.position import refusal, span

COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ)
ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.Neg)
LEAVES = (exp.Column, exp.Identifier, exp.Literal, exp.Boolean, exp.Null)
CONNECTIVES = (exp.And, exp.Or, exp.Not, exp.Paren)
PREDICATES = (exp.Is, exp.Between, exp.In, exp.Like, exp.ILike, exp.Escape)
FORMS = (exp.Case, exp.If, exp.Cast, exp.TryCast, exp.DataType, exp.DataTypeParam, exp.Interval, exp.Var)
TEXT_FUNCTIONS = (
    exp.Lower,
    exp.Upper,
    exp.Trim,
    exp.Substring,
    exp.DPipe,
    exp.Concat,
    exp.Replace,
    exp.Left,
    exp.Right,
)
NUMBER_FUNCTIONS = (exp.Abs, exp.Round, exp.Floor, exp.Ceil, exp.Sqrt, exp.Ln, exp.Exp, exp.Pow, exp.Sign)
DATE_FUNCTIONS = (exp.Extract, exp.Year, exp.Quarter, exp.Month, exp.Day, exp.Hour, exp.Minute, exp.Second)
OTHER_FUNCTIONS = (exp.Coalesce, exp.Nullif, exp.Least, exp.Greatest, exp.Length, exp.StartsWith)
FUNCTIONS = (*TEXT_FUNCTIONS, *NUMBER_FUNCTIONS, *DATE_FUNCTIONS, *OTHER_FUNCTIONS)

ACCEPTED = frozenset((*COMPARISONS, *ARITHMETIC, *LEAVES, *CONNECTIVES, *PREDICATES, *FORMS, *FUNCTIONS))

# what a node of these kinds may hold besides its operands; anything else would change its meaning
_OPERANDS = frozenset({"this", "expression", "expressions"})
_ARGUMENTS: dict[type[exp.Expr], frozenset[str]] = {
    exp.Column: frozenset({"table"}),
    exp.Identifier: frozenset({"quoted"}),
    exp.Literal: frozenset({"is_string"}),
    exp.Between: frozenset({"low", "high"}),
    exp.Like: frozenset({"negate"}),
    exp.ILike: frozenset({"negate"}),
    exp.Case: frozenset({"ifs", "default"}),
    exp.If: frozenset({"true", "false"}),
    exp.Cast: frozenset({"to"}),
    exp.TryCast: frozenset({"to", "safe"}),
    exp.Interval: frozenset({"unit"}),
    exp.Trim: frozenset({"position"}),
    exp.Substring: frozenset({"start", "length"}),
    exp.DPipe: frozenset({"safe"}),
    exp.Concat: frozenset({"safe", "coalesce"}),
    exp.Replace: frozenset({"replacement"}),
    exp.Round: frozenset({"decimals"}),
    exp.Least: frozenset({"ignore_nulls"}),
    exp.Greatest: frozenset({"ignore_nulls"}),
}

_NUMBER = re.compile(r"(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_DTYPE = exp.DataType.Type
_CASTS: dict[exp.DType, Family] = {
    **dict.fromkeys((_DTYPE.TINYINT, _DTYPE.SMALLINT, _DTYPE.INT, _DTYPE.BIGINT), Family.WHOLE),
    **dict.fromkeys((_DTYPE.FLOAT, _DTYPE.DOUBLE), Family.FLOAT),
    **dict.fromkeys((_DTYPE.DECIMAL, _DTYPE.INT128), Family.WIDE),
    **dict.fromkeys((_DTYPE.VARCHAR, _DTYPE.TEXT), Family.TEXT),
    _DTYPE.DATE: Family.DATE,
    _DTYPE.TIMESTAMP: Family.TIMESTAMP,
    _DTYPE.BOOLEAN: Family.BOOLEAN,
}
UNITS = frozenset({"YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND", "DOW", "DOY"})


# ------------------------------------------------------------------ acceptance


def check_scalar(
    node: exp.Expr, catalogue: Catalogue, text: str, *, skip: Callable[[exp.Expr], bool] | None = None
) -> None:
    """Refuse an expression that is not row-wise, pure and understood completely.

    What `skip` names is not looked into, by default predicates with a subquery, such as EXISTS: whoever
    reads conditions reads those.
    """
    skip = skip or is_subquery_predicate
    for part in node.walk(prune=skip):
        if skip(part):
            continue
        reason = _reason(part, catalogue, text)
        if reason is not None:
            problem, hint = reason
            raise _refused(part, problem, hint, text)


def is_subquery_predicate(node: exp.Expr) -> bool:
    """Return whether a node is EXISTS (…), x IN (SELECT …) or a comparison with ANY (SELECT …)."""
    if isinstance(node, exp.In):
        return node.args.get("query") is not None
    if isinstance(node, exp.Binary):
        return isinstance(node.expression, exp.Any) and isinstance(node.expression.this.unnest(), exp.Query)
    return isinstance(node, exp.Exists)


def is_subquery_comparison(node: exp.Expr) -> bool:
    """Return whether a node compares with the one value of a subquery: x > (SELECT MAX(y) FROM t)."""
    return isinstance(node, COMPARISONS) and any(
        isinstance(side.unnest(), exp.Query) for side in (node.left, node.right)
    )


def _refused(part: exp.Expr, problem: str, hint: str | None, text: str) -> QueryError:
    place = span(part, text) or (span(part.parent, text) if part.parent is not None else None)
    return refusal(problem, text, place, hint=hint)


def _reason(part: exp.Expr, catalogue: Catalogue, text: str) -> tuple[str, str | None] | None:
    """Return why one node of an expression is refused, or None."""
    name = _written_name(part, text)
    if isinstance(part, exp.Func) and name in catalogue.macros:
        return f"{name} is a macro of this database", "write out what the macro does"
    if isinstance(part, exp.All):
        return "ALL looks at what is missing: it is not monotone", "compare with ANY, or with a constant"
    if isinstance(part, exp.Any):
        return "ANY takes a subquery here", "write x IN (1, 2, 3)"
    if isinstance(part, exp.Query | exp.Subquery):
        return (
            "a subquery stands for a value inside an expression",
            "over public tables compare with it directly; over private ones write EXISTS, IN or a join",
        )
    if isinstance(part, exp.Window):
        return "a window function looks at other rows", "ask for COUNT(*) or SUM(x) instead"
    if isinstance(part, exp.Unnest | exp.Explode):
        return "UNNEST makes several rows of one", "join a table of the elements"
    if isinstance(part, exp.AggFunc):
        return "an aggregate stands where a row's own value must", "aggregate in the outermost SELECT only"
    if isinstance(part, exp.Placeholder | exp.Parameter):
        return "a placeholder has no value here", "write the value itself"
    if type(part) not in ACCEPTED:
        if isinstance(part, exp.Func):
            name = name or part.sql_name().lower()
            hint = _VOLATILE.get(name, "write it with the functions that docs/sql.md lists")
            return f"the function {name} is not among the accepted ones", hint
        return "this expression is not accepted", "write it with what docs/sql.md lists"
    return _detail(part)


_VOLATILE = dict.fromkeys(
    ("random", "now", "current_date", "current_timestamp", "today", "uuid", "gen_random_uuid", "nextval"),
    "an answer must depend on the data alone: write a constant",
)


def _detail(part: exp.Expr) -> tuple[str, str | None] | None:
    """Return why an accepted kind of node is refused in this form."""
    match part:
        case exp.Literal() if not part.is_string and not _NUMBER.fullmatch(part.name):
            return "this number is not understood", "write digits, such as 12 or 0.5"
        case exp.In() if not part.expressions:
            return "IN takes a list of values here", "write IN (1, 2, 3), or a join"
        case exp.DataType() if part.this not in _CASTS or part.args.get("nested"):
            return (
                "this type is not accepted in a cast",
                "cast to BIGINT, DOUBLE, DECIMAL(p, s), VARCHAR, DATE …",
            )
        case exp.Var() if part.name.upper() not in UNITS:
            return "this unit is not accepted", "use year, month, day, hour, minute or second"
        case exp.Column() if part.args.get("db"):
            return "a column is written as alias.column", "give the table a short alias"
    held = {key for key, value in part.args.items() if value}
    if not held <= _OPERANDS | _ARGUMENTS.get(type(part), frozenset()):
        return "this form of the expression is not accepted", "write it more simply"
    return None


def _written_name(part: exp.Expr, text: str) -> str:
    """Return the function's name as the query spells it, in lower case."""
    if "start" in part.meta and "end" in part.meta:
        return text[part.meta["start"] : part.meta["end"] + 1].lower()
    return part.name.lower() if isinstance(part, exp.Anonymous) else ""


# ------------------------------------------------------------------ families

Lookup = Callable[[exp.Expr], str | None]
"""the type of a column, as the catalogue spells it"""


def family_of(node: exp.Expr, lookup: Lookup) -> Family | None:
    """Return the family of an expression's values where it is certain."""
    match node:
        case exp.Paren() | exp.Neg() | exp.Abs() | exp.Round() | exp.Nullif():
            return family_of(node.this, lookup)
        case exp.Column():
            return family(lookup(node) or "")
        case exp.Literal() if node.is_string:
            return None  # its type is whatever it is compared with
        case exp.Literal():
            return _literal_family(node.name)
        case exp.Cast() | exp.TryCast():
            return _CASTS.get(node.to.this)
        case exp.Div() | exp.Sqrt() | exp.Ln() | exp.Exp() | exp.Pow() | exp.Floor() | exp.Ceil():
            return Family.FLOAT
        case exp.Add() | exp.Sub() if isinstance(node.right, exp.Interval):
            moved = family_of(node.left, lookup)
            return Family.TIMESTAMP if moved in (Family.DATE, Family.TIMESTAMP) else None
        case exp.Add() | exp.Sub() | exp.Mul() | exp.IntDiv() | exp.Mod():
            return _arithmetic(node, {family_of(node.left, lookup), family_of(node.right, lookup)})
        case exp.Case():
            results = [branch.args["true"] for branch in node.args["ifs"]]
            return _common([*results, *filter(None, [node.args.get("default")])], lookup)
        case exp.Coalesce() | exp.Least() | exp.Greatest():
            return _common([node.this, *node.expressions], lookup)
        case exp.Boolean():
            return Family.BOOLEAN
        case exp.Anonymous() if node.name == "TRY":
            return family_of(node.expressions[0], lookup)
        case exp.Subquery():
            return family_of(node.this.expressions[0], lookup)
        case exp.Min() | exp.Max():
            return family_of(node.this, lookup)
        case exp.Count():
            return Family.WHOLE
        case exp.Avg():
            return Family.FLOAT
    if isinstance(node, (*DATE_FUNCTIONS, exp.Length, exp.Sign)):
        return Family.WHOLE
    if isinstance(node, TEXT_FUNCTIONS):
        return Family.TEXT
    return Family.BOOLEAN if isinstance(node, (*COMPARISONS, *PREDICATES, exp.And, exp.Or, exp.Not)) else None


def _arithmetic(node: exp.Expr, sides: set[Family | None]) -> Family | None:
    """Return the family of a sum, product or quotient of numbers."""
    if sides == {Family.WHOLE}:
        return Family.WHOLE
    if sides <= NUMBERS and Family.FLOAT in sides:
        return Family.FLOAT
    if sides <= {Family.WHOLE, Family.DECIMAL, Family.WIDE}:
        return Family.FLOAT if isinstance(node, exp.IntDiv) else Family.WIDE
    return None


def _common(nodes: list[exp.Expr], lookup: Lookup) -> Family | None:
    """Return the family that values of several expressions have together."""
    found = {value_family(node, lookup) for node in nodes if not isinstance(node, exp.Null)}
    if len(found) == 1:
        return found.pop()
    if found <= {Family.WHOLE, Family.DECIMAL, Family.WIDE}:
        return Family.WIDE
    return Family.FLOAT if found <= NUMBERS else None


def value_family(node: exp.Expr, lookup: Lookup) -> Family | None:
    """Return the family of an expression that stands for itself: a string is text."""
    return Family.TEXT if isinstance(node, exp.Literal) and node.is_string else family_of(node, lookup)


def _literal_family(digits: str) -> Family:
    if "e" in digits.lower():
        return Family.FLOAT
    if sum(map(str.isdigit, digits)) >= 19:
        return Family.WIDE
    return Family.DECIMAL if "." in digits else Family.WHOLE


def all_comparable(nodes: Sequence[exp.Expr], lookup: Lookup) -> bool:
    """Return whether the first value compares with all others without ever raising.

    A string literal beside text is text; beside anything else it is cast, and the cast may fail.
    """
    types = {lookup(node) if isinstance(node, exp.Column) else None for node in nodes}
    if len(types) == 1 and None not in types:
        return True  # no cast at all, whatever the type
    first, *others = (value_family(node, lookup) for node in nodes)
    return all(comparable(first, other) for other in others)
