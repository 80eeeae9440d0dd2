"""How the groups of a measure share ε: it follows from query, policy and catalogue, never from the data."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from recuse.policy import Policy
from recuse.sql.derive import DerivationTable
from recuse.sql.disjoint import groups_are_disjoint
from recuse.sql.measure import Measure


class Sharing(Enum):
    """How groups share ε, best first."""

    SIDE_BY_SIDE = "side by side"
    """nobody can touch two groups, or there is only one: each has all of ε"""
    ONE_OWNER = "one owner"
    """every row has one owner: vectors are scaled down, and each group has all of ε2"""
    TOGETHER = "together"
    """several owners: all groups are released together"""


def sharing_of(
    measure: Measure, tables: Iterable[DerivationTable], policy: Policy, *, grouped: bool
) -> Sharing:
    """Return how the groups of a measure share ε.

    Guarantee: `SIDE_BY_SIDE` only as theorem R7 of proofs.md allows, `ONE_OWNER` only if every row of every
    database has one owner at most and needs nothing else, as theorem E0 does.
    """
    if not grouped or groups_are_disjoint(measure, policy):
        return Sharing.SIDE_BY_SIDE
    if all(len(table.owners) <= 1 and not table.below for table in tables):
        return Sharing.ONE_OWNER
    return Sharing.TOGETHER
