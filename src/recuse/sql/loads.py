"""A public bound on loads: the most rows of a count that one participant can own, whatever the data is.

An owner whose values fix a unique key of every table of a join has one row of it at most. It follows from
query, policy and catalogue. A key that is declared and not true costs accuracy only (proofs.md, theorem R0).
"""

from __future__ import annotations

from collections import Counter

from recuse.fold import fold
from recuse.policy import Policy
from recuse.sql.aggregates import RowCount
from recuse.sql.disjoint import BlockFacts
from recuse.sql.measure import Measure
from recuse.sql.query import Block, SetOf


def load_bound(measure: Measure, policy: Policy) -> int | None:
    """Return the most rows that a participant owns, in all places together; None if nothing bounds it.

    Counts are looked at, of joined rows and of different owners: a sum has no bound, and below another OR one
    row stands for another.
    """
    if not isinstance(measure.aggregate, RowCount) or len(measure.blocks) != 1:
        return None
    (block,) = measure.blocks
    if block.choices or block.absent:
        return None
    if any(isinstance(source, SetOf) for source in block.sources):
        return _different_owners(block, measure, policy)
    return _most_places(block, BlockFacts.of(block, policy, measure.lookup()))


def single_rows(measure: Measure, policy: Policy) -> bool:
    """Return whether rows are counted, of participants that are one row each: no row links to them.

    Then there are many, and what each has comes from joins alone.
    """
    linked = {fold(link.to) for link in policy.links}
    kinds = {fold(owner.kind) for block in measure.blocks for owner in block.owners}
    return isinstance(measure.aggregate, RowCount) and bool(kinds) and not kinds & linked


def _different_owners(block: Block, measure: Measure, policy: Policy) -> int | None:
    """Return 1 for COUNT(DISTINCT owner): everybody owns one of the rows, and each has one owner."""
    match block:
        case Block(sources=(SetOf(branches=(rows,)),), conditions=(), owners=()):
            pass
        case _:
            return None
    if rows.choices or rows.absent or any(isinstance(source, SetOf) for source in rows.sources):
        return None
    facts = BlockFacts.of(rows, policy, measure.lookup())
    outputs = [output.value for output in rows.outputs]
    match rows.owners:
        case (owner,) if facts.decided([owner], outputs) and facts.named(owner, outputs):
            return 1
    return None


def _most_places(block: Block, facts: BlockFacts) -> int | None:
    """Return at how many places a kind stands in a row at most, if each owner has one row at each."""
    if not block.owners or not all(facts.has_one_row(owner) for owner in block.owners):
        return None
    return max(Counter(owner.kind for owner in block.owners).values())


def bound_words(bound: int) -> str:
    """Return what a bound means for the noise."""
    if bound == 1:
        return "no participant has more than one row, whatever the data: nothing is truncated"
    return f"no participant has more than {bound} rows, whatever the data: nothing beyond is considered"
