"""`strftime`: a date or timestamp as text, in a form that is written down."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date

from recuse.scalars.convert import ordinary
from recuse.scalars.dates import MONTHS, WEEKDAYS, day_of, moment, rest_of
from recuse.scalars.expression import Call, Expression
from recuse.scalars.function import Function, Mistyped, Signature, constant_of
from recuse.scalars.spelling import quoted
from recuse.scalars.types import Text

LONGEST = 200
SECOND = 1_000_000
Coded = Callable[[date, int], str]
"""what a day and its microseconds are written as"""


def _hour(rest: int) -> int:
    return rest // (3600 * SECOND)


CODES: dict[str, tuple[int, Coded]] = {
    "%Y": (4, lambda d, _: f"{d.year:04}"),
    "%y": (2, lambda d, _: f"{d.year % 100:02}"),
    "%m": (2, lambda d, _: f"{d.month:02}"),
    "%d": (2, lambda d, _: f"{d.day:02}"),
    "%-m": (2, lambda d, _: f"{d.month}"),
    "%-d": (2, lambda d, _: f"{d.day}"),
    "%j": (3, lambda d, _: f"{d.timetuple().tm_yday:03}"),
    "%H": (2, lambda _, r: f"{_hour(r):02}"),
    "%I": (2, lambda _, r: f"{(_hour(r) + 11) % 12 + 1:02}"),
    "%p": (2, lambda _, r: "AM" if _hour(r) < 12 else "PM"),
    "%M": (2, lambda _, r: f"{r // (60 * SECOND) % 60:02}"),
    "%S": (2, lambda _, r: f"{r // SECOND % 60:02}"),
    "%f": (6, lambda _, r: f"{r % SECOND:06}"),
    "%w": (1, lambda d, _: f"{d.isoweekday() % 7}"),
    "%u": (1, lambda d, _: f"{d.isoweekday()}"),
    "%a": (3, lambda d, _: WEEKDAYS[d.isoweekday() % 7][:3]),
    "%A": (9, lambda d, _: WEEKDAYS[d.isoweekday() % 7]),
    "%b": (3, lambda d, _: MONTHS[d.month - 1][:3]),
    "%B": (9, lambda d, _: MONTHS[d.month - 1]),
    "%%": (1, lambda _, __: "%"),
}
"""a code, how long it is at most, and what it means"""
PART = re.compile(r"%-?.|[^%]+|%", re.DOTALL)


def _signature(arguments: Sequence[Expression]) -> Signature:
    kind = moment(arguments, 0)
    accepted = f"codes are {', '.join(CODES)}"
    form = str(constant_of(arguments, 1, "the form of a date is written down", accepted))
    parts = PART.findall(form)
    wrong = next((part for part in parts if part.startswith("%") and part not in CODES), None)
    if wrong is not None:
        raise Mistyped(f"the code {wrong} is not understood", accepted, 1)
    if len(form) > LONGEST:
        raise Mistyped(f"the form of a date is longer than {LONGEST} characters", "write a shorter one", 1)
    longest = sum(CODES[part][0] if part in CODES else len(part) for part in parts)
    return Signature((kind, Text()), Text(longest))


def _value(call: Call, operand: int, form: str) -> str | None:
    kind = call.arguments[0].type
    day, rest = day_of(operand, kind), rest_of(operand, kind)
    if day is None:
        return None
    return "".join(CODES[part][1](day, rest) if part in CODES else part for part in PART.findall(form))


def _form(call: Call, operand: str, _: str) -> str:
    form = constant_of(call.arguments, 1, "the form of a date is written down")
    return f"strftime({ordinary(operand, call.arguments[0].type)}, {quoted(str(form))})"


FORMATS = (
    Function(
        "strftime",
        "strftime(x, '%Y-%m')",
        f"The date as text; codes: {' '.join(CODES)}.",
        _signature,
        _value,
        _form,
    ),
)
