"""Charges of questions that are all different, for tests of the ledger."""

from __future__ import annotations

from itertools import count

from recuse.ledger import Bill, Charged, Ledger
from recuse.privacy import Epsilon, NumberLike

_numbers = count()


def question(epsilon: NumberLike, *, key: str | None = None, analyst: str | None = None) -> Bill:
    """Return a question; one that has never been asked, unless it has a key."""
    fresh = f"question {next(_numbers)}"
    return Bill("SELECT COUNT(*) FROM t", Epsilon.of(epsilon), key or fresh, "policy", analyst)


def spend(ledger: Ledger, epsilon: NumberLike, analyst: str | None = None) -> Charged:
    """Return the charge of a question that has never been asked."""
    paid = ledger.charge(question(epsilon, analyst=analyst))
    if not isinstance(paid, Charged):
        raise TypeError("a fresh question has a stored answer")
    return paid
