"""Between which ends the values of an expression lie, as far as conditions and functions say.

`year(d)` of `d BETWEEN DATE '1995-01-01' AND DATE '1996-12-31'` is 1995 or 1996. Ends are values as `types`
has them: granules of a number, days, microseconds. Nothing is looked at but expressions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Self

from recuse.scalars.build import UnknownReading, no_reading
from recuse.scalars.evaluate import step
from recuse.scalars.expression import Call, Constant, Convert, Expression, Value, Variable
from recuse.scalars.types import MICROSECONDS, Date, Float, Number, Timestamp, Type

Endpoint = int | float
NATURAL = 1_000
"""a function whose type has fewer values than this is known to lie in it: a month, a weekday, a remainder"""

CONSTANT, RISES, FALLS = 0, 1, -1
DIRECTIONS: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(("year", "isoyear", "yearweek", "decade", "century", "millennium"), (RISES,)),
    **dict.fromkeys(("epoch_ms", "epoch_us", "last_day"), (RISES,)),
    **dict.fromkeys(("floor", "ceil", "round", "trunc"), (RISES, CONSTANT)),
    "date_trunc": (CONSTANT, RISES),
    "date_diff": (CONSTANT, FALLS, RISES),
    "+": (RISES, RISES),
    "-": (RISES, FALLS),
    "neg": (FALLS,),
    "shift": (RISES, CONSTANT, CONSTANT),
}
"""functions that rise or fall with each argument, the others being constants"""
CHOSEN = ("coalesce", "greatest", "least")
"""functions whose value is one of their arguments'"""
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}


@dataclass(frozen=True, slots=True)
class Extent:
    """Values from `low` to `high`; None where nothing is known of an end. NULL may be among them."""

    low: Endpoint | None = None
    high: Endpoint | None = None

    def and_(self, other: Self) -> Extent:
        """Return the values that lie in both."""
        lows = [end for end in (self.low, other.low) if end is not None]
        highs = [end for end in (self.high, other.high) if end is not None]
        return Extent(max(lows, default=None), min(highs, default=None))

    def or_(self, other: Self) -> Extent:
        """Return values that hold those of both."""
        low = None if self.low is None or other.low is None else min(self.low, other.low)
        high = None if self.high is None or other.high is None else max(self.high, other.high)
        return Extent(low, high)


Stated = Mapping[Expression, Extent]
"""what conditions say of expressions; an expression in it is not NULL where they hold"""


def stated(conditions: Iterable[Expression]) -> Stated:
    """Return what conditions that all hold say of the expressions that they compare with constants."""
    found: dict[Expression, Extent] = {}
    for condition in conditions:
        for part in _conjuncts(condition):
            for expression, extent in _said(part):
                for inner, ends in _unconverted(expression, extent):
                    found[inner] = found.get(inner, Extent()).and_(ends)
    return found


def extent_of(expression: Expression, known: Stated) -> Extent:
    """Return between which ends an expression lies, given what is known of parts of it.

    Guarantee: every value that is not NULL lies there, in every row for which what is known holds.
    """
    return _made_of(expression, known).and_(known.get(expression, Extent()))


def _made_of(expression: Expression, known: Stated) -> Extent:
    match expression:
        case Constant(int() | float() as value) if not isinstance(value, bool):
            return Extent(value, value)
        case Variable(type=Number(low=0)):
            return Extent(0, None)
        case Convert(operand, kind) if _keeps_order(operand.type, kind):
            found = extent_of(operand, known)
            return Extent(*(_stepped(expression, (end,)) for end in (found.low, found.high)))
        case Call(function, arguments):
            if function.name == "case":
                results = [*arguments[1::2], *arguments[-1:]]
                return _any_of(results, known)
            if function.name in CHOSEN:
                return _any_of(arguments, known)
            return _monotone(expression, known).and_(_natural(expression.type))
    return Extent()


def _any_of(results: Iterable[Expression], known: Stated) -> Extent:
    found: Extent | None = None
    for result in results:
        if isinstance(result, Constant) and result.value is None:
            continue
        one = extent_of(result, known)
        found = one if found is None else found.or_(one)
    return found or Extent()


def _natural(kind: Type) -> Extent:
    if isinstance(kind, Number) and kind.high - kind.low < NATURAL:
        return Extent(kind.low, kind.high)
    return Extent()


def _monotone(call: Call, known: Stated) -> Extent:
    """Return the ends of a function that rises or falls with each argument: its values at theirs."""
    directions = DIRECTIONS.get(call.function.name)
    if call.function.name in ("//", "/", "*") and _positive(call.arguments[1]):
        directions = (RISES, CONSTANT)
    if directions is None:
        return Extent()
    lows: list[Value] = []
    highs: list[Value] = []
    for argument, direction in zip(call.arguments, directions, strict=False):
        if direction == CONSTANT:
            if not isinstance(argument, Constant):
                return Extent()
            ends: tuple[Value, Value] = (argument.value, argument.value)
        else:
            found = extent_of(argument, known)
            ends = (found.low, found.high) if direction == RISES else (found.high, found.low)
        lows.append(ends[0])
        highs.append(ends[1])
    return Extent(_stepped(call, lows), _stepped(call, highs))


def _positive(argument: Expression) -> bool:
    return isinstance(argument, Constant) and isinstance(argument.value, int | float) and argument.value > 0


def _stepped(expression: Convert | Call, values: Iterable[Value]) -> Endpoint | None:
    """Return the value of an operation at ends of its operands; None if one is not known."""
    listed = list(values)
    if None in listed:
        return None
    try:
        found = step(expression, listed, no_reading)
    except UnknownReading:
        return None
    return found if isinstance(found, int | float) and not isinstance(found, bool) else None


def _keeps_order(source: Type, target: Type) -> bool:
    """Return whether a conversion of numbers or times cannot change which of two values is larger."""
    numbers = isinstance(source, Number | Float) and isinstance(target, Number | Float)
    return numbers or (isinstance(source, Date | Timestamp) and isinstance(target, Date | Timestamp))


# ------------------------------------------------------------------ what conditions say


def _conjuncts(condition: Expression) -> Iterator[Expression]:
    waiting = [condition]
    while waiting:
        found = waiting.pop()
        if isinstance(found, Call) and found.function.name == "and":
            waiting += found.arguments
        else:
            yield found


def _said(part: Expression) -> Iterator[tuple[Expression, Extent]]:
    if not isinstance(part, Call):
        return
    name, arguments = part.function.name, part.arguments
    if name == "between":
        yield from _compared(">=", arguments[0], arguments[1])
        yield from _compared("<=", arguments[0], arguments[2])
    elif name in _MIRRORED:
        yield from _compared(name, *arguments)
        yield from _compared(_MIRRORED[name], *reversed(arguments))
    elif name == "in":
        values = [option.value for option in arguments[1:] if isinstance(option, Constant)]
        ends = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
        if len(ends) == len(arguments) - 1:
            yield arguments[0], Extent(min(ends), max(ends))


def _compared(name: str, left: Expression, right: Expression) -> Iterator[tuple[Expression, Extent]]:
    if isinstance(left, Constant) or not isinstance(right, Constant):
        return
    end = right.value
    if not isinstance(end, int | float) or isinstance(end, bool) or end != end:
        return
    strict = 1 if name in ("<", ">") and isinstance(end, int) else 0
    low = end + strict if name in (">", ">=", "=") else None
    high = end - strict if name in ("<", "<=", "=") else None
    yield left, Extent(low, high)


def _unconverted(expression: Expression, ends: Extent) -> Iterator[tuple[Expression, Extent]]:
    """Yield what is said of an expression, and of the one that it is a conversion of."""
    yield expression, ends
    if not isinstance(expression, Convert):
        return
    source, target = expression.operand.type, expression.type
    match source, target:
        case Date(), Timestamp():
            size = MICROSECONDS
        case Number(scale=before), Number(scale=after) if after >= before:
            size = 10 ** (after - before)
        case _:
            return
    if isinstance(ends.low, float) or isinstance(ends.high, float):
        return
    low = None if ends.low is None else -(-ends.low // size)
    high = None if ends.high is None else ends.high // size
    yield from _unconverted(expression.operand, Extent(low, high))
