"""A table in a query of any form → its rows that are somebody's, and whose they are: links followed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from recuse.fold import fold
from recuse.scalars.expression import Variable
from recuse.scalars.types import Opaque, stored
from recuse.sql.complete import Sources, complete, is_sure
from recuse.sql.elaborate import Lookup, type_of
from recuse.sql.equalities import UniqueKey
from recuse.sql.native.facts import Clause, Facts
from recuse.sql.native.tree import NativeItem, NativeQuery, NativeSelect, inner, names_of
from recuse.sql.query import Block, BlockSource, Choice, Output, Scalar, Scan, column
from recuse.sql.render import conjunction
from recuse.sql.schema import Schema
from recuse.sql.walk import type_lookup


@dataclass(frozen=True, slots=True)
class Attributed:
    """A query whose links were followed, the owners of its rows that are not around, and what holds of them.

    Owners are expressions over what is inside of the query; `outputs` are its columns as far as they stand
    for one inside, None for others.
    """

    query: NativeQuery
    clauses: tuple[Clause, ...]
    facts: Facts
    outputs: tuple[Scalar | None, ...]


@dataclass(slots=True)
class Links:
    """Who owns the rows of which table; `sources` are all that has been met, those that links add too."""

    schema: Schema
    sources: list[BlockSource]
    reserved: frozenset[str] = frozenset()
    """aliases that stand for something in the query that is looked at"""
    queries: dict[str, NativeQuery] = field(default_factory=dict)
    """what stands under an alias without being a source"""
    proved: dict[UniqueKey, None] = field(default_factory=dict)
    """the enforced keys that the proof has used, in order"""

    def lookup(self) -> Lookup:
        """Return the function that says of which type a column is."""
        tables = type_lookup(self.sources)

        def found(node: Scalar) -> Variable:
            query = self.queries.get(node.table) if isinstance(node, exp.Column) else None
            if query is None or not isinstance(node, exp.Column):
                return tables(node)
            kinds = dict(zip(names_of(query), query.types, strict=True))
            return Variable(node.table, node.name, kinds.get(node.name, Opaque("unknown")))

        return found

    def met(self, alias: str, query: NativeQuery) -> None:
        """Take note of the query that stands under an alias."""
        self.queries[alias] = query

    def fresh(self, wish: str) -> str:
        """Return an alias that nothing has."""
        taken = {fold(source.alias) for source in self.sources}
        taken |= {fold(alias) for alias in (*self.queries, *self.reserved)}
        names = [wish, *(f"{wish}_{number}" for number in range(2, len(taken) + 3))]
        return next(name for name in names if fold(name) not in taken)

    def followed(self, scan: Scan, beside: Facts) -> Attributed | None:
        """Return the rows of a table that are somebody's, with their owners; None where that is all of it.

        `beside` is known of these rows and others: a link that leads to one of those is followed already.
        Guarantee: one row for each row of the table that is somebody's (`complete`); its columns are those of
        the table, in their order.
        """
        taken: Sources = {fold(source.alias): source for source in self.sources}
        taken |= {fold(alias): scan for alias in (*self.queries, *self.reserved, scan.alias)}
        known = set(taken)
        others = Block(tuple(s for s in beside.scans if s.alias != scan.alias), beside.conditions)
        block = complete(Block(sources=(scan,)), self.schema, (others,), taken)
        self.sources += [source for name, source in taken.items() if name not in known]
        if block == Block(sources=(scan,)):
            return None
        outputs = tuple(Output(one.name, column(scan.alias, one.name)) for one in scan.table.columns)
        select = replace(self._native(block), outputs=outputs,
                         types=tuple(stored(one.type) for one in scan.table.columns))  # fmt: skip
        clauses = [Clause(((owner,),)) for owner in block.owners]
        clauses += [_alternatives(choice) for choice in block.choices]
        scans = tuple(source for source in block.sources if isinstance(source, Scan))
        facts = Facts(conditions=block.conditions, scans=scans)
        return Attributed(select, tuple(clauses), facts, tuple(output.value for output in outputs))

    # -------------------------------------------------------------- blocks as queries

    def _native(self, block: Block) -> NativeSelect:
        """Return the rows of a block that links made."""
        items = tuple(NativeItem(s.alias, s) for s in block.sources if isinstance(s, Scan))
        where = [*self._conditions(block.conditions), *map(self._either, block.choices)]
        one = Output("one", exp.Literal.number(1))
        kind = type_of(one.value, self.lookup())
        return NativeSelect(items, (one,), (kind,), where=tuple(where))

    def _either(self, choice: Choice) -> Scalar:
        parts: list[Scalar] = []
        for branch in choice.branches:
            if branch.sources:
                parts.append(inner("EXISTS", self._native(branch)))
            else:
                tests = [*self._conditions(branch.conditions), *map(self._either, branch.choices)]
                parts.append(exp.paren(conjunction(tests)))
        return exp.paren(exp.or_(*parts, copy=False)) if len(parts) > 1 else parts[0]

    def _conditions(self, conditions: Iterable[Scalar]) -> Sequence[Scalar]:
        return [self._present(one) if isinstance(one, exp.Exists) else one for one in conditions]

    def _present(self, exists: exp.Exists) -> Scalar:
        """Return EXISTS(the row that a link leads to) as a query of our own."""
        select = exists.this
        alias = fold(select.args["from_"].this.alias)
        scan = next(s for s in self.sources if isinstance(s, Scan) and fold(s.alias) == alias)
        where = select.args["where"].this
        tests = tuple(where.flatten()) if isinstance(where, exp.And) else (where,)
        return inner("EXISTS", replace(self._native(Block(sources=(scan,))), where=tests))


def _alternatives(choice: Choice) -> Clause:
    """Return the owners of an `any` link."""
    return Clause(tuple(b.owners for b in choice.branches if is_sure(b)), certain=False)
