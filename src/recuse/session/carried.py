"""An answer as JSON and back, exactly: what a server's worker hands over, and what its clients are given."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from recuse.mechanism.release import Release
from recuse.session.answer import Answer
from recuse.session.cells import Cell, Combined, Row, StandIn
from recuse.session.intervals import Ends
from recuse.session.stored import read_key, release_fields, release_of, written_key
from recuse.session.truth import TrueAnswer


def carried(answer: Answer) -> dict[str, Any]:
    """Return an answer as JSON can write it; `received` makes the same answer of it."""
    return {
        "key_names": list(answer.key_names),
        "names": list(answer.names),
        "rows": [
            {"keys": list(map(written_key, row.keys)), "cells": list(map(_cell, row.cells))} for row in answer
        ],
        "epsilon": str(answer.epsilon),
        "delta": str(answer.delta),
        "remaining": _text(answer.remaining),
        "policy": answer.policy,
        "data_version": answer.data_version,
        "stored": answer.stored,
        "stand_ins": [{"text": found.text, "cell": _cell(found.cell)} for found in answer.stand_ins],
        "notes": list(answer.notes),
        "cautions": list(answer.cautions),
    }


def received(found: dict[str, Any]) -> Answer:
    """Return the answer that was carried."""
    return Answer(
        tuple(found["key_names"]),
        tuple(found["names"]),
        tuple(
            Row(tuple(map(read_key, row["keys"])), tuple(map(_cell_of, row["cells"])))
            for row in found["rows"]
        ),
        Fraction(found["epsilon"]),
        delta=Fraction(found["delta"]),
        remaining=_number(found["remaining"]),
        policy=found["policy"],
        data_version=found["data_version"],
        stored=bool(found["stored"]),
        stand_ins=tuple(StandIn(one["text"], _cell_of(one["cell"])) for one in found["stand_ins"]),
        notes=tuple(found["notes"]),
        cautions=tuple(found["cautions"]),
    )


def _cell(cell: Cell) -> dict[str, Any]:
    if isinstance(cell, Release):
        return {"release": release_fields(cell)}
    return {
        "value": _text(cell.value),
        "interval": _ends(cell.interval),
        "confidence": cell.confidence,
        "epsilon": str(cell.epsilon),
        "truth": _ends(cell.truth.ends),
        "truth_confidence": cell.truth.confidence,
    }


def _cell_of(found: dict[str, Any]) -> Cell:
    if "release" in found:
        return release_of(found["release"])
    low, high = map(_number, found["interval"])
    least, most = map(_number, found["truth"])
    return Combined(
        _number(found["value"]),
        (low, high),
        found["confidence"],
        Fraction(found["epsilon"]),
        TrueAnswer((least, most), found["truth_confidence"]),
    )


def _ends(ends: Ends) -> list[str | None]:
    return [_text(end) for end in ends]


def _text(value: Fraction | None) -> str | None:
    return None if value is None else str(value)


def _number(text: str | None) -> Fraction | None:
    return None if text is None else Fraction(text)
