"""`recuse ledger` and `recuse token`: copies of a ledger, and tokens for those who ask a server."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

import typer

from recuse.cli.budget import LedgerOf, located, place_of
from recuse.cli.options import AsJson
from recuse.errors import ParameterError
from recuse.ledger import Role, Token, restore
from recuse.privacy import decimal_text

ledger_app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Copy a ledger while it is in use, put a copy back, audit.",
)
token_app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Tokens, by which a server knows who asks."
)


@ledger_app.command("backup")
def backup(
    ledger: LedgerOf,
    copy: Annotated[Path, typer.Argument(help="A new file. It is as secret as the ledger.")],
    json_output: AsJson = False,
) -> None:
    """Copy a ledger while others may charge. Never copy the file itself: part of it lies beside it."""
    located(ledger).backup(copy)
    typer.echo(json.dumps({"copy": str(copy)}) if json_output else f"copied to {copy}")


@ledger_app.command("restore")
def put_back(
    copy: Annotated[Path, typer.Argument(help="A file that recuse ledger backup wrote.")],
    ledger: LedgerOf,
    mark: Annotated[Path | None, typer.Option(help="The high-water mark; LEDGER.mark unless named.")] = None,
    json_output: AsJson = False,
) -> None:
    """Put a copy in place of a ledger that was lost.

    What was spent since the copy was made is known from the high-water mark that a server writes, and is
    charged: nothing is refunded. Without a mark nobody knows it: lower the grant by what may have been spent.
    """
    lost = restore(copy, place_of(ledger), mark)
    if json_output:
        typer.echo(json.dumps({"charged": decimal_text(lost)}))
    else:
        typer.echo(f"restored; epsilon {decimal_text(lost)}, spent since the copy was made, is charged")


@ledger_app.command("audit")
def audit(ledger: LedgerOf, json_output: AsJson = False) -> None:
    """Show what custodians did: grants, publications, tokens, backups."""
    for act in located(ledger).audit():
        typer.echo(
            json.dumps(asdict(act)) if json_output else f"{act.at}  {act.who}  {act.what}  {act.detail}"
        )


@token_app.command("create")
def create(
    ledger: LedgerOf,
    analyst: Annotated[
        str | None, typer.Option(help="Whose it is: an analyst whom a grant has named.")
    ] = None,
    custodian: Annotated[
        str | None, typer.Option(help="In place of an analyst: a custodian's, who may do everything.")
    ] = None,
    purpose: Annotated[str, typer.Option(help="What it is for.")] = "",
    days: Annotated[int | None, typer.Option(min=1, max=36500, help="How long it opens anything.")] = None,
    json_output: AsJson = False,
) -> None:
    """Make a token and show it, once. What is kept of it opens nothing."""
    if (analyst is None) == (custodian is None):
        raise ParameterError("whose token is it?", accepted="--analyst NAME, or --custodian NAME")
    role, name = (Role.ANALYST, analyst) if analyst is not None else (Role.CUSTODIAN, custodian)
    expires = None if days is None else datetime.now(UTC) + timedelta(days=days)
    token, text = located(ledger).tokens().create(str(name), role, purpose, expires=expires)
    typer.echo(json.dumps(_fields(token) | {"token": text}) if json_output else text)


@token_app.command("list")
def listed(ledger: LedgerOf, json_output: AsJson = False) -> None:
    """List the tokens: whose, what for, until when, last used."""
    now = datetime.now(UTC)
    for token in located(ledger).tokens().all():
        if json_output:
            typer.echo(json.dumps(_fields(token)))
            continue
        state = "live" if token.is_live(now) else "revoked" if token.revoked else "expired"
        used = f"last used {token.last_used}" if token.last_used else "never used"
        typer.echo(f"{token.id}  {token.role.value} {token.name}  {state}  {used}  {token.purpose}".rstrip())


@token_app.command("revoke")
def revoke(
    ledger: LedgerOf,
    token: Annotated[str, typer.Argument(help="Its id, as recuse token list shows it.")],
    json_output: AsJson = False,
) -> None:
    """Revoke a token: a server refuses whoever holds it from the next question on."""
    found = located(ledger).tokens().revoke(token)
    typer.echo(json.dumps(_fields(found)) if json_output else f"{found.id} opens nothing any more")


def _fields(token: Token) -> dict[str, Any]:
    return asdict(token) | {"role": token.role.value}
