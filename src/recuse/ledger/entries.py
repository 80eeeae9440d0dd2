"""What stands in a ledger: balances, questions, charges, and what a charge was answered with."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from recuse.errors import ParameterError
from recuse.html import fields, share_svg
from recuse.privacy import Delta, Epsilon, decimal_text

LONGEST_NAME = 100


@dataclass(frozen=True, slots=True, repr=False)
class Balance:
    """What was granted and what has been spent, of ε and of δ, exactly."""

    granted: Fraction
    spent: Fraction
    granted_delta: Fraction = Fraction(0)
    spent_delta: Fraction = Fraction(0)

    @property
    def remaining(self) -> Fraction:
        """What may still be spent of ε."""
        return self.granted - self.spent

    @property
    def remaining_delta(self) -> Fraction:
        """What may still be spent of δ."""
        return self.granted_delta - self.spent_delta

    def __str__(self) -> str:
        return f"{decimal_text(self.remaining)} of {decimal_text(self.granted)} left"

    def __repr__(self) -> str:
        return f"<Balance: {self}>"

    def _repr_html_(self) -> str:
        """Return the budget for a notebook: how much of it is spent, drawn."""
        said = [("granted", self.granted), ("spent", self.spent), ("remaining", self.remaining)]
        if self.granted_delta:
            said += [("delta", self.granted_delta), ("delta left", self.remaining_delta)]
        drawn = share_svg(self.spent / self.granted if self.granted else Fraction(1))
        return f"<div>{drawn}</div>" + fields((name, decimal_text(value)) for name, value in said)


@dataclass(frozen=True, slots=True)
class Bill:
    """What a ledger is asked to pay for.

    `key` names everything that the answer's distribution depends on except the data: what is run, the policy,
    the parameters with ε, the program's version. `source` is what the ledger calls the data (nothing: data in
    memory), whose version it knows. Both are made of public things only. Questions with the same key, source,
    analyst and data version have one answer, paid for once.
    """

    text: str
    epsilon: Epsilon
    key: str
    policy: str
    analyst: str | None = None
    source: str = ""
    delta: Delta | None = None
    door: str | None = None
    """by which way of a server it came; None: by none"""


@dataclass(frozen=True, slots=True)
class Act:
    """A line of the audit: what a custodian did, and when. Nothing of the data is in it, and no token."""

    at: str
    who: str
    what: str
    detail: str


@dataclass(frozen=True, slots=True)
class Charged:
    """A charge that is on disk: now the data may be looked at."""

    number: int
    """of its entry in the history, from 1"""
    remaining: Fraction
    data_version: int


@dataclass(frozen=True, slots=True)
class Stored:
    """The answer that the same question had before: nothing was charged, and no data need be looked at."""

    answer: str
    """as it was released then"""
    remaining: Fraction
    data_version: int


@dataclass(frozen=True, slots=True)
class Analyst:
    """Somebody whom the custodian named."""

    name: str
    balance: Balance
    """a sub-limit: the database's own budget must cover a charge as well"""


@dataclass(frozen=True, slots=True)
class Charge:
    """One entry of the history: what was asked and what was let out, nothing about the data behind it."""

    at: str
    """when, in UTC"""
    epsilon: Fraction
    query: str
    analyst: str | None
    data_version: int
    policy: str | None
    """the hash of what it was asked under"""
    answer: str | None
    """as it was released; None if the program ended before it answered, or for charges of version 1"""
    source: str | None
    """the data as seen from the ledger; None for charges before version 3"""
    delta: Fraction = Fraction(0)
    door: str | None = None
    """by which way of a server it came"""


@dataclass(frozen=True, slots=True)
class Decision:
    """Something that the custodian did: a grant (of an analyst, or of the database) or a publication."""

    at: str
    what: str
    """grant, limit, publish …"""
    analyst: str | None
    """whose limit it is; None: the database's"""
    epsilon: Fraction | None
    data_version: int
    delta: Fraction | None = None
    who: str | None = None
    """who did it; None for decisions before version 5"""


def checked_name(name: str) -> str:
    """Return the name of an analyst, or refuse it."""
    if not name.strip() or name != name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
        raise ParameterError(
            "this is no name for an analyst",
            found=repr(name),
            accepted=f"up to {LONGEST_NAME} printable characters, no blanks around them",
        )
    return name
