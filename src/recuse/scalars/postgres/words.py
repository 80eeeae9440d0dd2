"""Forms of functions of text."""

from __future__ import annotations

from collections.abc import Callable

from recuse.scalars.expression import Call
from recuse.scalars.forms import SqlForm, chosen
from recuse.scalars.function import Function, constant_of
from recuse.scalars.growth import GROWTH
from recuse.scalars.patterns import PATTERNS
from recuse.scalars.postgres.own import OWN, pattern_of
from recuse.scalars.postgres.spelling import cast
from recuse.scalars.spelling import quoted
from recuse.scalars.text import TEXT, called


def _counted(function: str) -> SqlForm:
    """Return the form of a function that gives an integer, where the language has 64 bits."""

    def form(_: Call, *operands: str) -> str:
        return cast(f"{function}({', '.join(operands)})", "bigint")

    return form


def _pieces(function: str) -> SqlForm:
    """Return the form of a function of text and numbers of 32 bits."""

    def form(_: Call, text: str, *numbers: str) -> str:
        return f"{function}({', '.join([text, *(cast(one, 'integer') for one in numbers)])})"

    return form


def _substring(_: Call, text: str, start: str, length: str | None = None) -> str:
    """Return a part of text; a length below 0 would fail."""
    if length is None:
        return f"substring({text}, {cast(start, 'integer')})"
    positive = cast(f"CASE WHEN {length} >= CAST('0' AS bigint) THEN {length} END", "integer")
    return f"substring({text}, {cast(start, 'integer')}, {positive})"


def _right(_: Call, text: str, count: str) -> str:
    """Return the end of text; the least integer has no opposite."""
    least = "CAST('-2147483647' AS bigint)"
    return f"right({text}, {cast(f'CASE WHEN {count} < {least} THEN {least} ELSE {count} END', 'integer')})"


def _padded(function: str) -> SqlForm:
    def form(_: Call, text: str, count: str, pad: str) -> str:
        return f"{function}({text}, {cast(count, 'integer')}, {pad})"

    return form


def _part(_: Call, text: str, separator: str, place: str) -> str:
    there = cast(f"NULLIF({place}, CAST('0' AS bigint))", "integer")
    return f"split_part({text}, {separator}, {there})"


def _like(word: str) -> SqlForm:
    def form(call: Call, text: str, pattern: str, _: str = "") -> str:
        escape = constant_of(call.arguments, 2, "what escapes is written down") if call.arguments[2:] else ""
        return f"({text} {word} {pattern} ESCAPE {quoted(escape)})"

    return form


def _matches(call: Call, text: str, _: str) -> str:
    return f"({text} ~ {quoted(pattern_of(call.arguments))})"


def _own(name: str) -> Callable[[SqlForm], dict[Function, SqlForm]]:
    return lambda form: chosen(OWN, {f"pg {name}": form})


WORD_FORMS: dict[Function, SqlForm] = {
    **chosen(
        TEXT,
        {
            "lower": called("lower"),
            "upper": called("upper"),
            "length": _counted("length"),
            "strlen": _counted("octet_length"),
            "ascii": _counted("ascii"),
            "position": _counted("strpos"),
            "translate": called("translate"),
            "left": _pieces("left"),
            "right": _right,
            "starts_with": called("starts_with"),
        },
    ),
    **chosen(
        GROWTH,
        {
            "||": lambda _, *v: "(" + " || ".join(v) + ")",
            "concat": called("concat"),
            "concat_ws": called("concat_ws"),
            "replace": called("replace"),
            "lpad": _padded("lpad"),
            "rpad": _padded("rpad"),
            "repeat": _pieces("repeat"),
        },
    ),
    **chosen(PATTERNS, {"like": _like("LIKE"), "ilike": _like("ILIKE")}),
    **_own("trim")(called("btrim")),
    **_own("ltrim")(called("ltrim")),
    **_own("rtrim")(called("rtrim")),
    **_own("substring")(_substring),
    **_own("split_part")(_part),
    **_own("reverse")(called("reverse")),
    **_own("regexp_matches")(_matches),
}
