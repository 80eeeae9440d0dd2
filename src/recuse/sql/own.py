"""Which subqueries are own: all that they look at belongs to owners that the row around has anyway.

Such a subquery is a function of the row, whatever it says (proofs.md, theorem B2): whoever could withdraw
something of it would take the row along. So it is a condition like any other, also under NOT.

The proof is static. Links are followed; then every owner of every private row that is looked at must be one
of the owners around, by equalities in force there and by the chase along enforced keys (`equalities`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from recuse.fold import fold
from recuse.sql.complete import Sources, complete, is_sure
from recuse.sql.elaborate import Lookup
from recuse.sql.equalities import Equalities, Identity, Name, equal_columns, in_force, is_never
from recuse.sql.query import Block, BlockSource, Choice, Scalar, Scan, SetOf, column
from recuse.sql.render import native_exists
from recuse.sql.schema import Schema
from recuse.sql.walk import type_lookup


def settled(
    branches: Sequence[Block], around: Sequence[Block], schema: Schema, sources: list[BlockSource]
) -> Scalar | None:
    """Return EXISTS of the branches in plain SQL if they are own, else None.

    `branches` are as they were read; `around` are the blocks whose columns they can use, outermost first,
    each with all its sources and with conditions that hold in every row of it. `sources` are all that the
    reader has met; what links add is added to them.

    Guarantee: for whoever owns no row around, the value is the same with and without them. The branches see
    no row that is nobody's.
    """
    found = completed(branches, around, schema, sources)
    return None if found is None else native_exists(found)


def completed(
    branches: Sequence[Block], around: Sequence[Block], schema: Schema, sources: list[BlockSource]
) -> tuple[Block, ...] | None:
    """Return the branches with their links followed if they are own, else None."""
    if all(map(schema.is_public, branches)):
        return tuple(branches)
    taken = {fold(source.alias): source for source in sources}
    outer = completed_around(around, schema, taken)
    known = set(taken)
    inner = tuple(complete(branch, schema, around, taken) for branch in branches)
    proof = _Proof(type_lookup(taken.values()), outer)
    if not all(proof.covers(branch, ()) for branch in inner):
        return None
    sources += [source for name, source in taken.items() if name not in known]
    return inner


def filled(
    values: Sequence[Scalar],
    branch: Block,
    around: Sequence[Block],
    schema: Schema,
    sources: Sequence[BlockSource],
) -> list[Scalar]:
    """Return the values, of the row or of a branch, that are never NULL in rows that are somebody's."""
    taken = {fold(source.alias): source for source in sources}
    outer = completed_around(around, schema, taken)
    inner = complete(branch, schema, around, taken)
    return [value for value in values if _is_filled(value, [*outer, inner])]


def _is_filled(value: Scalar, blocks: Sequence[Block]) -> bool:
    """Return whether a column is never NULL in the blocks: by the catalogue, an equality, or as a name."""
    if not isinstance(value, exp.Column):
        return isinstance(value, exp.Literal)
    filled: set[Name] = set()
    for block in blocks:
        filled |= {
            part for condition in block.conditions for pair in equal_columns(condition) for part in pair
        }
        filled |= {(v.table, v.name) for o in block.owners for v in o.values if isinstance(v, exp.Column)}
        filled |= {
            (source.alias, known.name)
            for source in block.sources
            if isinstance(source, Scan) and source.preserving is None
            for known in source.table.columns
            if not known.nullable
        }
    return (value.table, value.name) in filled


def completed_around(around: Sequence[Block], schema: Schema, taken: Sources) -> tuple[Block, ...]:
    """Return the blocks around with the owners of their rows; what choices and sets own is not certain."""
    found: list[Block] = []
    for block in around:
        bare = replace(
            block, choices=(), absent=(), sources=tuple(s for s in block.sources if not isinstance(s, SetOf))
        )
        found.append(complete(bare, schema, around[: len(found)], taken))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Proof:
    """That the owners of a block are among those of the completed blocks around."""

    lookup: Lookup
    around: tuple[Block, ...]

    def covers(self, block: Block, between: tuple[Block, ...]) -> bool:
        """Return whether all rows that a block and what is below it look at are owned around."""
        inside = (*self.around, *between, block)
        if any(is_never(condition) for other in inside for condition in other.conditions):
            return True  # there are no rows
        equal = in_force(inside, self.lookup)
        known = {equal.identity(owner) for other in self.around for owner in other.owners}
        return (
            all(equal.identity(owner) in known for owner in block.owners)
            and all(self._covers_choice(choice, (*between, block), equal, known) for choice in block.choices)
            and all(self.covers(branch, (*between, block)) for branch in block.absent)
            and all(
                self.covers(_seen_as(source.alias, branch), (*between, block))
                for source in block.sources
                if isinstance(source, SetOf)
                for branch in source.branches
            )
        )

    def _covers_choice(
        self, choice: Choice, between: tuple[Block, ...], equal: Equalities, known: set[Identity]
    ) -> bool:
        if choice.linked and any(_is_certain(branch, equal, known) for branch in choice.branches):
            return True
        return all(self.covers(branch, between) for branch in choice.branches)


def _is_certain(alternative: Block, equal: Equalities, known: set[Identity]) -> bool:
    """Return whether the owners of an alternative of an `any` link are owners around: then it is there.

    That must follow from what holds of the row without the alternative.
    """
    return is_sure(alternative) and all(equal.identity(owner) in known for owner in alternative.owners)


def _seen_as(alias: str, branch: Block) -> Block:
    """Return the branch of a set, its plain columns equal to those of the set: DISTINCT keeps them."""
    same = tuple(
        exp.EQ(this=column(alias, output.name), expression=output.value.copy())
        for output in branch.outputs
        if isinstance(output.value, exp.Column)
    )
    return branch.narrowed(same)
