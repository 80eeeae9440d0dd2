"""What the columns of an answer are, before there is one: it follows from the question and the catalogue."""

from __future__ import annotations

from enum import Enum

from recuse.scalars.types import Boolean, Date, Float, Number, Text, Time, Timestamp, Type, Uuid
from recuse.sql.elaborate import Lookup, type_of
from recuse.sql.formula import Term
from recuse.sql.read import Reading, Shown, ShownKey


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


_KINDS: dict[type[Type], ColumnKind] = {
    Float: ColumnKind.NUMBER,
    Text: ColumnKind.TEXT,
    Boolean: ColumnKind.BOOLEAN,
    Date: ColumnKind.DATE,
    Time: ColumnKind.TIME,
    Timestamp: ColumnKind.TIMESTAMP,
    Uuid: ColumnKind.UUID,
}


def kind_of_type(kind: Type) -> ColumnKind:
    """Return the kind of values of a type."""
    if isinstance(kind, Number):
        return ColumnKind.INTEGER if kind.scale == 0 else ColumnKind.NUMBER
    return _KINDS.get(type(kind), ColumnKind.OTHER)


def kind_of(shown: Shown, reading: Reading, lookup: Lookup) -> ColumnKind:
    """Return the kind of a column: a key's own; a count's numbers are whole, all others need not be."""
    if isinstance(shown.what, ShownKey):
        return kind_of_type(type_of(reading.keys[shown.what.position].values[0], lookup))
    if isinstance(shown.what, Term) and reading.measures[shown.what.measure].aggregate.whole:
        return ColumnKind.INTEGER
    return ColumnKind.NUMBER
