"""What is left of a budget over time, as steps that a page draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction

from recuse.ledger import Balance, Charge
from recuse.numerals import nearest
from recuse.privacy import decimal_text

WIDTH, HEIGHT = 640.0, 160.0


@dataclass(frozen=True, slots=True)
class Burndown:
    """A line from left (the first charge) to right (now), and what was left at its ends."""

    path: str
    first: str
    last: str
    was: str
    """what was left before the first of the charges"""
    unanswered: tuple[float, ...]
    """where along the line something was charged and not answered"""


def burndown(balance: Balance, charges: Sequence[Charge], now: datetime | None = None) -> Burndown | None:
    """Return the steps down to what is left now; None if nothing was charged. `charges`: newest first."""
    if not charges:
        return None
    end = now or datetime.now(UTC)
    times = [_moment(charge.at) for charge in reversed(charges)]
    amounts = [charge.epsilon for charge in reversed(charges)]
    left = before = balance.remaining + sum(amounts)
    top = max(before, balance.granted)
    length = max((end - times[0]).total_seconds(), 1.0)

    def across(at: datetime) -> float:
        return round(WIDTH * min(max((at - times[0]).total_seconds() / length, 0.0), 1.0), 1)

    def down(amount: Fraction) -> float:
        return round(HEIGHT * (1 - float(nearest(amount / top))), 1) if top else HEIGHT

    parts = [f"M0 {down(left)}"]
    for at, amount in zip(times, amounts, strict=True):
        left -= amount
        parts.append(f"H{across(at)}V{down(left)}")
    parts.append(f"H{WIDTH}")
    lost = tuple(
        across(at) for at, charge in zip(times, reversed(charges), strict=True) if charge.answer is None
    )
    return Burndown(
        "".join(parts), times[0].isoformat(), end.isoformat("T", "seconds"), decimal_text(before), lost
    )


def _moment(text: str) -> datetime:
    found = datetime.fromisoformat(text)
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)
