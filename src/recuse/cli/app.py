"""The command line: a thin layer over the library. A refusal is one line and exit code 2.

A failure after the charge is one line, always the same, and exit code 3.
"""

from __future__ import annotations

import json
import sys
import traceback
from dataclasses import asdict
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Annotated

import typer

from recuse.cli import estimating
from recuse.cli.budget import budget_app, data_app
from recuse.cli.datasets import datasets
from recuse.cli.estimating import public_inputs
from recuse.cli.graph import graph
from recuse.cli.later import later
from recuse.cli.options import (
    AnalystName,
    AsJson,
    Database,
    LedgerFile,
    Mechanism,
    PolicyFile,
    Question,
    announce,
    opened,
    written,
)
from recuse.cli.progress import working
from recuse.cli.shell import Shell, talk
from recuse.cli.show import as_json, tell
from recuse.demo import demonstrated, run_demo
from recuse.engines.duckdb import DuckDB
from recuse.errors import ParameterError, RecuseError, UnansweredError
from recuse.mechanism.mechanisms import DEFAULT
from recuse.policy import Policy
from recuse.privacy import Epsilon
from recuse.session.fingerprint import program_version
from recuse.session.outward import door
from recuse.sql.draft import draft
from recuse.sql.explain import describe, stated_owners
from recuse.sql.ownership import own

REFUSED = 2
"""The exit code of everything that is refused, and of a command that was not understood."""
UNANSWERED = 3
"""The exit code of a question that was charged and could not be answered, whatever the reason."""
INTERRUPTED = 130

STATED = "TABLE=NUMBER"

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _say_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"recuse {program_version()}")
        raise typer.Exit


@app.callback()
def recuse(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_say_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """Answers to SQL questions about people, under pure ε-differential privacy, with nothing to guess."""


@app.command()
def demo(json_output: AsJson = False) -> None:
    """Ask three questions of a made social network and shop."""
    if not json_output:
        for line in run_demo():
            typer.echo(line)
        return
    for told in demonstrated():
        shown = {"question": told.question.words, "sql": told.question.sql, "true_value": told.truth}
        typer.echo(json.dumps(shown | json.loads(as_json(told.answer))))


@app.command()
def ask(
    database: Database,
    sql: Question,
    policy: PolicyFile,
    epsilon: Annotated[str, typer.Option(help="The privacy loss of this answer, such as 0.5.")],
    ledger: LedgerFile = None,
    analyst: AnalystName = None,
    mechanism: Mechanism = DEFAULT,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Ask nothing: say what error to expect, from public inputs.")
    ] = False,
    like: Annotated[
        Path | None, typer.Option(help="For --estimate: data of the same schema that you declare public.")
    ] = None,
    rows: Annotated[
        list[str] | None,
        typer.Option(metavar=STATED, help="For --estimate: how many rows a table has; repeatable."),
    ] = None,
    largest: Annotated[
        list[str] | None,
        typer.Option(metavar=STATED, help="With --rows: the most rows that link to one row."),
    ] = None,
    json_output: AsJson = False,
) -> None:
    """Answer a question and charge its epsilon. With --estimate, say what error to expect, for free."""
    if not estimate and (like or rows or largest):
        raise ParameterError("--like, --rows and --largest are for estimates", hint="add --estimate")
    with opened(database, policy, ledger, analyst) as session:
        if estimate:
            inputs = public_inputs(like, rows or (), largest or ())
            with working():
                expected = session.estimate(written(sql), epsilon, like=inputs, mechanism=mechanism)
            typer.echo(estimating.as_json(expected) if json_output else str(expected))
            return
        try:
            with working():
                answer = session.ask(written(sql), epsilon, mechanism=mechanism)
        finally:
            announce(session)
    tell(answer, as_object=json_output)


@app.command()
def explain(database: Database, sql: Question, policy: PolicyFile, json_output: AsJson = False) -> None:
    """Show what is understood of a question and who owns each row. Reads no data, costs nothing."""
    with opened(database, policy) as session:
        found = session.explain(written(sql))
    typer.echo(json.dumps(asdict(found)) if json_output else str(found))


@app.command()
def shell(
    database: Database,
    policy: PolicyFile,
    epsilon: Annotated[
        str | None, typer.Option(help="What a question may cost; :epsilon changes it.")
    ] = None,
    ledger: LedgerFile = None,
    analyst: AnalystName = None,
    mechanism: Mechanism = DEFAULT,
    json_output: AsJson = False,
) -> None:
    """Ask at a prompt with history, or from a pipe. There :help lists what else it can do."""
    loss = None if epsilon is None else Epsilon.of(epsilon)
    with opened(database, policy, ledger, analyst) as session:
        answered = talk(Shell(session, loss, mechanism, json_output))
    if not answered:
        raise typer.Exit(UNANSWERED)


@app.command()
def init(
    database: Database,
    protect: Annotated[
        list[str],
        typer.Option(help="A table whose rows are participants, as TABLE or TABLE.KEY; repeatable."),
    ],
    json_output: AsJson = False,
) -> None:
    """Draft a policy from keys and references, for you to edit. Reads the catalogue, never a row."""
    with DuckDB.open(database) as engine:
        drafted = "\n".join(draft(engine.catalogue(), protect, typed=engine.untyped))
    typer.echo(json.dumps({"policy": drafted}) if json_output else drafted)


policy_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Work with policy files.")
app.add_typer(policy_app, name="policy")
app.add_typer(
    typer.Typer(
        cls=later("recuse.cli.lab"),
        no_args_is_help=True,
        rich_markup_mode=None,
        help="Experiments on data you may see. NOT PRIVATE.",
    ),
    name="lab",
)


@policy_app.command("check")
def policy_check(
    policy: Annotated[Path, typer.Argument(help="The TOML file that says who is protected.")],
    database: Annotated[Path | None, typer.Argument(help="The database whose catalogue it must fit.")] = None,
    json_output: AsJson = False,
) -> None:
    """Check a policy, alone or against a database, and show who owns the rows of each table."""
    for line in _owners(Policy.read(policy), database):
        table, _, owned = line.partition(": ")
        typer.echo(json.dumps({"table": table, "owned": owned}) if json_output else line)


def _owners(rules: Policy, database: Path | None) -> list[str]:
    if database is None:
        return list(stated_owners(rules))
    with DuckDB.open(database, rules) as engine:
        catalogue = engine.catalogue()
        ownership = own(rules, catalogue)
        return [f"{table.name}: {describe(ownership.of(table.name))}" for table in catalogue.tables]


app.command()(graph)
app.command()(datasets)
app.add_typer(budget_app, name="budget")
app.add_typer(data_app, name="data")

UsageError: type[Exception] = typer.BadParameter.__mro__[1]
"""Of the click that typer brings or uses: its place differs between versions, so it is found by its child."""


def main() -> None:
    """Run the command line."""
    sys.excepthook = unexpected
    try:
        run = partial(typer.main.get_command(app), prog_name="recuse", standalone_mode=False)
        sys.exit(door(run, letting=(typer.Abort, KeyboardInterrupt)))
    except UnansweredError as error:
        typer.echo(f"recuse: {error}", err=True)
        sys.exit(UNANSWERED)
    except RecuseError as error:
        typer.echo(f"recuse: {error}", err=True)
    except typer.Abort:
        typer.echo("recuse: interrupted", err=True)
        sys.exit(INTERRUPTED)
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
    return message if "\n" in message else f"recuse: {message.rstrip('.')}; hint: {command} --help"
