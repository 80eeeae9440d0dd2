"""GROUP BY: where the groups come from, which must be known without looking at private rows.

WHERE key IN (…)      the list itself
[[domain]]            a list in the policy
public columns        the distinct values in the public part of the query
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from sqlglot import exp

from recuse.sql.ownership import Public
from recuse.sql.query import Block, Scalar, Scan, Schema, aliases

Value = str | int | Fraction | bool


@dataclass(frozen=True, slots=True)
class Listed:
    """The values that a key may have, as SQL and for display."""

    literals: tuple[Scalar, ...]
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class GroupKey:
    """One key of GROUP BY: its name, its value in each block, and its values if they are listed."""

    name: str
    values: tuple[Scalar, ...]
    listed: Listed | None


def listed_values(block: Block, key: Scalar) -> Listed | None:
    """Return the list that a condition `key IN (…)` or `key = …` of the block gives."""
    wanted = key.unnest().sql()
    for condition in block.conditions:
        options: list[exp.Expr] = []
        match condition:
            case exp.In() if condition.this.unnest().sql() == wanted:
                options = condition.expressions
            case exp.EQ() if condition.this.unnest().sql() == wanted:
                options = [condition.expression]
        values = [literal_value(option) for option in options]
        if options and all(value is not None for value in values):
            unique = dict(zip(values, options, strict=True))
            return Listed(tuple(unique.values()), tuple(v for v in unique if v is not None))
    return None


def literal_value(node: exp.Expr) -> Value | None:
    """Return the value that a literal writes down."""
    match node:
        case exp.Paren():
            return literal_value(node.this)
        case exp.Neg() if isinstance(node.this, exp.Literal) and not node.this.is_string:
            return -Fraction(node.this.name)
        case exp.Boolean():
            return bool(node.this)
        case exp.Literal() if node.is_string:
            return str(node.this)
        case exp.Literal():
            number = Fraction(node.name)
            return int(number) if number.denominator == 1 else number
        case exp.Cast() if isinstance(node.this, exp.Literal):
            return literal_value(node.this)
    return None


def domain_values(schema: Schema, block: Block, key: Scalar) -> Listed | None:
    """Return the list that the policy gives for a plain column."""
    node = key.unnest()
    scan = next((s for s in block.sources if isinstance(node, exp.Column) and s.alias == node.table), None)
    found = (
        schema.domains.get((scan.table.name.lower(), node.name.lower())) if isinstance(scan, Scan) else None
    )
    if found is None:
        return None
    literals = [
        exp.Literal.string(value) if isinstance(value, str) else exp.Literal.number(str(value))
        for value in found
    ]
    return Listed(tuple(literals), found)


def is_public_key(schema: Schema, block: Block, key: Scalar) -> bool:
    """Return whether a key is made of columns of public tables."""
    used = aliases([key])
    return bool(used) and used <= _public_aliases(schema, block)


def public_part(schema: Schema, block: Block, keys: Sequence[Scalar]) -> Block:
    """Return the public tables that the keys come from, those joined to them, and their conditions."""
    public = _public_aliases(schema, block)
    within = [condition for condition in block.conditions if aliases([condition]) <= public]
    used = aliases(keys)
    while True:
        reached = used.union(*(a for c in within if (a := aliases([c])) & used))
        if reached == used:
            break
        used = reached
    return Block(
        sources=tuple(
            replace(s, preserving=None) for s in block.sources if isinstance(s, Scan) and s.alias in used
        ),
        conditions=tuple(condition for condition in within if aliases([condition]) & used),
    )


def _public_aliases(schema: Schema, block: Block) -> set[str]:
    return {
        source.alias
        for source in block.sources
        if isinstance(source, Scan) and isinstance(schema.ownership.of(source.table.name), Public)
    }


def index_of(key: Scalar, listed: Listed) -> Scalar:
    """Return the position of the key in the list, NULL if it is not in it."""
    branches = [
        exp.If(this=exp.EQ(this=key.copy(), expression=literal.copy()), true=exp.Literal.number(place))
        for place, literal in enumerate(listed.literals)
    ]
    return exp.Case(ifs=branches)
