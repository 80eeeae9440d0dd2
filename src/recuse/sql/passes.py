"""The passes after reading: each takes a measure and returns one that is nearer to its derivations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from recuse.sql.elaborate import Lookup
from recuse.sql.equalities import Identity, in_force
from recuse.sql.measure import Measure
from recuse.sql.query import Block, Owner, SetOf, chosen
from recuse.sql.render import native_choice
from recuse.sql.schema import Schema
from recuse.sql.walk import map_blocks

Pass = Callable[[Measure, Schema], Measure]


def settle_public(measure: Measure, schema: Schema) -> Measure:
    """Return the measure in which choices over public tables are conditions: nobody can withdraw them."""

    def settle(block: Block) -> Block:
        public = [all(map(schema.is_public, choice.branches)) for choice in block.choices]
        settled = [native_choice(choice) for choice, yes in zip(block.choices, public, strict=True) if yes]
        kept = [choice for choice, yes in zip(block.choices, public, strict=True) if not yes]
        return replace(block, conditions=(*block.conditions, *settled), choices=tuple(kept))

    return replace(measure, blocks=map_blocks(measure.blocks, settle))


def split_signs(measure: Measure, _: Schema) -> Measure:
    """Return the measure in which no block has absences: all its rows are added, those with one taken away.

    Guarantee: rows without b are a minus a ∧ b, whoever is there (proofs.md, theorem N1); which blocks there
    are follows from the query.
    """
    blocks = tuple(part for block in measure.blocks for part in _signs(block))
    return replace(measure, blocks=blocks)


def _signs(block: Block) -> tuple[Block, ...]:
    if not block.absent:
        return (block,)
    bare = replace(block, absent=())
    kept = tuple(choice for choice in block.choices if not choice.implied)
    return bare, replace(bare, choices=(*kept, chosen(block.absent)), sign=-block.sign)


def drop_equal_owners(measure: Measure, _: Schema) -> Measure:
    """Return the measure without owners that are equal to others in every row: a participant counts once.

    A branch of a choice drops those of the blocks around it too: its rows are used only together with
    theirs.
    """
    lookup = measure.lookup()
    return replace(measure, blocks=tuple(_distinct_owners(block, (), lookup) for block in measure.blocks))


def _distinct_owners(block: Block, around: Sequence[Block], lookup: Lookup) -> Block:
    equal = in_force((*around, block), lookup)
    seen = {equal.identity(owner) for other in around for owner in other.owners}
    own: dict[Identity, Owner] = {}
    for owner in block.owners:
        name = equal.identity(owner)
        if name not in seen:
            own.setdefault(name, owner)
    left = replace(block, owners=tuple(own.values()))
    choices = tuple(
        replace(choice, branches=tuple(_distinct_owners(b, (*around, left), lookup) for b in choice.branches))
        for choice in block.choices
    )
    sources = tuple(
        SetOf(source.alias, tuple(_distinct_owners(b, (), lookup) for b in source.branches))
        if isinstance(source, SetOf)
        else source
        for source in block.sources
    )
    return replace(left, choices=choices, sources=sources)


def weigh_rows(measure: Measure, schema: Schema) -> Measure:
    """Return the measure whose rows have a weight in whole granules: 1 in a count, their value in a sum."""
    lookup = measure.lookup()
    weight = measure.aggregate.weight
    return replace(
        measure, blocks=tuple(replace(b, weight=weight(b.weight, schema, lookup)) for b in measure.blocks)
    )
