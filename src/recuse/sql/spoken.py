"""How SQL names the functions of the total language: a node of sqlglot's tree → a name and its arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from recuse.fold import fold
from recuse.scalars.dates import ALIASES, FIELDS

Spoken = tuple[str, Sequence[exp.Expr]]
"""the name of a function in the table, and its arguments"""
OWN = "own"
"""the argument in which a node holds how the names of functions begin that its engine means otherwise"""

PART_NAMES = ("date_part", "datepart")
COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ)

# which arguments of a node a function takes, in order → functions that are called as their nodes are
CALLED_ALIKE: dict[tuple[str, ...], str] = {
    (): "Pi",
    ("this",): "Abs Sign Floor Ceil Sqrt Cbrt Exp Ln Sin Cos Tan Cot Asin Acos Atan Sinh Cosh Tanh "
    "Asinh Acosh Atanh Degrees Radians IsNan IsInf Not Neg Lower Upper Length Ascii Unicode Reverse "
    "Year Quarter Month Day DayOfWeek DayOfYear Week Hour Minute Second Dayname Monthname",
    ("this", "expression"): "Pow Atan2 Nullif Left Right Contains",
    ("this", "expressions"): "Coalesce Greatest Least In",
    ("this", "decimals"): "Round Trunc",
    ("this", "low", "high"): "Between",
    ("this", "from_", "to"): "Translate",
    ("this", "start", "length"): "Substring",
    ("this", "expression", "replacement"): "Replace",
    ("this", "times"): "Repeat",
    ("expressions",): "Concat",
}
OPERATORS: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.NullSafeNEQ: "is distinct from",
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.IntDiv: "//",
    exp.Mod: "%",
    exp.BitwiseAnd: "&",
    exp.BitwiseOr: "|",
    exp.BitwiseXor: "xor",
    exp.DPipe: "||",
    exp.StartsWith: "starts_with",
    exp.EndsWith: "ends_with",
    exp.RegexpLike: "regexp_matches",
    exp.RegexpFullMatch: "regexp_full_match",
    exp.SimilarTo: "regexp_full_match",
}
"""of two, and what is called as if it were one"""

# node → name in the table, and which of the node's arguments it takes, in order
NODES: dict[type[exp.Expr], tuple[str, tuple[str, ...]]] = {
    **{
        getattr(exp, node): (node.lower(), keys)
        for keys, nodes in CALLED_ALIKE.items()
        for node in nodes.split()
    },
    **{node: (name, ("this", "expression")) for node, name in OPERATORS.items()},
    exp.WidthBucket: ("width_bucket", ("this", "min_value", "max_value", "num_buckets")),
    exp.SplitPart: ("split_part", ("this", "delimiter", "part_index")),
    exp.ConcatWs: ("concat_ws", ("expressions",)),
    exp.StrPosition: ("position", ("this", "substr")),
    exp.DayOfMonth: ("day", ("this",)),
    exp.DayOfWeekIso: ("isodow", ("this",)),
    exp.WeekOfYear: ("week", ("this",)),
    exp.TimeToUnix: ("epoch", ("this",)),
    exp.LastDay: ("last_day", ("this",)),
    exp.DateFromParts: ("make_date", ("year", "month", "day")),
    exp.Cast: ("numeric", ("this",)),  # of an engine's own; any other is read by `elaborate`
}
HARMLESS: dict[type[exp.Expr], frozenset[str]] = {
    exp.DPipe: frozenset({"safe"}),
    exp.Concat: frozenset({"safe", "coalesce"}),
    exp.ConcatWs: frozenset({"safe", "coalesce"}),
    exp.Least: frozenset({"ignore_nulls"}),
    exp.Greatest: frozenset({"ignore_nulls"}),
    exp.DateDiff: frozenset({"date_part_boundary"}),
    exp.Like: frozenset({"negate"}),
    exp.ILike: frozenset({"negate"}),
    exp.Div: frozenset({"typed", "safe"}),
    exp.Cast: frozenset({"to"}),
}
"""What a node may hold besides: it says what the function means anyway."""

# functions that sqlglot knows no node for: name as it is written → name in the table
ANONYMOUS: dict[str, str] = {
    "prefix": "starts_with",
    "suffix": "ends_with",
    "isfinite": "isfinite",
    "age": "age",
    "initcap": "initcap",
    "strlen": "strlen",
    "octet_length": "strlen",
    "ord": "unicode",
    "epoch_us": "epoch_us",
    **{name: name for name in FIELDS},
    **{alias: name for alias, name in ALIASES.items() if len(alias) > 2},
}


def _flat(node: exp.Expr, keys: Sequence[str]) -> list[exp.Expr]:
    found: list[exp.Expr] = []
    for key in keys:
        value = node.args.get(key)
        found += value if isinstance(value, list) else [] if value is None else [value]
    return found


def speaks(node: exp.Expr) -> Spoken | None:
    """Return the function that a node is a call of; None if it is none, or holds something unknown."""
    if type(node) in FORMS:
        found = FORMS[type(node)](node)
    elif type(node) in NODES:
        name, keys = NODES[type(node)]
        found = (name, _flat(node, keys)) if holds_only(node, keys) else None
    else:
        return None
    return found if found is None or OWN not in node.args else (f"{node.args[OWN]} {found[0]}", found[1])


def holds_only(node: exp.Expr, keys: Sequence[str]) -> bool:
    """Return whether a node has no argument besides these: another would change its meaning."""
    held = {key for key, value in node.args.items() if value}
    return held <= {OWN, *keys, *HARMLESS.get(type(node), frozenset())}


def _connected(name: str) -> Callable[[exp.Expr], Spoken | None]:
    def read(node: exp.Expr) -> Spoken | None:
        return name, list(node.flatten(unnest=False))

    return read


def _anonymous(node: exp.Expr) -> Spoken | None:
    name = fold(node.name)
    if name in PART_NAMES and len(node.expressions) == 2:
        return _field(node.expressions[0], node.expressions[1])
    known = ANONYMOUS.get(name)
    return None if known is None else (known, node.expressions)


def _field(field: exp.Expr, value: exp.Expr) -> Spoken | None:
    name = fold(field.name)
    name = ALIASES.get(name, name)
    if not isinstance(field, exp.Var | exp.Literal) or name not in {*FIELDS, "epoch"}:
        return None
    return name, [value]


def _extract(node: exp.Expr) -> Spoken | None:
    return _field(node.this, node.expression) if holds_only(node, ("this", "expression")) else None


def _logarithm(node: exp.Expr) -> Spoken | None:
    if node.expression is None:
        return "log10", [node.this]
    bases = {"10": "log10", "2": "log2"}
    if isinstance(node.this, exp.Literal) and node.this.name in bases:
        return bases[node.this.name], [node.expression]
    return "log", [node.this, node.expression]


def _trim(node: exp.Expr) -> Spoken | None:
    if not holds_only(node, ("this", "expression", "position")):
        return None
    names = {None: "trim", "BOTH": "trim", "LEADING": "ltrim", "TRAILING": "rtrim"}
    return names[node.args.get("position")], _flat(node, ("this", "expression"))


def _pad(node: exp.Expr) -> Spoken | None:
    name = "lpad" if node.args.get("is_left") else "rpad"
    arguments = _flat(node, ("this", "expression", "fill_pattern"))
    return (name, arguments) if len(arguments) == 3 else None


def _unit(node: exp.Expr) -> exp.Expr | None:
    unit = node.args.get("unit")
    return exp.Literal.string(unit.name) if isinstance(unit, exp.Var | exp.Literal) else None


def _truncated(node: exp.Expr) -> Spoken | None:
    unit = _unit(node)
    return (
        None if unit is None or not holds_only(node, ("this", "unit")) else ("date_trunc", [unit, node.this])
    )


def _difference(node: exp.Expr) -> Spoken | None:
    unit = _unit(node)
    if unit is None or not holds_only(node, ("this", "expression", "unit")):
        return None
    return "date_diff", [unit, node.expression, node.this]


def _formatted(node: exp.Expr) -> Spoken | None:
    """Return strftime(x, '%Y'); DuckDB takes the two in either order."""
    value, form = node.this, node.args.get("format")
    if form is None or not holds_only(node, ("this", "format")):
        return None
    if isinstance(value, exp.Literal) and value.is_string and not isinstance(form, exp.Literal):
        value, form = form, value
    return "strftime", [value, form]


def _milliseconds(node: exp.Expr) -> Spoken | None:
    scale = node.args.get("scale")
    return ("epoch_ms", [node.this]) if scale is not None and scale.name == "3" else None


FORMS: dict[type[exp.Expr], Callable[[exp.Expr], Spoken | None]] = {
    exp.And: _connected("and"),
    exp.Or: _connected("or"),
    exp.Anonymous: _anonymous,
    exp.Extract: _extract,
    exp.Log: _logarithm,
    exp.Trim: _trim,
    exp.Pad: _pad,
    exp.TimestampTrunc: _truncated,
    exp.DateTrunc: _truncated,
    exp.DateDiff: _difference,
    exp.UnixToTime: _milliseconds,
    exp.TimeToStr: _formatted,
}
