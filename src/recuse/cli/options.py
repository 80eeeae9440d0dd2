"""What commands share: their arguments and options, and how a session is opened for one."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TextIO

import typer

from recuse.engines.open import is_address
from recuse.ledger import Ledger
from recuse.mechanism.mechanisms import NAMES
from recuse.policy import Policy
from recuse.privacy import decimal_text
from recuse.session.graph import GraphSession
from recuse.session.place import LedgerLocation, SecondBudgetWarning
from recuse.session.scale import FewPeopleWarning
from recuse.session.session import JoinGrowthWarning, Session, connect
from recuse.sql.parse import MAX_LENGTH

Database = Annotated[
    str,
    typer.Argument(help="A DuckDB file, a folder of CSV or Parquet files, or postgresql://host/database."),
]
SqlText = Annotated[
    str,
    typer.Argument(help="One SELECT with COUNT, SUM or AVG; - reads it from standard input."),
]
PolicyFile = Annotated[Path, typer.Option("--policy", help="The TOML file that says who is protected.")]
LedgerFile = Annotated[
    Path | None, typer.Option("--ledger", help="The budget ledger; DATABASE.ledger unless named.")
]
AnalystName = Annotated[
    str | None, typer.Option("--analyst", help="Who asks, if the custodian has named analysts.")
]
Loss = Annotated[str, typer.Option("--epsilon", help="The privacy loss of this answer, such as 0.5.")]
Chance = Annotated[
    str | None,
    typer.Option("--delta", help="What finding groups that nobody listed may cost, such as 1e-6."),
]
MechanismName = Annotated[str, typer.Option(help=f"One of {', '.join(NAMES)}.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON: one object a line.")]


def source(database: str) -> Path | str:
    """Return what a command is asked about: a path, or the address of a database on a server."""
    return database if is_address(database) else Path(database)


def sql_or_stdin(sql: str) -> str:
    """Return the question: as given, or from standard input."""
    return sys.stdin.read(MAX_LENGTH + 1) if sql == "-" else sql


@dataclass(frozen=True, slots=True)
class Opening:
    """What is opened, under which policy, and who pays."""

    database: Database
    policy: PolicyFile
    ledger: LedgerFile = None
    analyst: AnalystName = None


@contextmanager
def opened(what: Opening) -> Iterator[Session]:
    """Give the session of a command; it is closed after. `announce` says in our own words what is new."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecondBudgetWarning)
        warnings.simplefilter("always", JoinGrowthWarning)
        warnings.simplefilter("always", FewPeopleWarning)
        warnings.showwarning = _warn
        with connect(source(what.database), what.policy, what.ledger, analyst=what.analyst) as session:
            yield session


def _warn(
    message: Warning | str,
    category: type[Warning],  # noqa: ARG001
    filename: str,  # noqa: ARG001
    lineno: int,  # noqa: ARG001
    file: TextIO | None = None,  # noqa: ARG001
    line: str | None = None,  # noqa: ARG001
) -> None:
    """Say a warning on standard error, in one line."""
    typer.echo(f"warning   {message}", err=True)


def announce(session: Session | GraphSession) -> None:
    """Say on standard error what a custodian must know of the ledger: that it is new, or grants otherwise."""
    if not session.has_ledger:
        return
    if session.ledger_is_new:
        announce_new(session.place, session.ledger)
    elif isinstance(session, Session) and (note := changed_budget(session.ledger, session.policy)):
        typer.echo(note, err=True)


def announce_new(place: LedgerLocation, ledger: Ledger) -> None:
    """Say on standard error that a ledger is new, loudly if it may not be the only one for its data."""
    if doubt := place.doubt(ledger):
        option = " (--ledger)" if place.others() else ""
        typer.secho(f"WARNING: {doubt}{option}", err=True, bold=True)
    else:
        granted = decimal_text(ledger.balance().granted)
        typer.echo(f"new ledger {ledger.path} with a budget of epsilon = {granted}", err=True)


def changed_budget(ledger: Ledger, policy: Policy) -> str | None:
    """Return that the policy's [budget] is not the ledger's, unless the custodian has granted since."""
    granted = ledger.balance().granted
    decided = [
        decision for decision in ledger.decisions() if decision.what == "grant" and not decision.analyst
    ]
    if policy.budget is None or policy.budget.value == granted or len(decided) > 1:
        return None
    return (
        f"the policy's [budget] says {policy.budget}, the ledger grants {decimal_text(granted)}, "
        "which is what counts: "
        f"recuse budget grant {ledger.path} --epsilon {policy.budget} changes it"
    )
