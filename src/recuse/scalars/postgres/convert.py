"""From one type to another in PostgreSQL, which has no TRY_CAST: what cannot be cast is NULL before.

A CASE stands on the operand of a cast, never around it. So every part is total by itself: PostgreSQL may fold
constants, and evaluate any part in any order, and meets no value that a cast does not take.
"""

from __future__ import annotations

from recuse.scalars.convert import as_text, calendar, cuts, holds
from recuse.scalars.expression import Constant
from recuse.scalars.forms import is_long
from recuse.scalars.postgres.spelling import NAN, ZERO, cast, constant, engine_type, held
from recuse.scalars.spelling import quoted
from recuse.scalars.types import (
    BIGINT,
    INTEGER,
    SMALLINT,
    Boolean,
    Date,
    Float,
    Null,
    Number,
    Text,
    Time,
    Timestamp,
    Type,
    Uuid,
)

LARGEST, SMALLEST = "1e300", "1e-300"
"""floats that text is read as: nearer to zero it is zero, farther away NULL"""

# PostgreSQL's casts of text take more than this; what else they take is NULL (docs/reference/postgresql.md)
_BLANKS = "[ \\t\\n\\r\\f\\v]*"
_YEAR, _SHORT, _DAY = "[0-9]{4}", "(0?[469]|11)", "(0?[1-9]|[12][0-9]"
_LEAP = "([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)"
_DATE = (
    f"(?!0000)({_YEAR}-(0?[13578]|1[02])-{_DAY}|3[01])|{_YEAR}-{_SHORT}-{_DAY}|30)"
    f"|{_YEAR}-0?2-(0?[1-9]|1[0-9]|2[0-8])|{_LEAP}-0?2-29)"
)
_TIME = "([01]?[0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\\.[0-9]{1,6})?)?"
_HEX = "[0-9a-fA-F]"
PATTERNS: dict[str, str] = {
    "integer": "[+-]?[0-9]{1,38}",
    "number": "[+-]?([0-9]{1,60}\\.?[0-9]{0,60}|\\.[0-9]{1,60})([eE][+-]?[0-9]{1,2})?",
    "float": "[+-]?([0-9]{1,60}\\.?[0-9]{0,60}|\\.[0-9]{1,60})([eE][+-]?[0-9]{1,3})?",
    "boolean": "([tT]([rR]([uU][eE]?)?)?|[yY]([eE][sS]?)?|[oO][nN]|1"
    "|[fF]([aA]([lL]([sS][eE]?)?)?)?|[nN][oO]?|[oO][fF][fF]?|0)",
    "date": _DATE,
    "timestamp": f"{_DATE}([ T]{_TIME})?",
    "time": _TIME,
    "uuid": f"{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}}",
}
"""the text that is read, by what it is read as; white space may stand around it"""


def spelled_as(sql: str, pattern: str) -> str:
    """Return text, NULL unless it is spelled so that PostgreSQL's cast takes it."""
    return f"(CASE WHEN {sql} ~ {quoted(f'^{_BLANKS}({PATTERNS[pattern]}){_BLANKS}$')} THEN {sql} END)"


def between(sql: str, low: str, high: str) -> str:
    """Return a value that is NULL unless it lies between two."""
    return f"(CASE WHEN {sql} BETWEEN {low} AND {high} THEN {sql} END)"


def ordinary(sql: str, kind: Type) -> str:
    """Return a date or timestamp that is NULL outside of the years 1 to 9999, at infinity too."""
    ends = calendar(kind)
    return sql if ends is None else between(sql, *(cast(quoted(end), engine_type(kind)) for end in ends))


def one_form(sql: str) -> str:
    """Return a float of one form: one NaN, one zero."""
    return f"(CASE WHEN {sql} = {NAN} THEN {NAN} ELSE {sql} + {ZERO} END)"


def bounded(sql: str, kind: Number) -> str:
    """Return a numeric that is NULL outside of the bounds of a type."""
    low, high = (constant(Constant(end, Number(kind.scale, end, end))) for end in (kind.low, kind.high))
    return between(sql, low, high)


def form(sql: str, source: Type, target: Type) -> str:
    """Return the SQL that brings a value to a type."""
    match source, target:
        case Null(), _:
            return cast("NULL", engine_type(target))
        case Number(), Number():
            return _rescaled(sql, source, target)
        case (Number(), Boolean()) | (Float(), Boolean()):
            return f"({sql} <> {cast(quoted('0'), engine_type(source))})"
        case Float(), Float():
            return f"NULLIF({sql}, {NAN})" if source.nan and not target.nan else sql
        case Float(), Number():
            return _from_float(sql, target)
        case Text(), (Number() | Float()):
            return _from_text(sql, target)
        case Boolean(), (Number() | Float()):
            one, nothing = (cast(quoted(n), engine_type(target)) for n in "10")
            return f"(CASE WHEN {sql} THEN {one} WHEN NOT {sql} THEN {nothing} END)"
        case _, Text():
            return _text(sql, source, target)
        case (Number(), Float()) | (Date(), Timestamp()) | (Timestamp(), Date()) | (Timestamp(), Time()):
            return cast(sql if isinstance(source, Number) else ordinary(sql, source), engine_type(target))
        case Text(), (Boolean() | Date() | Timestamp() | Time() | Uuid()):
            return cast(spelled_as(sql, engine_type(target)), engine_type(target))
    return sql


def _text(sql: str, source: Type, target: Text) -> str:
    if isinstance(source, Number) and not is_long(source):
        sql = cast(sql, f"numeric(38,{source.scale})")  # so many places, whatever was computed
    written = sql if isinstance(source, Text) else cast(sql, "text")
    return f"left({written}, {target.length})" if cuts(as_text(source), target) else written


def _rescaled(sql: str, source: Number, target: Number) -> str:
    wanted = engine_type(target)
    if holds(target, source):
        return held(sql, source, wanted)
    exact = held(sql, source, "numeric")
    if source.scale > target.scale:
        exact = f"round({exact}, {target.scale})"
    found = bounded(exact, target)
    return found if wanted == "numeric" else cast(found, wanted)


def _from_float(sql: str, target: Number) -> str:
    """Return a float as a number: to 64 bits halves go to even, to a numeric away from zero."""
    if is_long(target):
        found = cast(_short_of(sql, f"{float(BIGINT.low)!r}", f"{float(2**63)!r}"), "bigint")
        if target == BIGINT:
            return found
        return between(found, *(constant(Constant(end, BIGINT)) for end in (target.low, target.high)))
    most = f"1e{38 - target.scale}"
    exact = f"round({cast(_short_of(sql, '-' + most, most), 'numeric')}, {target.scale})"
    return bounded(exact, target)


def _short_of(sql: str, low: str, high: str) -> str:
    ends = [cast(quoted(end), "double precision") for end in (low, high)]
    return f"(CASE WHEN {sql} >= {ends[0]} AND {sql} < {ends[1]} THEN {sql} END)"


def _from_text(sql: str, target: Number | Float) -> str:
    if isinstance(target, Float):
        read = cast(spelled_as(sql, "float"), "numeric")
        low, high = (cast(quoted(end), "numeric") for end in (SMALLEST, LARGEST))
        nothing = cast(quoted("0"), "numeric")
        near = f"CASE WHEN abs({read}) < {low} THEN {nothing} WHEN abs({read}) <= {high} THEN {read} END"
        return cast(near, "double precision")
    integers = target in (SMALLINT, INTEGER, BIGINT)
    read = cast(spelled_as(sql, "integer" if integers else "number"), "numeric")
    found = bounded(f"round({read}, {target.scale})", target)
    return cast(found, "bigint") if is_long(target) else found
