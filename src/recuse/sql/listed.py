"""Values that are listed, as SQL and for display, each in the type of its column."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from uuid import UUID

from sqlglot import exp

from recuse.privacy import decimal_text
from recuse.scalars.types import Boolean, Date, Float, Number, Text, Timestamp, Type, Uuid
from recuse.sql.query import Scalar

Written = str | int | Fraction | bool
"""what a literal writes down"""


KeyValue = Written | float | Decimal | date | UUID
"""the same as a value of the key's type"""


_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


_TIME = re.compile(r"\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?)?")


_TRUTH: dict[Written, bool] = {True: True, False: False, "true": True, "false": False}


@dataclass(frozen=True, slots=True)
class Listed:
    """The values that a key may have, as SQL and for display."""

    literals: tuple[Scalar, ...]
    values: tuple[KeyValue, ...]


def typed(listed: Listed, kind: Type) -> Listed | exp.Expr:
    """Return the list as values of the key's type, each once; or the first that is not written as one is."""
    unique: dict[KeyValue, Scalar] = {}
    for literal, value in zip(listed.literals, listed.values, strict=True):
        found = _typed(value, kind)
        if found is None:
            return literal
        unique.setdefault(found, literal)
    return Listed(tuple(unique.values()), tuple(unique))


def _typed(value: KeyValue, kind: Type) -> KeyValue | None:
    """Return what a literal means beside a key of the type; None if it is not written as its values are.

    DuckDB would round '1.5' beside an integer and read '2026-1-1' as a date: such groups are not guessed at.
    """
    try:
        match kind, value:
            case Boolean(), str() | int() | Fraction():
                return _TRUTH.get(value)
            case Text(), str():
                return value
            case Number(scale=0), str() | int() if not isinstance(value, bool):
                return int(value) if re.fullmatch(r"-?\d+", str(value), re.ASCII) else None
            case Number(scale=places), int() | Fraction() if places and not isinstance(value, bool):
                return Decimal(decimal_text(Fraction(value)))
            case Float(), int() | Fraction() if not isinstance(value, bool):
                return float(value)
            case Date(), str() if _DAY.fullmatch(value):
                return date.fromisoformat(value)
            case Timestamp(), str() if _TIME.fullmatch(value):
                return datetime.fromisoformat(value)
            case Uuid(), str():
                return UUID(value)
    except (ValueError, OverflowError, ArithmeticError):
        return None
    return None


def literal_value(node: exp.Expr) -> Written | None:
    """Return the value that a literal writes down."""
    match node:
        case exp.Paren():
            return literal_value(node.this)
        case exp.Neg() if isinstance(node.this, exp.Literal) and not node.this.is_string:
            return -Fraction(node.this.name)
        case exp.Boolean():
            return bool(node.this)
        case exp.Literal() if node.is_string:
            return str(node.this)
        case exp.Literal():
            number = Fraction(node.name)
            return int(number) if number.denominator == 1 else number
        case exp.Cast() if isinstance(node.this, exp.Literal):
            return literal_value(node.this)
    return None


def index_of(key: Scalar, listed: Listed) -> Scalar:
    """Return the position of the key in the list, NULL if it is not in it.

    A CASE that chooses among the values of the list says positions in their place: it is not copied for each.
    """
    places = {literal_value(literal): exp.Literal.number(n) for n, literal in enumerate(listed.literals)}
    node = key.unnest()
    if isinstance(node, exp.Case):
        found = node.copy()
        results = [branch.args["true"] for branch in found.args["ifs"]]
        results += [] if found.args.get("default") is None else [found.args["default"]]
        told = [literal_value(result) for result in results]
        if None not in told and set(told) <= places.keys():
            for result, value in zip(results, told, strict=True):
                result.replace(places[value].copy())
            return found
    branches = [
        exp.If(this=exp.EQ(this=key.copy(), expression=literal.copy()), true=exp.Literal.number(place))
        for place, literal in enumerate(listed.literals)
    ]
    return exp.Case(ifs=branches)


def written_values(keys: Sequence[Scalar]) -> Listed | None:
    """Return the values of a key that is written down for all rows, such as a column of VALUES."""
    bare = [key.unnest() for key in keys]
    values = [literal_value(key.this if isinstance(key, exp.Cast) else key) for key in bare]
    found = tuple(value for value in values if value is not None)
    return Listed(tuple(bare), found) if keys and len(found) == len(keys) else None
