"""SQL types, as far as it matters whether comparing two values can raise and what equality means."""

from __future__ import annotations

import re
from enum import Enum


class Family(Enum):
    """Types that compare with one another exactly and without ever raising, except WIDE."""

    WHOLE = "integers of up to 19 digits"
    DECIMAL = "decimals of up to 19 digits"
    WIDE = "wider integers and decimals: comparing two types may overflow"
    FLOAT = "binary floats"
    TEXT = "text without collation"
    DATE = "dates"
    TIMESTAMP = "timestamps"
    BOOLEAN = "truth values"
    UUID = "UUIDs"


_PLAIN = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT"), Family.WHOLE),
    **dict.fromkeys(("UTINYINT", "USMALLINT", "UINTEGER"), Family.WHOLE),
    **dict.fromkeys(("UBIGINT", "HUGEINT", "UHUGEINT"), Family.WIDE),
    **dict.fromkeys(("FLOAT", "DOUBLE"), Family.FLOAT),
    "VARCHAR": Family.TEXT,
    "DATE": Family.DATE,
    "TIMESTAMP": Family.TIMESTAMP,
    "BOOLEAN": Family.BOOLEAN,
    "UUID": Family.UUID,
}
_DECIMAL = re.compile(r"DECIMAL\((\d+), ?\d+\)")
SAFE_DIGITS = 19  # two numbers of 19 digits have a common decimal type of 38, the widest there is

NUMBERS = frozenset({Family.WHOLE, Family.DECIMAL, Family.FLOAT})


def family(type_text: str) -> Family | None:
    """Return the family of a type as the catalogue spells it, or None for a type we know nothing of.

    >>> family("DECIMAL(15,2)"), family("VARCHAR COLLATE nocase")
    (<Family.DECIMAL: 'decimals of up to 19 digits'>, None)
    """
    text = type_text.upper()
    if decimal := _DECIMAL.fullmatch(text):
        return Family.DECIMAL if int(decimal[1]) <= SAFE_DIGITS else Family.WIDE
    return _PLAIN.get(text)


def comparable(left: Family | None, right: Family | None) -> bool:
    """Return whether comparing values of the two families can never raise."""
    if left is None or left is Family.WIDE:
        return False
    return left is right or {left, right} <= NUMBERS
