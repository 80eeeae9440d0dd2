"""`recuse estimate`: what to expect of an answer, before it is paid for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from recuse.cli.options import (
    AsJson,
    Database,
    MechanismName,
    Opening,
    PolicyFile,
    SqlText,
    opened,
    sql_or_stdin,
)
from recuse.cli.progress import working
from recuse.errors import ParameterError
from recuse.mechanism.mechanisms import DEFAULT
from recuse.numerals import nearest
from recuse.session.estimate import Estimate
from recuse.session.statistics import Statistics

STATED = "TABLE=NUMBER"
SeveralLosses = Annotated[str | None, typer.Option(help="The privacy loss, such as 0.5; several: 0.1,0.5,1.")]
WantedError = Annotated[
    str | None,
    typer.Option(help="In place of --epsilon: the error that 9 answers of 10 keep, such as 2% or 150."),
]
SimilarData = Annotated[Path | None, typer.Option(help="Data of the same schema that you declare public.")]
RowsStated = Annotated[
    list[str] | None,
    typer.Option(
        metavar=STATED, help="In place of --like: how many rows a table has, or values TABLE.COLUMN."
    ),
]
LargestStated = Annotated[
    list[str] | None,
    typer.Option(
        metavar=STATED,
        help="With --rows: the most rows that link to one row, or share TABLE.COLUMN, or the most that they "
        "have of a decimal TABLE.COLUMN.",
    ),
]
SizesStated = Annotated[
    list[str] | None,
    typer.Option(metavar=STATED, help="With --rows: about how large one number of TABLE.COLUMN is."),
]


def estimate(
    database: Database,
    sql: SqlText,
    policy: PolicyFile,
    epsilon: SeveralLosses = None,
    error: WantedError = None,
    like: SimilarData = None,
    rows: RowsStated = None,
    largest: LargestStated = None,
    typical: SizesStated = None,
    mechanism: MechanismName = DEFAULT,
    json_output: AsJson = False,
) -> None:
    """Say what error to expect of an answer, from public inputs. Reads no private row, costs nothing."""
    inputs = public_inputs(like, rows or (), largest or (), typical or ())
    if (epsilon is None) == (error is None):
        raise ParameterError("which loss, or which error?", accepted="either --epsilon 0.5 or --error 2%")
    with opened(Opening(database, policy)) as session, working():
        if error is not None:
            found = [session.epsilon_for(sql_or_stdin(sql), error, like=inputs)]
        else:
            several = (epsilon or "").split(",")
            found = session.estimates(sql_or_stdin(sql), several, like=inputs, mechanism=mechanism)
    for expected in found:
        typer.echo(as_json(expected) if json_output else str(expected))


def public_inputs(
    like: Path | None, rows: Sequence[str], largest: Sequence[str], typical: Sequence[str] = ()
) -> Path | Statistics:
    """Return what an estimate is made from: the data that was named, or the statistics that were stated."""
    if like is not None and not rows and not largest and not typical:
        return like
    if like is None and rows:
        sizes = {name: size for name, _, size in (text.rpartition("=") for text in typical)}
        return Statistics(_numbers(rows, "--rows"), _numbers(largest, "--largest"), sizes)
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


def as_json(expected: Estimate) -> str:
    """Return an estimate as one JSON object."""
    return json.dumps(
        {
            "epsilon": nearest(expected.epsilon),
            "basis": expected.basis,
            "columns": [
                {
                    "column": column.name,
                    "typical_error": nearest(column.typical),
                    "p90_error": nearest(column.mostly),
                    "value": None if column.value is None else nearest(column.value),
                }
                for column in expected.columns
            ],
            "cautions": expected.cautions,
        }
    )
