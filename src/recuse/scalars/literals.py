"""What a question writes down → constants: numbers by their digits, text as what it stands beside.

Only plain spellings are read; anything else is refused before a charge, and never guessed at.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from fractions import Fraction
from uuid import UUID

from recuse.scalars import types
from recuse.scalars.expression import Constant
from recuse.scalars.function import Mistyped

NULL = Constant(None, types.Null())
TRUTHS = {
    "true": True,
    "false": False,
    "t": True,
    "f": False,
    "1": True,
    "0": False,
    "yes": True,
    "no": False,
}
EXAMPLES: dict[type, str] = {
    types.Number: "write digits, such as 12 or 0.5",
    types.Float: "write digits, such as 0.5 or 1e6",
    types.Boolean: "write TRUE or FALSE",
    types.Date: "write DATE '1997-01-31'",
    types.Timestamp: "write TIMESTAMP '1997-01-31 12:00:00'",
    types.Time: "write TIME '12:00:00'",
    types.Uuid: "write the UUID's 32 digits in quotes",
}
SQL_NAMES: dict[type, str] = {
    types.Number: "number",
    types.Float: "number",
    types.Boolean: "truth value",
    types.Date: "DATE",
    types.Timestamp: "TIMESTAMP",
    types.Time: "TIME",
    types.Uuid: "UUID",
}

_EXACT = re.compile(r"\s*([+-]?)(\d+\.?\d*|\.\d+)\s*", re.ASCII)
_FLOAT = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?\s*", re.ASCII)
_NAMED = re.compile(r"\s*[+-]?(inf|infinity|nan)\s*", re.ASCII | re.IGNORECASE)
_DAY = re.compile(r"\s*(\d{4})-(\d{1,2})-(\d{1,2})\s*", re.ASCII)
_MOMENT = re.compile(
    r"\s*(\d{4}-\d{1,2}-\d{1,2})(?:[ T](\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?))?Z?\s*", re.ASCII
)
_TIME = re.compile(r"\s*(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,6}))?)?\s*", re.ASCII)


def number(text: str) -> Constant:
    """Return the constant that a number without quotes is.

    >>> number("0.50")
    Constant(value=50, type=Number(scale=2, low=50, high=50))
    """
    if "e" in text.lower():
        return Constant(float(text) + 0.0, types.Float())
    found = _exact(text)
    if found is None:
        raise Mistyped("this number has too many digits", f"write at most {types.DIGITS} of them")
    return found


def _exact(text: str) -> Constant | None:
    match = _EXACT.fullmatch(text)
    if match is None:
        return None
    before, _, after = match[2].partition(".")
    value = int((match[1] if match[1] == "-" else "") + (before + after or "0"))
    if abs(value) > types.LIMIT or len(after) > types.DIGITS:
        return None
    return Constant(value, types.Number(len(after), value, value))


def text(written: str) -> Constant:
    """Return the constant that a string is."""
    return Constant(written, types.Text(len(written)))


def literal(written: str, kind: types.Type) -> Constant:
    """Return what text means that is written beside values of a type, or say that it means nothing."""
    found = _literal(written, kind)
    if found is None:
        named = SQL_NAMES.get(type(kind), types.words(kind))
        raise Mistyped(f"this constant is no {named}", EXAMPLES.get(type(kind)))
    return found


def _literal(written: str, kind: types.Type) -> Constant | None:
    match kind:
        case types.Text():
            return text(written)
        case types.Number():
            return _exact(written)
        case types.Float():
            if _NAMED.fullmatch(written):
                value = float(written)
                return Constant(value, types.Float(nan=value != value))
            return Constant(float(written) + 0.0, types.Float()) if _FLOAT.fullmatch(written) else None
        case types.Boolean():
            value_ = TRUTHS.get(written.strip().lower())
            return None if value_ is None else Constant(value_, types.Boolean())
        case types.Date():
            days = _days(written)
            return None if days is None else Constant(days, types.Date(days, days))
        case types.Timestamp():
            moment = _moment(written)
            return None if moment is None else Constant(moment, types.Timestamp(moment, moment))
        case types.Time():
            clock = _clock(written)
            return None if clock is None else Constant(clock, types.Time())
        case types.Uuid():
            try:
                return Constant(str(UUID(written)), types.Uuid())
            except ValueError:
                return None
    return None


def _days(written: str) -> int | None:
    match = _DAY.fullmatch(written)
    try:
        found = None if match is None else date(int(match[1]), int(match[2]), int(match[3]))
    except ValueError:
        return None
    return None if found is None else (found - date(1970, 1, 1)).days


def _moment(written: str) -> int | None:
    match = _MOMENT.fullmatch(written)
    days = None if match is None else _days(match[1])
    clock = 0 if match is None or match[2] is None else _clock(match[2])
    if days is None or clock is None or clock == types.MICROSECONDS:
        return None
    return days * types.MICROSECONDS + clock


def _clock(written: str) -> int | None:
    match = _TIME.fullmatch(written)
    if match is None:
        return None
    hour, minute, second = (int(match[place] or 0) for place in (1, 2, 3))
    if hour > 24 or minute > 59 or second > 59:
        return None
    found = ((hour * 60 + minute) * 60 + second) * 1_000_000 + int((match[4] or "").ljust(6, "0"))
    return found if found <= types.MICROSECONDS else None


def of_python(value: object) -> Constant | None:
    """Return the constant of a value that a policy lists: text, a number or a truth value."""
    match value:
        case bool():
            return Constant(value, types.Boolean())
        case int():
            return Constant(value, types.Number(0, value, value)) if abs(value) <= types.LIMIT else None
        case str():
            return text(value)
        case Fraction():
            return _fraction(value)
        case datetime() | date():
            return text(value.isoformat(sep=" ") if isinstance(value, datetime) else value.isoformat())
    return None


def _fraction(value: Fraction) -> Constant | None:
    for scale in range(types.DIGITS):
        scaled = value * 10**scale
        if scaled.denominator == 1:
            return Constant(int(scaled), types.Number(scale, int(scaled), int(scaled)))
    return None


def read_beside(kind: types.Type) -> types.Type:
    """Return the type as which text is read that stands beside a type."""
    match kind:
        case types.Number(scale=0):
            usual = types.BIGINT
            return usual if usual.low <= kind.low and kind.high <= usual.high else types.EXACT
        case types.Number():
            return types.decimal(types.DIGITS, kind.scale)
        case types.Float():
            return types.Float(nan=kind.nan)
        case types.Date():
            return types.Date()
        case types.Timestamp():
            return types.Timestamp()
    return kind
