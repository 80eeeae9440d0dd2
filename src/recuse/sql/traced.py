"""Which stored column a key is, and what of a question its public tables say alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from recuse.sql.ownership import PublicTable
from recuse.sql.placeholder import Released
from recuse.sql.query import Block, Own, Scalar, Scan, column
from recuse.sql.schema import Schema
from recuse.sql.walk import aliases


def stored_column(block: Block, key: Scalar) -> tuple[Scan, str] | None:
    """Return the table and column that a key is, if it is a plain column."""
    if not isinstance(key.unnest(), exp.Column):
        return None
    node = traced(block, key).unnest()
    if not isinstance(node, exp.Column):
        return None
    return next(((scan, node.name) for scan in tables_in(block) if scan.alias == node.table), None)


def is_public_key(schema: Schema, block: Block, key: Scalar) -> bool:
    """Return whether a key is made of columns of public tables."""
    used = aliases([traced(block, key)])
    return bool(used) and used <= public_aliases(schema, block)


def equal_public_column(schema: Schema, block: Block, key: Scalar) -> Scalar | None:
    """Return a column of a public table that every row of the block has equal to the key."""
    wanted = key.unnest()
    for condition in block.conditions:
        node = condition.unnest()
        if isinstance(node, exp.EQ):
            sides: list[exp.Expr] = [node.this.unnest(), node.expression.unnest()]
            for mine, other in (sides, sides[::-1]):
                plain = isinstance(other, exp.Column) and mine == wanted
                if plain and is_public_key(schema, block, other):
                    return other.copy()
    return None


def public_part(schema: Schema, block: Block, keys: Sequence[Scalar]) -> Block:
    """Return the public tables that the keys come from, those joined to them, and their conditions.

    The keys are `traced`.
    """
    public = public_aliases(schema, block)
    known = [condition for condition in block.conditions if condition.find(Released) is None]
    within = [condition for condition in known if aliases([condition]) <= public]
    used = aliases(keys)
    while True:
        reached = used.union(*(a for c in within if (a := aliases([c])) & used))
        if reached == used:
            break
        used = reached
    return Block(
        sources=(
            *(replace(scan, preserving=None) for scan in tables_in(block) if scan.alias in used),
            *(source for source in block.sources if isinstance(source, Own) and source.alias in used),
        ),
        conditions=tuple(condition for condition in within if aliases([condition]) & used),
    )


def traced(block: Block, key: Scalar) -> Scalar:
    """Return a key over the tables that its columns are taken from, where it looks through a source."""
    taken: dict[tuple[str, str], Scalar] = {
        (source.alias, name): column(origin[0].alias, origin[1])
        for source in block.sources
        if isinstance(source, Own)
        for name, origin in zip(source.names, source.origins, strict=True)
        if origin is not None and not source.public
    }

    def trace(node: exp.Expr) -> exp.Expr:
        found = taken.get((node.table, node.name)) if isinstance(node, exp.Column) else None
        return node if found is None else found.copy()

    return key.transform(trace)


def tables_in(block: Block) -> list[Scan]:
    """Return the tables of a block, and those that columns of its sources are taken from."""
    found = {source.alias: source for source in block.sources if isinstance(source, Scan)}
    for source in block.sources:
        if isinstance(source, Own):
            found |= {origin[0].alias: origin[0] for origin in source.origins if origin is not None}
    return list(found.values())


def public_aliases(schema: Schema, block: Block) -> set[str]:
    own = {source.alias for source in block.sources if isinstance(source, Own) and source.public}
    return own | {
        scan.alias
        for scan in tables_in(block)
        if isinstance(schema.ownership.of(scan.table.name), PublicTable)
    }
