"""Frames of windows: ROWS by numbers that are written down, RANGE by a distance that no value can exceed."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from recuse.scalars.function import Mistyped
from recuse.scalars.types import (
    BIGINT,
    ORDINARY_TIMESTAMP,
    Date,
    Float,
    Number,
    Timestamp,
    Type,
    decimal,
)
from recuse.sql.native.asked import Sorted

HINT = "write ROWS BETWEEN 3 PRECEDING AND CURRENT ROW"
UNITS = frozenset({"YEAR", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND"})
FARTHEST = 10**9
LONGEST = 10_000
NEAR = 18
"""Digits of what RANGE adds a number to: the sum has one more, and still fits."""


@dataclass(frozen=True, slots=True)
class WindowFrame:
    """A frame as SQL writes it, whether it counts rows, and the types that the order is brought to."""

    words: str
    by_rows: bool
    """and not by values"""
    kinds: tuple[Type, ...]


def frame_of(spec: exp.WindowSpec | None, order: tuple[Sorted, ...]) -> WindowFrame:
    """Return the frame of a window, or say what is wrong with it."""
    kinds = tuple(item.value.type for item in order)
    if spec is None:
        return WindowFrame("", by_rows=False, kinds=kinds)
    kind = str(spec.args.get("kind") or "").upper()
    if kind not in ("ROWS", "RANGE", "GROUPS") or spec.args.get("exclude"):
        raise Mistyped("this frame of a window is not accepted", HINT)
    ends = [_end(spec, side, kind) for side in ("start", "end")]
    moved = any(end.split()[0] not in ("CURRENT", "UNBOUNDED") for end in ends)
    if kind == "RANGE" and moved:
        kinds = (_widened(kinds, dated=any(end.startswith("INTERVAL") for end in ends)),)
    return WindowFrame(f"{kind} BETWEEN {ends[0]} AND {ends[1]}", by_rows=kind == "ROWS", kinds=kinds)


def _end(spec: exp.WindowSpec, side: str, kind: str) -> str:
    value, where = spec.args.get(side), str(spec.args.get(f"{side}_side") or "").upper()
    if value is None or value == "CURRENT ROW":
        return "CURRENT ROW"
    if value == "UNBOUNDED":
        return f"UNBOUNDED {where}"
    counted = isinstance(value, exp.Literal) and not value.is_string and value.name.isdigit()
    if counted and int(value.name) <= FARTHEST:
        return f"{int(value.name)} {where}"
    if isinstance(value, exp.Interval) and kind == "RANGE":
        count, unit = value.this, value.args.get("unit")
        name = str(unit.name if unit is not None else "").upper().removesuffix("S")
        written = isinstance(count, exp.Literal) and count.name.strip().isdigit() and name in UNITS
        if written and int(count.name) <= LONGEST:
            return f"INTERVAL ({int(count.name)}) {name} {where}"
    raise Mistyped("how far a frame reaches is written down", HINT)


def _widened(kinds: tuple[Type, ...], *, dated: bool) -> Type:
    """Return a type in which the distance can be added to every value of the order."""
    match kinds:
        case (Number(scale=0) as kind,) if kind.digits <= BIGINT.digits and not dated:
            return Number(0, -(10**30), 10**30)
        case (Number() as kind,) if kind.digits <= NEAR and not dated:
            return decimal(30 + kind.scale if kind.scale < 8 else 38, kind.scale)
        case (Float(),) if not dated:
            return Float()
        case (Date() | Timestamp(),) if dated:
            return ORDINARY_TIMESTAMP
    raise Mistyped("RANGE with a distance takes one number, or a date and an INTERVAL", HINT)
