"""Blocks → SQL for an engine, and for people."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from sqlglot import exp

from recuse.sql.dialect import DUCKDB, Dialect
from recuse.sql.measure import Measure
from recuse.sql.native.inner import NativeRows
from recuse.sql.query import Block, BlockSource, Choice, Own, Quorum, Scalar, Scan, SetOf

_SIMPLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def conjunction(parts: Iterable[Scalar]) -> Scalar:
    """Return the parts joined by AND, TRUE if there are none."""
    wrapped = [exp.paren(part) if isinstance(part, exp.Or) else part.copy() for part in parts]
    return exp.and_(*wrapped, copy=False, wrap=False) if wrapped else exp.true()


def table_reference(scan: Scan) -> exp.Table:
    """Return the table by its full path, so that no other object can stand in for it."""
    names = [exp.to_identifier(part, quoted=True) for part in (scan.table.path or (scan.table.name,))]
    arguments: Mapping[str, exp.Identifier] = dict(
        zip(("this", "db", "catalog"), reversed(names), strict=False)
    )
    return exp.Table(**arguments, alias=alias(scan.alias))


def select(block: Block, *outputs: Scalar) -> exp.Select:
    """Return SELECT outputs FROM the block's sources WHERE its conditions; choices are left out."""
    statement = exp.Select(expressions=[output.copy() for output in outputs])
    if block.sources:
        first, *rest = block.sources
        statement.set("from_", exp.From(this=reference(first)))
        statement.set("joins", list(map(_join, rest)))
    if block.conditions:
        statement.set("where", exp.Where(this=conjunction(block.conditions)))
    return statement


def distinct_outputs(branches: Sequence[Block]) -> exp.Query:
    """Return the distinct outputs of all branches; choices are left out, so there may be more rows."""
    return union([select(branch, *named(branch)) for branch in branches], distinct=True)


def union(statements: Sequence[exp.Select], *, distinct: bool) -> exp.Query:
    """Return the statements as one, with or without equal rows."""
    if len(statements) == 1:
        (statement,) = statements
        if distinct:
            statement.set("distinct", exp.Distinct())
        return statement
    found: exp.Query = statements[0]
    for statement in statements[1:]:
        found = exp.Union(this=found, expression=statement, distinct=distinct)
    return found


def named(block: Block) -> list[Scalar]:
    """Return the outputs of a block under their names."""
    return [exp.alias_(output.value.copy(), output.name, quoted=True) for output in block.outputs]


def alias(name: str) -> exp.TableAlias:
    """Return the name of a source, quoted."""
    return exp.TableAlias(this=exp.to_identifier(name, quoted=True))


def reference(source: BlockSource) -> exp.Expr:
    """Return a source as an item of FROM."""
    if isinstance(source, Scan):
        return table_reference(source)
    if isinstance(source, Own):
        uses, shown = [used.copy() for used in source.uses], exp.Literal.string(source.alias)
        rows = exp.Subquery(this=NativeRows(query=source.query, uses=uses, shown=shown))
        if source.uses:
            return exp.Lateral(this=rows, alias=alias(source.alias))
        rows.set("alias", alias(source.alias))
        return rows
    return exp.Subquery(this=distinct_outputs(source.branches), alias=alias(source.alias))


def _join(source: BlockSource) -> exp.Join:
    if isinstance(source, Scan) and source.preserving is not None:
        return exp.Join(this=table_reference(source), side="LEFT", on=source.preserving.copy())
    return exp.Join(this=reference(source), kind="CROSS")


# ------------------------------------------------------------------ the query as it was understood


def with_choices(block: Block) -> Block:
    """Return the block whose choices and absences, also those of its sets, are conditions in plain SQL."""
    sources = tuple(
        SetOf(source.alias, tuple(map(with_choices, source.branches)))
        if isinstance(source, SetOf)
        else source
        for source in block.sources
    )
    there = list(map(native_choice, block.choices))
    absent = [native_absence(block.absent)] if block.absent else []
    return Block(
        sources=sources,
        conditions=(*block.conditions, *there, *absent),
        outputs=block.outputs,
        keys=block.keys,
        weight=block.weight,
        sign=block.sign,
    )


def native_choice(choice: Choice) -> Scalar:
    """Return the condition in plain SQL that a choice holds."""
    if choice.quorum is None:
        return native_exists(choice.branches)
    least = choice.quorum.least
    wanted = number_of([with_choices(least)]) if isinstance(least, Block) else exp.Literal.number(least)
    return exp.GTE(this=native_total(choice.branches, choice.quorum), expression=wanted)


def native_total(branches: Sequence[Block], quorum: Quorum) -> Scalar:
    """Return what the rows of all branches count for, in plain SQL; 0 if there are none."""
    plain = list(map(with_choices, branches))
    if quorum.distinct:
        return number_of(plain)
    found: list[Scalar] = [exp.Subquery(this=select(branch, _total(branch))) for branch in plain]
    total = found[0]
    for part in found[1:]:
        total = exp.Add(this=total, expression=part)
    return exp.paren(total) if len(found) > 1 else total


def number_of(branches: Sequence[Block]) -> exp.Subquery:
    """Return how many distinct rows there are, in plain SQL; choices are left out."""
    inner = exp.Subquery(this=distinct_outputs(branches), alias=alias("counted"))
    return exp.Subquery(this=exp.Select(expressions=[exp.Count(this=exp.Star())]).from_(inner))


def _total(block: Block) -> Scalar:
    if block.weight is None:
        return exp.Count(this=exp.Star())
    zero = exp.Literal.number(0)
    return exp.Coalesce(this=exp.Sum(this=block.weight.copy()), expressions=[zero])


def native_exists(branches: Sequence[Block]) -> Scalar:
    """Return the condition in plain SQL that any row of any branch is there."""
    found: list[Scalar] = []
    for branch in map(with_choices, branches):
        if branch.sources:
            found.append(exp.Exists(this=select(branch, exp.Literal.number(1))))
        else:
            found.append(exp.paren(conjunction(branch.conditions)))
    return exp.paren(exp.or_(*found, copy=False)) if len(found) > 1 else found[0]


def native_absence(branches: Sequence[Block]) -> Scalar:
    """Return the condition in plain SQL that no row of any branch is there."""
    found = native_exists(branches)
    if all(branch.sources for branch in branches):
        return exp.Not(this=found)
    return exp.Not(this=exp.Is(this=exp.paren(found), expression=exp.true()))  # a condition may be NULL


def native_in(value: Scalar, branches: Sequence[Block]) -> Scalar:
    """Return value IN (SELECT …) in plain SQL: NULLs as SQL has them."""
    found = [
        exp.In(this=value.copy(), query=exp.Subquery(this=select(branch, branch.outputs[0].value)))
        for branch in map(with_choices, branches)
    ]
    return exp.paren(exp.or_(*found, copy=False)) if len(found) > 1 else found[0]


def plain(measure: Measure) -> exp.Select:
    """Return the aggregate as ordinary SQL, without owners."""
    blocks = list(map(with_choices, measure.blocks))
    if any(block.sign < 0 for block in blocks):
        return _difference(blocks)
    if len(blocks) == 1:
        (block,) = blocks
        return select(block, measure.aggregate.plain(_argument(block)))
    value = exp.column("value", "branches", quoted=True)
    parts = union([select(b, exp.alias_(_argument(b), "value", quoted=True)) for b in blocks], distinct=False)
    return exp.Select(expressions=[measure.aggregate.plain(value)]).from_(
        exp.Subquery(this=parts, alias=alias("branches"))
    )


def _difference(blocks: Sequence[Block]) -> exp.Select:
    """Return what the rows of all blocks weigh together, those that are taken away below nothing."""
    weights = [_argument(b) if b.sign > 0 else exp.Neg(this=exp.paren(_argument(b))) for b in blocks]
    named = [exp.alias_(weight, "value", quoted=True) for weight in weights]
    parts = union([select(b, w) for b, w in zip(blocks, named, strict=True)], distinct=False)
    total = exp.Sum(this=exp.column("value", "branches", quoted=True))
    return exp.Select(expressions=[total]).from_(exp.Subquery(this=parts, alias=alias("branches")))


def _argument(block: Block) -> Scalar:
    return exp.Literal.number(1) if block.weight is None else block.weight.copy()


def render(statement: exp.Expr, dialect: Dialect = DUCKDB) -> str:
    """Return the SQL text for an engine."""
    return dialect.statement(statement)


def readable(statement: exp.Expr, dialect: Dialect = DUCKDB) -> str:
    """Return the SQL text for people: tables without their path, quotes only where they matter.

    The statement is used up.
    """

    def shorten(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Table):
            node.set("db", None)
            node.set("catalog", None)
            if node.alias == node.name:
                node.set("alias", None)
        if isinstance(node, exp.Identifier) and _SIMPLE.fullmatch(node.name):
            node.set("quoted", False)
        return node

    return dialect.statement(statement.transform(shorten, copy=False))
