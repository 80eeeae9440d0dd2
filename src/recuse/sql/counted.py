"""The rows of a subquery that is compared by its total: which count, for how much, and in which steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from sqlglot import exp

from recuse.errors import QueryError
from recuse.krelation.relation import HEAVIEST_CHILD
from recuse.privacy import decimal_text
from recuse.scalars.types import Boolean, Number, Opaque, Type
from recuse.sql.elaborate import Lookup, type_of
from recuse.sql.position import refusal, span
from recuse.sql.query import Block, Choice, Own, Quorum, Scalar
from recuse.sql.sets import aligned, unknown_identity
from recuse.sql.signs import never_negative
from recuse.sql.totals import Test, Total, breakpoints
from recuse.sql.truths import Truth


@dataclass(frozen=True, slots=True)
class Counting:
    """How the rows of a subquery count: their blocks; the last output of each is the value that is added.

    `places` are the decimal places of the values, None where rows count for 1 each.
    """

    blocks: tuple[Block, ...]
    total: Total
    places: int | None
    shows: str | None
    text: str

    def steps(
        self, test: Test, constants: Sequence[Fraction]
    ) -> tuple[tuple[tuple[Block, ...], ...], tuple[Truth, ...]]:
        """Return the steps at which a comparison changes, and what it says after each."""
        scale = 10 ** (self.places or 0)
        levels = breakpoints(lambda granules: test(granules / scale), [c * scale for c in constants])
        if levels and levels[-1] > HEAVIEST_CHILD:
            raise refusal(
                "this threshold is too large",
                self.text,
                span(self.total.call, self.text),
                accepted=f"at most {HEAVIEST_CHILD // scale}",
                hint="compare with a smaller number",
            )
        steps = [self._reached(level, scale) for level in levels]
        outcomes: list[Truth] = [test(Fraction(0)), *(test(Fraction(level, scale)) for level in levels)]
        if self.total.empty is None:
            steps.insert(0, tuple(_bare(block) for block in self.blocks))
            outcomes.insert(0, None)
        return tuple(steps), tuple(outcomes)

    def _reached(self, least: int, scale: int) -> tuple[Block, ...]:
        """Return what is there while the total is at least so many granules."""
        blocks = self.blocks
        if self.places is not None:
            blocks = tuple(_weighed(block, least, scale) for block in blocks)
        if least == 1:
            return tuple(map(_bare, blocks))
        if not self.total.distinct:
            blocks = tuple(replace(block, outputs=()) for block in blocks)
        quorum = Quorum(least, self.total.distinct, self.shows)
        return (Block(choices=(Choice(blocks, quorum=quorum),)),)


def _bare(block: Block) -> Block:
    return replace(block, outputs=(), weight=None)


def _weighed(block: Block, least: int, scale: int) -> Block:
    """Return the rows that count for something, for whole granules, and for no more than is needed."""
    value = block.outputs[-1].value
    lid = exp.Literal.number(decimal_text(Fraction(least, scale)))
    weight: Scalar = exp.Least(this=value.copy(), expressions=[lid], ignore_nulls=True)
    if scale > 1:
        weight = exp.cast(exp.Mul(this=weight, expression=exp.Literal.number(scale)), "bigint")
    there = exp.GT(this=exp.paren(value.copy()), expression=exp.Literal.number(0))
    return replace(block.narrowed([there]), weight=weight)


def counted(blocks: Sequence[Block], total: Total, shows: str | None, lookup: Lookup, text: str) -> Counting:
    """Return how rows count: those that do, with the value that they count for."""
    if any(isinstance(source, Own) and source.uses for block in blocks for source in block.sources):
        raise refusal(
            "rows that are counted cannot be those of a subquery of each row",
            text,
            span(total.call, text),
            hint="join the table instead",
        )
    if total.argument is None:
        return Counting(tuple(blocks), total, None, shows, text)
    values = [block.outputs[0].value for block in blocks]
    kept = tuple(
        block.narrowed([exp.Not(this=exp.Is(this=exp.paren(value.copy()), expression=exp.Null()))])
        for block, value in zip(blocks, values, strict=True)
    )
    if total.distinct:
        kept = aligned(kept, lookup, total.call, text)
        if any(isinstance(type_of(block.outputs[0].value, lookup), Opaque) for block in kept):
            raise unknown_identity(total.argument, total.call, text)
    if not total.is_sum:
        return Counting(kept, total, None, shows, text)
    kinds = [type_of(value, lookup) for value in values]
    for block, value, kind in zip(blocks, values, kinds, strict=True):
        if not isinstance(kind, Number | Boolean) or not never_negative(value, block, lookup):
            raise refused_sum(kind, total.argument, text)
    places = max((kind.scale for kind in kinds if isinstance(kind, Number)), default=0)
    return Counting(tuple(map(_numeric, kept, kinds)), total, places, shows, text)


def _numeric(block: Block, kind: Type) -> Block:
    """Return a block whose value is a number: TRUE is 1."""
    if not isinstance(kind, Boolean):
        return block
    (output,) = block.outputs
    return replace(block, outputs=(replace(output, value=exp.cast(output.value.copy(), "tinyint")),))


def refused_sum(kind: Type, node: exp.Expr, text: str) -> QueryError:
    """Return why values of a type that may be below 0 cannot be added up in a condition."""
    if isinstance(kind, Number):
        return refusal(
            "values below 0 could take a sum of other people's rows below what it is compared with",
            text,
            span(node, text),
            accepted="values that cannot be below 0",
            hint=f"write SUM(GREATEST({node.sql()}, 0))",
        )
    return refusal(
        "a sum in a condition needs exact numbers",
        text,
        span(node, text),
        hint=f"write SUM(GREATEST(CAST({node.sql()} AS DECIMAL(18, 2)), 0))",
    )
