"""Values as PostgreSQL's protocol has them, in text and in binary, and parameters as SQL literals."""

from __future__ import annotations

import struct
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

from recuse.dbapi.errors import Error as LiteralError
from recuse.dbapi.text import literal
from recuse.errors import ParameterError
from recuse.numerals import nearest
from recuse.server.postgres.wire import BrokenProtocolError

BOOL, INT8, INT2, INT4, TEXT, FLOAT4, FLOAT8 = 16, 20, 21, 23, 25, 700, 701
VARCHAR, DATE, TIME, TIMESTAMP, NUMERIC, UUID_TYPE, UNKNOWN = 1043, 1082, 1083, 1114, 1700, 2950, 705
KINDS = {
    "integer": INT8,
    "number": FLOAT8,
    "text": TEXT,
    "boolean": BOOL,
    "date": DATE,
    "time": TIME,
    "timestamp": TIMESTAMP,
    "uuid": UUID_TYPE,
}
"""the types of our columns; all others are text"""
EPOCH = datetime(2000, 1, 1)
MOST_DIGITS = 400
LEAST, MOST = -(2**63), 2**63 - 1


def plain(value: Any, type: int) -> Any:
    """Return a value of an answer as Python has it; whole numbers stay within eight bytes."""
    if isinstance(value, Fraction | Decimal):
        value = nearest(Fraction(value))
    if type == INT8 and isinstance(value, int | float):
        return max(LEAST, min(MOST, round(value)))
    return float(value) if type == FLOAT8 and isinstance(value, int) else value


def written(value: Any, type: int, how: int) -> bytes | None:
    """Return a value in text (0) or in binary (1)."""
    if value is None:
        return None
    found = plain(value, type)
    return _binary(found, type) if how == 1 else _text(found).encode()


def _text(value: Any) -> str:
    match value:
        case bool():
            return "t" if value else "f"
        case float():
            return repr(value)
        case datetime():
            return value.isoformat(sep=" ")
        case date() | time():
            return value.isoformat()
    return str(value).replace("\0", "")


def _binary(value: Any, type: int) -> bytes:
    match type:
        case 20:
            return struct.pack(">q", value)
        case 701:
            return struct.pack(">d", value)
        case 16:
            return struct.pack(">?", value)
        case 1082:
            return struct.pack(">i", (value - EPOCH.date()).days)
        case 1114:
            return struct.pack(">q", (value - EPOCH) // timedelta(microseconds=1))
        case 1083:
            since = timedelta(hours=value.hour, minutes=value.minute, seconds=value.second)
            return struct.pack(">q", since // timedelta(microseconds=1) + value.microsecond)
        case 2950:
            return UUID(str(value)).bytes
    return _text(value).encode()


def parameter(raw: bytes | None, type: int, how: int) -> str:
    """Return a parameter as SQL writes it."""
    try:
        return literal(
            None if raw is None else _from_binary(raw, type) if how == 1 else _from_text(raw, type)
        )
    except (ValueError, ArithmeticError, struct.error):
        raise BrokenProtocolError("a parameter is not of its type") from None
    except LiteralError as error:
        raise ParameterError(str(error)) from None


def _from_text(raw: bytes, type: int) -> Any:
    said = raw.decode()
    match type:
        case 20 | 21 | 23:
            return int(said)
        case 700 | 701 | 1700:
            return _written_out(Decimal(said))
        case 16:
            return said.strip().lower() in ("t", "true", "on", "1", "yes", "y")
        case 1082:
            return date.fromisoformat(said)
        case 1114:
            return datetime.fromisoformat(said)
        case 1083:
            return time.fromisoformat(said)
    return said


def _from_binary(raw: bytes, type: int) -> Any:
    match type:
        case 20 | 21 | 23:
            return int.from_bytes(raw, "big", signed=True)
        case 700:
            return Decimal(repr(struct.unpack(">f", raw)[0]))
        case 701:
            return struct.unpack(">d", raw)[0]
        case 16:
            return bool(struct.unpack(">?", raw)[0])
        case 1082:
            return EPOCH.date() + timedelta(days=struct.unpack(">i", raw)[0])
        case 1114:
            return EPOCH + timedelta(microseconds=struct.unpack(">q", raw)[0])
        case 1700:
            return _written_out(_numeric(raw))
        case 0 | 25 | 705 | 1043:
            return raw.decode()
    raise ParameterError("a parameter of this type is not read in binary", found=str(type))


def _written_out(value: Decimal) -> Decimal:
    """Return a number whose digits can be written out."""
    if value.is_finite() and abs(value.adjusted()) > MOST_DIGITS:
        raise ValueError
    return value


def _numeric(raw: bytes) -> Decimal:
    """Return a number from its digits to the base 10,000."""
    count, weight, sign, _ = struct.unpack(">hhHh", raw[:8])
    digits = struct.unpack(f">{count}h", raw[8 : 8 + 2 * count])
    if sign not in (0, 0x4000):
        raise ValueError
    whole = "".join(f"{digit:04}" for digit in digits) or "0"
    return Decimal((int(bool(sign)), tuple(map(int, whole)), 4 * (weight - count + 1)))
