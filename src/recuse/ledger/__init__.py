"""The privacy budget: charges, stored answers, analysts and versions of the data, in one SQLite file."""

from recuse.ledger.create import open_or_create
from recuse.ledger.entries import Analyst, Balance, Bill, Charge, Charged, Decision, Stored
from recuse.ledger.ledger import Ledger

__all__ = [
    "Analyst",
    "Balance",
    "Bill",
    "Charge",
    "Charged",
    "Decision",
    "Ledger",
    "Stored",
    "open_or_create",
]
