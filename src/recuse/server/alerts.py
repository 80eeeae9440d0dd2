"""Budgets that run out: the log says so when half, four fifths and all of one is spent.

What is charged is public, so the line tells nothing about rows.
"""

from __future__ import annotations

import logging
from fractions import Fraction

from recuse.ledger import Balance

LEVELS = (50, 80, 100)
"""percent"""
LOG = logging.getLogger("recuse.server")


def crossed(balance: Balance, charge: Fraction) -> int | None:
    """Return the highest level that a charge, which the balance knows of, has reached.

    >>> crossed(Balance(Fraction(10), Fraction(8)), Fraction(4))
    80
    >>> crossed(Balance(Fraction(10), Fraction(8)), Fraction(0)) is None
    True
    """
    before, after = (100 * spent / balance.granted for spent in (balance.spent - charge, balance.spent))
    return max((level for level in LEVELS if before < level <= after), default=None)


def alert(dataset: str, analyst: str | None, balance: Balance, charge: Fraction) -> None:
    """Write down that a budget, or an analyst's limit, is spent to a level."""
    level = crossed(balance, charge)
    if level is not None:
        whose = "the budget" if analyst is None else f"the limit of {analyst}"
        LOG.warning("%s: %d %% of %s is spent", dataset, level, whose)
