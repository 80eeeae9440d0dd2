"""Absences that can be spared, and absences below DISTINCT: above the set where its columns decide them.

A row of a set is an OR over rows. OR of rows that each lack something would change as often as there are rows
(proofs.md, theorem N4), so what is lacking must be the same for all rows that are one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from sqlglot import exp

from recuse.scalars.types import Float, Opaque
from recuse.sql.elaborate import Lookup, type_of
from recuse.sql.equalities import Name, in_force
from recuse.sql.query import Block, Output, Scalar, Scan, branches_of, column
from recuse.sql.walk import map_blocks, scalars_of


def absorbed(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Return blocks with the same distinct outputs in which fewer rows must be absent.

    Rows with a partner and rows without one are together all rows, whoever is there: of a LEFT JOIN whose
    right side nothing is asked about the left side is left.
    """
    found = list(blocks)
    for block in blocks:
        for others in {other.absent for other in blocks if set(other.absent) < set(block.absent)}:
            pairs = [_plus(block, branch, others) for branch in block.absent if branch not in others]
            if block in found and all(any(_is_same(pair, other) for other in found) for pair in pairs):
                found = [other for other in found if not any(_is_same(pair, other) for pair in pairs)]
                found[found.index(block)] = replace(block, absent=others)
                return absorbed(found)
    return tuple(found)


def together(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Return blocks with the same rows: those with a choice and those without any row of it are one block."""
    for block in blocks:
        chosen = _told({branches_of(choice) for choice in block.choices} | {block.absent})
        for other in blocks:
            if (
                block.absent
                and not other.absent
                and _told({branches_of(choice) for choice in other.choices}) == chosen
                and len(other.choices) == len(block.choices) + 1
                and replace(other, choices=()) == replace(block, choices=(), absent=())
            ):
                kept = tuple(replace(choice, implied=False) for choice in block.choices)
                both = replace(block, choices=kept, absent=())
                return together([both if b is block else b for b in blocks if b is not other])
    return tuple(blocks)


def _told(chosen: set[tuple[Block, ...]]) -> set[frozenset[Block]]:
    return set(map(frozenset, chosen))


def _plus(block: Block, branch: Block, absent: tuple[Block, ...]) -> Block:
    return replace(block.joined(replace(branch, outputs=())), absent=(*absent, *branch.absent))


def _is_same(one: Block, other: Block) -> bool:
    """Return whether two blocks have the same rows and outputs, whatever the order of conditions."""
    return (
        one.sources == other.sources
        and {part.sql() for part in one.conditions} == {part.sql() for part in other.conditions}
        and one.choices == other.choices
        and one.absent == other.absent
        and [output.value.sql() for output in one.outputs] == [output.value.sql() for output in other.outputs]
    )


def decided(
    blocks: Sequence[Block], alias: str, names: Sequence[str], lookup: Lookup
) -> tuple[Block, ...] | None:
    """Return what the rows of a set must lack, in terms of its columns; None if they do not decide it.

    `blocks` are the branches of the set that will be called `alias`, with columns `names`.
    """
    found = []
    for block in blocks:
        known = _known_columns(block, alias, names, lookup)
        own = {source.alias for source in block.sources}
        used = {
            (part.table, part.name)
            for branch in block.absent
            for scalar in scalars_of(branch)
            for part in scalar.find_all(exp.Column)
            if part.table in own
        }
        if not used <= set(known):
            return None
        found.append(map_blocks(block.absent, partial(_renamed, known)))
    return found[0] if all(absent == found[0] for absent in found) else None


def _known_columns(block: Block, alias: str, names: Sequence[str], lookup: Lookup) -> dict[Name, exp.Column]:
    """Return for each column of a block that an output is, or is equal to, the column of the set."""
    equal = in_force([block], lookup)
    shown = {}
    for name, output in zip(names, block.outputs, strict=True):
        value = output.value.unnest()
        if isinstance(value, exp.Column) and not isinstance(type_of(value, lookup), Float | Opaque):
            shown[value.table, value.name] = column(alias, name)
    leaders = {equal.leader(name): made for name, made in shown.items()}
    every = {
        (source.alias, known.name)
        for source in block.sources
        if isinstance(source, Scan)
        for known in source.table.columns
    }
    return shown | {name: leaders[equal.leader(name)] for name in every if equal.leader(name) in leaders}


def _renamed(known: Mapping[Name, exp.Column], block: Block) -> Block:
    """Return a block in which columns are called by other names."""

    def renamed(scalar: Scalar) -> Scalar:
        return scalar.transform(
            lambda part: (
                known[part.table, part.name].copy()
                if isinstance(part, exp.Column) and (part.table, part.name) in known
                else part
            )
        )

    sources = tuple(
        replace(source, preserving=renamed(source.preserving))
        if isinstance(source, Scan) and source.preserving is not None
        else source
        for source in block.sources
    )
    return replace(
        block,
        sources=sources,
        conditions=tuple(map(renamed, block.conditions)),
        outputs=tuple(Output(output.name, renamed(output.value)) for output in block.outputs),
    )
