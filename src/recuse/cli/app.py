"""The command line: a thin layer over the library. A refusal is one line and exit code 2."""

from __future__ import annotations

import json
import sys
import traceback
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Annotated

import typer

from recuse.cli.budget import budget_app, data_app
from recuse.cli.lab import lab_app
from recuse.cli.options import (
    AnalystName,
    AsJson,
    Database,
    LedgerFile,
    PolicyFile,
    Question,
    announce,
    opened,
    written,
)
from recuse.cli.progress import working
from recuse.cli.show import as_json, as_text
from recuse.demo import run_demo
from recuse.engines.duckdb import DuckDB
from recuse.errors import RecuseError
from recuse.mechanism.mechanisms import DEFAULT, NAMES
from recuse.policy import Policy
from recuse.sql.draft import draft
from recuse.sql.explain import describe, stated_owners
from recuse.sql.ownership import own

REFUSED = 2
"""The exit code of everything that is refused, and of a command that was not understood."""

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Answers to SQL questions about people, under pure ε-differential privacy, with nothing to guess.",
)


@app.command()
def demo() -> None:
    """Make a small social network and shop, and ask three questions of them."""
    for line in run_demo():
        typer.echo(line)


@app.command()
def ask(
    database: Database,
    sql: Question,
    policy: PolicyFile,
    epsilon: Annotated[str, typer.Option(help="The privacy loss of this answer, such as 0.5.")],
    ledger: LedgerFile = None,
    analyst: AnalystName = None,
    mechanism: Annotated[str, typer.Option(help=f"One of {', '.join(NAMES)}.")] = DEFAULT,
    json_output: AsJson = False,
) -> None:
    """Answer a question, and charge its epsilon to the ledger."""
    with opened(database, policy, ledger, analyst) as session:
        try:
            with working():
                answer = session.ask(written(sql), epsilon, mechanism=mechanism)
        finally:
            announce(session, database)
    typer.echo(as_json(answer) if json_output else as_text(answer, drawn=sys.stdout.isatty()))


@app.command()
def explain(database: Database, sql: Question, policy: PolicyFile, json_output: AsJson = False) -> None:
    """Show what is understood of a question and who owns each row. Reads no data, costs nothing."""
    with opened(database, policy) as session:
        found = session.explain(written(sql))
    if json_output:
        typer.echo(json.dumps(asdict(found)))
        return
    for line in found.lines():
        typer.echo(line)


@app.command()
def init(
    database: Database,
    protect: Annotated[
        list[str],
        typer.Option(help="A table whose rows are participants, as TABLE or TABLE.KEY; repeatable."),
    ],
) -> None:
    """Draft a policy from keys and references, for you to edit. Reads the catalogue, never a row."""
    with DuckDB.open(database) as engine:
        for line in draft(engine.catalogue(), protect, typed=engine.untyped):
            typer.echo(line)


policy_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Work with policy files.")
app.add_typer(policy_app, name="policy")
app.add_typer(lab_app, name="lab")


@policy_app.command("check")
def policy_check(
    policy: Annotated[Path, typer.Argument(help="The TOML file that says who is protected.")],
    database: Annotated[Path | None, typer.Argument(help="The database whose catalogue it must fit.")] = None,
) -> None:
    """Check a policy, alone or against a database, and show who owns the rows of each table."""
    rules = Policy.read(policy)
    if database is None:
        for line in stated_owners(rules):
            typer.echo(line)
        return
    with DuckDB.open(database, rules) as engine:
        ownership = own(rules, engine.catalogue())
        for found in engine.catalogue().tables:
            typer.echo(f"{found.name}: {describe(ownership.of(found.name))}")


app.add_typer(budget_app, name="budget")
app.add_typer(data_app, name="data")

UsageError: type[Exception] = typer.BadParameter.__mro__[1]
"""Of the click that typer brings or uses: its place differs between versions, so it is found by its child."""


def main() -> None:
    """Run the command line."""
    sys.excepthook = unexpected
    try:
        sys.exit(app(standalone_mode=False))
    except RecuseError as error:
        typer.echo(f"recuse: {error}", err=True)
    except typer.Abort:
        typer.echo("recuse: interrupted", err=True)
    except UsageError as error:
        typer.echo(_usage(error), err=True)
    sys.exit(REFUSED)


def unexpected(kind: type[BaseException], _: BaseException, trace: TracebackType | None) -> None:
    """Report a mistake of this program by its place alone: the message of an error may quote data."""
    place = traceback.extract_tb(trace)[-1:]
    where = "".join(f" in {Path(frame.filename).name}, line {frame.lineno}" for frame in place)
    typer.echo(
        f"recuse: unexpected {kind.__name__}{where}; this is a mistake in recuse, please report it", err=True
    )


def _usage(error: BaseException) -> str:
    """Return a mistake in the command itself as one line; help, if that is what it says, as it is."""
    message = str(getattr(error, "format_message", error.__str__)())
    context = getattr(error, "ctx", None)
    command = "recuse" if context is None else context.command_path
    return message if "\n" in message else f"recuse: {message} hint: {command} --help"
