"""GROUP BY: where the groups come from, which must be known without looking at private rows.

WHERE key IN (…)      the list itself
[[domain]]            a list in the policy
public columns        the distinct values in the public part of the query

A value of a list is read as the key's type is, so that no group stands in it twice under two spellings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from recuse.fold import fold
from recuse.scalars.types import Boolean, Date, Float, Number, Text, Timestamp, Type, Uuid
from recuse.sql.catalogue import Table
from recuse.sql.dense import Dense
from recuse.sql.elaborate import Lookup, type_of
from recuse.sql.listed import Listed, index_of, literal_value
from recuse.sql.ownership import PublicTable
from recuse.sql.query import Block, Scalar, Scan, column
from recuse.sql.schema import Schema
from recuse.sql.traced import stored_column, tables_in

CHECKED = (exp.In, exp.EQ, exp.Between, exp.LT, exp.LTE, exp.GT, exp.GTE)
_LABEL = re.compile(r"'((?:[^']|'')*)'")


@dataclass(frozen=True, slots=True)
class Referenced:
    """The values of a column of a public table."""

    table: Table
    """the one that an enforced reference or the policy names"""
    column: str


class Joined(Enum):
    """Keys whose groups are rows of one table, the combinations of all of them that it has."""

    PUBLIC = "public"
    """the public tables of the question"""
    FOUND = "found"
    """what is found among private rows, where the policy grants δ"""


@dataclass(frozen=True, slots=True)
class Queried:
    """What a query of the policy over public tables returns: its one column."""

    sql: str
    column: str


Origin = Listed | Dense | Referenced | Queried | Joined
"""where the groups of a key come from"""


@dataclass(frozen=True, slots=True)
class GroupKey:
    """One key of GROUP BY: its name, its value in each block, and where its groups come from."""

    name: str
    values: tuple[Scalar, ...]
    origin: Origin

    @property
    def has_null(self) -> bool:
        """Whether NULL is a group of its own: rows without the key are in no group otherwise."""
        return self.origin.null if isinstance(self.origin, Dense) else self.origin is Joined.FOUND

    def placed(self, place: int) -> Scalar:
        """Return the key in one block as statements have it: its position, where positions are known."""
        value = self.values[place]
        match self.origin:
            case Listed():
                return index_of(value, self.origin)
            case Dense(step):
                return step.index(value)
        return value


def listed_values(block: Block, key: Scalar) -> Listed | None:
    """Return the list that `key IN (…)` or `key = …` gives: a condition of the block, or a CHECK."""
    wanted = key.unnest()
    for condition in stated_conditions(block):
        options: list[exp.Expr] = []
        match condition:
            case exp.In() if condition.this.unnest() == wanted:
                options = condition.expressions
            case exp.EQ() if condition.this.unnest() == wanted:
                options = [condition.expression]
        values = [literal_value(option) for option in options]
        if options and all(value is not None for value in values):
            unique = dict(zip(values, options, strict=True))
            return Listed(tuple(unique.values()), tuple(v for v in unique if v is not None))
    return None


def stated_conditions(block: Block) -> Iterator[Scalar]:
    """Yield what holds for every row of a block: its conditions, and the CHECKs of its tables.

    A CHECK holds where it is NULL, too, so that a row may have NULL in place of what it says.
    """
    yield from (condition.unnest() for condition in block.conditions)
    for scan in tables_in(block):
        if scan.preserving is None:
            yield from (found for check in scan.table.checks for found in _checked(check, scan))


def _checked(check: str, scan: Scan) -> Iterator[Scalar]:
    """Yield the parts of a CHECK over the columns of a source; one that is not understood says nothing."""
    try:
        tree = sqlglot.parse_one(check, dialect="duckdb").unnest()
    except SqlglotError:
        return
    for part in tree.flatten() if isinstance(tree, exp.And) else [tree]:
        names = {node.name: scan.table.column(node.name) for node in part.find_all(exp.Column)}
        known = {name: held.name for name, held in names.items() if held is not None}
        if isinstance(part.unnest(), CHECKED) and len(known) == len(names) == 1:
            (held,) = known.values()
            place = column(scan.alias, held)
            yield part.unnest().transform(lambda node: place.copy() if isinstance(node, exp.Column) else node)  # noqa: B023


def form_of(kind: Type) -> str | None:
    """Return how the groups of a key are written, by its type."""
    match kind:
        case Number(scale=0):
            return "whole numbers, such as 7"
        case Number() | Float():
            return "numbers without quotes, such as 0.5"
        case Text():
            return "text in quotes, such as '7'"
        case Date():
            return "dates, such as '2026-01-31'"
        case Timestamp():
            return "times, such as '2026-01-31 12:00:00'"
        case Boolean():
            return "TRUE and FALSE"
        case Uuid():
            return "UUIDs in quotes"
    return None


def domain_values(schema: Schema, block: Block, key: Scalar) -> Listed | None:
    """Return the list that the policy gives for a plain column."""
    found = stored_column(block, key)
    values = None if found is None else schema.domains.get((fold(found[0].table.name), fold(found[1])))
    if not isinstance(values, tuple):
        return None
    literals = [
        exp.Literal.string(value) if isinstance(value, str) else exp.Literal.number(str(value))
        for value in values
    ]
    return Listed(tuple(literals), values)


def referenced_values(schema: Schema, block: Block, key: Scalar) -> Referenced | None:
    """Return the column of a public table that every value of a key is a value of, as the database enforces.

    A value that is NULL is in no group.
    """
    found = stored_column(block, key)
    if found is None:
        return None
    scan, name = found
    for reference in scan.table.foreign_keys:
        named = dict(zip(map(fold, reference.columns), reference.target_columns, strict=True)).get(fold(name))
        target = schema.catalogue.table(reference.target)
        if named is None or target is None:
            continue
        if isinstance(schema.ownership.of(target.name), PublicTable) and _same_type(
            scan, name, target, named
        ):
            return Referenced(target, named)
    return None


def _same_type(scan: Scan, name: str, target: Table, named: str) -> bool:
    mine, theirs = scan.table.column(name), target.column(named)
    return mine is not None and theirs is not None and mine.type == theirs.type


def known_values(key: Scalar, lookup: Lookup) -> Listed | None:
    """Return the values of a key that can have no others: a truth value, an ENUM, a CASE of constants."""
    node = key.unnest()
    found = type_of(node, lookup)
    if isinstance(found, Boolean):
        return Listed((exp.false(), exp.true()), (False, True))
    if isinstance(found, Text) and found.labels and isinstance(node, exp.Column):
        labels = [label.replace("''", "'") for label in _LABEL.findall(lookup(node).stored)]
        return Listed(tuple(map(exp.Literal.string, labels)), tuple(labels)) if labels else None
    if isinstance(node, exp.Case):
        results = [branch.args["true"] for branch in node.args["ifs"]]
        otherwise = node.args.get("default")
        results += [] if otherwise is None else [otherwise]
        results = [result for result in results if not isinstance(result.unnest(), exp.Null)]
        values = {literal_value(result): result for result in results}
        if values and None not in values:
            return Listed(tuple(values.values()), tuple(v for v in values if v is not None))
    return None
