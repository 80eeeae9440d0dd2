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

# node → name in the table, and which of the node's arguments it takes, in order
NODES: dict[type[exp.Expr], tuple[str, tuple[str, ...]]] = {
    exp.EQ: ("=", ("this", "expression")),
    exp.NEQ: ("<>", ("this", "expression")),
    exp.LT: ("<", ("this", "expression")),
    exp.LTE: ("<=", ("this", "expression")),
    exp.GT: (">", ("this", "expression")),
    exp.GTE: (">=", ("this", "expression")),
    exp.NullSafeNEQ: ("is distinct from", ("this", "expression")),
    exp.Between: ("between", ("this", "low", "high")),
    exp.In: ("in", ("this", "expressions")),
    exp.Not: ("not", ("this",)),
    exp.Add: ("+", ("this", "expression")),
    exp.Sub: ("-", ("this", "expression")),
    exp.Mul: ("*", ("this", "expression")),
    exp.Div: ("/", ("this", "expression")),
    exp.IntDiv: ("//", ("this", "expression")),
    exp.Mod: ("%", ("this", "expression")),
    exp.Neg: ("neg", ("this",)),
    exp.Abs: ("abs", ("this",)),
    exp.Sign: ("sign", ("this",)),
    exp.Round: ("round", ("this", "decimals")),
    exp.Trunc: ("trunc", ("this", "decimals")),
    exp.Floor: ("floor", ("this",)),
    exp.Ceil: ("ceil", ("this",)),
    exp.Sqrt: ("sqrt", ("this",)),
    exp.Cbrt: ("cbrt", ("this",)),
    exp.Exp: ("exp", ("this",)),
    exp.Ln: ("ln", ("this",)),
    exp.Pow: ("pow", ("this", "expression")),
    exp.Sin: ("sin", ("this",)),
    exp.Cos: ("cos", ("this",)),
    exp.Tan: ("tan", ("this",)),
    exp.Cot: ("cot", ("this",)),
    exp.Asin: ("asin", ("this",)),
    exp.Acos: ("acos", ("this",)),
    exp.Atan: ("atan", ("this",)),
    exp.Sinh: ("sinh", ("this",)),
    exp.Cosh: ("cosh", ("this",)),
    exp.Tanh: ("tanh", ("this",)),
    exp.Asinh: ("asinh", ("this",)),
    exp.Acosh: ("acosh", ("this",)),
    exp.Atanh: ("atanh", ("this",)),
    exp.BitwiseAnd: ("&", ("this", "expression")),
    exp.BitwiseOr: ("|", ("this", "expression")),
    exp.BitwiseXor: ("xor", ("this", "expression")),
    exp.Atan2: ("atan2", ("this", "expression")),
    exp.Degrees: ("degrees", ("this",)),
    exp.Radians: ("radians", ("this",)),
    exp.Pi: ("pi", ()),
    exp.WidthBucket: ("width_bucket", ("this", "min_value", "max_value", "num_buckets")),
    exp.IsNan: ("isnan", ("this",)),
    exp.IsInf: ("isinf", ("this",)),
    exp.Coalesce: ("coalesce", ("this", "expressions")),
    exp.Nullif: ("nullif", ("this", "expression")),
    exp.Greatest: ("greatest", ("this", "expressions")),
    exp.Least: ("least", ("this", "expressions")),
    exp.Lower: ("lower", ("this",)),
    exp.Upper: ("upper", ("this",)),
    exp.Length: ("length", ("this",)),
    exp.Ascii: ("ascii", ("this",)),
    exp.Unicode: ("unicode", ("this",)),
    exp.Translate: ("translate", ("this", "from_", "to")),
    exp.Reverse: ("reverse", ("this",)),
    exp.Substring: ("substring", ("this", "start", "length")),
    exp.Left: ("left", ("this", "expression")),
    exp.Right: ("right", ("this", "expression")),
    exp.SplitPart: ("split_part", ("this", "delimiter", "part_index")),
    exp.DPipe: ("||", ("this", "expression")),
    exp.Concat: ("concat", ("expressions",)),
    exp.ConcatWs: ("concat_ws", ("expressions",)),
    exp.Replace: ("replace", ("this", "expression", "replacement")),
    exp.Repeat: ("repeat", ("this", "times")),
    exp.StrPosition: ("position", ("this", "substr")),
    exp.Contains: ("contains", ("this", "expression")),
    exp.StartsWith: ("starts_with", ("this", "expression")),
    exp.EndsWith: ("ends_with", ("this", "expression")),
    exp.RegexpLike: ("regexp_matches", ("this", "expression")),
    exp.RegexpFullMatch: ("regexp_full_match", ("this", "expression")),
    exp.SimilarTo: ("regexp_full_match", ("this", "expression")),
    exp.Year: ("year", ("this",)),
    exp.Quarter: ("quarter", ("this",)),
    exp.Month: ("month", ("this",)),
    exp.Day: ("day", ("this",)),
    exp.DayOfMonth: ("day", ("this",)),
    exp.DayOfWeek: ("dayofweek", ("this",)),
    exp.DayOfWeekIso: ("isodow", ("this",)),
    exp.DayOfYear: ("dayofyear", ("this",)),
    exp.Week: ("week", ("this",)),
    exp.WeekOfYear: ("week", ("this",)),
    exp.Hour: ("hour", ("this",)),
    exp.Minute: ("minute", ("this",)),
    exp.Second: ("second", ("this",)),
    exp.TimeToUnix: ("epoch", ("this",)),
    exp.LastDay: ("last_day", ("this",)),
    exp.Dayname: ("dayname", ("this",)),
    exp.Monthname: ("monthname", ("this",)),
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
