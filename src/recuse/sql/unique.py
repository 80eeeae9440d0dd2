"""Choices of which at most one row can hold → joins: no OR is left of them."""

from __future__ import annotations

from dataclasses import replace

from recuse.sql.elaborate import Lookup
from recuse.sql.equalities import equal_columns, is_identity
from recuse.sql.measure import Measure
from recuse.sql.query import Block, Choice, Scan, column
from recuse.sql.schema import Schema


def join_unique(measure: Measure, _: Schema) -> Measure:
    """Return the measure in which a choice of one row at most is a join: the row's owners are owners then.

    Guarantee: the same rows, as often, if the database enforces the keys that its catalogue names; whether it
    does, a row belongs to whoever can withdraw it.
    """
    lookup = measure.lookup()
    return replace(measure, blocks=tuple(_joined(block, lookup) for block in measure.blocks))


def _joined(block: Block, lookup: Lookup) -> Block:
    single = [choice for choice in block.choices if _is_single(choice, lookup)]
    found = replace(block, choices=tuple(choice for choice in block.choices if choice not in single))
    for choice in single:
        found = found.joined(replace(choice.branches[0], outputs=()))
    return found


def _is_single(choice: Choice, lookup: Lookup) -> bool:
    """Return whether a choice is about the one row of a table that an enforced key names."""
    if len(choice.branches) != 1 or choice.quorum is not None:
        return False
    (branch,) = choice.branches
    if len(branch.sources) != 1 or branch.choices:
        return False
    (scan,) = branch.sources
    if not isinstance(scan, Scan) or scan.preserving is not None:
        return False
    fixed = set()
    for condition in branch.conditions:
        for pair in equal_columns(condition):
            kinds = [lookup(column(*name)).type for name in pair]
            inside = [name for name in pair if name[0] == scan.alias]
            if len(inside) == 1 and all(map(is_identity, kinds)) and len(set(map(type, kinds))) == 1:
                fixed.add(inside[0][1])
    return any(fixed >= set(key) for key in scan.table.keys)
