"""The command line: a thin layer over the library. A refusal is one line and exit code 2."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from recuse.cli.lab import lab_app
from recuse.cli.show import as_json, as_text, number
from recuse.demo import run_demo
from recuse.engines.duckdb import DuckDB
from recuse.errors import RecuseError
from recuse.ledger import Ledger
from recuse.mechanism.mechanisms import DEFAULT, NAMES
from recuse.policy import Policy
from recuse.privacy import decimal_text
from recuse.session import connect, ledger_path
from recuse.sql.draft import draft
from recuse.sql.explain import describe, stated_owners
from recuse.sql.ownership import own
from recuse.sql.parse import MAX_LENGTH

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    help="Answers to SQL questions about people, under pure ε-differential privacy, with nothing to guess.",
)

Database = Annotated[Path, typer.Argument(help="A DuckDB file, or a folder of CSV or Parquet files.")]
Question = Annotated[
    str,
    typer.Argument(help="One SELECT with COUNT, SUM or AVG (docs/sql.md); - reads it from standard input."),
]
PolicyFile = Annotated[Path, typer.Option("--policy", help="The TOML file that says who is protected.")]
LedgerFile = Annotated[
    Path | None, typer.Option("--ledger", help="The budget ledger; DATABASE.ledger unless named.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON: one object a line.")]


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
    mechanism: Annotated[str, typer.Option(help=f"One of {', '.join(NAMES)}.")] = DEFAULT,
    json_output: AsJson = False,
) -> None:
    """Answer a question, and charge its epsilon to the ledger."""
    with connect(database, policy, ledger) as session:
        answer = session.ask(written(sql), epsilon, mechanism=mechanism)
        if session.ledger_is_new:
            granted = decimal_text(session.budget.granted)
            typer.echo(f"new ledger {session.ledger.path} with a budget of epsilon = {granted}", err=True)
    typer.echo(as_json(answer) if json_output else as_text(answer))


@app.command()
def explain(database: Database, sql: Question, policy: PolicyFile) -> None:
    """Show what is understood of a question and who owns each row. Reads no data, costs nothing."""
    with connect(database, policy) as session:
        for line in session.explain(written(sql)).lines():
            typer.echo(line)


def written(sql: str) -> str:
    """Return the question: as given, or from standard input."""
    return sys.stdin.read(MAX_LENGTH + 1) if sql == "-" else sql


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


@app.command()
def budget(
    ledger: Annotated[Path, typer.Argument(help="A ledger file, or the database it belongs to.")],
    json_output: AsJson = False,
) -> None:
    """Show what is granted, spent and left."""
    path = ledger if ledger.suffix == ".ledger" else ledger_path(ledger)
    balance = Ledger.open(path or ledger).balance()
    amounts = {"granted": balance.granted, "spent": balance.spent, "remaining": balance.remaining}
    if json_output:
        typer.echo(json.dumps({name: number(amount) for name, amount in amounts.items()}))
    else:
        for name, amount in amounts.items():
            typer.echo(f"{name:<10}{decimal_text(amount)}")


def main() -> None:
    """Run the command line."""
    try:
        app()
    except RecuseError as error:
        typer.echo(f"recuse: {error}", err=True)
        sys.exit(2)
