"""`recuse serve`: a server beside the data. Its packages are imported when it is asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from recuse.cli.options import AsJson, LedgerFile
from recuse.errors import ParameterError
from recuse.extras import import_extra


def serve(
    database: Annotated[
        str | None, typer.Argument(help="A DuckDB file, a folder, or postgresql://host/database.")
    ] = None,
    policy: Annotated[
        Path | None, typer.Option("--policy", help="The TOML file that says who is protected.")
    ] = None,
    ledger: LedgerFile = None,
    listen: Annotated[str, typer.Option(help="Where HTTP is served, on this machine.")] = "127.0.0.1:8080",
    postgres: Annotated[
        str, typer.Option(help="Where PostgreSQL's protocol is spoken, on this machine.")
    ] = "127.0.0.1:5433",
    slot: Annotated[
        float, typer.Option(help="Seconds: analysts' answers leave at multiples of it after the charge.")
    ] = 10.0,
    config: Annotated[
        Path | None, typer.Option("--config", help="In place of all that: a file with several datasets.")
    ] = None,
    json_output: AsJson = False,
) -> None:
    """Answer analysts who do not hold the data, each with a token: over HTTP and PostgreSQL's protocol.

    With a database and a policy it listens on this machine alone and prints a custodian's token, once; with
    --config it does what the file says. Needs recuse[server].
    """
    if (config is None) == (database is None) or (database is not None and policy is None):
        raise ParameterError("what is served?", accepted="DATABASE --policy FILE, or --config FILE")
    absent = ParameterError(
        "the packages of the server are not installed", hint="pip install 'recuse[server]'"
    )
    running = import_extra("recuse.server.run", absent)
    settings = (
        running.Settings.read(config)
        if config is not None
        else running.embedded(database, policy, ledger, listen, postgres, slot)
    )

    def say(line: str) -> None:
        typer.echo(json.dumps({"said": line}) if json_output else line)

    running.served(settings, say, token=config is None)
