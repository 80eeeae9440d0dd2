"""Parts of a join as sources of another statement: what they show, and expressions over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from recuse.scalars.expression import Variable
from recuse.scalars.types import Type
from recuse.sql.elaborate import Lookup
from recuse.sql.equalities import Name
from recuse.sql.growth import UniqueKeys
from recuse.sql.lower import Lowering
from recuse.sql.query import Block, Scalar, column


@dataclass(frozen=True, slots=True)
class Compiling:
    """What statements are compiled with."""

    lowering: Lowering
    keys: UniqueKeys
    named: dict[int, tuple[Scalar, frozenset[Name]]] = field(default_factory=dict)
    """the columns of expressions, by the identity of these, which are kept with it"""

    def columns(self, scalar: Scalar) -> frozenset[Name]:
        """Return the columns that an expression uses; it is looked through once."""
        found = self.named.get(id(scalar))
        if found is None:
            names = frozenset((node.table, node.name) for node in scalar.find_all(exp.Column))
            found = self.named[id(scalar)] = scalar, names
        return found[1]

    @property
    def lookup(self) -> Lookup:
        """The types of columns."""
        return self.lowering.lookup


@dataclass(frozen=True, slots=True)
class PartialSums:
    """A statement as a source of another: its columns, and whether it says how many copies a row has."""

    alias: str
    statement: exp.Select
    columns: Mapping[Name, str]
    types: Mapping[str, Type]
    copied: bool

    def reference(self) -> exp.Subquery:
        """Return it as an item of FROM."""
        return exp.Subquery(this=self.statement, alias=exp.TableAlias(this=exp.to_identifier(self.alias)))


class OverParts:
    """Expressions over parts: columns and outputs that a part has are taken from it."""

    def __init__(self, parts: Sequence[PartialSums], compiling: Compiling) -> None:
        self.parts, self.compiling = parts, compiling
        lookup = compiling.lookup
        self.held = {
            name: column(part.alias, spelled) for part in parts for name, spelled in part.columns.items()
        }
        kinds = {(part.alias, spelled): kind for part in parts for spelled, kind in part.types.items()}

        def known(node: Scalar) -> Variable:
            if isinstance(node, exp.Column) and (node.table, node.name) in kinds:
                return Variable(node.table, node.name, kinds[node.table, node.name])
            return lookup(node)

        self.lowering = replace(compiling.lowering, lookup=known)

    def renamed(self, scalar: Scalar) -> Scalar:
        """Return an expression over the parts: itself where nothing is taken from one."""
        if isinstance(scalar, exp.Alias):
            whole = self.held.get(("", scalar.alias))
            inner = self.renamed(scalar.this) if whole is None else whole
            return exp.alias_(inner, scalar.alias, copy=False)
        if self.compiling.columns(scalar).isdisjoint(self.held):
            return scalar

        def rename(node: exp.Expr) -> exp.Expr:
            found = self.held.get((node.table, node.name)) if isinstance(node, exp.Column) else None
            return node if found is None else found.copy()

        return scalar.transform(rename)

    def lowered(self, block: Block, outputs: Sequence[Scalar]) -> exp.Select:
        """Return SELECT outputs FROM the block's sources and all parts, compiled."""
        renamed = replace(block, conditions=tuple(map(self.renamed, block.conditions)))
        shown = map(self.renamed, outputs) if outputs else [exp.Literal.number(1)]
        statement = self.lowering.rows(renamed, shown)
        for part in self.parts:
            if statement.args.get("from_") is None:
                statement.set("from_", exp.From(this=part.reference()))
            else:
                statement.append("joins", exp.Join(this=part.reference(), kind="CROSS"))
        return statement

    def value(self, scalar: Scalar) -> Scalar:
        """Return an expression over the parts, compiled."""
        return self.lowering.value(self.renamed(scalar))
