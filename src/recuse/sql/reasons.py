"""Why an expression is refused: a sentence for each kind, and what to write instead."""

from __future__ import annotations

from collections.abc import Container

from sqlglot import exp

from recuse.fold import fold
from recuse.sql.spoken import FORMS, NODES

VOLATILE = dict.fromkeys(
    ("random", "now", "current_date", "current_timestamp", "today", "uuid", "gen_random_uuid", "nextval"),
    "an answer must depend on the data alone: write a constant",
)
LISTED = "write it with the functions that docs/reference/functions.md lists"
REASONS: tuple[tuple[tuple[type[exp.Expr], ...], str, str | None], ...] = (
    ((exp.All,), "ALL looks at what is missing: it is not monotone", "compare with ANY, or with a constant"),
    ((exp.Any,), "ANY takes a subquery here", "write x IN (1, 2, 3)"),
    (
        (exp.Query, exp.Subquery),
        "a subquery stands for a value inside an expression",
        "over public tables compare with it directly; over private ones write EXISTS, IN or a join",
    ),
    ((exp.Window,), "a window function looks at other rows", "ask for COUNT(*) or SUM(x) instead"),
    ((exp.Unnest, exp.Explode), "UNNEST makes several rows of one", "join a table of the elements"),
    (
        (exp.AggFunc,),
        "an aggregate stands where a row's own value must",
        "aggregate in the outermost SELECT only",
    ),
    ((exp.Placeholder, exp.Parameter), "a placeholder has no value here", "write the value itself"),
    ((exp.Interval,), "an interval stands by itself", "add it to a date: x + INTERVAL 3 MONTH"),
    ((exp.Tuple,), "several values stand where one must", "compare them one by one"),
    ((exp.AtTimeZone,), "time zones are not understood", "store timestamps in one zone, without it"),
)


def reason_of(part: exp.Expr, text: str, macros: Container[str]) -> tuple[str, str | None]:
    """Return why a node is refused, and what to write instead; `macros` are the database's own."""
    name = written_name(part, text)
    if isinstance(part, exp.Func) and name and name in macros:
        return f"{name} is a macro of this database", "write out what the macro does"
    for kinds, problem, hint in REASONS:
        if isinstance(part, kinds):
            return problem, hint
    if isinstance(part, exp.Func):
        name = name or part.sql_name().lower()
        if type(part) in NODES or (type(part) in FORMS and not isinstance(part, exp.Anonymous)):
            return f"this form of {name} is not accepted", "write it more simply"
        return f"the function {name} is not among the accepted ones", VOLATILE.get(name, LISTED)
    return "this expression is not accepted", "write it with what docs/reference/sql.md lists"


def written_name(part: exp.Expr, text: str) -> str:
    """Return the function's name as the query spells it, in lower case."""
    if "start" in part.meta and "end" in part.meta:
        return fold(text[part.meta["start"] : part.meta["end"] + 1])
    return fold(part.name) if isinstance(part, exp.Anonymous) else ""
