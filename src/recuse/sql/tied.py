"""What a branch needs of the blocks around it: their sources, or, where rows are counted, their values.

A row of a branch that is looked for may be joined with any number of rows around: it is there or not. A row
that is counted must meet each combination of the values that tie it once, however many rows around have it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Self

from sqlglot import exp

from recuse.scalars.expression import Variable
from recuse.sql.elaborate import Lookup
from recuse.sql.query import Block, BlockSource, Choice, Output, Own, Scalar, Scan, SetOf, column
from recuse.sql.walk import aliases, counted_by, scalars_of

TIED = "tied"


def needed_around(scalars: Iterable[Scalar], around: Sequence[Block]) -> Block:
    """Return the sources around that the expressions use, joined.

    Of the conditions around, those over these sources alone are kept; the others would only leave out
    groups that nothing points at.
    """
    used = aliases(scalars)
    wanted: list[BlockSource] = []
    for other in around:
        kept = [source.alias in used for source in other.sources]
        for place, source in enumerate(other.sources):
            if kept[place] and isinstance(source, Scan) and source.preserving is not None:
                kept[: place + 1] = [True] * (place + 1)  # a LEFT JOIN means nothing without its left side
            if kept[place] and isinstance(source, Own):
                looked_at = aliases(source.uses)
                kept = [keep or s.alias in looked_at for keep, s in zip(kept, other.sources, strict=True)]
        wanted += [source for source, keep in zip(other.sources, kept, strict=True) if keep]
    here = {source.alias for source in wanted}
    known = {source.alias for other in around for source in other.sources}
    conditions = [
        condition
        for other in around
        for condition in other.conditions
        if (named := aliases([condition])) & known <= here and named & here
    ]
    return Block(sources=tuple(wanted), conditions=tuple(conditions))


def needed(block: Block, around: Sequence[Block], tie: Sequence[Scalar]) -> Block:
    """Return the rows of a branch together with the sources around it that it uses."""
    outer = needed_around([*scalars_of(block), *tie], around)
    return replace(
        block,
        sources=(*outer.sources, *block.sources),
        conditions=(*outer.conditions, *block.conditions),
    )


@dataclass(frozen=True, slots=True)
class Tied:
    """The distinct values around that tie the rows of a threshold, as one more source of them."""

    tie: tuple[Scalar, ...]
    source: SetOf | None
    lookup: Lookup

    @classmethod
    def of(cls, around: Sequence[Block], tie: Sequence[Scalar], lookup: Lookup) -> Self:
        """Return what ties rows to the blocks around: some of their columns."""
        if not tie:
            return cls((), None, lookup)
        outer = needed_around(tie, around)
        outputs = tuple(Output(_name(part), part) for part in tie)
        source = SetOf(TIED, (replace(outer, outputs=outputs),))
        types = {_name(part): lookup(part).type for part in tie}

        def known(node: Scalar) -> Variable:
            if isinstance(node, exp.Column) and node.table == TIED:
                return Variable(TIED, node.name, types[node.name])
            return lookup(node)

        return cls(tuple(tie), source, known)

    def rows(self, block: Block) -> Block:
        """Return the rows of a branch beside the values that tie them."""
        if self.source is None:
            return block
        conditions = tuple(self.renamed(block.conditions))
        sources = tuple(
            replace(source, preserving=self.renamed([source.preserving])[0])
            if isinstance(source, Scan) and source.preserving is not None
            else source
            for source in block.sources
        )
        return replace(block, sources=(self.source, *sources), conditions=conditions)

    def renamed(self, scalars: Iterable[Scalar]) -> list[Scalar]:
        """Return expressions that take the values around from this source."""
        known = {(part.table, part.name) for part in self.tie if isinstance(part, exp.Column)}

        def rename(part: exp.Expr) -> exp.Expr:
            if isinstance(part, exp.Column) and (part.table, part.name) in known:
                return column(TIED, _name(part))
            return part

        return [scalar.transform(rename) for scalar in scalars]


def looks_around(choice: Choice) -> bool:
    """Return whether a source that is run as it is uses columns of the blocks around the choice."""
    here = {source.alias for branch in choice.branches for source in branch.sources}
    return any(
        aliases(source.uses) - here
        for branch in choice.branches
        for source in branch.sources
        if isinstance(source, Own)
    )


def used_in(choice: Choice) -> Iterable[Scalar]:
    """Yield the expressions of all branches of a choice."""
    for branch in choice.branches:
        yield from scalars_of(branch)
        yield from counted_by(choice.quorum, branch)


def _name(part: Scalar) -> str:
    """Return what a column around is called among the values that tie."""
    return f"{part.text('table')}.{part.name}"
