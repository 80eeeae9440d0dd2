"""Text: letters, pieces and places; nothing here makes text longer.

It is longer than other files because it is a table: a row for every function.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from recuse.scalars.expression import Call, Expression
from recuse.scalars.function import Function, Mistyped, Signature
from recuse.scalars.letters import clusters, is_space, lowered, raised
from recuse.scalars.numbers import whole_number
from recuse.scalars.spelling import cast, quoted, spelled
from recuse.scalars.types import INTEGER, Boolean, Null, Text, whole, words


def text(arguments: Sequence[Expression], place: int) -> Text:
    """Return the type of an argument that must be text."""
    kind = arguments[place].type
    if isinstance(kind, Text):
        return kind
    if isinstance(kind, Null):
        return Text(0)
    raise Mistyped(f"this is {words(kind)}, and text is needed", "cast it: CAST(x AS VARCHAR)", place)


def _same(arguments: Sequence[Expression]) -> Signature:
    kinds = tuple(text(arguments, place) for place in range(len(arguments)))
    return Signature(kinds, Text(kinds[0].length))


def asking(arguments: Sequence[Expression]) -> Signature:
    """Return the signature of a question about text."""
    return Signature(tuple(text(arguments, place) for place in range(len(arguments))), Boolean())


def called(function: str) -> Callable[..., str]:
    """Return the form of a function that DuckDB has under a name."""

    def form(_: Call, *operands: str) -> str:
        return f"{function}({', '.join(operands)})"

    return form


def _narrow(function: str) -> Callable[..., str]:
    """Return the form of a function whose whole number DuckDB gives as BIGINT."""

    def form(found: Call, *operands: str) -> str:
        return cast(f"{function}({', '.join(operands)})", spelled(found.type))

    return form


def _sized(arguments: Sequence[Expression]) -> Signature:
    kind = text(arguments, 0)
    return Signature((kind,), whole(0, 2**32 if kind.length is None else kind.length))


def _trim(sides: str) -> Callable[..., str]:
    def value(_: Call, operand: str, letters: str | None = None) -> str:
        def goes(letter: str) -> bool:
            return is_space(letter) if letters is None else letter in letters

        start, end = 0, len(operand)
        while "l" in sides and start < end and goes(operand[start]):
            start += 1
        while "r" in sides and end > start and goes(operand[end - 1]):
            end -= 1
        return operand[start:end]

    return value


# ------------------------------------------------------------------ pieces


def _piece(arguments: Sequence[Expression]) -> Signature:
    numbers = [whole_number(arguments, place) for place in range(1, len(arguments))]
    takes = [kind if INTEGER.low <= kind.low and kind.high <= INTEGER.high else INTEGER for kind in numbers]
    kind = text(arguments, 0)
    return Signature((kind, *takes), Text(kind.length))


def _long(operands: Sequence[str]) -> list[str]:
    return [operands[0], *(cast(operand, "BIGINT") for operand in operands[1:])]


def piece_form(function: str) -> Callable[..., str]:
    """Return the form of a function whose numbers DuckDB takes as BIGINT."""

    def form(_: Call, *operands: str) -> str:
        return f"{function}({', '.join(_long(operands))})"

    return form


def _substring(_: Call, operand: str, start: int, length: int | None = None) -> str:
    """Return what DuckDB's substring gives: from the end if start is negative, backwards if length is."""
    size = len(operand)
    begin = start - 1 if start >= 0 else size + start
    if length is None:
        return operand[max(begin, 0) :]
    low, high = sorted((begin, begin + length))
    return operand[max(low, 0) : max(high, 0)]


def _left(_: Call, operand: str, count: int) -> str:
    return operand[:count] if count >= 0 else operand[: max(len(operand) + count, 0)]


def _right(_: Call, operand: str, count: int) -> str:
    if count >= 0:
        return operand[max(len(operand) - count, 0) :]
    return operand[min(len(operand), -count) :]


def _splitting(arguments: Sequence[Expression]) -> Signature:
    place = whole_number(arguments, 2)
    inside = INTEGER.low <= place.low and place.high <= INTEGER.high
    kind = text(arguments, 0)
    return Signature((kind, text(arguments, 1), place if inside else INTEGER), Text(kind.length))


def _split(_: Call, operand: str, separator: str, place: int) -> str:
    parts = operand.split(separator) if separator else list(operand)
    index = place - 1 if place > 0 else len(parts) + place
    return parts[index] if place and 0 <= index < len(parts) else ""


def _initcap(_: Call, operand: str) -> str:
    words_ = re.findall(r"[^\W_]+|[\W_]+", lowered(operand))
    return "".join(raised(word[0]) + word[1:] for word in words_)


def _initcap_form(_: Call, operand: str) -> str:
    letters = quoted(r"[\p{L}\p{N}]+|[^\p{L}\p{N}]+")
    pieces = f"regexp_extract_all(lower({operand}), {letters})"
    changed = f"list_transform({pieces}, lambda w: upper(left(w, 1)) || substring(w, 2))"
    # before DuckDB 2.0 a list of no pieces is NULL as text
    return f"(CASE WHEN {operand} = '' THEN '' ELSE array_to_string({changed}, '') END)"


def _code(nothing: int) -> Callable[..., int]:
    return lambda _, x: ord(x[0]) if x else nothing


def _translate(_: Call, operand: str, letters: str, others: str) -> str:
    table: dict[int, str | None] = {}
    for place, letter in enumerate(letters):
        table.setdefault(ord(letter), others[place] if place < len(others) else None)
    return operand.translate(table)


def _coded(arguments: Sequence[Expression]) -> Signature:
    return Signature((text(arguments, 0),), whole(-1, 0x10FFFF))


def _bytes(arguments: Sequence[Expression]) -> Signature:
    kind = text(arguments, 0)
    return Signature((kind,), whole(0, 2**32 if kind.length is None else 4 * kind.length))


def _position(_: Call, operand: str, wanted: str) -> int:
    return operand.find(wanted) + 1


TEXT = (
    Function(
        "lower", "lower(x)", "The text in small letters.", _same, lambda _, x: lowered(x), called("lower")
    ),
    Function(
        "upper", "upper(x)", "The text in capital letters.", _same, lambda _, x: raised(x), called("upper")
    ),
    Function(
        "initcap",
        "initcap(x)",
        "Every word with a capital, the rest small.",
        _same,
        _initcap,
        _initcap_form,
        copies=True,
    ),
    Function(
        "trim",
        "trim(x [, letters])",
        "The text without spaces, or letters, at both ends.",
        _same,
        _trim("lr"),
        called("trim"),
    ),
    Function("ltrim", "ltrim(x [, letters])", "… at its beginning.", _same, _trim("l"), called("ltrim")),
    Function("rtrim", "rtrim(x [, letters])", "… at its end.", _same, _trim("r"), called("rtrim")),
    Function(
        "length",
        "length(x), char_length(x)",
        "How many characters it has.",
        _sized,
        lambda _, x: len(x),
        _narrow("length"),
    ),
    Function(
        "strlen",
        "strlen(x), octet_length(x)",
        "How many bytes it has in UTF-8.",
        _bytes,
        lambda _, x: len(x.encode()),
        _narrow("strlen"),
    ),
    Function(
        "ascii", "ascii(x)", "The code of its first character; 0 if empty.", _coded, _code(0), called("ascii")
    ),
    Function(
        "unicode",
        "unicode(x), ord(x)",
        "The code of its first character; -1 if empty.",
        _coded,
        _code(-1),
        called("unicode"),
    ),
    Function(
        "translate",
        "translate(x, letters, others)",
        "Each of the letters made the other in its place, or taken away if there is none.",
        _same,
        _translate,
        called("translate"),
    ),
    Function(
        "reverse",
        "reverse(x)",
        "The text from its end.",
        _same,
        lambda _, x: "".join(reversed(clusters(x))),
        called("reverse"),
        folds=False,
    ),
    Function(
        "substring",
        "substring(x, start [, length]), substring(x FROM start FOR length)",
        "Characters from a place on, the first is 1; from the end if negative.",
        _piece,
        _substring,
        piece_form("substring"),
    ),
    Function(
        "left",
        "left(x, n)",
        "The first n characters; all but the last -n.",
        _piece,
        _left,
        piece_form("left"),
    ),
    Function(
        "right",
        "right(x, n)",
        "The last n characters; all but the first -n.",
        _piece,
        _right,
        piece_form("right"),
    ),
    Function(
        "split_part",
        "split_part(x, separator, n)",
        "The n-th of the parts between separators.",
        _splitting,
        _split,
        lambda _, x, separator, n: f"split_part({x}, {separator}, {cast(n, 'BIGINT')})",
    ),
    Function(
        "position",
        "position(y IN x), strpos(x, y), instr(x, y)",
        "Where y stands in x first; 0 if nowhere.",
        lambda a: Signature((text(a, 0), text(a, 1)), whole(0, 2**32)),
        _position,
        _narrow("instr"),
    ),
    Function(
        "contains",
        "contains(x, y)",
        "Whether y stands in x.",
        asking,
        lambda _, x, y: y in x,
        called("contains"),
    ),
    Function(
        "starts_with",
        "starts_with(x, y), prefix(x, y)",
        "Whether x begins with y.",
        asking,
        lambda _, x, y: x.startswith(y),
        called("starts_with"),
    ),
    Function(
        "ends_with",
        "ends_with(x, y), suffix(x, y)",
        "Whether x ends with y.",
        asking,
        lambda _, x, y: x.endswith(y),
        called("suffix"),
    ),
)
