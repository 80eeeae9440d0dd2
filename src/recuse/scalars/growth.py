"""Text that grows: its parts are cut before, and the whole is bounded.

Stored text has no bound of its own. Where a function makes text longer, its arguments are cut to their
first `CUT` characters, and a result that could have more than `MOST` is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from recuse.scalars.convert import as_text
from recuse.scalars.expression import Call, Constant, Expression
from recuse.scalars.function import Function, Mistyped, Signature, constant_of
from recuse.scalars.numbers import whole_number
from recuse.scalars.spelling import cast
from recuse.scalars.text import called, piece_form, text
from recuse.scalars.types import INTEGER, Null, Opaque, Text, Type, words

CUT = 4_096
MOST = 20_000


def _cut(kind: Text) -> Text:
    return Text(CUT if kind.length is None else min(kind.length, MOST))


def _length(kind: Text) -> int:
    return CUT if kind.length is None else kind.length


def _bounded(length: int) -> Text:
    if length > MOST:
        raise Mistyped(
            f"the text could grow to {length:,} characters, and {MOST:,} are the most",
            "cut it first: left(x, 100)",
        )
    return Text(length)


def _joining(arguments: Sequence[Expression]) -> Signature:
    takes = []
    for place, argument in enumerate(arguments):
        kind: Type = argument.type
        if isinstance(kind, Opaque):
            raise Mistyped(f"this is {words(kind)}, and text is needed", "cast it: CAST(x AS VARCHAR)", place)
        takes.append(Text(0) if isinstance(kind, Null) else _cut(as_text(kind)))
    return Signature(tuple(takes), _bounded(sum(map(_length, takes))))


def _joining_with(arguments: Sequence[Expression]) -> Signature:
    found = _joining(arguments)
    separators = _length(_cut(as_text(arguments[0].type))) * max(len(arguments) - 3, 0)
    return Signature(found.takes, _bounded((_length(as_text(found.gives)) or 0) + separators))


def _with(_: Call, separator: str | None, first: str | None, *more: str | None) -> str | None:
    values = (first, *more)
    return None if separator is None else separator.join(value for value in values if value is not None)


def _replacing(arguments: Sequence[Expression]) -> Signature:
    takes = tuple(_cut(text(arguments, place)) for place in range(3))
    size, new = _length(takes[0]), _length(takes[2])
    old = arguments[1]
    found = len(old.value) if isinstance(old, Constant) and isinstance(old.value, str) and old.value else 1
    return Signature(takes, _bounded(max(size, size + (size // found) * (new - found))))


def _padding(arguments: Sequence[Expression]) -> Signature:
    count = whole_number(arguments, 1)
    if count.high > MOST:
        raise Mistyped("how long the text becomes must be bounded", "write a number: lpad(x, 10, '0')", 1)
    pad = constant_of(arguments, 2, "what text is filled with is written down", "write lpad(x, 10, '0')")
    if not isinstance(pad, str) or not pad:
        raise Mistyped("text is filled with at least one character", "write lpad(x, 10, '0')", 2)
    inside = count if INTEGER.low <= count.low else INTEGER
    return Signature((_cut(text(arguments, 0)), inside, text(arguments, 2)), _bounded(max(count.high, 0)))


def _pad_form(function: str) -> Callable[..., str]:
    def form(_: Call, operand: str, count: str, pad: str) -> str:
        return f"{function}({operand}, {cast(count, 'INTEGER')}, {pad})"

    return form


def _pad(*, left: bool) -> Callable[..., str]:
    def value(_: Call, operand: str, count: int, pad: str) -> str:
        if len(operand) >= count:
            return operand[: max(count, 0)]
        fill = (pad * (count - len(operand)))[: count - len(operand)]
        return fill + operand if left else operand + fill

    return value


def _repeating(arguments: Sequence[Expression]) -> Signature:
    count = whole_number(arguments, 1)
    kind = _cut(text(arguments, 0))
    times = max(count.high, 0)
    if times > MOST:
        raise Mistyped("how long the text becomes must be bounded", "write a number: repeat(x, 3)", 1)
    inside = count if INTEGER.low <= count.low else INTEGER
    return Signature((kind, inside), _bounded(_length(kind) * times))


GROWTH = (
    Function(
        "||",
        "x || y",
        "Both, one after the other; NULL if one is.",
        _joining,
        lambda _, x, *more: "".join((x, *more)),
        lambda _, *v: "(" + " || ".join(v) + ")",
    ),
    Function(
        "concat",
        "concat(x, y, …)",
        "All of them one after the other, without NULLs.",
        _joining,
        lambda _, x, *more: "".join(v for v in (x, *more) if v is not None),
        called("concat"),
        strict=False,
    ),
    Function(
        "concat_ws",
        "concat_ws(separator, x, y, …)",
        "All of them with a separator between, without NULLs.",
        _joining_with,
        _with,
        called("concat_ws"),
        strict=False,
    ),
    Function(
        "replace",
        "replace(x, old, new)",
        "Every `old` made `new`.",
        _replacing,
        lambda _, x, old, new: x.replace(old, new) if old else x,
        called("replace"),
    ),
    Function(
        "lpad",
        "lpad(x, n, pad)",
        "Filled from the left, or cut, to n characters.",
        _padding,
        _pad(left=True),
        _pad_form("lpad"),
    ),
    Function(
        "rpad",
        "rpad(x, n, pad)",
        "Filled from the right, or cut, to n characters.",
        _padding,
        _pad(left=False),
        _pad_form("rpad"),
    ),
    Function(
        "repeat",
        "repeat(x, n)",
        "The text n times.",
        _repeating,
        lambda _, x, n: x * max(n, 0),
        piece_form("repeat"),
    ),
)
