"""Blocks → the same blocks with the owners of every row: links followed to their participants.

Guarantee: a row of a block belongs to exactly those whose withdrawal would remove it. Following a link
never multiplies rows: the last hop, to a protected table, is a semi-join; any other hop joins on a unique
key. (Were such a key declared wrongly, rows would be multiplied, and the count would be too large; each
copy would still carry its own owners, so that nobody's protection depends on the declaration.)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count

from sqlglot import exp

from recuse.fold import fold, same
from recuse.policy.terms import KeyItem
from recuse.policy.terms import LinkChoice as KeyChoice
from recuse.sql.catalogue import Table
from recuse.sql.equalities import equal_columns
from recuse.sql.measure import Measure
from recuse.sql.ownership import Hop, Linked, ProtectedTable
from recuse.sql.query import Block, BlockSource, Choice, Own, Owner, Scalar, Scan, SetOf, column
from recuse.sql.render import conjunction, table_reference
from recuse.sql.schema import Schema

Sources = dict[str, BlockSource]
"""all sources of a question by their aliases, in lower case; links add to them"""
Followed = dict[tuple[str, Hop], Scalar]
"""the rows that links of a source lead to, by its alias: what one block asks for another asks for, too"""


def complete_links(measure: Measure, schema: Schema) -> Measure:
    """Return the measure with the owners of its rows, and with the joins that lead to them."""
    taken = {fold(source.alias): source for source in measure.known}
    followed: Followed = {}
    blocks = tuple(complete(block, schema, (), taken, followed) for block in measure.blocks)
    return replace(measure, blocks=blocks, known=tuple(taken.values()))


def complete(
    block: Block,
    schema: Schema,
    around: Sequence[Block],
    taken: Sources,
    followed: Followed | None = None,
) -> Block:
    """Return a block with the owners of its rows; `around` are the blocks whose columns it can use."""
    followed = {} if followed is None else followed
    sources = tuple(
        SetOf(source.alias, tuple(complete(each, schema, (), taken, followed) for each in source.branches))
        if isinstance(source, SetOf)
        else source
        for source in block.sources
    )
    inside = (*around, block)
    choices = tuple(
        replace(
            choice,
            branches=tuple(complete(each, schema, inside, taken, followed) for each in choice.branches),
        )
        for choice in block.choices
    )
    absent = tuple(complete(each, schema, inside, taken, followed) for each in block.absent)
    asked = replace(block, sources=sources, choices=choices, absent=absent)
    follower = _Follower(asked, schema, around, taken, followed)
    for source in sources:
        if isinstance(source, Scan):
            follower.follow(source)
        elif isinstance(source, Own):
            follower.owners += source.owners
    return follower.block()


@dataclass(slots=True)
class _Follower:
    asked: Block
    schema: Schema
    around: Sequence[Block]
    taken: Sources
    followed: Followed
    sources: list[BlockSource] = field(init=False)
    conditions: list[Scalar] = field(init=False)
    choices: list[Choice] = field(init=False)
    owners: list[Owner] = field(init=False)
    completed: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.sources = list(self.asked.sources)
        self.conditions = list(self.asked.conditions)
        self.choices = list(self.asked.choices)
        self.owners = list(self.asked.owners)

    def block(self) -> Block:
        """Return the block as it is now."""
        return replace(
            self.asked,
            sources=tuple(self.sources),
            conditions=tuple(self.conditions),
            choices=tuple(self.choices),
            owners=tuple(self.owners),
            completed=tuple(self.completed),
        )

    def follow(self, scan: Scan) -> None:
        """Add the owners of one source's rows."""
        owned = self.schema.ownership.of(scan.table.name)
        if isinstance(owned, ProtectedTable):
            self._require(scan, [name for item in owned.key for name in item.columns])
            self.owners.append(Owner(owned.kind, tuple(key_value(scan.alias, item) for item in owned.key)))
        elif isinstance(owned, Linked):
            for hop in owned.hops:
                if len(hop.alternatives) == 1:
                    self._hop(scan, hop)
                else:
                    self._any(scan, hop)

    def _any(self, scan: Scan, hop: Hop) -> None:
        """Add the choice of a link that any of several owners satisfies."""
        branches = []
        for columns in hop.alternatives:
            branch = _Follower(Block(), self.schema, (*self.around, self.asked), self.taken, self.followed)
            branch._hop(scan, replace(hop, alternatives=(columns,)))
            branches.append(branch.block())
        self.choices.append(Choice(tuple(branches), linked=True))
        listed = " or ".join(", ".join(columns) for columns in hop.alternatives)
        self.completed.append(f"rows of {scan.alias} belong to any {hop.target} of {listed}")

    def _hop(self, scan: Scan, hop: Hop) -> None:
        (columns,) = hop.alternatives
        target = self.schema.catalogue.table(hop.table) if hop.table is not None else None
        if target is None or isinstance(self.schema.ownership.of(target.name), ProtectedTable):
            self.owners.append(Owner(hop.target, tuple(column(scan.alias, name) for name in columns)))
            if target is None or hop.enforced:
                self._require(scan, columns)
            elif self._joined(scan, hop):
                # a join around this block is no part of its own statement, which finds rows beyond it
                if not self._joined(scan, hop, self.asked.conditions):
                    self._require(scan, columns)
            else:
                self.conditions.append(self._present(scan, hop, target))
                self.completed.append(f"rows of {scan.alias} whose {target.name} exists")
        elif not self._joined(scan, hop) and not self._through(scan, hop, target):
            added = self._scan(f"{scan.alias}_{target.name}", target)
            self.sources.append(added)
            self.conditions += _key_equalities(scan, hop, added)
            self.completed.append(f"{scan.alias} joined with {target.name} as {added.alias}")
            self.follow(added)

    def _present(self, scan: Scan, hop: Hop, target: Table) -> Scalar:
        """Return EXISTS(the row that the link leads to), one for all blocks that have the source."""
        if (scan.alias, hop) not in self.followed:
            self.followed[scan.alias, hop] = present(scan, hop, self._scan("present", target))
        return self.followed[scan.alias, hop]

    def _through(self, scan: Scan, hop: Hop, target: Table) -> bool:
        """Follow a link past its target if the key already holds what the target's own links need.

        The database enforces the reference, so the row there exists; it need not be looked up.
        """
        owned = self.schema.ownership.of(target.name)
        held = {item.columns[0]: name for name, item in zip(hop.alternatives[0], hop.key, strict=True)}
        if not hop.enforced or not isinstance(owned, Linked):
            return False
        if any(len(far.alternatives) != 1 or not set(far.alternatives[0]) <= set(held) for far in owned.hops):
            return False
        self._require(scan, hop.alternatives[0])
        for far in owned.hops:
            self._hop(scan, replace(far, alternatives=(tuple(held[name] for name in far.alternatives[0]),)))
        return True

    def _joined(self, scan: Scan, hop: Hop, conditions: Iterable[Scalar] | None = None) -> bool:
        """Return whether the query itself joins the row by exactly this key equality, here or around.

        `conditions` are where the equality must stand; anywhere unless they are given.
        """
        blocks = [self.asked, *self.around]
        if conditions is None:
            conditions = [part for block in blocks for part in block.conditions]
        stated = {pair for part in conditions for pair in equal_columns(part)}
        for other in (source for block in blocks for source in block.sources):
            if not isinstance(other, Scan) or other.preserving is not None or other.alias == scan.alias:
                continue
            wanted = {
                frozenset({(scan.alias, name), (other.alias, item.columns[0])})
                for name, item in zip(hop.alternatives[0], hop.key, strict=True)
                if item.choice is KeyChoice.ITSELF
            }
            same_table = hop.table is not None and same(other.table.name, hop.table)
            if same_table and len(wanted) == len(hop.key) and stated >= wanted:
                return True
        return False

    def _require(self, scan: Scan, names: Sequence[str]) -> None:
        """Drop rows whose owner is NULL: nobody contributed them."""
        for name in dict.fromkeys(names):
            known = scan.table.column(name)
            if known is None or known.nullable:
                self.conditions.append(_not_null(scan, name))

    def _scan(self, wish: str, table: Table) -> Scan:
        """Return one more source, under an alias that no other has."""
        names = chain([wish], (f"{wish}_{number}" for number in count(2)))
        found = Scan(next(name for name in names if fold(name) not in self.taken), table)
        self.taken[fold(found.alias)] = found
        return found


def is_sure(alternative: Block) -> bool:
    """Return whether an alternative of an `any` link is there whenever its owners are.

    One that leads over other tables, or asks more of the row than whose it is, may fail although they are.
    """
    named = {value.sql() for owner in alternative.owners for value in owner.values}
    asked = {part.sql() for condition in alternative.conditions for part in _columns_around(condition)}
    alone = not alternative.sources and not alternative.choices
    return alone and asked <= named


def _columns_around(condition: Scalar) -> list[exp.Column]:
    """Return the columns of a condition that no table inside it has."""
    inside = {table.alias for table in condition.find_all(exp.Table)}
    return [part for part in condition.find_all(exp.Column) if part.table not in inside]


def _not_null(scan: Scan, name: str) -> Scalar:
    return exp.Not(this=exp.Is(this=column(scan.alias, name), expression=exp.Null()))


def key_value(alias: str, item: KeyItem) -> Scalar:
    """Return one component of a key as an expression over a source."""
    columns: list[Scalar] = [column(alias, name) for name in item.columns]
    if item.choice is KeyChoice.ITSELF:
        return columns[0]
    function = exp.Least if item.choice is KeyChoice.LEAST else exp.Greatest
    return function(this=columns[0], expressions=columns[1:], ignore_nulls=True)


def _key_equalities(scan: Scan, hop: Hop, target: Scan) -> list[Scalar]:
    return [
        exp.EQ(this=column(scan.alias, name), expression=key_value(target.alias, item))
        for name, item in zip(hop.alternatives[0], hop.key, strict=True)
    ]


def present(scan: Scan, hop: Hop, target: Scan) -> Scalar:
    """Return EXISTS(the row that the link leads to), which no duplicate multiplies."""
    inner = exp.Select(expressions=[exp.Literal.number(1)])
    inner.set("from_", exp.From(this=table_reference(target)))
    # LEAST and GREATEST pass over NULL, but a row whose key holds a NULL is nobody's
    chosen = [name for item in hop.key if item.choice is not KeyChoice.ITSELF for name in item.columns]
    filled = [_not_null(target, name) for name in dict.fromkeys(chosen)]
    inner.set("where", exp.Where(this=conjunction([*_key_equalities(scan, hop, target), *filled])))
    return exp.Exists(this=inner)
