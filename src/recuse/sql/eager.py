"""A block → SQL that adds rows up before they are joined (eager aggregation); nothing where that is no gain.

A join of many rows with many is never listed: of each table, and of each part of the join tree, only the
columns are kept that are needed above it, and how many rows have each combination of them, its `copies`. What
a row stands for is the product. Whether this is done follows from the query, the catalogue and the policy.

Guarantee: the rows that come back, each taken as often as its `copies` say, are the rows of the block
(proofs.md, lemma E5), except that a number of copies beyond 2^63 - 1 is 2^63 - 1. Copies are those of rows
that share all owners shown, so that a withdrawal removes a row whole or leaves it as it is, also then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import count

from sqlglot import exp

from recuse.fold import fold
from recuse.scalars.types import Opaque
from recuse.sql.elaborate import type_of
from recuse.sql.equalities import Name
from recuse.sql.growth import JoinSide, fewest, keys_of, multiplied, multiplying, sides_of
from recuse.sql.jointree import JoinTree, JoinUnit, join_tree
from recuse.sql.parts import Compiling, OverParts, PartialSums
from recuse.sql.query import Block, Scalar, column
from recuse.sql.walk import aliases

ADDED_UP = "the join is not listed: rows are added up by owner and join key before they are multiplied"
COPIES = "copies"
WEIGHT = "weight"
MOST_COPIES = 2**63 - 1
MOST_WEIGHT = 2**79
"""what a row weighs times its copies at most: 2^47 such still add up in 128 bits"""
LEAST_WEIGHT = -(2**63)
"""a weight of 64 bits that cannot be negated: no row has it"""
Needed = dict[Name, Scalar]
"""what is wanted of rows: columns under their names, outputs under ("", their name)"""


@dataclass(frozen=True, slots=True)
class EagerRows:
    """A block added up before it is joined, and of each join left the tables that multiply its rows."""

    statement: exp.Select
    joins: tuple[tuple[str, ...], ...]


def eager_rows(
    block: Block, outputs: Sequence[Scalar], weight: Scalar | None, compiling: Compiling
) -> EagerRows | None:
    """Return the block's outputs, weight and copies, added up before they are joined; None if in vain.

    Without a weight there is none; with one, rows that weigh nothing may be missing.
    """
    if compiling.lowering.dialect.wide is None or len(multiplying(block, compiling.keys)) < 2:
        return None
    taken = {fold(source.alias) for source in block.sources}
    names = (name for number in count(1) if (name := f"partial_{number}") not in taken)
    adding = _Adding(compiling, compiling.lowering.dialect.wide, names)
    found = adding.whole(join_tree(block, outputs, weight), outputs, weight)
    return None if found is None else EagerRows(found, tuple(adding.joins))


def times_copies(weight: Scalar, copies: Scalar) -> Scalar:
    """Return what a row weighs, all copies together, between ends that sums can be made of."""
    return _between(exp.Mul(this=weight, expression=copies), MOST_WEIGHT)


@dataclass(frozen=True, slots=True)
class _Adding:
    """The maker of one block's statements."""

    compiling: Compiling
    wide: str
    names: Iterator[str]
    joins: list[tuple[str, ...]] = field(default_factory=list)

    def whole(self, tree: JoinTree, outputs: Sequence[Scalar], weight: Scalar | None) -> exp.Select | None:
        """Return the statement of the whole tree; None if nothing is added up in it."""
        wanted = {("", output.alias): output.this for output in outputs}
        joins = [part for one in tree.subtrees() for part in one.joined]
        passed = [
            *wanted.values(),
            *(column(*name) for part in joins for name in self.compiling.columns(part)),
        ]
        if any(isinstance(type_of(value, self.compiling.lookup), Opaque) for value in passed):
            return None
        found = self._joined(tree, wanted, weight)
        return found if _is_copied(found) else None

    # -------------------------------------------------------------- one node of the tree

    def _joined(self, tree: JoinTree, wanted: Needed, weight: Scalar | None) -> exp.Select:
        """Return a unit joined with what is below it: what is wanted of its rows, and their copies."""
        conditions = [part for child in tree.below for part in child.joined]
        parts = [self._summed(child, self._needed(child, wanted, child.joined)) for child in tree.below]
        unit, local = tree.unit, None
        if tree.below:
            needed = self._needed(JoinTree(unit), wanted, conditions)
            if len(unit.sources) == 1 and not self._is_unique(unit, needed):
                local = self._added(JoinTree(unit), needed, weight)
                parts, unit = [local, *parts], JoinUnit(())
        block = Block(sources=unit.sources, conditions=(*unit.conditions, *conditions))
        outputs = [
            exp.alias_(value, _spelled(name, place), copy=False) for place, (name, value) in _placed(wanted)
        ]
        known = OverParts(parts, self.compiling)
        statement = known.lowered(block, outputs)
        sides = [*sides_of(unit.sources, self.compiling.keys), *(part.side for part in parts)]
        self.joins.append(multiplied(fewest(sides, block.conditions)))
        if weight is not None:
            weighed = exp.column(WEIGHT, local.alias) if local is not None else known.value(weight)
            statement.append("expressions", exp.alias_(weighed, WEIGHT))
        copies = [exp.column(COPIES, part.alias) for part in parts if part.copied]
        if copies or local is not None:
            one = self._wide(_number(1))
            statement.append("expressions", exp.alias_(_product(copies) if copies else one, COPIES))
        return statement

    def _needed(self, tree: JoinTree, wanted: Needed, conditions: Sequence[Scalar]) -> Needed:
        """Return what is wanted of a tree: its part of what is wanted above, and of the joins there."""
        here = _within(tree)
        whole = {n: value for n, value in wanted.items() if (used := aliases([value])) and used <= here}
        split = [value for name, value in wanted.items() if name not in whole]
        names = {
            n for scalar in (*conditions, *split) for n in self.compiling.columns(scalar) if n[0] in here
        }
        names -= {name for value in whole.values() for name in _bare(value)}
        return {**whole, **{name: column(*name) for name in sorted(names)}}

    def _summed(self, tree: JoinTree, wanted: Needed) -> PartialSums:
        """Return the rows of a tree with what is wanted of them, equal ones as one with its copies."""
        unique = not tree.below and len(tree.unit.sources) == 1 and self._is_unique(tree.unit, wanted)
        return self._listed(tree, wanted) if unique else self._added(tree, wanted, None)

    def _listed(self, tree: JoinTree, wanted: Needed) -> PartialSums:
        return self._part(tree, self._joined(tree, wanted, None), wanted, copied=False)

    def _added(self, tree: JoinTree, wanted: Needed, weight: Scalar | None) -> PartialSums:
        """Return equal rows as one: how many there are, or what they weigh together, signs apart."""
        inner = self._joined(tree, wanted, weight)
        rows = self._part(tree, inner, wanted, copied=_is_copied(inner))
        keys: list[Scalar] = [exp.column(name, rows.alias) for name in dict.fromkeys(rows.columns.values())]
        statement = exp.Select(expressions=list(keys)).from_(rows.reference())
        if weight is None:
            total = (
                exp.Sum(this=exp.column(COPIES, rows.alias)) if rows.copied else exp.Count(this=exp.Star())
            )
            most = _at_most(self._wide(total), MOST_COPIES)
            statement.append("expressions", exp.alias_(most, COPIES))
        else:
            weighed = exp.column(WEIGHT, rows.alias)
            statement.append("expressions", exp.alias_(_between(exp.Sum(this=weighed), MOST_COPIES), WEIGHT))
            least = weighed.copy() > LEAST_WEIGHT
            statement = statement.where(weighed.neq(0), least, copy=False)
            keys = [*keys, weighed > 0]
        if keys:
            statement.set("group", exp.Group(expressions=[key.copy() for key in keys]))
        else:
            statement.set("having", exp.Having(this=exp.Count(this=exp.Star()) > 0))
        return self._part(tree, statement, wanted, copied=weight is None)

    def _part(self, tree: JoinTree, statement: exp.Select, wanted: Needed, *, copied: bool) -> PartialSums:
        names = {name: _spelled(name, place) for place, (name, _) in _placed(wanted)}
        names |= {bare: names[name] for name, value in wanted.items() for bare in _bare(value)}
        types = {names[name]: type_of(value, self.compiling.lookup) for name, value in wanted.items()}
        key = frozenset((bare[0], fold(bare[1])) for value in wanted.values() for bare in _bare(value))
        whole = len(wanted) == sum(1 for value in wanted.values() for _ in _bare(value))
        side = JoinSide(_within(tree), (key,) if whole else (), self.joins[-1])
        return PartialSums(next(self.names), statement, names, types, copied, side)

    def _wide(self, value: Scalar) -> Scalar:
        return exp.Cast(this=value, to=_type_named(self.wide).copy())

    def _is_unique(self, unit: JoinUnit, wanted: Needed) -> bool:
        """Return whether no two rows of the unit's only source are equal in what is wanted of them."""
        (source,) = unit.sources
        shown = {
            fold(v.name) for v in wanted.values() if isinstance(v, exp.Column) and v.table == source.alias
        }
        return any({fold(name) for name in key} <= shown for key in keys_of(source, self.compiling.keys))


def _within(tree: JoinTree) -> frozenset[str]:
    """Return the aliases of a tree's sources."""
    return frozenset().union(*(one.unit.aliases for one in tree.subtrees()))


@cache
def _type_named(name: str) -> exp.DataType:
    return exp.DataType.build(name)


def _product(copies: Sequence[Scalar]) -> Scalar:
    """Return the product of numbers up to 2^63 - 1, no larger than that: it fits 128 bits on the way."""
    found, *rest = copies
    for factor in rest:
        found = _at_most(exp.Mul(this=found, expression=factor), MOST_COPIES)
    return found


def _at_most(value: Scalar, most: int) -> Scalar:
    return exp.Least(this=value, expressions=[_number(most)], ignore_nulls=True)


def _between(value: Scalar, most: int) -> Scalar:
    least = _number(-most)
    return exp.Greatest(this=_at_most(value, most), expressions=[least], ignore_nulls=True)


def _is_copied(statement: exp.Select) -> bool:
    return any(node.alias == COPIES for node in statement.expressions)


def _number(value: int) -> Scalar:
    return exp.Literal.number(value)


def _bare(scalar: Scalar) -> Iterator[Name]:
    """Yield the name of an expression that is one column."""
    if isinstance(scalar, exp.Column):
        yield scalar.table, scalar.name


def _placed(wanted: Needed) -> Iterator[tuple[int, tuple[Name, Scalar]]]:
    return enumerate(wanted.items(), start=1)


def _spelled(name: Name, place: int) -> str:
    """Return what a column is called in a part: an output by its name."""
    return f"column_{place}" if name[0] else name[1]
