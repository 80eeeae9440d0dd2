"""Completed measure → derivation tables: which SQL returns every row's owners, and how tables are tied.

It is longer than others: the kinds of tables share how their columns are made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from recuse.scalars.types import Opaque, Type
from recuse.sql.derivation import Below, DerivationTable, Group, OwnerColumns
from recuse.sql.dialect import DUCKDB, Dialect
from recuse.sql.eager import COPIES, WEIGHT, EagerRows, eager_rows, times_copies
from recuse.sql.elaborate import brought, type_of
from recuse.sql.growth import UniqueKeys, enforced, multiplied, multiplying
from recuse.sql.lower import Compiled, Lowering
from recuse.sql.measure import Aggregate, Measure
from recuse.sql.parts import Compiling
from recuse.sql.position import refusal, span
from recuse.sql.presence import join_present
from recuse.sql.query import Block, BlockSource, Choice, Owner, Scalar, Scan, SetOf, column, shows
from recuse.sql.render import number_of, union
from recuse.sql.tied import Tied, needed, used_in
from recuse.sql.walk import below, owned, owner_types

DERIVATIONS = "derivations"
VALUE = "value"


def derive(
    measure: Measure,
    text: str,
    dialect: Dialect = DUCKDB,
    keys: UniqueKeys = enforced,
    compiled: Compiled | None = None,
) -> tuple[DerivationTable, ...]:
    """Return the derivation tables of a measure, one for each of its blocks.

    `keys` say which joins can multiply rows, and `compiled` is what other measures of the question were
    compiled to; nothing but the time it takes rests on either.

    Guarantee: a withdrawal removes from every table exactly the rows that name the participant, and
    changes no other row: owners, keys and weights are functions of a row's own values.
    """
    lookup = measure.lookup()
    owners = owner_types(measure.blocks, lookup)
    lowering = Lowering(lookup, text, dialect, {} if compiled is None else compiled)
    deriver = _Deriver(lowering, measure.known, measure.aggregate, owners, Compiling(lowering, keys))
    return tuple(deriver.top(block) for block in measure.blocks)


@dataclass(frozen=True, slots=True)
class _Deriver:
    lowering: Lowering
    known: Sequence[BlockSource]
    aggregate: Aggregate
    owners: Mapping[str, tuple[Type, ...]]
    adding: Compiling

    def top(self, block: Block) -> DerivationTable:
        """Return the table of a measure's rows: equal owners and groups summed, signs apart.

        What rows that are taken away weigh together is below nothing. Sums of 64-bit granules in 128 bits
        are exact, so they do not depend on the order of rows.
        """
        if block.weight is None:
            raise ValueError("weigh the rows first")
        if any(inner.absent for inner in below([block])):
            raise ValueError("split the signs first")
        outputs, table = self._columns(block, (), block.keys, "group")
        added = self._added_up(block, outputs)
        listing = _Listing(self, block, tuple(outputs), table)
        if added is None:
            statement = listing.statement()
            listed = self._listed(block, statement, outputs)
            loose = self._loose(block, statement, table)
            return replace(table, sql=self.lowering.dialect.statement(statement), listed=listed, loose=loose)
        rows, total = added
        early = self._totals(block, table, outputs, rows.statement, total)
        return replace(table, sql=self.lowering.dialect.statement(early), meant=listing, joins=rows.joins)

    def _added_up(self, block: Block, outputs: Sequence[Scalar]) -> tuple[EagerRows, Scalar] | None:
        """Return the rows of a block added up before they are joined, and their total; None if in vain."""
        weight = block.weight if self.aggregate.weighed else None
        shown = [*outputs, *([weighed(block)] if self.aggregate.placed else [])]
        inner = eager_rows(block, shown, weight, self.adding)
        if inner is None:
            return None
        copies = exp.column(COPIES, DERIVATIONS)
        each = copies if weight is None else times_copies(exp.column(WEIGHT, DERIVATIONS), copies)
        return inner, exp.Sum(this=each)

    def _totals(
        self,
        block: Block,
        table: DerivationTable,
        outputs: Sequence[Scalar],
        inner: exp.Query,
        total: Scalar,
    ) -> exp.Select:
        """Return the statement that makes one row of equal owners and groups, signs apart."""
        keys: list[Scalar] = [exp.column(output.alias, DERIVATIONS) for output in outputs]
        weight = exp.column(WEIGHT, DERIVATIONS)
        shown = keys
        if self.aggregate.placed:  # what a row weighs is its value, and rows are told apart by it
            shown, keys = [*keys, exp.alias_(weight.copy(), VALUE)], [*keys, weight.copy()]
        if isinstance(total, exp.Sum) and not (keys or self.aggregate.signed):  # a sum of nothing is NULL
            total = exp.Coalesce(this=total, expressions=[exp.Literal.number(0)])
        signed = total if block.sign > 0 else exp.Neg(this=total)
        statement = exp.Select(expressions=[*shown, exp.alias_(signed, WEIGHT)])
        derived = exp.Subquery(this=inner, alias=exp.TableAlias(this=exp.to_identifier(DERIVATIONS)))
        statement.set("from_", exp.From(this=derived))
        conditions: list[Scalar] = []
        if self.aggregate.placed:
            conditions.append(weight > -(2**63))
        elif self.aggregate.signed:
            conditions += [weight.neq(0), weight > -(2**63)]
            keys = [*keys, weight > 0]
        elif self.aggregate.weighed:
            conditions.append(weight > 0)
        conditions += [
            exp.Not(this=exp.Is(this=exp.column(name, DERIVATIONS), expression=exp.Null()))
            for place, name in enumerate(table.key)
            if place not in block.null_keys
        ]
        if conditions:
            statement.set("where", exp.Where(this=exp.and_(*conditions)))
        if keys:
            statement.set("group", exp.Group(expressions=[key.copy() for key in keys]))
        return statement

    def _listed(self, block: Block, summed: exp.Select, outputs: Sequence[Scalar]) -> str | None:
        """Return the statement whose rows are not summed, where they are rows of one table.

        The rows of a join may be many more than those of its tables, so they are summed where they arise.
        """
        one_table = len(block.sources) == 1 and isinstance(block.sources[0], Scan)
        if not one_table or block.weight is None or self.aggregate.placed or block.sign < 0:
            return None
        rows = join_present(block, self.known)
        statement = summed.copy()
        statement.set("group", None)
        inner = self.lowering.rows(rows, [*outputs, weighed(block)])
        statement.args["from_"].this.set("this", inner)
        names = [*(output.alias for output in outputs), *([WEIGHT] if self.aggregate.weighed else [])]
        statement.set("expressions", [exp.column(name, DERIVATIONS) for name in names])
        return self.lowering.dialect.statement(statement)

    def _loose(self, block: Block, summed: exp.Select, table: DerivationTable) -> str | None:
        """Return the statement whose rows are not summed, where no join multiplies them.

        Rows of one owner are summed all the same: that is the owner's load.
        """
        if len(table.owners) < 2 or self.aggregate.placed or len(multiplying(block, self.adding.keys)) > 1:
            return None
        one: Scalar = exp.cast(exp.Literal.number(1), "BIGINT")
        each = exp.column(WEIGHT, DERIVATIONS) if self.aggregate.weighed else one
        statement = summed.copy()
        statement.set("group", None)
        weight = exp.alias_(each if block.sign > 0 else exp.Neg(this=each), WEIGHT)
        statement.set("expressions", [*statement.expressions[:-1], weight])
        return self.lowering.dialect.statement(statement)

    def _columns(
        self, block: Block, around: Sequence[Block], key: Sequence[Scalar], name: str
    ) -> tuple[list[Scalar], DerivationTable]:
        """Return the output columns of a block's table, and the table without its SQL."""
        outputs: list[Scalar] = []

        def add(prefix: str, values: Sequence[Scalar]) -> tuple[str, ...]:
            names = [prefix] if len(values) == 1 else [f"{prefix}_{n}" for n in range(1, len(values) + 1)]
            outputs.extend(exp.alias_(v, n, copy=False) for v, n in zip(values, names, strict=True))
            return tuple(names)

        keyed = add(name, key)
        owners = tuple(
            OwnerColumns(owner.kind, add(f"owner_{number}", self._named(owner)))
            for number, owner in enumerate(block.owners, start=1)
        )
        below: list[Below] = []
        for source in block.sources:
            implied = any(shows(choice, source.alias) for choice in block.choices)
            if isinstance(source, SetOf) and owned(source.branches) and not implied:
                values = [column(source.alias, output.name) for output in source.branches[0].outputs]
                group = Group(tuple(self._member(branch) for branch in source.branches))
                below.append(Below(group, add(f"below_{len(below) + 1}", values)))
        for choice in block.choices:
            tie = self._tie(choice, (*around, block))
            group = self._group(choice, (*around, block), tie)
            below.append(Below(group, add(f"below_{len(below) + 1}", tie)))
        return outputs, DerivationTable("", keyed, owners, tuple(below), joins=(self._joined(block),))

    def _joined(self, block: Block) -> tuple[str, ...]:
        """Return the tables that multiply the rows of a block."""
        return multiplied(multiplying(block, self.adding.keys))

    def _group(self, choice: Choice, around: Sequence[Block], tie: Sequence[Scalar]) -> Group:
        """Return the OR, or the threshold, of a choice."""
        if choice.quorum is None:
            return Group(tuple(self._branch(branch, around, tie) for branch in choice.branches))
        tied = Tied.of(around, tie, self.lowering.lookup)
        inner = replace(self, lowering=Lowering(tied.lookup, self.lowering.text, self.lowering.dialect))
        if choice.quorum.distinct:
            tables: tuple[DerivationTable, ...] = (inner._values(choice, around, tied),)
        else:
            tables = tuple(inner._counted(branch, around, tied) for branch in choice.branches)
        return Group(tables, self._least(choice.quorum.least))

    def _least(self, least: int | Block) -> int | str:
        """Return how many are needed: a number, or the SQL that says how many distinct rows there are."""
        if isinstance(least, int):
            return least
        return self.lowering.dialect.statement(self.lowering.statement(number_of([least]).this))

    def _counted(self, block: Block, around: Sequence[Block], tied: Tied) -> DerivationTable:
        """Return the rows of one branch of a threshold, those of equal owners added up."""
        outputs, table = self._columns(block, around, tied.tie, "key")
        weight = exp.Literal.number(1) if block.weight is None else block.weight
        shown = tied.renamed([*outputs, exp.alias_(weight, VALUE)])
        rows = self.lowering.rows(tied.rows(block), shown)
        keys: list[Scalar] = [exp.column(output.alias, DERIVATIONS) for output in outputs]
        value = exp.column(VALUE, DERIVATIONS)
        total = exp.Sum(this=value.copy()) if block.weight is not None else exp.Count(this=exp.Star())
        statement = exp.Select(expressions=[*keys, exp.alias_(total, VALUE)])
        derived = exp.Subquery(this=rows, alias=exp.TableAlias(this=exp.to_identifier(DERIVATIONS)))
        statement.set("from_", exp.From(this=derived))
        statement.set("where", exp.Where(this=value > 0))
        if keys:
            statement.set("group", exp.Group(expressions=[key.copy() for key in keys]))
        else:
            statement.set("having", exp.Having(this=exp.Count(this=exp.Star()) > 0))
        return replace(table, sql=self.lowering.dialect.statement(statement), value=VALUE)

    def _values(self, choice: Choice, around: Sequence[Block], tied: Tied) -> DerivationTable:
        """Return the distinct values of a threshold, each of them an OR over its rows."""
        members: list[DerivationTable] = []
        rows: list[exp.Select] = []
        for branch in choice.branches:
            key = [*tied.tie, *(output.value for output in branch.outputs)]
            outputs, table = self._columns(branch, around, key, "key")
            statement = self.lowering.rows(tied.rows(branch), tied.renamed(outputs))
            statement.set("distinct", exp.Distinct())
            members.append(replace(table, sql=self.lowering.dialect.statement(statement)))
            values = [exp.alias_(v.copy(), n) for v, n in zip(key, table.key, strict=True)]
            rows.append(self.lowering.rows(tied.rows(branch), tied.renamed(values)))
        sql = self.lowering.dialect.statement(union(rows, distinct=True))
        names = members[0].key
        return DerivationTable(sql, names[: len(tied.tie)], (), (Below(Group(tuple(members)), names),))

    def _member(self, block: Block) -> DerivationTable:
        """Return the table of one branch of a set: its rows belong to the group of their own outputs."""
        return self._table(block, (), [output.value for output in block.outputs], block)

    def _branch(self, block: Block, around: Sequence[Block], tie: Sequence[Scalar]) -> DerivationTable:
        """Return the table of one branch of a choice, joined with what it needs of the blocks around it."""
        return self._table(block, around, tie, needed(block, around, tie))

    def _table(
        self, block: Block, around: Sequence[Block], key: Sequence[Scalar], rows: Block
    ) -> DerivationTable:
        outputs, table = self._columns(block, around, key, "key")
        statement = self.lowering.rows(rows, outputs or [exp.Literal.number(1)])
        statement.set("distinct", exp.Distinct())
        return replace(table, sql=self.lowering.dialect.statement(statement), joins=(self._joined(rows),))

    def _named(self, owner: Owner) -> list[Scalar]:
        """Return the values that name an owner, in the types that all owners of the kind have."""
        kinds = self.owners[owner.kind]
        return [
            brought(value, kind, self.lowering.lookup)
            for value, kind in zip(owner.values, kinds, strict=True)
        ]

    def _tie(self, choice: Choice, around: Sequence[Block]) -> list[Scalar]:
        """Return the columns of the blocks around that a choice uses, in a form that keeps values apart."""
        outside = {source.alias for block in around for source in block.sources}
        used = {
            (part.table, part.name): part
            for scalar in used_in(choice)
            for part in scalar.find_all(exp.Column)
            if part.table in outside
        }
        for node in used.values():
            kind = type_of(node, self.lowering.lookup)
            if isinstance(kind, Opaque):
                raise refusal(
                    f"a subquery cannot be tied to its row by {node.name}, a column of type {kind.spelled}",
                    self.lowering.text,
                    span(node, self.lowering.text),
                    accepted="numbers, text without collation, dates, timestamps, truth values, UUIDs",
                    hint="compare with another column",
                )
        return [used[name].copy() for name in sorted(used)]


@dataclass(frozen=True, slots=True)
class _Listing:
    """The statement that lists every derivation of a block, those of equal owners and groups summed."""

    deriver: _Deriver
    block: Block
    outputs: tuple[Scalar, ...]
    table: DerivationTable

    def statement(self) -> exp.Select:
        inner = self.deriver.lowering.rows(self.block, [*self.outputs, weighed(self.block)])
        one = exp.Count(this=exp.Star())
        total = exp.Sum(this=exp.column(WEIGHT, DERIVATIONS)) if self.deriver.aggregate.weighed else one
        return self.deriver._totals(self.block, self.table, self.outputs, inner, total)

    def sql(self) -> str:
        """Return its text."""
        return self.deriver.lowering.dialect.statement(self.statement())


def weighed(block: Block) -> exp.Expr:
    """Return what a row of a block weighs, under its name."""
    return exp.Alias(this=block.weight, alias=exp.to_identifier(WEIGHT))
