"""`recuse budget burndown`: what every question cost, and what was left after it, drawn."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from shutil import get_terminal_size
from typing import Annotated

import typer

from recuse.cli.budget import LedgerOf, located
from recuse.cli.options import AsJson
from recuse.ledger import Balance, Charge
from recuse.numerals import nearest
from recuse.privacy import decimal_text

BAR, MOST = 24, 30
"""characters of a full budget; questions that are shown unless more are asked for"""


@dataclass(frozen=True, slots=True)
class BurnStep:
    """A charge, and what was left after it of what is granted now."""

    charge: Charge
    left: Fraction


def steps(charges: Sequence[Charge], balance: Balance) -> Iterator[BurnStep]:
    """Yield what was left after each charge, counted from what is granted today."""
    left = balance.granted
    for charge in charges:
        left -= charge.epsilon
        yield BurnStep(charge, left)


def drawn(found: Sequence[BurnStep], balance: Balance, width: int) -> Iterator[str]:
    """Yield a line a question: its cost, what was left after it, the same as a bar, and its text."""
    costs = ["epsilon", "", *(decimal_text(step.charge.epsilon) for step in found)]
    lefts = ["left", decimal_text(balance.granted), *(decimal_text(step.left) for step in found)]
    bars = [" " * BAR, _bar(Fraction(1)), *(_bar(step.left / balance.granted) for step in found)]
    texts = ["question", "granted", *(" ".join(step.charge.query.split()) for step in found)]
    wide, wider = max(map(len, costs)), max(map(len, lefts))
    room = max(width - wide - wider - BAR - 6, 10)
    for cost, left, bar, text in zip(costs, lefts, bars, texts, strict=True):
        short = text if len(text) <= room else text[: room - 1] + "…"
        yield f"{cost:>{wide}}  {left:>{wider}}  {bar}  {short}"


def _bar(share: Fraction) -> str:
    """Return a share of a full bar.

    >>> _bar(Fraction(1, 2)).count("█"), len(_bar(Fraction(1, 3)))
    (12, 24)
    """
    full = min(max(round(share * BAR), 0), BAR)
    return "█" * full + "·" * (BAR - full)


def burndown(
    ledger: LedgerOf,
    most: Annotated[int, typer.Option(min=1, help="How many of the last questions are shown.")] = MOST,
    json_output: AsJson = False,
) -> None:
    """Show what every question cost and what was left after it, drawn."""
    book = located(ledger)
    balance = book.balance()
    found = list(steps(book.history(), balance))[-most:]
    if json_output:
        for step in found:
            one = step.charge
            told = {"at": one.at, "epsilon": nearest(one.epsilon), "remaining": nearest(step.left)}
            typer.echo(json.dumps(told | {"query": one.query}))
        return
    for line in drawn(found, balance, get_terminal_size().columns):
        typer.echo(line.rstrip())
