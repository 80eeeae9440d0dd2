"""What the columns of an answer are, before there is one: it follows from the question and the catalogue."""

from __future__ import annotations

from enum import Enum

from recuse.scalars.types import Boolean, Date, Float, Number, Text, Time, Timestamp, Type, Uuid


class ColumnKind(Enum):
    """The kind of values in a column of an answer."""

    INTEGER = "integer"
    NUMBER = "number"
    TEXT = "text"
    BOOLEAN = "boolean"
    DATE = "date"
    TIME = "time"
    TIMESTAMP = "timestamp"
    UUID = "uuid"
    OTHER = "other"

    @property
    def is_number(self) -> bool:
        """Whether its values can be computed with."""
        return self in (ColumnKind.INTEGER, ColumnKind.NUMBER)


_KINDS: dict[type[Type], ColumnKind] = {
    Float: ColumnKind.NUMBER,
    Text: ColumnKind.TEXT,
    Boolean: ColumnKind.BOOLEAN,
    Date: ColumnKind.DATE,
    Time: ColumnKind.TIME,
    Timestamp: ColumnKind.TIMESTAMP,
    Uuid: ColumnKind.UUID,
}


def kind_of(found: Type) -> ColumnKind:
    """Return the kind of a type's values."""
    if isinstance(found, Number):
        return ColumnKind.INTEGER if found.scale == 0 else ColumnKind.NUMBER
    return _KINDS.get(type(found), ColumnKind.OTHER)
