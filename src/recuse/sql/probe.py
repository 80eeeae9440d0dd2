"""Statements that look at no row, one for each piece of a query: which piece does a database refuse?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from recuse.sql.families import Family, family
from recuse.sql.position import Span, span
from recuse.sql.query import Aggregate, Block, Measure, Scalar, Scan, SetOf, below
from recuse.sql.render import render, select, with_choices
from recuse.sql.scalars import COMPARISONS, Lookup


@dataclass(frozen=True, slots=True)
class Probe:
    """A statement, and the place of what it tries; None for what the query itself does not write."""

    sql: str
    place: Span | None


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant that must be of a type: the SELECT that casts it, its place, and the type."""

    sql: str
    place: Span | None
    type: str


def expressions(measures: Iterable[Measure], text: str) -> Iterator[Probe]:
    """Yield a SELECT of every expression, innermost first: the first that does not bind is at fault."""
    for measure in measures:
        for block in measure.blocks:
            yield from _expressions(block, (), measure.aggregate, text)


def _expressions(block: Block, around: Sequence[Block], aggregate: Aggregate, text: str) -> Iterator[Probe]:
    inside = (*around, block)
    for source in block.sources:
        if isinstance(source, SetOf):
            for branch in source.branches:
                yield from _expressions(branch, (), aggregate, text)
    for choice in block.choices:
        for branch in choice.branches:
            yield from _expressions(branch, inside, aggregate, text)
    rows = Block(sources=tuple(source for known in inside for source in known.sources))
    tried = [*written(block)]
    if block.weight is not None:
        tried.append(exp.Sum(this=block.weight.copy()) if aggregate is Aggregate.SUM else block.weight)
    for scalar in tried:
        yield Probe(render(select(with_choices(rows), scalar)), span(scalar, text))


def constants(measures: Iterable[Measure], text: str) -> Iterator[Constant]:
    """Yield the constants that a cast or a comparison turns into another type, each once."""
    found: dict[Constant, None] = {}
    for measure in measures:
        lookup = measure.lookup()
        for block in below(measure.blocks):
            for scalar in written(block):
                for part in scalar.walk():
                    for literal, cast, kind in _casts(part, lookup):
                        sql = render(exp.Select(expressions=[cast.copy()]))
                        found[Constant(sql, span(literal, text), kind.upper())] = None
    yield from found


def written(block: Block) -> Iterator[Scalar]:
    """Yield every expression of a block itself."""
    for source in block.sources:
        if isinstance(source, Scan) and source.preserving is not None:
            yield source.preserving
    yield from block.conditions
    yield from (output.value for output in block.outputs)
    yield from block.keys
    if block.weight is not None:
        yield block.weight


Cast = tuple[exp.Expr, exp.Expr, str]
"""a literal, the expression that casts it, and the type that it is cast to"""


def _casts(node: exp.Expr, lookup: Lookup) -> Iterator[Cast]:
    """Yield the literals that a node casts."""
    match node:
        case exp.TryCast():
            return
        case exp.Cast() if isinstance(node.this, exp.Literal):
            yield node.this, node, node.to.sql("duckdb")
        case exp.Interval() if isinstance(node.this, exp.Literal):
            yield node.this, node, "INTERVAL"
        case exp.Between():
            yield from _compared([node.this, node.args["low"], node.args["high"]], lookup)
        case exp.In():
            yield from _compared([node.this, *node.expressions], lookup)
        case _ if isinstance(node, COMPARISONS):
            yield from _compared([node.left, node.right], lookup)


def _compared(nodes: Sequence[exp.Expr], lookup: Lookup) -> Iterator[Cast]:
    """Yield the strings that stand beside a column of another type."""
    types = {lookup(node) for node in nodes if isinstance(node, exp.Column)}
    (kind,) = types if len(types) == 1 else (None,)
    if kind is not None and family(kind) not in (None, Family.TEXT):
        for node in nodes:
            if isinstance(node, exp.Literal) and node.is_string:
                yield node, exp.cast(node, kind, dialect="duckdb"), kind
