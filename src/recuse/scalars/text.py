"""Text: what grows is bounded before it grows.

Stored text has no bound of its own. Where a function makes text longer, its arguments are cut to their
first `CUT` characters, and a result that could have more than `MOST` is refused.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence

from recuse.scalars.convert import as_text
from recuse.scalars.expression import Call, Constant, Expression
from recuse.scalars.function import Function, Mistyped, Signature, constant_of
from recuse.scalars.numbers import whole_number
from recuse.scalars.spelling import cast, quoted, spelled
from recuse.scalars.types import INTEGER, Boolean, Null, Opaque, Text, Type, whole, words

CUT = 4_096
MOST = 20_000
MOST_PATTERN = 1_000


def text(arguments: Sequence[Expression], place: int) -> Text:
    """Return the type of an argument that must be text."""
    kind = arguments[place].type
    if isinstance(kind, Text):
        return kind
    if isinstance(kind, Null):
        return Text(0)
    raise Mistyped(f"this is {words(kind)}, and text is needed", "cast it: CAST(x AS VARCHAR)", place)


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


def _same(arguments: Sequence[Expression]) -> Signature:
    kinds = tuple(text(arguments, place) for place in range(len(arguments)))
    return Signature(kinds, Text(kinds[0].length))


def _asking(arguments: Sequence[Expression]) -> Signature:
    return Signature(tuple(text(arguments, place) for place in range(len(arguments))), Boolean())


def call(function: str) -> Callable[..., str]:
    """Return the form of a function that DuckDB has under a name."""

    def form(_: Call, *operands: str) -> str:
        return f"{function}({', '.join(operands)})"

    return form


def _narrow(function: str) -> Callable[..., str]:
    """Return the form of a function whose whole number DuckDB gives as BIGINT."""

    def form(found: Call, *operands: str) -> str:
        return cast(f"{function}({', '.join(operands)})", spelled(found.type))

    return form


# ------------------------------------------------------------------ characters


def _simple(change: Callable[[str], str], odd: dict[str, str]) -> Callable[..., str]:
    """Return a change of letters one by one: a letter that would become several stays, or is listed."""

    def one(letter: str) -> str:
        changed = change(letter)
        return odd.get(letter, changed if len(changed) == 1 else letter)

    return lambda _, x: "".join(map(one, x))


_lower = _simple(str.lower, {"\u0130": "i"})
_upper = _simple(str.upper, {"ß": "ẞ"})


def _trim(sides: str) -> Callable[..., str]:
    def value(_: Call, operand: str, letters: str | None = None) -> str:
        def goes(letter: str) -> bool:
            return unicodedata.category(letter) == "Zs" if letters is None else letter in letters

        start, end = 0, len(operand)
        while "l" in sides and start < end and goes(operand[start]):
            start += 1
        while "r" in sides and end > start and goes(operand[end - 1]):
            end -= 1
        return operand[start:end]

    return value


def _sized(arguments: Sequence[Expression]) -> Signature:
    kind = text(arguments, 0)
    return Signature((kind,), whole(0, 2**32 if kind.length is None else kind.length))


# ------------------------------------------------------------------ pieces


def _piece(arguments: Sequence[Expression]) -> Signature:
    numbers = [whole_number(arguments, place) for place in range(1, len(arguments))]
    takes = [kind if INTEGER.low <= kind.low and kind.high <= INTEGER.high else INTEGER for kind in numbers]
    kind = text(arguments, 0)
    return Signature((kind, *takes), Text(kind.length))


def _long(operands: Sequence[str]) -> list[str]:
    return [operands[0], *(cast(operand, "BIGINT") for operand in operands[1:])]


def _piece_form(function: str) -> Callable[..., str]:
    def form(_: Call, *operands: str) -> str:
        return f"{function}({', '.join(_long(operands))})"

    return form


def _substring(_: Call, operand: str, start: int, length: int | None = None) -> str:
    """Return what DuckDB's substring gives: from the end if start is negative, backwards if length is."""
    size = len(operand)
    wanted = 2**32 if length is None else length
    if wanted == 0:
        return ""
    if start > 0:
        begin = min(size, start - 1)
    elif start < 0:
        begin = max(size + start, 0)
    else:
        begin, wanted = 0, wanted - 1
        if wanted <= 0:
            return ""
    if wanted > 0:
        return operand[begin : min(size, begin + wanted)]
    return operand[max(0, begin + wanted) : begin]


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
    if place == 0:
        place = 1
    index = place - 1 if place > 0 else len(parts) + place
    return parts[index] if 0 <= index < len(parts) else ""


# ------------------------------------------------------------------ growth


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


def _with(_: Call, separator: str | None, *values: str | None) -> str | None:
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


def _initcap(found: Call, operand: str) -> str:
    words_ = re.findall(r"[^\W_]+|[\W_]+", _lower(found, operand))
    return "".join(_upper(found, word[0]) + word[1:] for word in words_)


def _initcap_form(_: Call, operand: str) -> str:
    letters = quoted(r"[\p{L}\p{N}]+|[^\p{L}\p{N}]+")
    pieces = f"regexp_extract_all(lower({operand}), {letters})"
    return f"array_to_string(list_transform({pieces}, lambda w: upper(left(w, 1)) || substring(w, 2)), '')"


# ------------------------------------------------------------------ patterns


def _liking(arguments: Sequence[Expression]) -> Signature:
    pattern = constant_of(arguments, 1, "a pattern is written down", "write x LIKE 'a%', or contains(x, y)")
    if not isinstance(pattern, str):
        raise Mistyped("a pattern is text", "write x LIKE 'a%'", 1)
    if len(arguments) > 2:
        escape = constant_of(arguments, 2, "what escapes is written down", "write LIKE '10!%' ESCAPE '!'")
        if not isinstance(escape, str) or len(escape) != 1:
            raise Mistyped("one character escapes", "write LIKE '10!%' ESCAPE '!'", 2)
        if _unescaped(pattern, escape) is None:
            raise Mistyped("the pattern ends with the character that escapes", "write it twice", 1)
    return Signature(tuple(text(arguments, place) for place in range(len(arguments))), Boolean())


def _unescaped(pattern: str, escape: str) -> str | None:
    """Return a pattern as a regular expression, None where nothing follows the character that escapes."""
    found, letters = "", iter(pattern)
    for letter in letters:
        if escape and letter == escape:
            following = next(letters, None)
            if following is None:
                return None
            found += re.escape(following)
        else:
            found += {"%": ".*", "_": "."}.get(letter) or re.escape(letter)
    return found


def _like(*, fold: bool) -> Callable[..., bool]:
    def value(found: Call, operand: str, pattern: str, escape: str = "") -> bool:
        if fold:
            operand, pattern = _lower(found, operand), _lower(found, pattern)
        expression = _unescaped(pattern, escape)
        return expression is not None and re.fullmatch(expression, operand, re.DOTALL) is not None

    return value


def _like_form(word: str) -> Callable[..., str]:
    def form(_: Call, operand: str, pattern: str, escape: str = "") -> str:
        return f"({operand} {word} {pattern}{f' ESCAPE {escape}' if escape else ''})"

    return form


_SAFE_ESCAPES = frozenset("dDwWsSbBnrtfv")
_COUNTS = re.compile(r"\{(\d+)(?:,(\d*))?\}")


def _matching(arguments: Sequence[Expression]) -> Signature:
    pattern = constant_of(
        arguments, 1, "a regular expression is written down", "write regexp_matches(x, 'a+')"
    )
    problem = regex_problem(pattern) if isinstance(pattern, str) else "a regular expression is text"
    if problem is not None:
        raise Mistyped(problem, "write a plain one: letters, classes, ( | ), * + ? {2,5}", 1)
    return _asking(arguments)


def regex_problem(pattern: str) -> str | None:
    """Return why a regular expression is not accepted: what engines read differently, or what explodes."""
    if len(pattern) > MOST_PATTERN:
        return f"a regular expression has at most {MOST_PATTERN} characters"
    letters = iter(range(len(pattern)))
    for place in letters:
        if pattern[place] == "\\":
            following = pattern[place + 1 : place + 2]
            if not following or (following.isalnum() and following not in _SAFE_ESCAPES):
                return "this escape is not understood in a regular expression"
            next(letters, None)
        elif pattern.startswith("(?", place) and not pattern.startswith(("(?:", "(?i)"), place):
            return "this kind of group is not understood in a regular expression"
        elif pattern.startswith("[[", place) or (pattern.startswith("(?i)", place) and place):
            return "this is not understood in a regular expression"
    size = 1
    for low, high in _COUNTS.findall(pattern):
        size *= max(int(low), int(high or 1), 1)
    if size > MOST_PATTERN:
        return "the counts of a regular expression multiply to more than 1,000"
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError):
        return "this is no regular expression"
    return None


def _matches(*, whole_text: bool) -> Callable[..., bool]:
    def value(_: Call, operand: str, pattern: str) -> bool:
        expression = re.compile(re.sub(r"(?<!\\)\$", r"\\Z", pattern), re.ASCII)
        match = expression.fullmatch(operand) if whole_text else expression.search(operand)
        return match is not None

    return value


def _position(_: Call, operand: str, wanted: str) -> int:
    return operand.find(wanted) + 1


TEXT = (
    Function("lower", "lower(x)", "The text in small letters.", _same, _lower, call("lower")),
    Function("upper", "upper(x)", "The text in capital letters.", _same, _upper, call("upper")),
    Function(
        "initcap", "initcap(x)", "Every word with a capital, the rest small.", _same, _initcap, _initcap_form
    ),
    Function(
        "trim",
        "trim(x [, letters])",
        "The text without spaces, or letters, at both ends.",
        _same,
        _trim("lr"),
        call("trim"),
    ),
    Function("ltrim", "ltrim(x [, letters])", "… at its beginning.", _same, _trim("l"), call("ltrim")),
    Function("rtrim", "rtrim(x [, letters])", "… at its end.", _same, _trim("r"), call("rtrim")),
    Function(
        "length",
        "length(x), char_length(x)",
        "How many characters it has.",
        _sized,
        lambda _, x: len(x),
        _narrow("length"),
    ),
    Function("reverse", "reverse(x)", "The text from its end.", _same, lambda _, x: x[::-1], call("reverse")),
    Function(
        "substring",
        "substring(x, start [, length]), substring(x FROM start FOR length)",
        "Characters from a place on, the first is 1; from the end if negative.",
        _piece,
        _substring,
        _piece_form("substring"),
    ),
    Function(
        "left",
        "left(x, n)",
        "The first n characters; all but the last -n.",
        _piece,
        _left,
        _piece_form("left"),
    ),
    Function(
        "right",
        "right(x, n)",
        "The last n characters; all but the first -n.",
        _piece,
        _right,
        _piece_form("right"),
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
        "||",
        "x || y",
        "Both, one after the other; NULL if one is.",
        _joining,
        lambda _, *v: "".join(v),
        lambda _, *v: "(" + " || ".join(v) + ")",
    ),
    Function(
        "concat",
        "concat(x, y, …)",
        "All of them one after the other, without NULLs.",
        _joining,
        lambda _, *v: "".join(x for x in v if x is not None),
        call("concat"),
        strict=False,
    ),
    Function(
        "concat_ws",
        "concat_ws(separator, x, y, …)",
        "All of them with a separator between, without NULLs.",
        _joining_with,
        _with,
        call("concat_ws"),
        strict=False,
    ),
    Function(
        "replace",
        "replace(x, old, new)",
        "Every `old` made `new`.",
        _replacing,
        lambda _, x, old, new: x.replace(old, new) if old else x,
        call("replace"),
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
        _piece_form("repeat"),
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
        _asking,
        lambda _, x, y: y in x,
        call("contains"),
    ),
    Function(
        "starts_with",
        "starts_with(x, y), prefix(x, y)",
        "Whether x begins with y.",
        _asking,
        lambda _, x, y: x.startswith(y),
        call("starts_with"),
    ),
    Function(
        "ends_with",
        "ends_with(x, y), suffix(x, y)",
        "Whether x ends with y.",
        _asking,
        lambda _, x, y: x.endswith(y),
        call("suffix"),
    ),
    Function(
        "like",
        "x [NOT] LIKE 'pattern' [ESCAPE 'c']",
        "Whether it fits: % any text, _ any character.",
        _liking,
        _like(fold=False),
        _like_form("LIKE"),
    ),
    Function(
        "ilike",
        "x [NOT] ILIKE 'pattern' [ESCAPE 'c']",
        "The same, small and capital letters alike.",
        _liking,
        _like(fold=True),
        _like_form("ILIKE"),
    ),
    Function(
        "regexp_matches",
        "regexp_matches(x, 'pattern')",
        "Whether a part of it fits a regular expression.",
        _matching,
        _matches(whole_text=False),
        call("regexp_matches"),
    ),
    Function(
        "regexp_full_match",
        "regexp_full_match(x, 'pattern'), x ~ 'pattern'",
        "Whether all of it does.",
        _matching,
        _matches(whole_text=True),
        call("regexp_full_match"),
    ),
)
