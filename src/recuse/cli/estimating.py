"""`recuse ask --estimate`: what to expect of an answer, before it is paid for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from recuse.errors import ParameterError
from recuse.mechanism.release import nearest
from recuse.session.estimate import Estimate
from recuse.session.synthetic import Statistics


def public_inputs(like: Path | None, rows: Sequence[str], largest: Sequence[str]) -> Path | Statistics:
    """Return what an estimate is made from: the data that was named, or the statistics that were stated."""
    if like is not None and not rows and not largest:
        return like
    if like is None and rows:
        return Statistics(_numbers(rows, "--rows"), _numbers(largest, "--largest"))
    raise ParameterError(
        "an estimate is made from public inputs",
        accepted="either --like PATH, or --rows TABLE=NUMBER for each table (and --largest)",
        hint="--like names data of the same schema that is public; it must not be the data itself",
    )


def _numbers(stated: Sequence[str], option: str) -> dict[str, int]:
    found = {}
    for text in stated:
        name, _, number = text.rpartition("=")
        if not name or not number.isascii() or not number.isdigit() or len(number) > 9:
            raise ParameterError(f"{option} is not understood", found=text, accepted=f"{option} orders=1000")
        found[name] = int(number)
    return found


def as_json(estimate: Estimate) -> str:
    """Return an estimate as one JSON object."""
    return json.dumps(
        {
            "epsilon": nearest(estimate.epsilon),
            "basis": estimate.basis,
            "columns": [
                {
                    "column": column.name,
                    "typical_error": nearest(column.typical),
                    "p90_error": nearest(column.mostly),
                    "value": None if column.value is None else nearest(column.value),
                }
                for column in estimate.columns
            ],
            "cautions": estimate.cautions,
        }
    )
