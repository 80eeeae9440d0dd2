"""What the command line prints: an answer for people, the same for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

from recuse.mechanism.release import CONFIDENCE, Release, short
from recuse.privacy import decimal_text
from recuse.session.answer import Answer, Cell


def number(value: Fraction) -> int | float:
    """Return a JSON number: whole numbers as they are, others as the nearest double."""
    return int(value) if value.denominator == 1 else float(value)


def readable(value: Fraction | None) -> str:
    """Return a number for people, with thousands apart.

    >>> readable(Fraction(1234567)), readable(Fraction(5, 4)), readable(None)
    ('1,234,567', '1.25', 'unbounded')
    """
    return "unbounded" if value is None else short(value)


def as_json(answer: Release | Answer) -> str:
    """Return the answer as JSON: one object; for a table one line for every group and column."""
    if isinstance(answer, Release):
        return json.dumps(_fields(answer, answer.remaining))
    lines = []
    for row in answer:
        keys = {name: _plain(key) for name, key in zip(answer.key_names, row.keys, strict=True)}
        for name, cell in zip(answer.names, row.cells, strict=True):
            fields = _fields(cell, answer.remaining) | {"confidence": _confidence(cell)}
            lines.append(json.dumps({"group": keys, "column": name, **fields}))
    return "\n".join(lines)


def _fields(cell: Cell, remaining: Fraction | None) -> dict[str, Any]:
    return {
        "value": None if cell.value is None else number(cell.value),
        "epsilon": number(cell.epsilon),
        "noise_scale": float(cell.noise_scale) if isinstance(cell, Release) else None,
        "interval": [None if end is None else number(end) for end in cell.interval],
        "mechanism": cell.mechanism if isinstance(cell, Release) else "formula",
        "remaining": None if remaining is None else number(remaining),
    }


def _confidence(cell: Cell) -> float:
    return CONFIDENCE if isinstance(cell, Release) else round(cell.confidence, 6)


def _plain(key: Any) -> Any:
    """Return a key as JSON can write it."""
    if isinstance(key, Fraction):
        return number(key)
    if isinstance(key, Decimal):
        return number(Fraction(key))
    if isinstance(key, datetime | date):
        return key.isoformat()
    return key if isinstance(key, str | int | float | bool) or key is None else str(key)


def as_text(answer: Release | Answer) -> str:
    """Return the answer for a terminal, with what its interval does and does not say."""
    if isinstance(answer, Answer):
        return "\n".join(_table(answer))
    low, high = answer.interval
    effect = "move a signed sum either way" if answer.signed else "lower a count"
    lines = [
        f"answer    {readable(answer.value)}",
        f"interval  {readable(low)} to {readable(high)} (95 %, noise only: truncation can {effect})",
    ]
    lines.append(_charged(answer.epsilon, answer.remaining))
    return "\n".join(lines)


def _charged(epsilon: Fraction, remaining: Fraction | None) -> str:
    left = "" if remaining is None else f", {decimal_text(remaining)} left"
    return f"epsilon   {decimal_text(epsilon)} charged{left}"


def _table(answer: Answer) -> Iterator[str]:
    """Yield the table with aligned columns, then what its intervals say."""
    head = [*answer.key_names]
    for name in answer.names:
        head += [name, "interval"]
    lines = [head]
    levels = set()
    for row in answer:
        line = [str(_plain(key)) for key in row.keys]
        for cell in row.cells:
            low, high = cell.interval
            levels.add(_confidence(cell))
            line += ["undefined" if cell.value is None else readable(cell.value)]
            line += ["unbounded" if low is None and high is None else f"{readable(low)} to {readable(high)}"]
        lines.append(line)
    widths = [max(len(line[place]) for line in lines) for place in range(len(head))]
    for line in lines:
        yield "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
    shown = " or ".join(f"{level * 100:g} %" for level in sorted(levels))
    yield f"intervals {shown}, noise only: truncation can lower counts and move signed sums either way"
    yield _charged(answer.epsilon, answer.remaining)
