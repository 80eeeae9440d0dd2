"""GROUP BY → `GroupKey`s: which groups there are must be known without looking at private rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from recuse.errors import QueryError
from recuse.fold import same
from recuse.scalars.types import Type
from recuse.sql.answered import is_aggregated
from recuse.sql.elaborate import type_of
from recuse.sql.formula import ShownKey
from recuse.sql.frame import Frame
from recuse.sql.groups import GroupKey, Joined
from recuse.sql.keysets import which_keys
from recuse.sql.kinds import kind_of
from recuse.sql.labels import label
from recuse.sql.listed import Listed
from recuse.sql.named import Known
from recuse.sql.origins import EndRelease, Origins
from recuse.sql.position import clause_span, refusal
from recuse.sql.query import Block, Scalar
from recuse.sql.refuse import lists_keys
from recuse.sql.relations import Relations
from recuse.sql.rollup import grouping_sets
from recuse.sql.said import Said

REPRESENTATIVES = (exp.AnyValue, exp.First, exp.Last, exp.Min, exp.Max)
"""aggregates that say of a key what it is"""


@dataclass(slots=True)
class KeyReader:
    """A reader of GROUP BY."""

    relations: Relations
    known: Known
    end: EndRelease
    """what an end of a key that is released first is asked by: it returns the position of its number"""
    spelled: dict[str, int] = field(default_factory=dict)
    """the keys by what is written, which may be another column than the groups come from"""
    forms: set[type[exp.Expr]] = field(default_factory=set)
    """the kinds of expressions that keys are: nothing else is a key"""
    values: dict[tuple[int, exp.Expr], Scalar] = field(default_factory=dict)
    """what was read, by its frame"""
    sets: tuple[tuple[int, ...], ...] = ()
    """of ROLLUP and the like: the places of the keys of each set"""

    def read(self, tree: exp.Select, group: exp.Group, frames: list[Frame]) -> tuple[GroupKey, ...]:
        if {key for key, value in group.args.items() if value} == {"all"}:
            nodes = [node.unalias() for node in tree.expressions if not is_aggregated(node)]
            nodes = [node for node in nodes if node.find(exp.Column)]
        elif lists_keys(group):
            nodes = [self._meant(node, tree, frames[0]) for node in group.expressions]
        elif (sets := grouping_sets(group)) is not None:
            nodes = self._of_sets(sets, tree, frames[0])
        else:
            place = clause_span(group, "GROUP BY", self.relations.schema.text)
            hint = "list the keys, and ask once for each list"
            raise refusal(
                "this form of GROUP BY is not accepted", self.relations.schema.text, place, hint=hint
            )
        for position, node in enumerate(nodes):
            written = self._value(node, frames[0]).unnest()
            self.spelled.setdefault(written.sql(), position)
            self.forms.add(type(written))
        keys = tuple(self.key(node, frames) for node in nodes)
        if self.sets and any(key.origin is Joined.FOUND for key in keys):
            place = clause_span(group, "GROUP BY", self.relations.schema.text)
            problem = "the groups of ROLLUP, CUBE and GROUPING SETS are known without looking"
            hint = "list the values of every key: WHERE key IN (…)"
            raise refusal(problem, self.relations.schema.text, place, hint=hint)
        return keys

    def _of_sets(self, sets: Sequence[Sequence[exp.Expr]], tree: exp.Select, frame: Frame) -> list[exp.Expr]:
        """Return every key of some sets once, and take note of which each has."""
        found: dict[str, exp.Expr] = {}
        placed: list[tuple[int, ...]] = []
        for one in sets:
            meant = [self._meant(node, tree, frame) for node in one]
            spelled = {self._value(node, frame).unnest().sql(): node for node in meant}
            for key, node in spelled.items():
                found.setdefault(key, node)
            placed.append(tuple(sorted(list(found).index(key) for key in spelled)))
        self.sets = tuple(placed) if len(placed) > 1 else ()
        return list(found.values())

    def _meant(self, node: exp.Expr, tree: exp.Select, frame: Frame) -> exp.Expr:
        """Return the selected expression that a position or an alias stands for, else the node itself."""
        if isinstance(node, exp.Literal) and not node.is_string and node.name.isdigit():
            place = int(node.name)
            if not 1 <= place <= len(tree.expressions):
                raise self.relations.met.refuse(
                    f"there is no column {place}", node, f"there are {len(tree.expressions)}"
                )
            selected: exp.Expr = tree.expressions[place - 1]
            return selected.unalias()
        if isinstance(node, exp.Column) and not node.table and not frame.scope.alone(node.name):
            alike = [item for item in tree.expressions if same(item.alias, node.name)]
            return alike[0].unalias() if alike else node
        return node

    def key(self, node: exp.Expr, frames: list[Frame]) -> GroupKey:
        """Return a key with where its groups come from, or refuse it."""
        return self._origins().key(node, *self._held(node, frames))

    def listed(self, node: exp.Expr, frames: list[Frame]) -> Listed | None:
        """Return the values of an expression that are known without looking and without asking first."""
        return self._origins().listed(node, *self._held(node, frames))

    def _origins(self) -> Origins:
        return Origins(self.relations, self.relations.conditions(self.known).elaborator(), self.end)

    def _held(self, node: exp.Expr, frames: list[Frame]) -> tuple[list[Block], tuple[Scalar, ...]]:
        return [frame.block for frame in frames], tuple(self._value(node, frame) for frame in frames)

    def _value(self, node: exp.Expr, frame: Frame) -> Scalar:
        """Return an expression over the rows of a frame; one that is written again is read once."""
        place = id(frame), node
        if place not in self.values:
            self.values[place] = self.relations.conditions(self.known).value(node, frame.scope)
        return self.values[place]

    # -------------------------------------------------------------- what is said of keys

    def said(self, node: exp.Expr, keys: tuple[GroupKey, ...], frames: list[Frame]) -> Said | None:
        """Return the key that an expression is; None if it may be made of keys; else refuse a column."""
        if not isinstance(node, exp.Column) and type(node.unnest()) not in self.forms:
            return None
        try:
            shown = self._value(node, frames[0]).unnest().sql()
        except QueryError:
            if isinstance(node, exp.Column):
                raise
            return None
        if shown in self.spelled:
            position = self.spelled[shown]
            kind = kind_of(type_of(keys[position].values[0], self.relations.met.lookup()))
            return Said(ShownKey(position), kind)
        if isinstance(node, exp.Column):
            problem = "this column is neither a key of GROUP BY nor an aggregate"
            raise self.relations.met.refuse(
                problem, node, f"aggregate it: COUNT({node.sql()}), or group by it"
            )
        return None

    def label(
        self, node: exp.Expr, keys: tuple[GroupKey, ...], frames: list[Frame], read: Callable[[], Said]
    ) -> Said:
        """Return what is read; where that is refused, what a row-wise function of the keys says."""
        try:
            return read()
        except QueryError:
            types = [type_of(key.values[0], self.relations.met.lookup()) for key in keys]
            found = self._label(node, keys, frames, types) if keys else None
            if found is None:
                raise
            return found

    def _label(
        self, node: exp.Expr, keys: tuple[GroupKey, ...], frames: list[Frame], types: Sequence[Type]
    ) -> Said | None:
        elaborator = self.relations.conditions(self.known).elaborator()
        try:
            return label(
                node,
                lambda part: self.said(part, keys, frames),
                types,
                lambda lookup: replace(elaborator, lookup=lookup),
            )
        except QueryError:
            return None

    def representative(self, node: exp.Expr, keys: tuple[GroupKey, ...], frames: list[Frame]) -> Said | None:
        """Return the key that an aggregate such as ANY_VALUE says again."""
        if {key for key, value in node.args.items() if value} != {"this"} or not keys:
            return None
        if self.sets:  # inside of an aggregate a key that is left out is not NULL
            return None
        if not isinstance(node, REPRESENTATIVES) or node.this.find(exp.Query, exp.AggFunc):
            return None
        try:
            return self.said(node.this.unnest(), keys, frames)
        except QueryError:
            return None

    def grouping(self, node: exp.Expr, keys: tuple[GroupKey, ...], frames: list[Frame]) -> Said:
        """Return which of some keys a row was not grouped by, as GROUPING says it."""
        asked = [self.said(one.unnest(), keys, frames) for one in node.expressions]
        places = [said.formula.position for said in asked if said and isinstance(said.formula, ShownKey)]
        if not places or len(places) < len(asked):
            raise self.relations.met.refuse(
                "GROUPING is asked of keys of GROUP BY", node, "write GROUPING(key)"
            )
        return which_keys(places, self.sets or (tuple(range(len(keys))),))
