"""GROUP BY: where the groups come from, which must be known without looking at private rows.

WHERE key IN (…)      the list itself
[[domain]]            a list in the policy
public columns        the distinct values in the public part of the query

A value of a list is read as the key's type is, so that no group stands in it twice under two spellings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from uuid import UUID

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from recuse.fold import fold
from recuse.privacy import decimal_text
from recuse.scalars.types import Boolean, Date, Float, Number, Text, Timestamp, Type, Uuid
from recuse.sql.catalogue import Table
from recuse.sql.dense import Dense
from recuse.sql.elaborate import Lookup, type_of
from recuse.sql.ownership import PublicTable
from recuse.sql.placeholder import Released
from recuse.sql.query import Block, Own, Scalar, Scan, column
from recuse.sql.schema import Schema
from recuse.sql.walk import aliases

Written = str | int | Fraction | bool
"""what a literal writes down"""
KeyValue = Written | float | Decimal | date | UUID
"""the same as a value of the key's type"""

CHECKED = (exp.In, exp.EQ, exp.Between, exp.LT, exp.LTE, exp.GT, exp.GTE)
_LABEL = re.compile(r"'((?:[^']|'')*)'")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?)?")
_TRUTH: dict[Written, bool] = {True: True, False: False, "true": True, "false": False}


@dataclass(frozen=True, slots=True)
class Listed:
    """The values that a key may have, as SQL and for display."""

    literals: tuple[Scalar, ...]
    values: tuple[KeyValue, ...]


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
    wanted = key.unnest().sql()
    for condition in stated_conditions(block):
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


def stated_conditions(block: Block) -> Iterator[Scalar]:
    """Yield what holds for every row of a block: its conditions, and the CHECKs of its tables.

    A CHECK holds where it is NULL, too, so that a row may have NULL in place of what it says.
    """
    yield from (condition.unnest() for condition in block.conditions)
    for scan in _tables(block):
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


def typed(listed: Listed, kind: Type) -> Listed | exp.Expr:
    """Return the list as values of the key's type, each once; or the first that is not written as one is."""
    unique: dict[KeyValue, Scalar] = {}
    for literal, value in zip(listed.literals, listed.values, strict=True):
        found = _typed(value, kind)
        if found is None:
            return literal
        unique.setdefault(found, literal)
    return Listed(tuple(unique.values()), tuple(unique))


def _typed(value: KeyValue, kind: Type) -> KeyValue | None:
    """Return what a literal means beside a key of the type; None if it is not written as its values are.

    DuckDB would round '1.5' beside an integer and read '2026-1-1' as a date: such groups are not guessed at.
    """
    try:
        match kind, value:
            case Boolean(), str() | int() | Fraction():
                return _TRUTH.get(value)
            case Text(), str():
                return value
            case Number(scale=0), str() | int() if not isinstance(value, bool):
                return int(value) if re.fullmatch(r"-?\d+", str(value), re.ASCII) else None
            case Number(scale=places), int() | Fraction() if places and not isinstance(value, bool):
                return Decimal(decimal_text(Fraction(value)))
            case Float(), int() | Fraction() if not isinstance(value, bool):
                return float(value)
            case Date(), str() if _DAY.fullmatch(value):
                return date.fromisoformat(value)
            case Timestamp(), str() if _TIME.fullmatch(value):
                return datetime.fromisoformat(value)
            case Uuid(), str():
                return UUID(value)
    except (ValueError, OverflowError, ArithmeticError):
        return None
    return None


def literal_value(node: exp.Expr) -> Written | None:
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
    found = stored_column(block, key)
    values = None if found is None else schema.domains.get((fold(found[0].table.name), fold(found[1])))
    if not isinstance(values, tuple):
        return None
    literals = [
        exp.Literal.string(value) if isinstance(value, str) else exp.Literal.number(str(value))
        for value in values
    ]
    return Listed(tuple(literals), values)


def stored_column(block: Block, key: Scalar) -> tuple[Scan, str] | None:
    """Return the table and column that a key is, if it is a plain column."""
    node = traced(block, key).unnest()
    if not isinstance(node, exp.Column):
        return None
    return next(((scan, node.name) for scan in _tables(block) if scan.alias == node.table), None)


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


def is_public_key(schema: Schema, block: Block, key: Scalar) -> bool:
    """Return whether a key is made of columns of public tables."""
    used = aliases([traced(block, key)])
    return bool(used) and used <= _public_aliases(schema, block)


def equal_public_column(schema: Schema, block: Block, key: Scalar) -> Scalar | None:
    """Return a column of a public table that every row of the block has equal to the key."""
    wanted = key.unnest().sql()
    for condition in block.conditions:
        node = condition.unnest()
        if isinstance(node, exp.EQ):
            sides: list[exp.Expr] = [node.this.unnest(), node.expression.unnest()]
            for mine, other in (sides, sides[::-1]):
                plain = isinstance(other, exp.Column) and mine.sql() == wanted
                if plain and is_public_key(schema, block, other):
                    return other.copy()
    return None


def public_part(schema: Schema, block: Block, keys: Sequence[Scalar]) -> Block:
    """Return the public tables that the keys come from, those joined to them, and their conditions.

    The keys are `traced`.
    """
    public = _public_aliases(schema, block)
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
            *(replace(scan, preserving=None) for scan in _tables(block) if scan.alias in used),
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


def _tables(block: Block) -> list[Scan]:
    """Return the tables of a block, and those that columns of its sources are taken from."""
    found = {source.alias: source for source in block.sources if isinstance(source, Scan)}
    for source in block.sources:
        if isinstance(source, Own):
            found |= {origin[0].alias: origin[0] for origin in source.origins if origin is not None}
    return list(found.values())


def _public_aliases(schema: Schema, block: Block) -> set[str]:
    own = {source.alias for source in block.sources if isinstance(source, Own) and source.public}
    return own | {
        scan.alias for scan in _tables(block) if isinstance(schema.ownership.of(scan.table.name), PublicTable)
    }


def index_of(key: Scalar, listed: Listed) -> Scalar:
    """Return the position of the key in the list, NULL if it is not in it.

    A CASE that chooses among the values of the list says positions in their place: it is not copied for each.
    """
    places = {literal_value(literal): exp.Literal.number(n) for n, literal in enumerate(listed.literals)}
    node = key.unnest()
    if isinstance(node, exp.Case):
        found = node.copy()
        results = [branch.args["true"] for branch in found.args["ifs"]]
        results += [] if found.args.get("default") is None else [found.args["default"]]
        told = [literal_value(result) for result in results]
        if None not in told and set(told) <= places.keys():
            for result, value in zip(results, told, strict=True):
                result.replace(places[value].copy())
            return found
    branches = [
        exp.If(this=exp.EQ(this=key.copy(), expression=literal.copy()), true=exp.Literal.number(place))
        for place, literal in enumerate(listed.literals)
    ]
    return exp.Case(ifs=branches)
