"""`recuse explain-error`: a message of the catalogue, with an example that brings it about."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

from recuse.cli.options import AsJson
from recuse.messages import find


def explain_error(
    code: Annotated[str, typer.Argument(help="The code of a message, or some of its words.")],
    json_output: AsJson = False,
) -> None:
    """Explain a refusal or warning: what it says, an example that is refused so, and what to write instead.

    Examples ask a bazaar with customers, orders and items.
    """
    found = find(code)
    for place, message in enumerate(found):
        if json_output:
            typer.echo(json.dumps(asdict(message)))
            continue
        if place:
            typer.echo("")
        typer.echo("\n".join(message.lines()))
