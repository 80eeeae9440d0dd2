"""GROUP BY → `GroupKey`s: which groups there are must be known without looking at private rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from recuse.errors import quote
from recuse.fold import same
from recuse.scalars.expression import Constant
from recuse.scalars.types import Opaque, common
from recuse.sql.answered import is_aggregated
from recuse.sql.elaborate import type_of
from recuse.sql.frame import Frame
from recuse.sql.groups import (
    GroupKey,
    Listed,
    domain_values,
    equal_public_column,
    form_of,
    is_public_key,
    known_values,
    listed_values,
    typed,
)
from recuse.sql.named import Known
from recuse.sql.position import clause_span, refusal, span
from recuse.sql.query import Scalar
from recuse.sql.refuse import names_a_participant
from recuse.sql.relations import Relations


@dataclass(slots=True)
class KeyReader:
    """A reader of GROUP BY."""

    relations: Relations
    known: Known
    spelled: dict[str, int] = field(default_factory=dict)
    """the keys by what is written, which may be another column than the groups come from"""

    def read(self, tree: exp.Select, group: exp.Group, frames: list[Frame]) -> tuple[GroupKey, ...]:
        form = {key for key, value in group.args.items() if value}
        if any(isinstance(node, exp.Rollup | exp.Cube | exp.GroupingSets) for node in group.expressions):
            form = set()
        if form == {"all"}:
            nodes = [node.unalias() for node in tree.expressions if not is_aggregated(node)]
            nodes = [node for node in nodes if node.find(exp.Column)]
        elif form == {"expressions"}:
            nodes = [self._meant(node, tree, frames[0]) for node in group.expressions]
        else:
            place = clause_span(group, "GROUP BY", self.relations.schema.text)
            hint = "list the keys, and ask once for each list"
            raise refusal(
                "this form of GROUP BY is not accepted", self.relations.schema.text, place, hint=hint
            )
        for position, node in enumerate(nodes):
            self.spelled.setdefault(self._value(node, frames[0]).unnest().sql(), position)
        return tuple(self._key(node, frames) for node in nodes)

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

    def _key(self, node: exp.Expr, frames: list[Frame]) -> GroupKey:
        values = tuple(self._value(node, frame) for frame in frames)
        pairs = [
            (frame.block, value)
            for frame, value in zip(frames, values, strict=True)
            if not self._is_null(value)  # a row of an outer join without this side is in no group
        ]
        name = node.alias_or_name or node.sql()
        for found in (
            [listed_values(block, value) for block, value in pairs],
            [domain_values(self.relations.schema, block, value) for block, value in pairs],
            [known_values(value, self.relations.met.lookup()) for value in values],
        ):
            if found and found[0] is not None and all(other == found[0] for other in found):
                return GroupKey(name, values, self._typed(found[0], node, values))
        if pairs and all(is_public_key(self.relations.schema, block, value) for block, value in pairs):
            return GroupKey(name, values, None)
        public = tuple(equal_public_column(self.relations.schema, block, value) for block, value in pairs)
        lookup = self.relations.met.lookup()
        kinds = {type_of(value, lookup) for value in (*values, *(one for one in public if one is not None))}
        if None not in public and len(kinds) == 1:
            return GroupKey(name, tuple(one for one in public if one is not None), None)
        if any(names_a_participant(self.relations.schema, block, value) for block, value in pairs):
            raise self.relations.met.refuse(
                "every group would be an individual",
                node,
                f"ask how many there are: COUNT(DISTINCT {node.sql()}), or group by something they share",
            )
        raise refusal(
            "which groups there are would tell about private rows",
            self.relations.schema.text,
            span(node, self.relations.schema.text),
            accepted="columns of public tables, a [[domain]] of the policy, or a list in the query",
            hint=f"add WHERE {node.sql()} IN (…) with the groups that you want",
        )

    def _is_null(self, value: Scalar) -> bool:
        found = self.relations.conditions(self.known).elaborator().expression(value)
        return isinstance(found, Constant) and found.value is None

    def _typed(self, listed: Listed, node: exp.Expr, values: Sequence[Scalar]) -> Listed:
        """Return the listed groups as values of the key's type, or refuse what is not written as one."""
        kinds = [type_of(value, self.relations.met.lookup()) for value in values]
        kind = common(kinds) or Opaque("several types")
        found = typed(listed, kind)
        if isinstance(found, Listed):
            return found
        raise refusal(
            f"the group {quote(found.sql())} of {node.sql()} is not written as its values are",
            self.relations.schema.text,
            span(found, self.relations.schema.text) or span(node, self.relations.schema.text),
            accepted=form_of(kind),
            hint="the type of a CSV file's column is declared in [columns] of the policy",
        )

    def _value(self, node: exp.Expr, frame: Frame) -> Scalar:
        return self.relations.conditions(self.known).value(node, frame.scope)
