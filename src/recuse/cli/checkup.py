"""`recuse check`: what a custodian should know of data and policy before anybody asks."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import typer

from recuse.cli.options import AsJson, Database, PolicyFile, source
from recuse.engines.check import Unreadable
from recuse.policy import Policy
from recuse.session.check import check
from recuse.session.findings import Finding, findings

MOST = 20
"""cells that cannot be read and are named; the others are counted"""


def checkup(database: Database, policy: PolicyFile, json_output: AsJson = False) -> None:
    """Say what to look into before anybody asks. For the custodian.

    NOT PRIVATE: what is printed depends on single rows. Names tables that the policy does not mention, keys
    that are not unique, links that lead nowhere, columns of public tables that look like somebody's, and
    cells that cannot be read. Exit code 2 if anything was found.
    """
    rules = Policy.read(policy)
    found = list(findings(source(database), rules))
    unread = [one for one in check(database, rules) if isinstance(one, Unreadable)]
    shown = found + [
        Finding(one.file, "cell", str(one).removeprefix(one.file).lstrip(", ")) for one in unread[:MOST]
    ]
    for one in shown:
        typer.echo(json.dumps(asdict(one)) if json_output else str(one))
    if len(unread) > MOST and not json_output:
        typer.echo(f"cell      and {len(unread) - MOST:,} more: recuse data check names them all")
    if not json_output:
        name = Path(database).name
        typer.echo(f"{name}: {'nothing' if not shown else len(found) + len(unread)} to look into")
    if shown:
        raise typer.Exit(2)
