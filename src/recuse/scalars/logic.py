"""Comparisons, AND, OR, NOT, CASE, and choices among values: all sides brought to one type first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from recuse.scalars.expression import Call, Constant, Expression, Value
from recuse.scalars.function import Function, Mistyped, Signature
from recuse.scalars.literals import literal
from recuse.scalars.types import (
    BIGINT,
    DIGITS,
    EXACT,
    Boolean,
    Date,
    Float,
    Null,
    Number,
    Opaque,
    Text,
    Timestamp,
    Type,
    common,
    decimal,
    words,
)

CAST = "say what they are: CAST(x AS VARCHAR), CAST(x AS BIGINT)"


def alike(arguments: Sequence[Expression], *, reading: bool = True) -> Type:
    """Return the one type that all arguments are brought to.

    A text constant is read as what it stands beside; so is any other text, if `reading`, as DuckDB does
    when it compares.
    """
    for place, argument in enumerate(arguments):
        if isinstance(argument.type, Opaque):
            raise Mistyped(
                f"values {words(argument.type)} are not compared", "only IS NULL is understood of it", place
            )
    written = [argument for argument in arguments if isinstance(argument, Constant) and argument.is_text]
    others = [argument.type for argument in arguments if argument not in written]
    known = [kind for kind in others if not isinstance(kind, Text | Null)]
    if not known:
        return common(argument.type for argument in arguments) or Text()
    target = common(known)
    if target is None:
        raise Mistyped(f"{words(known[0])} stands beside {_other(known)}", CAST)
    if any(isinstance(kind, Text) for kind in others):
        if not reading:
            raise Mistyped(f"text stands beside {words(target)}", CAST)
        target = _read(target)
    for place, argument in enumerate(arguments):
        if isinstance(argument, Constant) and isinstance(argument.value, str) and argument.is_text:
            target = common([target, _literal_type(argument.value, target, place)]) or target
    return target


def _literal_type(written: str, target: Type, place: int) -> Type:
    try:
        return literal(written, target).type
    except Mistyped as mistake:
        raise Mistyped(mistake.problem, mistake.hint, place) from None


def _other(kinds: Sequence[Type]) -> str:
    return next((words(kind) for kind in kinds[1:] if type(kind) is not type(kinds[0])), words(kinds[-1]))


def _read(kind: Type) -> Type:
    """Return the type as which text is read that stands beside a type."""
    match kind:
        case Number(scale=0):
            return BIGINT if BIGINT.low <= kind.low and kind.high <= BIGINT.high else EXACT
        case Number():
            return decimal(DIGITS, kind.scale)
        case Float():
            return Float(nan=kind.nan)
        case Date():
            return Date()
        case Timestamp():
            return Timestamp()
    return kind


# ------------------------------------------------------------------ comparisons


def _comparing(*, ordered: bool) -> Callable[[Sequence[Expression]], Signature]:
    def signature(arguments: Sequence[Expression]) -> Signature:
        kind = alike(arguments)
        if ordered and any(isinstance(a.type, Text) and a.type.labels for a in arguments):
            raise Mistyped("labels of an ENUM have an order of their own", "cast them: CAST(x AS VARCHAR)")
        return Signature((kind,) * len(arguments), Boolean())

    return signature


def key(value: Any) -> Any:
    """Return what a value is ordered by: NaN lies above all numbers, text is ordered by its bytes."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    if isinstance(value, float):
        return (value != value, 0.0 if value != value else value)
    return value


def _comparison(symbol: str, about: str, holds: Callable[[Any, Any], bool], *, ordered: bool) -> Function:
    return Function(
        symbol,
        f"x {symbol} y",
        about,
        _comparing(ordered=ordered),
        lambda _, x, y: holds(key(x), key(y)),
        lambda _, x, y: f"({x} {symbol} {y})",
        loose=True,
    )


def _distinct(_: Call, left: Value, right: Value) -> bool:
    return left is not None if right is None else left is None or key(left) != key(right)


def _between(_: Call, value: Value, low: Value, high: Value) -> bool | None:
    if value is None:
        return None
    above = None if low is None else key(value) >= key(low)
    below = None if high is None else key(value) <= key(high)
    return conjunction(above, below)


def _member(_: Call, value: Value, option: Value, *more: Value) -> bool | None:
    options = (option, *more)
    if value is None:
        return None
    if any(option is not None and key(option) == key(value) for option in options):
        return True
    return None if None in options else False


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


def _joined(word: str) -> Callable[..., str]:
    def form(_: Call, *operands: str) -> str:
        return "(" + f" {word} ".join(operands) + ")"

    return form


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
    _comparison("=", "Whether two values are equal.", lambda x, y: bool(x == y), ordered=False),
    _comparison("<>", "Whether they differ.", lambda x, y: bool(x != y), ordered=False),
    _comparison("<", "Whether the first is smaller.", lambda x, y: bool(x < y), ordered=True),
    _comparison("<=", "Whether it is not larger.", lambda x, y: bool(x <= y), ordered=True),
    _comparison(">", "Whether it is larger.", lambda x, y: bool(x > y), ordered=True),
    _comparison(">=", "Whether it is not smaller.", lambda x, y: bool(x >= y), ordered=True),
    Function(
        "is distinct from",
        "x IS [NOT] DISTINCT FROM y",
        "Whether they differ; NULL is equal to NULL.",
        _comparing(ordered=False),
        _distinct,
        lambda _, x, y: f"({x} IS DISTINCT FROM {y})",
        strict=False,
        loose=True,
    ),
    Function(
        "between",
        "x [NOT] BETWEEN low AND high",
        "Whether it lies between two values, the ends included.",
        _comparing(ordered=True),
        _between,
        lambda _, x, low, high: f"({x} >= {low} AND {x} <= {high})",
        strict=False,
        loose=True,
    ),
    Function(
        "in",
        "x [NOT] IN (a, b, …)",
        "Whether it is one of the values.",
        _comparing(ordered=False),
        _member,
        lambda _, x, *options: f"({x} IN ({', '.join(options)}))",
        strict=False,
        loose=True,
        copies=True,
    ),
    Function(
        "and",
        "x AND y",
        "As in SQL: NULL is unknown.",
        _conditions,
        lambda _, x, y, *more: conjunction(x, y, *more),
        _joined("AND"),
        strict=False,
    ),
    Function(
        "or",
        "x OR y",
        "As in SQL: NULL is unknown.",
        _conditions,
        lambda _, x, y, *more: disjunction(x, y, *more),
        _joined("OR"),
        strict=False,
    ),
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
    Function(
        "is true",
        "x IS [NOT] TRUE",
        "Whether it is true: NULL is not.",
        _conditions,
        lambda _, x: x is True,
        lambda _, x: f"({x} IS TRUE)",
        strict=False,
    ),
    Function(
        "is false",
        "x IS [NOT] FALSE",
        "Whether it is false: NULL is not.",
        _conditions,
        lambda _, x: x is False,
        lambda _, x: f"({x} IS FALSE)",
        strict=False,
    ),
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
    Function(
        "greatest",
        "greatest(x, y, …)",
        "The largest value that is not NULL.",
        _extreme,
        _most(max),
        _listed("greatest"),
        strict=False,
    ),
    Function(
        "least",
        "least(x, y, …)",
        "The smallest value that is not NULL.",
        _extreme,
        _most(min),
        _listed("least"),
        strict=False,
    ),
)
