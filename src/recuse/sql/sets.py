"""DISTINCT, UNION, INTERSECT and EXCEPT: rows that are equal are one, and it has all their derivations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import Enum

from sqlglot import exp

from recuse.errors import QueryError
from recuse.scalars.types import Opaque, common
from recuse.sql.absences import absorbed, decided
from recuse.sql.elaborate import Lookup, brought, type_of
from recuse.sql.position import clause_span, refusal, span
from recuse.sql.query import Block, Output, SetOf, column
from recuse.sql.refuse import refuse_clauses
from recuse.sql.walk import aliases, below, sources_of, written_scalars

MAX_BRANCHES = 64


class SetKind(Enum):
    """The set operations that are understood."""

    UNION_ALL = "UNION ALL"
    UNION = "UNION"
    INTERSECT = "INTERSECT"
    EXCEPT = "EXCEPT"


def set_operation_kind(tree: exp.SetOperation, text: str) -> SetKind:
    """Return which operation it is, or refuse it."""
    refuse_clauses(tree, text, {"this", "expression", "distinct", "with_", "order"})
    place = clause_span(tree.expression, tree.key.upper(), text)
    if isinstance(tree, exp.Union):
        return SetKind.UNION if tree.args.get("distinct") else SetKind.UNION_ALL
    kind = SetKind.EXCEPT if isinstance(tree, exp.Except) else SetKind.INTERSECT
    if not tree.args.get("distinct"):
        problem = f"{kind.value} ALL depends on how often both sides have a row"
        raise refusal(problem, text, place, hint=f"write {kind.value}")
    return kind


def says_distinct(tree: exp.Select, group: exp.Group) -> bool:
    """Return whether GROUP BY lists exactly what is selected, by expression, alias or position."""
    if {key for key, value in group.args.items() if value} != {"expressions"}:
        return False
    selected = [node.unalias().sql() for node in tree.expressions]
    names = {node.alias: node.unalias().sql() for node in tree.expressions if node.alias}
    names |= {str(place): text for place, text in enumerate(selected, start=1)}
    return {names.get(node.sql(), node.sql()) for node in group.expressions} == set(selected)


def aligned(blocks: Sequence[Block], lookup: Lookup, tree: exp.Expr, text: str) -> tuple[Block, ...]:
    """Return the branches under the names of the first, every column of all of them in one type."""
    if len(blocks) > MAX_BRANCHES:
        accepted, hint = f"{MAX_BRANCHES}", "ask for some of them, and add the answers"
        raise refusal("too many branches", text, span(tree, text), accepted=accepted, hint=hint)
    first = blocks[0]
    if any(len(block.outputs) != len(first.outputs) for block in blocks):
        hint = "return the same columns in every branch"
        raise refusal("the branches have different numbers of columns", text, span(tree, text), hint=hint)
    columns = []
    for place, head in enumerate(first.outputs):
        values = [block.outputs[place].value for block in blocks]
        kind = common(type_of(value, lookup) for value in values)
        if kind is None or (isinstance(kind, Opaque) and len(blocks) > 1):
            raise refusal(
                f"the branches differ in the type of {head.name}, or it is not known",
                text,
                span(tree, text),
                hint="cast the column to one type in every branch",
            )
        columns.append([Output(head.name, brought(value, kind, lookup)) for value in values])
    return tuple(
        replace(block, outputs=tuple(column[number] for column in columns))
        for number, block in enumerate(blocks)
    )


def distinct(
    alias: str, blocks: Sequence[Block], lookup: Lookup, tree: exp.Expr, text: str
) -> tuple[SetOf, Block]:
    """Return the set of the blocks' outputs, and the block that scans it."""
    blocks = absorbed(aligned(blocks, lookup, tree, text))
    names = [f"c{number}" for number in range(1, len(blocks[0].outputs) + 1)]
    branches = []
    for block in blocks:
        for output in block.outputs:
            if isinstance(type_of(output.value, lookup), Opaque):
                raise unknown_identity(output.value, tree, text)
        outputs = tuple(Output(n, output.value) for n, output in zip(names, block.outputs, strict=True))
        branches.append(replace(block, outputs=outputs))
    pairs = zip(blocks[0].outputs, names, strict=True)
    shown = tuple(Output(output.name, column(alias, name)) for output, name in pairs)
    absent = decided(blocks, alias, names, lookup)
    if absent is None:
        raise refusal(
            "of rows that are one here, some may lack what others do not",
            text,
            span(tree, text),
            accepted="NOT over what DISTINCT keeps apart",
            hint="negate a condition on the columns of DISTINCT: COUNT(DISTINCT x) … WHERE x NOT IN (…)",
        )
    made = SetOf(alias, tuple(replace(branch, absent=()) for branch in branches))
    return made, Block(sources=(made,), outputs=shown, absent=absent)


def unknown_identity(value: exp.Expr, tree: exp.Expr, text: str) -> QueryError:
    """Return the refusal of a value whose equals may look different."""
    return refusal(
        f"it is not known when two values of {value.sql()} are equal",
        text,
        span(tree, text),
        accepted="numbers, text without collation, dates, timestamps, truth values, UUIDs",
        hint="count the rows that have one: COUNT(x)",
    )


def intersection(first: Block, second: Block) -> Block:
    """Return the block of the rows that two sets share; NULL equals NULL."""
    pairs = zip(first.outputs, second.outputs, strict=True)
    same = tuple(exp.NullSafeEQ(this=a.value.copy(), expression=b.value.copy()) for a, b in pairs)
    return first.joined(second).narrowed(same)


def difference(first: Block, others: Sequence[Block]) -> Block:
    """Return the block of the rows of a set that no other block has; NULL equals NULL."""
    absent = []
    for block in others:
        pairs = zip(first.outputs, block.outputs, strict=True)
        same = [exp.NullSafeEQ(this=a.value.copy(), expression=b.value.copy()) for a, b in pairs]
        absent.append(replace(block.narrowed(same), outputs=()))
    return replace(first, absent=(*first.absent, *absent))


def uses_around(made: SetOf) -> bool:
    """Return whether a set uses columns that nothing inside of it has."""
    here = {source.alias for source in sources_of(made.branches)}
    written_there = [scalar for block in below(made.branches) for scalar in written_scalars(block)]
    inside = {alias.name for scalar in written_there for alias in scalar.find_all(exp.TableAlias)}
    return bool(aliases(written_there) - here - inside)
