"""`recuse init`: a policy is drafted, from keys and references or from what a custodian says."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from recuse.cli.interview import Decided, Talk, interview
from recuse.cli.options import AsJson, Database, source
from recuse.engines.open import open_engine
from recuse.engines.propose import contained, proposed
from recuse.errors import ParameterError
from recuse.sql.catalogue import Catalogue
from recuse.sql.draft import draft


def init(
    database: Database,
    protect: Annotated[
        list[str] | None,
        typer.Option(help="A table whose rows are participants, as TABLE or TABLE.KEY; repeatable."),
    ] = None,
    public: Annotated[
        list[str] | None, typer.Option(help="A table that is about nobody; repeatable.")
    ] = None,
    sample: Annotated[
        bool,
        typer.Option(
            "--sample", help="Read the first lines of CSV files, and propose types, keys and links from them."
        ),
    ] = False,
    out: Annotated[Path | None, typer.Option(help="The policy file to write; it must not exist.")] = None,
    json_output: AsJson = False,
) -> None:
    """Draft a policy from keys and references, for you to read and edit.

    Reads the catalogue, never a row, unless --sample allows it: then the first lines of CSV files are read,
    and you vouch for what is proposed. Without --protect it asks, on a terminal.
    """
    with closing(open_engine(source(database))) as engine:
        catalogue = engine.catalogue()
    if out is not None and out.exists():
        raise ParameterError(f"there is a file {out}", hint="name another, or remove it")
    asked = not protect
    if asked and not sys.stdin.isatty():
        raise ParameterError("who is protected?", hint="--protect TABLE, or call it on a terminal")
    folder = Path(database) if catalogue.untyped and Path(database).is_dir() else None
    talk = Talk(lambda text: typer.echo(text, err=True), _prompt)
    if folder is not None and (sample or (asked and _may_read(talk))):
        catalogue = proposed(catalogue, folder)
    decided = (
        _interviewed(talk, catalogue, folder)
        if asked
        else Decided(catalogue, tuple(protect or ()), tuple(public or ()))
    )
    made = decided.catalogue
    text = "\n".join(draft(made, decided.protect, typed=made.untyped, public=decided.public))
    if asked and out is None:
        out = Path(talk.ask("Write the policy to", f"{Path(database).stem}.toml"))
        if out.exists():
            raise ParameterError(f"there is a file {out}", hint="name another, or remove it")
    if out is not None:
        out.write_text(text + "\n")
        typer.echo(f"policy    {out}: read it, then recuse check {database} --policy {out}", err=True)
    elif json_output:
        typer.echo(json.dumps({"policy": text}))
    else:
        typer.echo(text)


def _interviewed(talk: Talk, catalogue: Catalogue, folder: Path | None) -> Decided:
    return interview(
        talk, catalogue, lambda made, target: () if folder is None else tuple(contained(made, folder, target))
    )


def _may_read(talk: Talk) -> bool:
    return talk.agree(
        "CSV files do not say their types. May I read the first lines to propose them?", default=True
    )


def _prompt(question: str, default: str) -> str:
    return str(typer.prompt(question, default=default, show_default=bool(default), err=True))
