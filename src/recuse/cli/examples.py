"""`recuse examples`: a small data set with its policy and questions is written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from recuse.cli.options import AsJson
from recuse.examples import EXAMPLES, write_example


def examples(
    name: Annotated[str, typer.Argument(help=f"One of {', '.join(EXAMPLES)}.")],
    into: Annotated[Path, typer.Option(help="The folder to write to.")] = Path(),
    json_output: AsJson = False,
) -> None:
    """Write a small made data set, its policy and questions to ask of it."""
    data, policy, questions = write_example(name, into)
    if json_output:
        typer.echo(json.dumps({"data": str(data), "policy": str(policy), "questions": str(questions)}))
        return
    typer.echo(f"data      {data}")
    typer.echo(f"policy    {policy}")
    typer.echo(f"questions {questions}")
    typer.echo(f"try       recuse shell {data} --policy {policy} --epsilon 1 < {questions}")
