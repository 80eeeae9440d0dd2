"""The types of columns and the constructors of values that DB-API 2.0 asks for."""

from __future__ import annotations

import datetime
import time
from decimal import Decimal
from fractions import Fraction


class TypeObject:
    """A group of column types that compares equal to each of its members."""

    def __init__(self, name: str, *kinds: type) -> None:
        self.name = name
        self.kinds = kinds

    def __repr__(self) -> str:
        return self.name


STRING = TypeObject("STRING", str)
BINARY = TypeObject("BINARY", bytes)
NUMBER = TypeObject("NUMBER", bool, int, float, Decimal, Fraction)
DATETIME = TypeObject("DATETIME", datetime.date, datetime.time, datetime.timedelta)
ROWID = TypeObject("ROWID")

Date = datetime.date
Time = datetime.time
Timestamp = datetime.datetime
Binary = bytes


def DateFromTicks(ticks: float) -> datetime.date:  # noqa: N802
    """Return the local date at some seconds after the epoch."""
    return Date(*time.localtime(ticks)[:3])


def TimeFromTicks(ticks: float) -> datetime.time:  # noqa: N802
    """Return the local time of day at some seconds after the epoch."""
    return Time(*time.localtime(ticks)[3:6])


def TimestampFromTicks(ticks: float) -> datetime.datetime:  # noqa: N802
    """Return the local date and time at some seconds after the epoch."""
    return Timestamp(*time.localtime(ticks)[:6])
