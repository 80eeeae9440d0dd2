"""`recuse explain-error`: a message of the catalogue, with an example that brings it about."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

from recuse.cli.options import AsJson
from recuse.errors import ParameterError
from recuse.messages import finding

MOST = 12
"""messages that words find and that are listed"""


def explain_error(
    code: Annotated[str, typer.Argument(help="The code of a message, or some of its words.")],
    json_output: AsJson = False,
) -> None:
    """Explain a refusal or warning: what it says, an example that is refused so, and what to write instead.

    Questions ask a bazaar with customers, orders and items; Python and commands a small shop.
    """
    found = finding(code)
    if not found:
        raise ParameterError(
            "no message has this code, or says so",
            found=code,
            hint="give a code, or some words of the message: explain-error individuals",
        )
    for place, message in enumerate(found[:MOST]):
        if json_output:
            typer.echo(json.dumps(asdict(message)))
            continue
        if place:
            typer.echo("")
        typer.echo("\n".join(message.lines()))
