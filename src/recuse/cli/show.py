"""What the command line prints: an answer for people, the same for programs."""

from __future__ import annotations

import json
import sys
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from shutil import get_terminal_size
from typing import Annotated, Any

import typer

from recuse.ledger import Balance
from recuse.mechanism.release import Release
from recuse.numerals import nearest
from recuse.session.answer import Answer
from recuse.session.cells import Cell, StandIn, confidence, truth
from recuse.session.intervals import Ends
from recuse.session.plot import check_picture, save, text_bars
from recuse.session.show import number_lines, said_lines, table_lines
from recuse.session.truth import drowned

PlotFile = Annotated[
    Path | None, typer.Option(help="Draw the numbers with their noise into this file: .svg, or .png.")
]


def check_plot(path: Path | None) -> None:
    """Refuse a picture that cannot be made, before anything is charged."""
    if path is not None:
        check_picture(path)


def picture(answer: Answer, path: Path | None) -> None:
    """Draw an answer into a file, if one is named."""
    if path is not None:
        save(answer, path)
        typer.echo(f"picture   {path}", err=True)


def draw(answer: Answer, *, as_object: bool) -> None:
    """Print an answer as a picture in characters, and what is said of it."""
    lines = [*text_bars(answer), *said_lines(answer)]
    typer.echo(as_json(answer) if as_object else "\n".join(lines))


def tell(answer: Answer, *, as_object: bool) -> None:
    """Print an answer, with its interval drawn where people look at it."""
    typer.echo(as_json(answer) if as_object else as_text(answer, drawn=sys.stdout.isatty()))


def as_json(answer: Answer) -> str:
    """Return the answer as JSON: one object; for a table one line for every group and column."""
    whole = {
        "remaining": None if answer.remaining is None else nearest(answer.remaining),
        "stored": answer.stored,
        "policy": answer.policy,
        "data_version": answer.data_version,
        **({"delta": nearest(answer.delta)} if answer.delta else {}),
        **({"notes": list(answer.notes)} if answer.notes else {}),
        **({"cautions": list(answer.cautions)} if answer.cautions else {}),
        **({"released_first": list(map(_stand_in, answer.stand_ins))} if answer.stand_ins else {}),
    }
    if answer.is_number and isinstance(answer.number, Release):
        return json.dumps(_fields(answer.number) | whole)
    lines = []
    for row in answer:
        keys = {name: plain(key) for name, key in zip(answer.key_names, row.keys, strict=True)}
        for name, cell in zip(answer.names, row.cells, strict=True):
            lines.append(json.dumps({"group": keys, "column": name, **_fields(cell), **whole}))
    return "\n".join(lines)


def _stand_in(found: StandIn) -> dict[str, Any]:
    return {
        "stands_for": found.text,
        "value": plain(found.moment) if found.moment is not None else _number(found.cell),
        **_noise(found.cell),
    }


def _number(cell: Cell) -> Any:
    return None if cell.value is None else nearest(cell.value)


def _fields(cell: Cell) -> dict[str, Any]:
    release = cell if isinstance(cell, Release) else None
    share = None if release is None else release.noise_epsilon
    true = truth(cell)
    return {
        "value": _number(cell),
        "epsilon": nearest(cell.epsilon),
        "truth": _ends(true.ends),
        "truth_confidence": round(true.confidence, 6),
        **_noise(cell),
        "noise_epsilon": None if share is None else nearest(share),
        "noise_scale": None if release is None else float(release.noise_scale),
        "noise_is_large": drowned(cell.value, cell.interval),
        "mechanism": "formula" if release is None else release.mechanism,
    }


def _noise(cell: Cell) -> dict[str, Any]:
    return {"noise_interval": _ends(cell.interval), "noise_confidence": confidence(cell)}


def _ends(ends: Ends) -> list[int | float | None]:
    return [None if end is None else nearest(end) for end in ends]


def amounts(balance: Balance) -> dict[str, Any]:
    """Return what is granted, spent and left, for programs."""
    return {
        "granted": nearest(balance.granted),
        "spent": nearest(balance.spent),
        "remaining": nearest(balance.remaining),
        **({"delta": _deltas(balance)} if balance.granted_delta else {}),
    }


def _deltas(balance: Balance) -> dict[str, int | float]:
    return {
        "granted": nearest(balance.granted_delta),
        "spent": nearest(balance.spent_delta),
        "remaining": nearest(balance.remaining_delta),
    }


def plain(key: Any) -> Any:
    """Return a key as JSON can write it."""
    if isinstance(key, Fraction | Decimal):
        return nearest(Fraction(key))
    if isinstance(key, datetime | date):
        return key.isoformat()
    return key if isinstance(key, str | int | float | bool) or key is None else str(key)


def as_text(answer: Answer, *, drawn: bool) -> str:
    """Return the answer for people, with what its interval does and does not say; `drawn` for terminals."""
    if answer.is_number:
        return "\n".join(number_lines(answer, drawn=drawn))
    return "\n".join(table_lines(answer, drawn=drawn, width=get_terminal_size().columns))
