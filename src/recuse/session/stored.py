"""Answers as text for the ledger, and back: exact, so that a stored answer is the answer.

Nothing is written that was not released.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

from recuse.errors import LedgerError
from recuse.mechanism.release import Release
from recuse.session.answer import Answer
from recuse.session.cells import Cell, Combined, Row
from recuse.session.intervals import End

PLAIN = (str, int, float, bool, type(None))
TAGGED: dict[str, tuple[type, Callable[[Any], Any], Callable[[Any], Any]]] = {
    "fraction": (Fraction, str, Fraction),
    "decimal": (Decimal, str, Decimal),
    "datetime": (datetime, datetime.isoformat, datetime.fromisoformat),
    "date": (date, date.isoformat, date.fromisoformat),
    "time": (time, time.isoformat, time.fromisoformat),
    "interval": (
        timedelta,
        lambda span: [span.days, span.seconds, span.microseconds],
        lambda parts: timedelta(*parts),
    ),
    "bytes": (bytes, bytes.hex, bytes.fromhex),
    "uuid": (UUID, str, UUID),
}
"""Types of group keys besides JSON's own: how each is written and read; a datetime is a date, too."""


def written(answer: Release | Answer) -> str:
    """Return an answer as one line of JSON."""
    if isinstance(answer, Release):
        return json.dumps(_cell(answer))
    return json.dumps(
        {
            "keys": answer.key_names,
            "names": answer.names,
            "epsilon": str(answer.epsilon),
            "rows": [[list(map(_key, row.keys)), list(map(_cell, row.cells))] for row in answer.rows],
        }
    )


def restored(text: str) -> Release | Answer:
    """Return the answer that was written down."""
    try:
        found = json.loads(text)
        if "rows" not in found:
            return _release(found)
        rows = tuple(
            Row(tuple(map(_restored_key, keys)), tuple(map(_restored_cell, cells)))
            for keys, cells in found["rows"]
        )
        return Answer(tuple(found["keys"]), tuple(found["names"]), rows, Fraction(found["epsilon"]))
    except (ValueError, TypeError, KeyError, AttributeError, ZeroDivisionError):
        raise LedgerError(
            "a stored answer cannot be read, so nothing is answered", hint="restore the ledger from a backup"
        ) from None


def _key(value: Any) -> Any:
    if isinstance(value, PLAIN):
        return value
    for tag, (kind, write, _) in TAGGED.items():
        if isinstance(value, kind):
            return {tag: write(value)}
    return {"text": str(value)}


def _restored_key(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    ((tag, text),) = value.items()
    return text if tag == "text" else TAGGED[tag][2](text)


def _end(value: End) -> str | None:
    return None if value is None else str(value)


def _restored_end(text: str | None) -> End:
    return None if text is None else Fraction(text)


def _cell(cell: Cell) -> dict[str, Any]:
    low, high = cell.interval
    told = {
        "value": _end(cell.value),
        "low": _end(low),
        "high": _end(high),
        "epsilon": str(cell.epsilon),
    }
    if isinstance(cell, Combined):
        return told | {"confidence": cell.confidence}
    return told | {
        "noise_scale": str(cell.noise_scale),
        "mechanism": cell.mechanism,
        "signed": cell.signed,
        "noise_epsilon": _end(cell.noise_epsilon),
    }


def _restored_cell(found: dict[str, Any]) -> Cell:
    if "confidence" not in found:
        return _release(found)
    return Combined(
        value=_restored_end(found["value"]),
        interval=(_restored_end(found["low"]), _restored_end(found["high"])),
        confidence=float(found["confidence"]),
        epsilon=Fraction(found["epsilon"]),
    )


def _release(found: dict[str, Any]) -> Release:
    return Release(
        value=Fraction(found["value"]),
        interval=(Fraction(found["low"]), Fraction(found["high"])),
        noise_scale=Fraction(found["noise_scale"]),
        epsilon=Fraction(found["epsilon"]),
        mechanism=str(found["mechanism"]),
        signed=bool(found["signed"]),
        noise_epsilon=_restored_end(found["noise_epsilon"]),
    )
