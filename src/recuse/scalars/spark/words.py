"""Forms of functions of text. There are no regular expressions: Java's can fail on long text."""

from __future__ import annotations

from recuse.scalars.expression import Call
from recuse.scalars.forms import SqlForm, chosen
from recuse.scalars.function import Function, constant_of
from recuse.scalars.growth import GROWTH
from recuse.scalars.patterns import PATTERNS, like_units
from recuse.scalars.postgres.own import OWN
from recuse.scalars.spark.own import SPARK_OWN
from recuse.scalars.spark.spelling import quoted
from recuse.scalars.spelling import cast, try_cast
from recuse.scalars.text import TEXT, called

BACKSLASH = quoted("\\")


def _counted(function: str) -> SqlForm:
    """Return the form of a function that gives an integer, where the language has 64 bits."""

    def form(_: Call, *operands: str) -> str:
        return cast(f"{function}({', '.join(operands)})", "BIGINT")

    return form


def _pieces(function: str) -> SqlForm:
    """Return the form of a function of text and numbers of 32 bits."""

    def form(_: Call, text: str, *numbers: str) -> str:
        return f"{function}({', '.join([text, *(try_cast(one, 'INT') for one in numbers)])})"

    return form


def _trimmed(side: str) -> SqlForm:
    def form(_: Call, text: str, letters: str = "") -> str:
        return f"trim({side} {letters or quoted(' ')} FROM {text})"

    return form


def _like(call: Call, text: str, *_: str) -> str:
    """Return LIKE with a pattern in which one character escapes, where it must and nowhere else."""
    pattern = constant_of(call.arguments, 1, "a pattern is written down")
    escape = constant_of(call.arguments, 2, "what escapes is written down") if call.arguments[2:] else ""
    units = like_units(pattern, escape) or []
    written = "".join("\\" + unit[1:] if unit[1:] in ("%", "_", "\\") else unit[-1] for unit in units)
    return f"({text} LIKE {quoted(written)} ESCAPE {BACKSLASH})"


WORD_FORMS: dict[Function, SqlForm] = {
    **chosen(
        TEXT,
        {
            "lower": called("lower"),
            "upper": called("upper"),
            "length": _counted("length"),
            "strlen": _counted("octet_length"),
            "position": _counted("instr"),
            "contains": called("contains"),
            "starts_with": called("startswith"),
            "ends_with": called("endswith"),
        },
    ),
    **chosen(GROWTH, {"||": lambda _, *v: f"concat({', '.join(v)})"}),
    **chosen(PATTERNS, {"like": _like}),
    # these mean in Spark what they mean in PostgreSQL
    **chosen(
        OWN,
        {"pg trim": _trimmed("BOTH"), "pg ltrim": _trimmed("LEADING"), "pg rtrim": _trimmed("TRAILING")},
    ),
    **chosen(SPARK_OWN, {f"spark {name}": _pieces(name) for name in ("substring", "left", "right")}),
}
