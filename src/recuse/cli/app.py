"""The command line: a thin layer over the library. A refusal is one line and exit code 2.

A failure after the charge is one line, always the same, and exit code 3.
"""

from __future__ import annotations

import json
import sys
import traceback
from contextlib import closing
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Annotated

import typer

from recuse.cli.budget import budget_app, data_app
from recuse.cli.bundle import spread
from recuse.cli.burndown import burndown
from recuse.cli.checkup import checkup
from recuse.cli.custody import ledger_app, token_app
from recuse.cli.datasets import datasets
from recuse.cli.estimate import estimate
from recuse.cli.examples import examples
from recuse.cli.explain_error import explain_error
from recuse.cli.graph import graph_app
from recuse.cli.histogram import histogram
from recuse.cli.init import init
from recuse.cli.later import later
from recuse.cli.old_spelling import OldSpellings
from recuse.cli.options import (
    AsJson,
    Chance,
    Database,
    Loss,
    MechanismName,
    Opening,
    PolicyFile,
    SqlText,
    announce,
    opened,
    source,
    sql_or_stdin,
)
from recuse.cli.progress import working
from recuse.cli.refusal import refused
from recuse.cli.serve import serve
from recuse.cli.shell import Shell, talk
from recuse.cli.show import as_json, tell
from recuse.demo import demonstrated, run_demo
from recuse.engines.open import open_engine
from recuse.errors import ParameterError, RecuseError, UnansweredError
from recuse.mechanism.mechanisms import DEFAULT
from recuse.policy import Policy
from recuse.policy.draw import as_lines, as_svg
from recuse.privacy import Epsilon
from recuse.session.domain import draft_domain
from recuse.session.fingerprint import program_version
from recuse.session.outward import door
from recuse.sql.owned_words import describe, stated_owners
from recuse.sql.ownership import own

REFUSED = 2
"""The exit code of everything that is refused, and of a command that was not understood."""
UNANSWERED = 3
"""The exit code of a question that was charged and could not be answered, whatever the reason."""
INTERRUPTED = 130
FOR_ESTIMATES = ("--like", "--rows", "--largest")

app = typer.Typer(
    cls=OldSpellings,
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
@spread
def ask(
    what: Opening,
    sql: SqlText,
    epsilon: Loss,
    delta: Chance = None,
    mechanism: MechanismName = DEFAULT,
    json_output: AsJson = False,
) -> None:
    """Answer a question and charge its epsilon. What error to expect, recuse estimate says for free."""
    with opened(what) as session:
        try:
            with working():
                answer = session.ask(sql_or_stdin(sql), epsilon, delta=delta, mechanism=mechanism)
        finally:
            announce(session)
    tell(answer, as_object=json_output)


app.command()(estimate)
app.command()(histogram)
app.command()(serve)


@app.command()
def explain(
    database: Database,
    sql: SqlText,
    policy: PolicyFile,
    run: Annotated[bool, typer.Option("--sql", help="Show the SQL that would be run, too.")] = False,
    json_output: AsJson = False,
) -> None:
    """Show what is understood of a question and who owns each row. Reads no private row, costs nothing."""
    with opened(Opening(database, policy)) as session:
        found = session.explain(sql_or_stdin(sql))
    if json_output:
        typer.echo(json.dumps(asdict(found if run else replace(found, sql=()))))
        return
    typer.echo(str(found))
    for statement in found.sql if run else ():
        typer.echo(f"\n{statement}")


@app.command()
@spread
def shell(
    what: Opening,
    epsilon: Annotated[
        str | None, typer.Option(help="What a question may cost; :epsilon changes it.")
    ] = None,
    mechanism: MechanismName = DEFAULT,
    json_output: AsJson = False,
) -> None:
    """Ask at a prompt with history, or from a pipe. There :help lists what else it can do."""
    loss = None if epsilon is None else Epsilon.of(epsilon)
    with opened(what) as session:
        answered = talk(Shell(session, loss, mechanism, json_output))
    if not answered:
        raise typer.Exit(UNANSWERED)


app.command()(init)
app.command("check")(checkup)
app.command()(examples)
app.command("explain-error")(explain_error)

PolicyArgument = Annotated[Path, typer.Argument(help="The TOML file that says who is protected.")]
policy_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Work with policy files.")
app.add_typer(policy_app, name="policy")
app.add_typer(
    typer.Typer(
        cls=later("recuse.lab.command"),
        no_args_is_help=True,
        rich_markup_mode=None,
        help="Experiments on data you may see. NOT PRIVATE.",
    ),
    name="lab",
)


@policy_app.command("check")
def policy_check(
    policy: PolicyArgument,
    database: Annotated[str | None, typer.Argument(help="The database whose catalogue it must fit.")] = None,
    json_output: AsJson = False,
) -> None:
    """Check a policy, alone or against a database, and show who owns the rows of each table."""
    for line in _owners(Policy.read(policy), database):
        table, _, owned = line.partition(": ")
        typer.echo(json.dumps({"table": table, "owned": owned}) if json_output else line)


@policy_app.command("domain")
def policy_domain(
    database: Database,
    column: Annotated[str, typer.Argument(help="The column whose values are listed, as TABLE.COLUMN.")],
    policy: PolicyFile,
    json_output: AsJson = False,
) -> None:
    """Draft the [[domain]] of a column from the data, for the custodian to edit and add to the policy.

    NOT PRIVATE: it reads private rows and costs nothing. Whoever sees the policy or an answer by these groups
    sees the list: leave out what tells of somebody. Columns that name individuals are refused.
    """
    lines = list(draft_domain(source(database), Policy.read(policy), column))
    typer.echo(json.dumps({"domain": "\n".join(lines)}) if json_output else "\n".join(lines))


@policy_app.command("draw")
def policy_draw(
    policy: PolicyArgument,
    out: Annotated[Path | None, typer.Option(help="Draw it into this file, an .svg, instead.")] = None,
    json_output: AsJson = False,
) -> None:
    """Draw who is protected and which rows hang on them, as text or SVG. No data is needed."""
    rules = Policy.read(policy)
    if out is None:
        lines = as_lines(rules)
        typer.echo(json.dumps({"drawing": lines}) if json_output else "\n".join(lines))
        return
    if out.suffix.lower() != ".svg":
        raise ParameterError("this kind of picture is not made", found=out.name, accepted=".svg")
    out.write_text(as_svg(rules))
    typer.echo(json.dumps({"picture": str(out)}) if json_output else f"picture   {out}")


def _owners(rules: Policy, database: str | None) -> list[str]:
    if database is None:
        return list(stated_owners(rules))
    with closing(open_engine(source(database), rules)) as engine:
        catalogue = engine.catalogue()
    ownership = own(rules, catalogue)
    return [f"{table.name}: {describe(ownership.of(table.name))}" for table in catalogue.tables]


app.add_typer(graph_app, name="graph")
app.command()(datasets)
budget_app.command("burndown")(burndown)
app.add_typer(budget_app, name="budget")
app.add_typer(data_app, name="data")
app.add_typer(ledger_app, name="ledger")
app.add_typer(token_app, name="token")

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
        typer.echo(refused(error), err=True)
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
    if command == "recuse ask" and getattr(error, "option_name", None) in FOR_ESTIMATES:
        command = "recuse estimate"
    return message if "\n" in message else f"recuse: {message.rstrip('.')}; hint: {command} --help"
