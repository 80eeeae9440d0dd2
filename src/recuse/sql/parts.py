"""Parts of a join as sources of another statement: what they show, and expressions over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from recuse.scalars.expression import Variable
from recuse.scalars.types import Type
from recuse.sql.elaborate import Lookup
from recuse.sql.equalities import Name
from recuse.sql.growth import JoinSide, UniqueKeys
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
    """A statement as a source of another: its columns, whether it says how many copies a row has."""

    alias: str
    statement: exp.Select
    columns: Mapping[Name, str]
    types: Mapping[str, Type]
    copied: bool
    side: JoinSide
    """itself as one side of a join"""

    def reference(self) -> exp.Subquery:
        """Return it as an item of FROM."""
        return exp.Subquery(this=self.statement, alias=exp.TableAlias(this=exp.to_identifier(self.alias)))


class OverParts:
    """Expressions over parts: columns and outputs that a part has are taken from it.

    What takes nothing from a part is compiled as it is elsewhere, and kept; the rest is compiled here.
    """

    def __init__(self, parts: Sequence[PartialSums], compiling: Compiling) -> None:
        self.parts, self.compiling = parts, compiling
        lookup = compiling.lookup
        self.held = {
            name: Variable(part.alias, spelled, part.types[spelled])
            for part in parts
            for name, spelled in part.columns.items()
        }

        def taken(node: Scalar) -> Variable:
            found = self.held.get((node.table, node.name)) if isinstance(node, exp.Column) else None
            return lookup(node) if found is None else found

        self.lowering = replace(compiling.lowering, lookup=taken, known={})

    def lowered(self, block: Block, outputs: Sequence[Scalar]) -> exp.Select:
        """Return SELECT outputs FROM the block's sources and all parts, compiled."""
        shown = [self._output(output) for output in outputs] or [exp.Literal.number(1)]
        conditions = [self._over(condition).condition(condition) for condition in block.conditions]
        statement = self.lowering.selected(shown, block.sources, conditions)
        for part in self.parts:
            if statement.args.get("from_") is None:
                statement.set("from_", exp.From(this=part.reference()))
            else:
                statement.append("joins", exp.Join(this=part.reference(), kind="CROSS"))
        return statement

    def value(self, scalar: Scalar) -> Scalar:
        """Return an expression over the parts, compiled."""
        return self._over(scalar).value(scalar)

    def _output(self, output: Scalar) -> Scalar:
        """Return an output, compiled: a part may have it whole."""
        whole = self.held.get(("", output.alias))
        if whole is not None:
            return exp.alias_(column(whole.source, whole.name), output.alias, copy=False)
        return self._over(output).output(output)

    def _over(self, scalar: Scalar) -> Lowering:
        untouched = self.compiling.columns(scalar).isdisjoint(self.held)
        return self.compiling.lowering if untouched else self.lowering
