"""GROUP BY → `GroupKey`s: which groups there are must be known without looking at private rows."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from recuse.fold import same
from recuse.sql.answered import is_aggregated
from recuse.sql.frame import Frame
from recuse.sql.groups import GroupKey
from recuse.sql.listed import Listed
from recuse.sql.named import Known
from recuse.sql.origins import EndRelease, Origins
from recuse.sql.position import clause_span, refusal
from recuse.sql.query import Block, Scalar
from recuse.sql.refuse import lists_keys
from recuse.sql.relations import Relations


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

    def read(self, tree: exp.Select, group: exp.Group, frames: list[Frame]) -> tuple[GroupKey, ...]:
        if {key for key, value in group.args.items() if value} == {"all"}:
            nodes = [node.unalias() for node in tree.expressions if not is_aggregated(node)]
            nodes = [node for node in nodes if node.find(exp.Column)]
        elif lists_keys(group):
            nodes = [self._meant(node, tree, frames[0]) for node in group.expressions]
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
        return tuple(self.key(node, frames) for node in nodes)

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
        return self.relations.conditions(self.known).value(node, frame.scope)
