"""What the command line prints: an answer for people, the same for programs."""

from __future__ import annotations

import json
import sys
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import typer

from recuse.ledger import Balance
from recuse.mechanism.release import Release, nearest, short
from recuse.session.answer import Answer
from recuse.session.cells import Cell, confidence
from recuse.session.table import charged, drawing, scale_of


def tell(answer: Release | Answer, *, as_object: bool) -> None:
    """Print an answer, with its interval drawn where people look at it."""
    typer.echo(as_json(answer) if as_object else as_text(answer, drawn=sys.stdout.isatty()))


def as_json(answer: Release | Answer) -> str:
    """Return the answer as JSON: one object; for a table one line for every group and column."""
    whole = {
        "remaining": None if answer.remaining is None else nearest(answer.remaining),
        "stored": answer.stored,
        "policy": answer.policy,
        "data_version": answer.data_version,
    }
    if isinstance(answer, Release):
        return json.dumps(_fields(answer) | whole)
    lines = []
    for row in answer:
        keys = {name: plain(key) for name, key in zip(answer.key_names, row.keys, strict=True)}
        for name, cell in zip(answer.names, row.cells, strict=True):
            lines.append(json.dumps({"group": keys, "column": name, **_fields(cell), **whole}))
    return "\n".join(lines)


def _fields(cell: Cell) -> dict[str, Any]:
    released = isinstance(cell, Release)
    share = cell.noise_epsilon if isinstance(cell, Release) else None
    return {
        "value": None if cell.value is None else nearest(cell.value),
        "epsilon": nearest(cell.epsilon),
        "noise_epsilon": None if share is None else nearest(share),
        "noise_scale": float(cell.noise_scale) if isinstance(cell, Release) else None,
        "interval": [None if end is None else nearest(end) for end in cell.interval],
        "confidence": confidence(cell),
        "mechanism": cell.mechanism if isinstance(cell, Release) and released else "formula",
    }


def amounts(balance: Balance) -> dict[str, int | float]:
    """Return what is granted, spent and left, for programs."""
    return {
        "granted": nearest(balance.granted),
        "spent": nearest(balance.spent),
        "remaining": nearest(balance.remaining),
    }


def plain(key: Any) -> Any:
    """Return a key as JSON can write it."""
    if isinstance(key, Fraction | Decimal):
        return nearest(Fraction(key))
    if isinstance(key, datetime | date):
        return key.isoformat()
    return key if isinstance(key, str | int | float | bool) or key is None else str(key)


def as_text(answer: Release | Answer, *, drawn: bool) -> str:
    """Return the answer for people, with what its interval does and does not say; `drawn` for terminals."""
    if isinstance(answer, Answer):
        return "\n".join(answer.lines(drawn=drawn))
    return "\n".join(
        [
            f"answer    {short(answer.value)}",
            *([_drawn(answer)] if drawn and answer.noise_scale else []),
            f"interval  {_interval(answer)}",
            charged(answer.epsilon, answer.remaining, stored=answer.stored),
        ]
    )


def _drawn(answer: Release) -> str:
    start, end = map(short, scale_of([answer]))
    return f"          {start} {drawing(answer)} {end}"


def _interval(answer: Release) -> str:
    if answer.noise_scale == 0:
        return "none: the answer is exact"
    low, high = map(short, answer.interval)
    effect = "move a signed sum either way" if answer.signed else "lower a count"
    return f"{low} to {high} (95 %, noise only: truncation can {effect})"
