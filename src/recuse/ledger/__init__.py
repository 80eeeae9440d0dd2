"""The privacy budget in one SQLite file: charges, stored answers, analysts, tokens, versions of the data."""

from recuse.ledger.create import open_or_create
from recuse.ledger.entries import Act, Analyst, Balance, Bill, Charge, Charged, Decision, Stored
from recuse.ledger.ledger import Ledger
from recuse.ledger.restore import restore
from recuse.ledger.tokens import Role, Token

__all__ = [
    "Act",
    "Analyst",
    "Balance",
    "Bill",
    "Charge",
    "Charged",
    "Decision",
    "Ledger",
    "Role",
    "Stored",
    "Token",
    "open_or_create",
    "restore",
]
