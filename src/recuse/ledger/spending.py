"""What was spent and what is left, as the tables have it; and the refusal of what is not left."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from recuse.errors import BudgetError
from recuse.ledger.entries import Analyst, Balance, Bill, Charge, Decision
from recuse.privacy import decimal_text

Spending = tuple[Fraction, Fraction]
"""an ε and a δ"""
NOTHING = (Fraction(0), Fraction(0))
AMOUNTS = "granted, spent, granted_delta, spent_delta"


def spent_of(balance: Balance) -> Spending:
    """Return the ε and the δ that were spent."""
    return balance.spent, balance.spent_delta


def stated(text: str | None) -> Fraction | None:
    """Return an amount as the tables have it, None where none is stated."""
    return None if text is None else Fraction(text)


def balance_of(*amounts: str) -> Balance:
    balance = Balance(*map(Fraction, amounts))
    if min(balance.spent, balance.remaining, balance.spent_delta, balance.remaining_delta) < 0:
        raise sqlite3.DatabaseError("the account is overdrawn")
    return balance


def refuse_overdraft(question: Bill, database: Balance, own: Analyst | None) -> None:
    """Refuse a charge that the database's budget, or the analyst's part of it, does not cover."""
    holders = [(database, ""), *([(own.balance, f" to {own.name}")] if own is not None else [])]
    left, whose = min(((balance.remaining, whose) for balance, whose in holders), key=lambda part: part[0])
    if question.epsilon.value > left:
        hint = "ask with a smaller epsilon" if left > 0 else "nothing is left to spend"
        found = f"epsilon {question.epsilon} asked, {decimal_text(left)} left{whose}"
        raise BudgetError("the budget does not cover this question", found=found, hint=hint)
    if question.delta is None:
        return
    left, whose = min(
        ((balance.remaining_delta, whose) for balance, whose in holders), key=lambda part: part[0]
    )
    if question.delta.value > left:
        raise BudgetError(
            "the budget does not cover the delta of this question",
            found=f"delta {question.delta} asked, {decimal_text(left)} left{whose}",
            hint="ask with a smaller delta" if left > 0 else "the custodian grants it: recuse budget grant",
        )


def charge_of(row: Sequence[Any]) -> Charge:
    """Return an entry of the history from its columns."""
    at, epsilon, *rest, delta, door = row
    return replace(Charge(at, Fraction(epsilon), *rest), delta=Fraction(delta), door=door)


def decision_of(row: Sequence[Any]) -> Decision:
    """Return what the custodian decided, from its columns."""
    at, what, analyst, epsilon, version, delta, who = row
    return Decision(at, what, analyst, stated(epsilon), version, stated(delta), who)
