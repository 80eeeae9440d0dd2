"""`recuse budget` and `recuse data`: what a custodian does with a ledger."""

from __future__ import annotations

import csv
import json
import sys
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from recuse.cli.options import AnalystName, AsJson, announce_new, changed_budget
from recuse.cli.show import amounts
from recuse.engines.addresses import place_at
from recuse.engines.open import is_address
from recuse.engines.postgres_place import PostgresPlace
from recuse.engines.spark_place import SparkPlace
from recuse.errors import DatabaseError, ParameterError
from recuse.ledger import Ledger, open_or_create
from recuse.ledger.accounting import approximate_loss
from recuse.policy import Policy
from recuse.privacy import Delta, Epsilon, decimal_text, exact
from recuse.session.check import check
from recuse.session.declared import FalseKey
from recuse.session.place import LedgerLocation, ledger_path

SQLITE = b"SQLite format 3"
MOST_FINDINGS = 100
COLUMNS = ("at", "epsilon", "delta", "analyst", "source", "data_version", "policy", "query", "answer")


class ShowUnlessNamed(TyperGroup):
    """`recuse budget LEDGER` means `recuse budget show LEDGER`."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        known = not args or args[0] in self.commands
        return super().resolve_command(ctx, args if known else ["show", *args])


budget_app = typer.Typer(
    cls=ShowUnlessNamed,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Show, grant or export a budget: recuse budget LEDGER shows it.",
)
data_app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Check the data, and tell the ledger that it has changed.",
)

LedgerOf = Annotated[Path, typer.Argument(help="A ledger file, or the database it belongs to.")]


def located(path: Path) -> Ledger:
    """Return the ledger at a path, or beside the database at it."""
    return Ledger.open(place_of(path))


def data_of(path: Path) -> Path | None:
    """Return the data beside a ledger, or the path itself if it is no ledger; None if there is none."""
    data = path.with_suffix("") if path.suffix == ".ledger" else path
    return None if data == place_of(path) or not data.exists() else data


def place_of(path: Path) -> Path:
    """Return where the ledger is, or would be: the path itself if it is one, else beside the database."""
    beside = ledger_path(path)
    if beside is None or path.suffix == ".ledger":
        return path
    if path.is_file() and not beside.exists():
        with path.open("rb") as file:
            return path if file.read(len(SQLITE)) == SQLITE else beside
    return beside


@budget_app.command("show")
def show(
    ledger: LedgerOf,
    policy: Annotated[
        Path | None, typer.Option("--policy", help="Say so if this policy's [budget] is not the ledger's.")
    ] = None,
    at_delta: Annotated[
        str | None,
        typer.Option(
            "--at-delta",
            "--delta",
            help="Report what all answers cost together if this δ is put up with; needs recuse[accounting].",
        ),
    ] = None,
    json_output: AsJson = False,
) -> None:
    """Show what is granted, spent and left."""
    book = located(ledger)
    whole, analysts, version = book.balance(), book.analysts(), book.data_version()
    loss = None if at_delta is None else _approximate(book, at_delta)
    note = None if policy is None else changed_budget(book, Policy.read(policy))
    if json_output:
        told: dict[str, Any] = amounts(whole) | {"data_version": version}
        told["analysts"] = {analyst.name: amounts(analyst.balance) for analyst in analysts}
        if loss is not None:
            told |= {"approximate_epsilon": loss, "delta": float(exact(str(at_delta), name="delta"))}
        typer.echo(json.dumps(told))
    else:
        for name in ("granted", "spent", "remaining"):
            typer.echo(f"{name:<10}{decimal_text(getattr(whole, name))}")
        if whole.granted_delta:
            left, granted = decimal_text(whole.remaining_delta), decimal_text(whole.granted_delta)
            typer.echo(f"delta     {left} of {granted} remaining")
        for analyst in analysts:
            left, granted = decimal_text(analyst.balance.remaining), decimal_text(analyst.balance.granted)
            typer.echo(f"analyst   {analyst.name}: {left} of {granted} remaining")
        if version > 1:
            typer.echo(f"data      version {version}")
        if loss is not None:
            typer.echo(
                f"together  ({loss:.4g}, {at_delta})-private, if no epsilon was chosen after seeing answers"
            )
    if note is not None:
        typer.echo(note, err=True)


def _approximate(book: Ledger, delta: str) -> float:
    charges = book.history()
    chance = exact(delta, name="delta") - sum((charge.delta for charge in charges), start=Fraction(0))
    if chance <= 0:
        raise ParameterError(
            "the answers' own delta is more than this", found=delta, hint="name a larger one"
        )
    return approximate_loss([charge.epsilon for charge in charges], chance)


@budget_app.command("grant")
def grant(
    ledger: LedgerOf,
    epsilon: Annotated[
        str, typer.Option(help="The whole limit, not an addition; twice is no more than once.")
    ],
    analyst: AnalystName = None,
    delta: Annotated[
        str | None, typer.Option(help="The whole limit of delta; without it that stays as it is.")
    ] = None,
    json_output: AsJson = False,
) -> None:
    """Set the limit of the database, or of an analyst.

    An analyst's limit is within the database's. Once one is named, every question must say whose it is.
    The first grant of a database makes its ledger, in place of the policy's [budget].
    """
    loss, place = Epsilon.of(epsilon), place_of(ledger)
    chance = None if delta is None else Delta.of(delta)
    if analyst is None and not place.exists() and (ledger.exists() or ledger.suffix == ".ledger"):
        made, _ = open_or_create(place, loss, chance)
        announce_new(LedgerLocation.of(ledger if ledger.exists() else None, place), made)
        made.close()
    book = Ledger.open(place)
    balance = book.grant(loss, analyst, chance)
    if json_output:
        typer.echo(json.dumps({"analyst": analyst} | amounts(balance)))
        return
    left, granted = decimal_text(balance.remaining), decimal_text(balance.granted)
    typer.echo(f"{analyst or 'the database'} may spend {granted}: {left} remaining")
    if balance.granted_delta:
        left, granted = decimal_text(balance.remaining_delta), decimal_text(balance.granted_delta)
        typer.echo(f"and delta {granted}: {left} remaining")
    if analyst is not None and balance.remaining > book.balance().remaining:
        typer.echo(f"but the database has only {decimal_text(book.balance().remaining)} left", err=True)


@budget_app.command("export")
def export(ledger: LedgerOf, json_output: AsJson = False) -> None:
    """Print the history as CSV.

    What was asked, by whom, when, what it cost and what was answered; nothing about the data behind it.
    """
    rows = [
        {
            "at": charge.at,
            "epsilon": decimal_text(charge.epsilon),
            "delta": decimal_text(charge.delta),
            "analyst": charge.analyst,
            "source": charge.source,
            "data_version": charge.data_version,
            "policy": charge.policy,
            "query": charge.query,
            "answer": charge.answer,
        }
        for charge in located(ledger).history()
    ]
    if json_output:
        for row in rows:
            told = None if row["answer"] is None else json.loads(str(row["answer"]))
            typer.echo(json.dumps(row | {"answer": told}))
        return
    table = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
    table.writeheader()
    table.writerows(rows)


TypesOf = Annotated[
    Path | None,
    typer.Option("--policy", help="The policy: types of CSV columns, and declared keys, which are tried."),
]


@data_app.command("check")
def check_data(
    source: Annotated[
        str,
        typer.Argument(
            help="A DuckDB file, a folder of CSV or Parquet files, a graph file, or postgresql://host/database."
        ),
    ],
    policy: TypesOf = None,
    most: Annotated[int, typer.Option(help="How many findings are printed.")] = MOST_FINDINGS,
    json_output: AsJson = False,
) -> None:
    """Read everything once and name what cannot be read, by file, line and cell. For the custodian.

    NOT PRIVATE: what is printed depends on single rows. A cell that cannot be read is NULL when a question is
    asked, and a line that cannot be parsed affects no other. With a policy every declared [[key]] is tried.
    Exit code 2 if anything was found.
    """
    checked(source, policy, most, as_object=json_output)
    if not json_output:
        typer.echo(f"{shown(source)} can be read as declared")


def shown(source: str) -> Path | PostgresPlace | SparkPlace:
    """Return where a source is, as it may be shown."""
    return (place_at(source) or PostgresPlace(source)) if is_address(source) else Path(source)


def checked(source: str, policy: Path | None, most: int, *, as_object: bool) -> None:
    """Print what is not as declared in a source, and refuse to go on if there is anything."""
    unreadable, false, name = 0, 0, shown(source).name
    for number, found in enumerate(check(source, policy)):
        if number < most:
            typer.echo(json.dumps(asdict(found)) if as_object else str(found))
        false += isinstance(found, FalseKey)
        unreadable += not isinstance(found, FalseKey)
    if unreadable:
        raise DatabaseError(
            f"{unreadable:,} {'place' if unreadable == 1 else 'places'} in {name} cannot be read",
            hint="mend the files; until then these cells are NULL and lines with too many cells are no rows",
        )
    if false:
        raise DatabaseError(
            f"{false:,} declared {'key does' if false == 1 else 'keys do'} not hold in {name}",
            hint="mend the rows, or take the [[key]] out of the policy: privacy rests on it",
        )


@data_app.command("publish")
def publish(
    ledger: LedgerOf,
    policy: TypesOf = None,
    unchecked: Annotated[
        bool, typer.Option("--unchecked", help="Do not check the data first, as recuse data check does.")
    ] = False,
    json_output: AsJson = False,
) -> None:
    """Say that the data has changed, after checking it.

    The data is read once as by recuse data check; if anything in it cannot be read, or a declared key does
    not hold, it is named and nothing is published. Then the data version is raised by one: questions asked
    before are answered anew, and charged.
    """
    book, data = located(ledger), data_of(ledger)
    if data is None and not unchecked:
        typer.echo(
            "nothing was checked: the data is not beside the ledger; recuse data check does it", err=True
        )
    elif data is not None and not unchecked:
        checked(str(data), policy, MOST_FINDINGS, as_object=json_output)
    version = book.publish()
    if json_output:
        typer.echo(json.dumps({"data_version": version}))
    else:
        typer.echo(f"data version {version}: earlier answers are not given again")
