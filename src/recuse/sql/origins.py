"""Where the groups of a key come from, tried in order; nothing of it looks at a private row.

WHERE key IN (…), CHECK (key IN (…))     the list itself
[[domain]]                               a list, a range or a query of the policy
truth values, ENUMs, CASE of constants   all that there are
public columns                           what the public tables of the question have
WHERE, CHECK, few values                 all between two ends that are known (`dense`)
a reference into a public table          what that table has
keys one after another                   all between two ends that are released first
where the policy grants δ                what is found among the rows
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from sqlglot import exp

from recuse.errors import quote
from recuse.fold import fold
from recuse.policy.terms import DomainRange
from recuse.scalars.expression import Call, Constant, Expression, Variable, operands
from recuse.scalars.extent import Extent, Stated, extent_of, stated
from recuse.scalars.types import Number, Opaque, common
from recuse.sql.dense import Dense, KeyStep, ReleasedEnd, step_of
from recuse.sql.elaborate import Elaborator, type_of
from recuse.sql.ends import KeyEnd, rows_with_keys
from recuse.sql.groups import (
    GroupKey,
    Joined,
    Queried,
    Referenced,
    domain_values,
    form_of,
    known_values,
    listed_values,
    referenced_values,
    stated_conditions,
)
from recuse.sql.listed import Listed, typed, written_values
from recuse.sql.measure import Measure
from recuse.sql.position import refusal, span
from recuse.sql.query import Block, Own, Scalar, Scan
from recuse.sql.refuse import names_a_participant
from recuse.sql.relations import Relations
from recuse.sql.schema import Schema
from recuse.sql.traced import equal_public_column, is_public_key, stored_column

EndRelease = Callable[[Measure, str], int]
Pair = tuple[Block, Scalar]
"""rows, and a key of theirs"""


@dataclass(frozen=True, slots=True)
class Origins:
    """What is known of keys: `release` returns the position of a number that is released first."""

    relations: Relations
    elaborator: Elaborator
    release: EndRelease

    @property
    def schema(self) -> Schema:
        return self.relations.schema

    def key(self, node: exp.Expr, blocks: Sequence[Block], values: tuple[Scalar, ...]) -> GroupKey:
        """Return a key of GROUP BY with where its groups come from, or refuse it."""
        name = node.alias_or_name or node.sql()
        listed = self.listed(node, blocks, values)
        if listed is not None:
            return GroupKey(name, values, listed)
        pairs = self._pairs(blocks, values)
        queried = _one_of([self._queried(block, value) for block, value in pairs])
        if queried is not None:
            return GroupKey(name, values, queried)
        if pairs and all(is_public_key(self.schema, block, value) for block, value in pairs):
            return GroupKey(name, values, Joined.PUBLIC)
        public = self._equal_public(pairs, values)
        if public is not None:
            return GroupKey(name, public, Joined.PUBLIC)
        absent = len(pairs) < len(values)
        found = self._between(pairs, absent=absent) or self._referenced(pairs)
        if found is not None:
            return GroupKey(name, values, found)
        if any(names_a_participant(self.schema, block, value) for block, value in pairs):
            number = f"COUNT(DISTINCT {node.sql()})"
            hint = f"ask how many there are: {number}, or group by something they share"
            raise self.relations.met.refuse("every group would be an individual", node, hint)
        ends = self._released(pairs, node, absent=absent)
        if ends is not None:
            return GroupKey(name, values, ends)
        if not self.schema.finds_keys:
            raise self._unknown(node, pairs)
        return GroupKey(name, values, Joined.FOUND)

    # -------------------------------------------------------------- lists

    def listed(self, node: exp.Expr, blocks: Sequence[Block], values: Sequence[Scalar]) -> Listed | None:
        """Return the values that a list, a domain or a type gives an expression, or refuse the list."""
        pairs, lookup = self._pairs(blocks, values), self.relations.met.lookup()
        found = (
            _one_of([listed_values(block, value) for block, value in pairs])
            or _one_of([domain_values(self.schema, block, value) for block, value in pairs])
            or _one_of([known_values(value, lookup) for value in values])
            or written_values(values)
        )
        return None if found is None else self._typed(found, node, values)

    def _pairs(self, blocks: Sequence[Block], values: Sequence[Scalar]) -> list[Pair]:
        """Return rows and keys; a row of an outer join without this side is in no group."""
        both = zip(blocks, values, strict=True)
        return [(block, value) for block, value in both if not self._is_null(value)]

    def _typed(self, listed: Listed, node: exp.Expr, values: Sequence[Scalar]) -> Listed:
        """Return the listed groups as values of the key's type, or refuse what is not written as one."""
        kinds = [type_of(value, self.relations.met.lookup()) for value in values]
        kind = common(kinds) or Opaque("several types")
        found = typed(listed, kind)
        if isinstance(found, Listed):
            return found
        raise refusal(
            f"the group {quote(found.sql())} of {node.sql()} is not written as its values are",
            self.schema.text,
            span(found, self.schema.text) or span(node, self.schema.text),
            accepted=form_of(kind),
            hint="the type of a CSV file's column is declared in [columns] of the policy",
        )

    # -------------------------------------------------------------- public tables

    def _queried(self, block: Block, value: Scalar) -> Queried | None:
        found = stored_column(block, value)
        name = None if found is None else (fold(found[0].table.name), fold(found[1]))
        query = None if name is None else self.schema.domain_queries.get(name)
        if query is None or found is None:
            return None
        column = found[0].table.column(found[1])
        kinds = {type_of(value, self.relations.met.lookup()), *query.types}
        if column is None or len(kinds) != 1:
            problem = f"the [[domain]] query of {found[0].table.name}.{found[1]} returns another type"
            place = span(value, self.schema.text)
            raise refusal(problem, self.schema.text, place, hint="cast it: SELECT CAST(x AS …) FROM …")
        return Queried(query.sql, query.names[0])

    def _equal_public(self, pairs: Sequence[Pair], values: Sequence[Scalar]) -> tuple[Scalar, ...] | None:
        public = tuple(equal_public_column(self.schema, block, value) for block, value in pairs)
        lookup = self.relations.met.lookup()
        kinds = {type_of(value, lookup) for value in (*values, *(one for one in public if one is not None))}
        if None in public or len(kinds) != 1:
            return None
        return tuple(one for one in public if one is not None)

    def _referenced(self, pairs: Sequence[Pair]) -> Referenced | None:
        return _one_of([referenced_values(self.schema, block, value) for block, value in pairs])

    # -------------------------------------------------------------- one after another

    def _between(self, pairs: Sequence[Pair], *, absent: bool) -> Dense | None:
        """Return the keys between two ends that are both known; `absent`: some rows have no such key."""
        step, low, high = self._ends(pairs)
        if step is None or low is None or high is None:
            return None
        return Dense(step, low, high, absent or self._may_be_null(pairs))

    def _released(self, pairs: Sequence[Pair], node: exp.Expr, *, absent: bool) -> Dense | None:
        """Return the keys between two ends, those that are not known released first."""
        step, low, high = self._ends(pairs)
        if step is None or any(isinstance(kind, Number) and kind.scale for kind in self._kinds(pairs)):
            return None
        text = node.sql(dialect="duckdb")

        def released(sign: int) -> ReleasedEnd:
            blocks = tuple(rows_with_keys(block, step.index(value)) for block, value in pairs)
            measure = Measure(KeyEnd(sign, step.timed), blocks, tuple(self.relations.met.sources))
            word = "largest" if sign > 0 else "smallest"
            return ReleasedEnd(self.release(measure, f"the {word} {text}"))

        return Dense(
            step,
            released(-1) if low is None else low,
            released(1) if high is None else high,
            absent or self._may_be_null(pairs),
        )

    def _kinds(self, pairs: Sequence[Pair]) -> Iterable[object]:
        return (self.elaborator.expression(value).type for _, value in pairs)

    def _ends(self, pairs: Sequence[Pair]) -> tuple[KeyStep | None, int | None, int | None]:
        """Return how keys are counted in all blocks, and the ends that hold for all of them."""
        found: Extent | None = None
        steps: set[KeyStep | None] = set()
        for block, value in pairs:
            key = self.elaborator.expression(value)
            known = stated([*map(self.elaborator.condition, stated_conditions(block)), *self._ranges(block)])
            extent = extent_of(key, known)
            found = extent if found is None else found.or_(extent)
            steps.add(step_of(key))
        step = steps.pop() if len(steps) == 1 else None
        if step is None or found is None:
            return None, None, None
        return step, *step.ends(found)

    def _ranges(self, block: Block) -> Iterable[Expression]:
        """Yield the ranges that the policy states for columns of the block, as conditions."""
        for scan in block.sources:
            if not isinstance(scan, Scan):
                continue
            for held in scan.table.columns:
                said = self.schema.domains.get((fold(scan.table.name), fold(held.name)))
                if isinstance(said, DomainRange):
                    yield self.elaborator.condition(_within(scan, held.name, said))

    def _may_be_null(self, pairs: Sequence[Pair]) -> bool:
        for block, value in pairs:
            conditions = stated(map(self.elaborator.condition, block.conditions))
            if self._nullable(self.elaborator.expression(value), block, conditions):
                return True
        return False

    def _nullable(self, key: Expression, block: Block, filled: Stated) -> bool:
        """Return whether a key may be NULL because what it is made of is."""
        if key in filled:
            return False
        match key:
            case Constant(value):
                return value is None
            case Variable(source, name):
                return _column_may_be_null(block, source, name, key.type)
            case Call(function, arguments) if function.name == "case":
                results = [*arguments[1::2], *arguments[-1:]]
                return any(self._nullable(result, block, filled) for result in results)
            case Call(function, arguments) if function.name == "coalesce":
                return all(self._nullable(argument, block, filled) for argument in arguments)
        return any(self._nullable(part, block, filled) for part in operands(key))

    # -------------------------------------------------------------- refusals

    def _is_null(self, value: Scalar) -> bool:
        found = self.elaborator.expression(value)
        return isinstance(found, Constant) and found.value is None

    def _unknown(self, node: exp.Expr, pairs: Sequence[Pair]) -> Exception:
        """Return the refusal of a key, with what would help."""
        ways = [f"add WHERE {node.sql()} IN (…) with the groups that you want"]
        found = stored_column(*pairs[0]) if pairs else None
        if found is not None:
            place = f"{found[0].table.name}.{found[1]}"
            ways.append(f"or the custodian lists them: recuse policy domain {place} drafts the [[domain]]")
        ways.append(
            "or grants them to be found: [budget] delta = 0.000001 in the policy, then ask with delta"
        )
        return refusal(
            "which groups there are would tell about private rows",
            self.schema.text,
            span(node, self.schema.text),
            accepted="columns of public tables, a [[domain]] of the policy, or a list in the query",
            hint="; ".join(ways),
        )


T = TypeVar("T")


def _one_of(found: Sequence[T | None]) -> T | None:
    """Return what was found for all blocks alike."""
    return found[0] if found and all(other == found[0] for other in found) else None


def _column_may_be_null(block: Block, alias: str, name: str, kind: object) -> bool:
    for source in block.sources:
        if source.alias != alias:
            continue
        if isinstance(source, Scan):
            held = source.table.column(name)
            return held is None or held.nullable or source.preserving is not None
        if isinstance(source, Own):
            counted = isinstance(kind, Number) and (kind.low, kind.high) == COUNTED
            origin = source.origins[source.names.index(name)] if source.origins else None
            if origin is not None:
                held = origin[0].table.column(origin[1])
                return held is None or held.nullable
            return not counted
    return True


COUNTED = (0, 2**63 - 1)
"""the ends of what COUNT returns, which is never NULL"""


def _within(scan: Scan, name: str, said: DomainRange) -> exp.Expr:
    low, high = (
        exp.Literal.string(end) if isinstance(end, str) else exp.Literal.number(str(end))
        for end in (said.low, said.high)
    )
    place = exp.column(exp.to_identifier(name, quoted=True), exp.to_identifier(scan.alias, quoted=True))
    return exp.Between(this=place, low=low, high=high)
