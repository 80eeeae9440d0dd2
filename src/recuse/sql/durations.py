"""Fields of the time between two moments: EXTRACT(EPOCH FROM (x - y)), EXTRACT(YEAR FROM AGE(x, y)).

There is no type for a duration: a field of one is a whole number (or seconds, with a fraction) by itself.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from recuse.fold import fold
from recuse.scalars.build import apply
from recuse.scalars.dates import ALIASES
from recuse.scalars.expression import Expression
from recuse.scalars.literals import number
from recuse.scalars.types import Date, Timestamp
from recuse.sql.spoken import PART_NAMES

SECOND = 1_000_000
PARTS = {
    "day": (86_400 * SECOND, None),
    "hour": (3_600 * SECOND, 86_400 * SECOND),
    "minute": (60 * SECOND, 3_600 * SECOND),
}
"""how many microseconds a unit has, and how many the next larger one, if it is told without that"""


@dataclass(frozen=True, slots=True)
class Duration:
    """A field of the time from `since` to `until`; `aged` if it is told in years and months."""

    field: str
    until: exp.Expr
    since: exp.Expr
    aged: bool


def duration_of(node: exp.Expr) -> Duration | None:
    """Return the field of a duration that a node may ask for: whether it does, types say."""
    if isinstance(node, exp.Extract):
        named, inner = node.this, node.expression.unnest()
    elif isinstance(node, exp.Anonymous) and fold(node.name) in PART_NAMES and len(node.expressions) == 2:
        named, inner = node.expressions[0], node.expressions[1].unnest()
    else:
        return None
    name = fold(named.name)
    field = ALIASES.get(name, name)
    if isinstance(inner, exp.Anonymous) and fold(inner.name) == "age" and len(inner.expressions) == 2:
        until, since = inner.expressions
        return Duration(field, until, since, aged=True) if field in ("year", "month") else None
    if isinstance(inner, exp.Sub) and not isinstance(inner.expression, exp.Interval):
        known = field == "epoch" or field in PARTS
        return Duration(field, inner.this, inner.expression, aged=False) if known else None
    return None


def told(asked: Duration, until: Expression, since: Expression) -> Expression | None:
    """Return the field of a duration between typed moments; None if they are none."""
    kinds = until.type, since.type
    if not all(isinstance(kind, Date | Timestamp) for kind in kinds):
        return None
    if asked.aged:
        return _aged(asked.field, until, since) if all(isinstance(kind, Date) for kind in kinds) else None
    if not any(isinstance(kind, Timestamp) for kind in kinds):
        return None
    between = apply("-", apply("epoch_us", until), apply("epoch_us", since))
    if asked.field == "epoch":
        return apply("/", between, number(f"{SECOND}.0"))
    unit, larger = PARTS[asked.field]
    rest = between if larger is None else apply("%", between, number(str(larger)))
    return apply("//", rest, number(str(unit)))


def _aged(field: str, until: Expression, since: Expression) -> Expression:
    """Return whole years, or the whole months beyond them, between two dates."""
    months = apply(
        "case", apply(">=", until, since), _months(until, since), apply("neg", _months(since, until))
    )
    return apply("//" if field == "year" else "%", months, number("12"))


def _months(later: Expression, earlier: Expression) -> Expression:
    """Return how many whole months a date lies after an earlier one."""
    years, months = (apply("-", apply(unit, later), apply(unit, earlier)) for unit in ("year", "month"))
    short = apply("case", apply("<", apply("day", later), apply("day", earlier)), number("1"), number("0"))
    return apply("-", apply("+", apply("*", years, number("12")), months), short)
