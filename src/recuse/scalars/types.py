"""What a value can be: exact numbers by scale and bounds, floats, text by length, dates by range, …

A bound in a type is a fact about every value, because the engine's own type or a test enforces it. Values
are in Python: a `Number` the integer of its granules (12.50 at scale 2 is 1250), a `Date` the days and a
`Timestamp` the microseconds since 1970, a `Time` the microseconds since midnight, a `Uuid` its text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

DIGITS = 38
LIMIT: int = 10**DIGITS - 1
"""The largest number that arithmetic knows: 38 digits."""
MOST_SCALE = 30

MICROSECONDS = 86_400_000_000
FIRST_DAY, LAST_DAY = -719_162, 2_932_896
"""0001-01-01 and 9999-12-31: outside of them functions of dates have no value; comparisons take all."""


@dataclass(frozen=True, slots=True)
class Number:
    """Exact numbers of `scale` decimal places; `low` and `high` bound the integer of granules."""

    scale: int
    low: int
    high: int

    @property
    def digits(self) -> int:
        """How many decimal digits the integer of granules can have."""
        return len(str(max(abs(self.low), abs(self.high))))

    @property
    def is_exact(self) -> bool:
        """Whether arithmetic can take it: at most 38 digits (a stored HUGEINT can have 39)."""
        return self.low >= -LIMIT and self.high <= LIMIT


@dataclass(frozen=True, slots=True)
class Float:
    """Binary floats, one NaN and one zero; `nan` says whether NaN can be among them, as a stored value.

    NaN is what is stored or written, never the result of arithmetic: that is NULL.
    """

    nan: bool = False


@dataclass(frozen=True, slots=True)
class Text:
    """Text of at most `length` characters, None if nothing bounds it.

    `labels` says that it is read from an ENUM, whose order is not the text's.
    """

    length: int | None = None
    labels: bool = False


@dataclass(frozen=True, slots=True)
class Boolean:
    """Truth values."""


ANY_DAY = 2**31


@dataclass(frozen=True, slots=True)
class Date:
    """Days since 1970 between `low` and `high`; a stored one can lie anywhere, at infinity too."""

    low: int = -ANY_DAY
    high: int = ANY_DAY


ANY_MOMENT = 2**63


@dataclass(frozen=True, slots=True)
class Timestamp:
    """Microseconds since 1970 between `low` and `high`, without time zone."""

    low: int = -ANY_MOMENT
    high: int = ANY_MOMENT


@dataclass(frozen=True, slots=True)
class Time:
    """Times of day, 00:00 to 24:00."""


@dataclass(frozen=True, slots=True)
class Uuid:
    """UUIDs."""


@dataclass(frozen=True, slots=True)
class Null:
    """The type of NULL itself, which becomes whatever it stands beside."""


@dataclass(frozen=True, slots=True)
class Opaque:
    """A stored type that nothing is known of but whether a value is NULL."""

    spelled: str


Type = Number | Float | Text | Boolean | Date | Timestamp | Time | Uuid | Null | Opaque

ORDINARY_DATE = Date(FIRST_DAY, LAST_DAY)
ORDINARY_TIMESTAMP = Timestamp(FIRST_DAY * MICROSECONDS, (LAST_DAY + 1) * MICROSECONDS - 1)


def whole(low: int, high: int) -> Number:
    """Return the type of the whole numbers between two."""
    return Number(0, low, high)


def decimal(digits: int, scale: int) -> Number:
    """Return the type of decimals of so many digits, `scale` of them behind the point."""
    return Number(scale, 1 - 10**digits, 10**digits - 1)


TINYINT, SMALLINT, INTEGER, BIGINT, HUGEINT = (
    whole(-(2**bits), 2**bits - 1) for bits in (7, 15, 31, 63, 127)
)
EXACT = whole(-LIMIT, LIMIT)
"""All whole numbers that arithmetic knows."""

_SPELLED: dict[Type, tuple[str, ...]] = {
    TINYINT: ("TINYINT",),
    SMALLINT: ("SMALLINT",),
    INTEGER: ("INTEGER",),
    BIGINT: ("BIGINT",),
    HUGEINT: ("HUGEINT",),
    whole(0, 2**8 - 1): ("UTINYINT",),
    whole(0, 2**16 - 1): ("USMALLINT",),
    whole(0, 2**32 - 1): ("UINTEGER",),
    whole(0, 2**64 - 1): ("UBIGINT",),
    Float(nan=True): ("FLOAT", "DOUBLE", "REAL", "DOUBLE PRECISION"),
    Text(): ("VARCHAR", "TEXT", "CHARACTER VARYING"),
    Boolean(): ("BOOLEAN",),
    Date(): ("DATE",),
    Time(): ("TIME", "TIME WITHOUT TIME ZONE"),
    Timestamp(): (
        *("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"),
        *("TIMESTAMP WITHOUT TIME ZONE", "TIMESTAMP IN UTC"),
    ),
    Uuid(): ("UUID",),
}
"""how DuckDB and PostgreSQL spell types; IN UTC is how a catalogue says that it reads moments with a zone so.

TIMESTAMP WITH TIME ZONE is none of them: in a zone with summer time two moments would read as one.
"""
_STORED = {name: kind for kind, names in _SPELLED.items() for name in names}
_DECIMAL = re.compile(r"(?:DECIMAL|NUMERIC)\((\d+), ?(\d+)\)")
_LENGTH = re.compile(r"CHARACTER(?: VARYING)?\((\d+)\)")
_ENUM = re.compile(r"ENUM\((.*)\)", re.DOTALL)
_LABEL = re.compile(r"'((?:[^']|'')*)'")


def stored(spelled: str) -> Type:
    """Return the type of a column as the catalogue spells it.

    >>> stored("DECIMAL(4,2)")
    Number(scale=2, low=-9999, high=9999)
    >>> stored("VARCHAR COLLATE nocase")
    Opaque(spelled='VARCHAR COLLATE nocase')
    """
    text = spelled.strip()
    if found := _DECIMAL.fullmatch(text.upper()):
        return decimal(int(found[1]), int(found[2]))
    if found := _LENGTH.fullmatch(text.upper()):
        return Text(int(found[1]))
    if found := _ENUM.fullmatch(text):
        labels = [label.replace("''", "'") for label in _LABEL.findall(found[1])]
        return Text(max(map(len, labels), default=0), labels=True)
    return _STORED.get(text.upper(), Opaque(spelled))


def rescaled(kind: Number, scale: int) -> Number:
    """Return the type with more decimal places, its values the same."""
    factor = 10 ** (scale - kind.scale)
    return Number(scale, kind.low * factor, kind.high * factor)


def hull(kinds: Iterable[Number]) -> Number:
    """Return the type that holds all values of several, whatever its digits."""
    listed = list(kinds)
    scale = max(kind.scale for kind in listed)
    same = [rescaled(kind, scale) for kind in listed]
    return Number(scale, min(kind.low for kind in same), max(kind.high for kind in same))


def clamped(kind: Number) -> Number:
    """Return the type with bounds that arithmetic knows: a value beyond them becomes NULL."""
    low, high = max(kind.low, -LIMIT), min(kind.high, LIMIT)
    return Number(kind.scale, min(low, LIMIT), max(high, -LIMIT))


def common(kinds: Iterable[Type]) -> Type | None:
    """Return the one type to which values of several are brought, None if there is none.

    Numbers keep every digit up to 38 of them; a number and a float are floats; a date and a timestamp are
    timestamps. Text and anything else have none: `build.alike` reads text as what it stands beside.
    """
    listed = [kind for kind in kinds if not isinstance(kind, Null)]
    found: Type | None = listed[0] if listed else Null()
    for kind in listed[1:]:
        found = _pair(found, kind)
    return found


def _pair(left: Type | None, right: Type | None) -> Type | None:
    match left, right:
        case Boolean(), (Number() | Float()):
            return _pair(whole(0, 1), right)
        case ((Number() | Float()), Boolean()):
            return _pair(left, whole(0, 1))
        case Number(), Number():
            if left.scale == right.scale == 0:
                return hull([left, right])
            return clamped(hull([left, right]))
        case ((Float() | Number()), (Float() | Number())):
            return Float(nan=any(isinstance(kind, Float) and kind.nan for kind in (left, right)))
        case Text(), Text():
            bounds = [left.length, right.length]
            length = None if None in bounds else max(bound for bound in bounds if bound is not None)
            return Text(length, labels=left.labels and right.labels)
        case Date(), Date():
            return Date(min(left.low, right.low), max(left.high, right.high))
        case ((Date() | Timestamp()), (Date() | Timestamp())):
            sides = [moments(kind) for kind in (left, right)]
            return Timestamp(min(side.low for side in sides), max(side.high for side in sides))
        case (Boolean(), Boolean()) | (Time(), Time()) | (Uuid(), Uuid()):
            return left
    return None


def moments(kind: Date | Timestamp) -> Timestamp:
    """Return the type of a date or timestamp as a timestamp; a date far out becomes NULL."""
    if isinstance(kind, Timestamp):
        return kind
    low, high = max(kind.low, FIRST_DAY), min(kind.high, LAST_DAY)
    return Timestamp(low * MICROSECONDS, high * MICROSECONDS)


def words(kind: Type) -> str:
    """Return what a type is called in messages."""
    match kind:
        case Number(scale=0):
            return "a whole number"
        case Number():
            return "a number"
        case Float():
            return "a float"
        case Text():
            return "text"
        case Boolean():
            return "a truth value"
        case Date():
            return "a date"
        case Timestamp():
            return "a timestamp"
        case Time():
            return "a time"
        case Uuid():
            return "a UUID"
        case Null():
            return "NULL"
    return f"of type {kind.spelled}"


def is_ordinary(kind: Date | Timestamp) -> bool:
    """Return whether every value lies in the years 1 to 9999."""
    a_day = 1 if isinstance(kind, Date) else MICROSECONDS
    return kind.low >= FIRST_DAY * a_day and kind.high < (LAST_DAY + 1) * a_day
