"""How the groups of a measure share ε: it follows from query, policy and catalogue, never from the data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Any

from recuse.policy import Policy
from recuse.sql.derivation import DerivationTable
from recuse.sql.disjoint import groups_are_disjoint
from recuse.sql.measure import Measure
from recuse.sql.touch import Touch


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
    if has_one_owner(tables):
        return Sharing.ONE_OWNER
    return Sharing.TOGETHER


def has_one_owner(tables: Iterable[DerivationTable]) -> bool:
    """Return whether every row has one owner at most, and needs nothing else."""
    return all(len(table.owners) <= 1 and not table.below for table in tables)


WORDS = {
    Sharing.SIDE_BY_SIDE: "in full for every group: each participant touches one group only",
    Sharing.ONE_OWNER: "in full for the noise of every group: each row has one owner",
}


def sharing_words(
    sharing: Sharing,
    touches: Sequence[Touch],
    names: Sequence[str],
    keys: Sequence[tuple[Any, ...]] | None,
    *,
    apart: bool,
) -> str:
    """Return how groups share ε, and why; `keys` are the groups, if they are known without looking.

    `apart`: the answer of a group is one of its values, and each group is answered by itself.
    """
    if sharing in WORDS:
        return WORDS[sharing]
    said = "; ".join(f"a {touch.kind} touches {_reached(touch, names, keys)}" for touch in touches)
    if apart:
        return f"divided by the most groups that one can touch: {said}"
    return f"in one noise for all groups, whoever touches fewer counts for more in each: {said}"


def _reached(touch: Touch, names: Sequence[str], keys: Sequence[tuple[Any, ...]] | None) -> str:
    if keys is not None:
        return f"{touch.most(keys):,} of {len(keys):,} at most"
    if not all(decided for places in touch.ways for decided in places):
        return "any"
    places = touch.ways[0]
    return " or ".join(f"those of one {', '.join(names[place] for place in decided)}" for decided in places)
