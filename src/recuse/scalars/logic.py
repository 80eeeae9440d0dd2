"""AND, OR, NOT, CASE, and choices among values: all sides brought to one type first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from recuse.scalars.alike import alike, key
from recuse.scalars.expression import Call, Expression, Value
from recuse.scalars.function import Function, Mistyped, Signature
from recuse.scalars.types import Boolean, Float, Null, Number, Text, words

# ------------------------------------------------------------------ connectives


def truth(arguments: Sequence[Expression], place: int) -> Boolean:
    """Return the type of a condition: what is not a truth value is read as one, as DuckDB does."""
    kind = arguments[place].type
    if isinstance(kind, Boolean | Number | Float | Text | Null):
        return Boolean()
    raise Mistyped(f"this is {words(kind)}, and a condition is needed", "compare it with something", place)


def _conditions(arguments: Sequence[Expression]) -> Signature:
    return Signature(tuple(truth(arguments, place) for place in range(len(arguments))), Boolean())


def conjunction(*values: Value) -> bool | None:
    """Return AND with SQL's NULL."""
    if any(value is False for value in values):
        return False
    return None if None in values else True


def disjunction(*values: Value) -> bool | None:
    """Return OR with SQL's NULL."""
    if any(value is True for value in values):
        return True
    return None if None in values else False


def _connective(name: str, meaning: Callable[..., bool | None]) -> Function:
    def value(_: Call, x: Value, y: Value, *more: Value) -> bool | None:
        return meaning(x, y, *more)

    def form(_: Call, *operands: str) -> str:
        return "(" + f" {name.upper()} ".join(operands) + ")"

    about = "As in SQL: NULL is unknown."
    return Function(name, f"x {name.upper()} y", about, _conditions, value, form, strict=False)


def _is(word: str, *, wanted: bool) -> Function:
    """Return the function that says whether a truth value is the one that is wanted."""
    return Function(
        f"is {word}",
        f"x IS [NOT] {word.upper()}",
        f"Whether it is {word}: NULL is not.",
        _conditions,
        lambda _, x: x is wanted,
        lambda _, x: f"({x} IS {word.upper()})",
        strict=False,
    )


# ------------------------------------------------------------------ choices


def _one_of(arguments: Sequence[Expression]) -> Signature:
    kind = alike(arguments, reading=False)
    return Signature((kind,) * len(arguments), kind)


def _extreme(arguments: Sequence[Expression]) -> Signature:
    found = _one_of(arguments)
    if isinstance(found.gives, Text) and found.gives.labels:
        raise Mistyped("labels of an ENUM have an order of their own", "cast them: CAST(x AS VARCHAR)")
    return found


def _first(_: Call, value: Value, *more: Value) -> Value:
    return next((value for value in (value, *more) if value is not None), None)


def _most(choose: Callable[..., Any]) -> Callable[..., Value]:
    def value(_: Call, first: Value, *more: Value) -> Value:
        filled = [found for found in (first, *more) if found is not None]
        chosen: Value = choose(filled, key=key) if filled else None
        return chosen

    return value


def _listed(function: str) -> Callable[..., str]:
    def form(_: Call, *operands: str) -> str:
        return f"{function}({', '.join(operands)})"

    return form


def _extremum(name: str, which: str, choose: Callable[..., Any]) -> Function:
    about = f"The {which} value that is not NULL."
    spoken = f"{name}(x, y, …)"
    return Function(name, spoken, about, _extreme, _most(choose), _listed(name), strict=False)


def _nullif(arguments: Sequence[Expression]) -> Signature:
    kind = alike(arguments)
    return Signature((kind, kind), kind)


def _equal_is_null(_: Call, left: Value, right: Value) -> Value:
    return None if left is not None and right is not None and key(left) == key(right) else left


def _branches(arguments: Sequence[Expression]) -> Signature:
    """Return the signature of CASE: condition, value, condition, value, …, value."""
    values = arguments[1:-1:2]
    kind = alike([*values, arguments[-1]], reading=False)
    takes = [truth(arguments, place) if place % 2 == 0 else kind for place in range(len(arguments) - 1)]
    return Signature((*takes, kind), kind)


def _chosen(_: Call, condition: Value, chosen: Value, *more: Value) -> Value:
    values = (condition, chosen, *more)
    pairs = zip(values[:-1:2], values[1:-1:2], strict=True)
    return next((value for condition, value in pairs if condition is True), values[-1])


def _case_form(_: Call, *operands: str) -> str:
    pairs = zip(operands[:-1:2], operands[1:-1:2], strict=True)
    return f"(CASE {' '.join(f'WHEN {test} THEN {value}' for test, value in pairs)} ELSE {operands[-1]} END)"


def _is_null(arguments: Sequence[Expression]) -> Signature:
    return Signature((arguments[0].type,), Boolean())


LOGIC = (
    _connective("and", conjunction),
    _connective("or", disjunction),
    Function(
        "not",
        "NOT x",
        "As in SQL: NULL is unknown.",
        _conditions,
        lambda _, x: not x,
        lambda _, x: f"(NOT {x})",
    ),
    Function(
        "is null",
        "x IS [NOT] NULL, x IS [NOT] UNKNOWN",
        "Whether there is no value.",
        _is_null,
        lambda _, x: x is None,
        lambda _, x: f"({x} IS NULL)",
        strict=False,
        loose=True,
    ),
    _is("true", wanted=True),
    _is("false", wanted=False),
    Function(
        "case",
        "CASE WHEN c THEN x … ELSE y END, CASE x WHEN a THEN … END, if(c, x, y)",
        "The value of the first condition that holds.",
        _branches,
        _chosen,
        _case_form,
        strict=False,
    ),
    Function(
        "coalesce",
        "coalesce(x, y, …), ifnull(x, y)",
        "The first value that is not NULL.",
        _one_of,
        _first,
        _listed("coalesce"),
        strict=False,
    ),
    Function(
        "nullif",
        "nullif(x, y)",
        "x, but NULL if they are equal.",
        _nullif,
        _equal_is_null,
        lambda _, x, y: f"(CASE WHEN {x} = {y} THEN NULL ELSE {x} END)",
        strict=False,
    ),
    _extremum("greatest", "largest", max),
    _extremum("least", "smallest", min),
)
