"""Looking around in blocks: what stands below one, what it says, which columns it uses, of which types."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from sqlglot import exp

from recuse.fold import same
from recuse.scalars import expression
from recuse.scalars.types import Opaque, Type, common, stored
from recuse.sql.elaborate import Lookup, type_of
from recuse.sql.query import Block, BlockSource, Own, Quorum, Scalar, Scan, SetOf


def aliases(scalars: Iterable[Scalar]) -> set[str]:
    """Return the aliases whose columns the expressions use."""
    return {part.table for scalar in scalars for part in scalar.find_all(exp.Column)}


def sources_of(blocks: Iterable[Block]) -> Iterator[BlockSource]:
    """Yield every source of the blocks, of their choices and of their sets."""
    for block in below(blocks):
        yield from block.sources


def below(blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield the blocks and all blocks below them, outermost first."""
    for block in blocks:
        yield block
        for source in block.sources:
            if isinstance(source, SetOf):
                yield from below(source.branches)
        for choice in block.choices:
            yield from below(choice.branches)
        yield from below(block.absent)


def scalars_of(block: Block) -> Iterator[Scalar]:
    """Yield the expressions of a block and of its choices; sets do not see the block's columns."""
    yield from block.conditions
    for source in block.sources:
        if isinstance(source, Scan) and source.preserving is not None:
            yield source.preserving
        if isinstance(source, Own):
            yield from source.uses
    for owner in block.owners:
        yield from owner.values
    for choice in block.choices:
        for branch in choice.branches:
            yield from scalars_of(branch)
            yield from counted_by(choice.quorum, branch)
    for branch in block.absent:
        yield from scalars_of(branch)


def is_correlated(blocks: Sequence[Block]) -> bool:
    """Return whether blocks use columns of rows around them."""
    inside = {source.alias for source in sources_of(blocks)}
    return any(not aliases(written_scalars(block)) <= inside for block in below(blocks))


def counted_by(quorum: Quorum | None, branch: Block) -> Iterator[Scalar]:
    """Yield what says how much a row of a branch counts for."""
    if quorum is not None and branch.weight is not None:
        yield branch.weight
    if quorum is not None and quorum.distinct:
        yield from (output.value for output in branch.outputs)


def map_blocks(blocks: tuple[Block, ...], step: Callable[[Block], Block]) -> tuple[Block, ...]:
    """Return the blocks with `step` applied to each and to all blocks below it, innermost first."""

    def below(block: Block) -> Block:
        sources = tuple(
            replace(source, branches=map_blocks(source.branches, step))
            if isinstance(source, SetOf)
            else source
            for source in block.sources
        )
        choices = tuple(
            replace(choice, branches=map_blocks(choice.branches, step)) for choice in block.choices
        )
        absent = map_blocks(block.absent, step)
        return step(replace(block, sources=sources, choices=choices, absent=absent))

    return tuple(map(below, blocks))


def type_lookup(sources: Iterable[BlockSource]) -> Lookup:
    """Return the function that says of which type a resolved column is.

    A set's column is in one form already: that of its first branch, to which all others are brought.
    """
    known = {source.alias: source for source in sources}
    found: dict[tuple[str, str], expression.Variable] = {}

    def lookup(node: Scalar) -> expression.Variable:
        key = (node.table, node.name) if isinstance(node, exp.Column) else ("", "")
        if key not in found:
            found[key] = look(*key)
        return found[key]

    def look(alias: str, name: str) -> expression.Variable:
        source = known.get(alias)
        if isinstance(source, Scan):
            held = source.table.column(name)
            if held is not None:
                return expression.Variable(alias, held.name, stored(held.type), held.type)
        elif isinstance(source, Own):
            for known_name, kind in zip(source.names, source.types, strict=True):
                if same(known_name, name):
                    return expression.Variable(alias, known_name, kind)
        elif source is not None:
            output = source.branches[0].output(name)
            if output is not None:
                return expression.Variable(alias, output.name, type_of(output.value, lookup))
        return expression.Variable(alias, name, Opaque("unknown"))

    return lookup


def written_scalars(block: Block) -> Iterator[Scalar]:
    """Yield every expression of a block itself."""
    for source in block.sources:
        if isinstance(source, Scan) and source.preserving is not None:
            yield source.preserving
    yield from block.conditions
    yield from (output.value for output in block.outputs)
    yield from block.keys
    if block.weight is not None:
        yield block.weight


def owned(blocks: Iterable[Block]) -> bool:
    """Return whether a participant owns any row of the blocks, or of what is below them."""
    return any(
        block.owners
        or any(owned(choice.branches) for choice in block.choices)
        or any(isinstance(source, SetOf) and owned(source.branches) for source in block.sources)
        for block in blocks
    )


def owner_types(blocks: Iterable[Block], lookup: Lookup) -> dict[str, tuple[Type, ...]]:
    """Return for every kind of participant the types of the values that name one, the same everywhere."""
    found: dict[str, list[list[Type]]] = {}
    for block in below(blocks):
        for owner in block.owners:
            found.setdefault(owner.kind, []).append([type_of(value, lookup) for value in owner.values])
    named = {kind: [common(column) for column in zip(*rows, strict=True)] for kind, rows in found.items()}
    return {kind: tuple(one or Opaque("several") for one in columns) for kind, columns in named.items()}
