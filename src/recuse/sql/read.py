"""Syntax tree + catalogue → `Reading`: every clause and name understood, or refused with its place.

The outermost SELECT is read here: its aggregates, its groups and the arithmetic over them. Everything
below it is read by `relations` and `conditions`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from sqlglot import exp

from recuse.errors import QueryError, quote
from recuse.fold import same
from recuse.scalars.expression import Constant
from recuse.scalars.types import Opaque, common
from recuse.sql.absences import together
from recuse.sql.aggregates import AGGREGATES, COUNT
from recuse.sql.elaborate import type_of
from recuse.sql.formula import FixedNumber, Formula, Operation, Operator, Rounded, Term
from recuse.sql.frame import Frame
from recuse.sql.groups import (
    GroupKey,
    Listed,
    domain_values,
    form_of,
    index_of,
    is_public_key,
    listed_values,
    literal_value,
    typed,
)
from recuse.sql.named import NOTHING, Known
from recuse.sql.ordered import OrderedCall, ordered_call
from recuse.sql.position import clause_span, refusal, span
from recuse.sql.query import Aggregate, Block, Measure, Output, Scalar, Schema
from recuse.sql.refuse import CLAUSES, EXCEPT, READ, refuse_clauses, refuse_having
from recuse.sql.relations import Relations

OPERATORS: dict[type[exp.Expr], Operator] = {
    exp.Add: Operator.ADD,
    exp.Sub: Operator.SUBTRACT,
    exp.Mul: Operator.MULTIPLY,
    exp.Div: Operator.DIVIDE,
}


@dataclass(frozen=True, slots=True)
class ShownKey:
    """An output column that shows a key of GROUP BY."""

    position: int


@dataclass(frozen=True, slots=True)
class Shown:
    """An output column: its name, and what it shows."""

    name: str
    what: ShownKey | Formula


@dataclass(frozen=True, slots=True)
class Reading:
    """What is asked: measures, the columns that are made of them, the groups and the order of rows."""

    measures: tuple[Measure, ...]
    columns: tuple[Shown, ...]
    keys: tuple[GroupKey, ...] = ()
    order: tuple[tuple[int, bool], ...] = ()
    """by which columns, and whether descending"""
    frames: tuple[Block, ...] = ()
    """the rows before any aggregate"""


def read(tree: exp.Query, schema: Schema) -> Reading:
    """Return the question that the tree asks."""
    reader = Relations(schema)
    known = reader.with_names(tree, NOTHING)
    if not isinstance(tree, exp.Select):
        raise _not_a_select(tree, schema.text)
    return _Reader(schema, reader, known).question(tree)


def _not_a_select(tree: exp.Query, text: str) -> QueryError:
    if isinstance(tree, exp.SetOperation):
        word = tree.key.upper()
        place = clause_span(tree.expression, word, text)
        if isinstance(tree, exp.Except):
            return refusal(EXCEPT[0], text, place, hint=EXCEPT[1])
        return refusal(
            f"{word} of answers is not understood", text, place, hint="ask for each part by itself"
        )
    hint = "leave the parentheses out"
    return refusal("only one plain SELECT is answered", text, span(tree, text), hint=hint)


@dataclass(slots=True)
class _Reader:
    schema: Schema
    relations: Relations
    known: Known
    measures: dict[str, Measure] = field(default_factory=dict)

    def question(self, tree: exp.Select) -> Reading:
        """Return FROM and WHERE, then the groups, then the columns."""
        text = self.schema.text
        refuse_clauses(tree, text, READ | {"group", "having", "order"})
        group, having = tree.args.get("group"), tree.args.get("having")
        if having is not None and group is None:
            keyword, problem, hint = CLAUSES["having"]
            raise refusal(problem, text, clause_span(having, keyword, text), hint=hint)
        if having is not None:
            refuse_having(having, text)
        frames = self.relations.frames(tree, self.known, None)
        keys = self._keys(tree, group, frames) if group is not None else ()
        columns = tuple(self._column(node, keys, frames) for node in tree.expressions)
        if not self.measures:
            place = span(tree.expressions[0], text) if tree.expressions else None
            hint = "write SELECT COUNT(*) FROM …"
            raise refusal("nothing is aggregated", text, place, accepted=_accepted(), hint=hint)
        order = self._order(tree, columns)
        sources = tuple(self.relations.sources)
        measures = tuple(replace(measure, known=sources) for measure in self.measures.values())
        return Reading(measures, columns, keys, order, tuple(frame.block for frame in frames))

    # -------------------------------------------------------------- GROUP BY

    def _keys(self, tree: exp.Select, group: exp.Group, frames: list[Frame]) -> tuple[GroupKey, ...]:
        if {key for key, value in group.args.items() if value} != {"expressions"}:
            place = clause_span(group, "GROUP BY", self.schema.text)
            hint = "list the keys, and ask once for each list"
            raise refusal("this form of GROUP BY is not accepted", self.schema.text, place, hint=hint)
        return tuple(self._key(self._meant(node, tree, frames[0]), frames) for node in group.expressions)

    def _meant(self, node: exp.Expr, tree: exp.Select, frame: Frame) -> exp.Expr:
        """Return the selected expression that a position or an alias stands for, else the node itself."""
        if isinstance(node, exp.Literal) and not node.is_string and node.name.isdigit():
            place = int(node.name)
            if not 1 <= place <= len(tree.expressions):
                raise self._refuse(f"there is no column {place}", node, f"there are {len(tree.expressions)}")
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
            [domain_values(self.schema, block, value) for block, value in pairs],
        ):
            if found and found[0] is not None and all(other == found[0] for other in found):
                return GroupKey(name, values, self._typed(found[0], node, values))
        if pairs and all(is_public_key(self.schema, block, value) for block, value in pairs):
            return GroupKey(name, values, None)
        raise refusal(
            "which groups there are would tell about private rows",
            self.schema.text,
            span(node, self.schema.text),
            accepted="columns of public tables, a [[domain]] of the policy, or a list in the query",
            hint=f"add WHERE {node.sql()} IN (…) with the groups that you want",
        )

    def _is_null(self, value: Scalar) -> bool:
        found = self.relations.conditions(self.known).elaborator().expression(value)
        return isinstance(found, Constant) and found.value is None

    def _typed(self, listed: Listed, node: exp.Expr, values: Sequence[Scalar]) -> Listed:
        """Return the listed groups as values of the key's type, or refuse what is not written as one."""
        kinds = [type_of(value, self.relations.lookup()) for value in values]
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

    # -------------------------------------------------------------- SELECT

    def _column(self, node: exp.Expr, keys: tuple[GroupKey, ...], frames: list[Frame]) -> Shown:
        inner = node.unalias()
        name = node.alias or inner.name or inner.sql()
        if keys and not inner.find(exp.AggFunc) and not inner.is_star:
            shown = self._value(inner, frames[0]).unnest().sql()
            for position, key in enumerate(keys):
                if key.values[0].unnest().sql() == shown:
                    return Shown(node.alias or key.name, ShownKey(position))
            problem = "this column is neither a key of GROUP BY nor an aggregate"
            raise self._refuse(problem, inner, "aggregate it, or group by it")
        if isinstance(inner, exp.Filter | exp.WithinGroup | exp.AggFunc):
            name = node.alias or inner.sql()
        return Shown(name, self._formula(inner, keys, frames))

    def _formula(self, node: exp.Expr, keys: tuple[GroupKey, ...], frames: list[Frame]) -> Formula:
        if isinstance(node, exp.Paren):
            return self._formula(node.this, keys, frames)
        if isinstance(node, exp.Literal) and not node.is_string:
            return FixedNumber(Fraction(node.name))
        if isinstance(node, exp.Neg):
            zero = FixedNumber(Fraction(0))
            return Operation(Operator.SUBTRACT, zero, self._formula(node.this, keys, frames))
        if isinstance(node, exp.Binary) and type(node) in OPERATORS:
            left, right = (self._formula(part, keys, frames) for part in (node.left, node.right))
            return Operation(OPERATORS[type(node)], left, right)
        if isinstance(node, exp.Round):
            return Rounded(self._formula(node.this, keys, frames), self._places(node))
        return self._aggregate(node, keys, frames)

    def _places(self, node: exp.Round) -> int:
        """Return to how many places ROUND rounds what was released."""
        places = literal_value(node.args.get("decimals") or exp.Literal.number(0))
        if not isinstance(places, int) or isinstance(places, bool) or not -15 <= places <= 15:
            raise self._refuse(
                "ROUND takes a number of places from -15 to 15", node, "write ROUND(AVG(x), 2)"
            )
        return places

    def _aggregate(self, node: exp.Expr, keys: tuple[GroupKey, ...], frames: list[Frame]) -> Formula:
        call, test = node, None
        if isinstance(node, exp.Filter):
            call, test = node.this, node.expression.this
        ordered = ordered_call(call)
        if isinstance(ordered, OrderedCall):
            once = isinstance(ordered.argument, exp.Distinct)
            arguments = ordered.argument.expressions if once else [ordered.argument]
            if len(arguments) == 1:
                return self._measure(ordered.aggregate, arguments, test, keys, frames, once=once)
            ordered = ordered.argument
        if ordered is not None:
            hint = "write MAX(x), MEDIAN(x), QUANTILE_CONT(x, 0.9)"
            raise self._refuse("this form of the aggregate is not understood", ordered, hint)
        held = {key for key, value in call.args.items() if value} - {"this", "big_int"}
        if not isinstance(call, exp.AggFunc) or type(call) not in AGGREGATES or (held - {"expressions"}):
            raise self._not_an_aggregate(node)
        once = isinstance(call.this, exp.Distinct)
        arguments = call.this.expressions if once else [call.this, *call.expressions]
        if call.this is None:
            raise self._refuse(f"{call.sql_name()} of nothing is not understood", call, "write COUNT(*)")
        if once and call.this.args.get("on"):
            raise self._refuse("DISTINCT ON keeps one row of many", call, "write DISTINCT without ON")
        star = isinstance(call, exp.Count) and not once and isinstance(call.this, exp.Star)
        if star and any(call.this.args.values()):
            raise self._refuse("this form of * is not accepted", call, "write COUNT(*)")
        if len(arguments) != 1 and not (once and isinstance(call, exp.Count) and arguments):
            raise self._refuse(f"{call.sql_name()} takes one argument here", call, "ask for each by itself")
        if star:
            return self._measure(COUNT, [], test, keys, frames, once=False)
        first, *others = (
            self._measure(kind, arguments, test, keys, frames, once=once) for kind in AGGREGATES[type(call)]
        )
        found: Formula = first
        for other in others:
            found = Operation(Operator.DIVIDE, found, other)
        return found

    def _not_an_aggregate(self, node: exp.Expr) -> QueryError:
        if node.find(exp.Window):
            return self._refuse("a window function looks at other rows", node, "write GROUP BY")
        if isinstance(node, exp.AggFunc):
            hint = "ask how many rows lie above a value: COUNT(*) … WHERE x > 10"
            return self._refuse("this aggregate is not answered", node, hint, accepted=_accepted())
        if node.find(exp.Query):
            return self._refuse("a subquery in the SELECT list is not monotone", node, "ask it by itself")
        hint = "write SELECT COUNT(*) FROM … or SELECT SUM(x) FROM …"
        return self._refuse("this output is not an aggregate", node, hint, accepted=_accepted())

    def _measure(
        self,
        kind: Aggregate,
        arguments: Sequence[exp.Expr],
        test: exp.Expr | None,
        keys: tuple[GroupKey, ...],
        frames: list[Frame],
        *,
        once: bool,
    ) -> Term:
        """Return the term of an aggregate; equal aggregates are one measure."""
        told = [argument.sql() for argument in arguments]
        name = f"{kind.word} {'DISTINCT' if once else ''} {told} {test.sql() if test else ''}"
        if name not in self.measures:
            blocks = [
                block
                for place, frame in enumerate(frames)
                for block in self._rows(kind, arguments, test, frame, [_grouped(key, place) for key in keys])
            ]
            blocks = self._possible(blocks)
            if once:
                blocks = [self._once(kind, blocks, len(keys), arguments[0])]
            bare = [replace(block, outputs=()) for block in blocks]
            self.measures[name] = Measure(kind, together(bare), ())
        return Term(list(self.measures).index(name))

    def _rows(
        self,
        kind: Aggregate,
        arguments: Sequence[exp.Expr],
        test: exp.Expr | None,
        frame: Frame,
        keys: list[Scalar],
    ) -> list[Block]:
        """Return the blocks of a frame's rows that take part: one, or one for every case of FILTER."""
        conditions = self.relations.conditions(self.known)
        frames = [frame] if test is None else frame.cases(conditions.read(test, frame.scope))
        found = []
        for case, values in conditions.values(arguments, frame.scope):
            outputs = [Output(f"c{n}", value) for n, value in enumerate([*keys, *values], start=1)]
            weight = kind.value(values)
            problem = None if weight is None else kind.refuses(type_of(weight, self.relations.lookup()))
            if problem is not None:
                hint = (
                    "cast it: CAST(x AS DOUBLE); a CSV file's types are declared in [columns] of the policy"
                )
                raise self._refuse(problem, arguments[0], hint)
            blocks = [kind.rows(each.narrowed(case).block, values) for each in frames]
            found += [replace(b, outputs=tuple(outputs), keys=tuple(keys), weight=weight) for b in blocks]
        return found

    def _possible(self, blocks: list[Block]) -> list[Block]:
        """Return the blocks that can have rows of any weight, as far as constants say; one at least.

        The rows of an outer join that have no partner mostly go here: a column of the other side is NULL.
        """
        elaborator = self.relations.conditions(self.known).elaborator()

        def known(value: Scalar) -> Constant | None:
            found = elaborator.expression(value)
            return found if isinstance(found, Constant) else None

        def is_possible(block: Block) -> bool:
            keys = [exp.Not(this=exp.Is(this=exp.paren(key), expression=exp.null())) for key in block.keys]
            weight = [] if block.weight is None else [block.weight]
            said = [found for found in map(known, (*block.conditions, *keys, *weight)) if found is not None]
            return all(found.value for found in said)

        possible = [block for block in blocks if is_possible(block)] or blocks[:1]
        if len(possible) == 1:
            return possible
        return [replace(b, conditions=tuple(c for c in b.conditions if not known(c))) for b in possible]

    def _once(self, kind: Aggregate, blocks: list[Block], keys: int, node: exp.Expr) -> Block:
        """Return the block of the distinct keys and values."""
        bare = [replace(block, keys=(), weight=None) for block in blocks]
        block = self.relations.distinct(bare, node)
        values = [output.value for output in block.outputs]
        weight = kind.value(values[keys:])
        return replace(block, keys=tuple(values[:keys]), weight=weight)

    # -------------------------------------------------------------- ORDER BY

    def _order(self, tree: exp.Select, columns: tuple[Shown, ...]) -> tuple[tuple[int, bool], ...]:
        clause = tree.args.get("order")
        found = []
        for item in clause.expressions if clause is not None else ():
            node = item.this
            places = [
                place
                for place, (shown, selected) in enumerate(zip(columns, tree.expressions, strict=True))
                if node.sql() == selected.unalias().sql()
                or (isinstance(node, exp.Column) and same(node.sql(), shown.name))
                or (isinstance(node, exp.Literal) and node.name == str(place + 1))
            ]
            if not places:
                raise self._refuse("ORDER BY takes columns of the answer", node, "name one that is selected")
            found.append((places[0], bool(item.args.get("desc"))))
        return tuple(found)

    # -------------------------------------------------------------- small things

    def _value(self, node: exp.Expr, frame: Frame) -> Scalar:
        return self.relations.conditions(self.known).value(node, frame.scope)

    def _refuse(
        self, problem: str, node: exp.Expr, hint: str | None, *, accepted: str | None = None
    ) -> QueryError:
        text = self.schema.text
        return refusal(problem, text, span(node, text), accepted=accepted, hint=hint)


def _accepted() -> str:
    """Return the aggregates that there are, in words."""
    *others, last = (call.sql_name() for call in AGGREGATES)
    told = f"{', '.join(others)}, {last}, MAX, MIN, MEDIAN and QUANTILE_CONT"
    return f"{told}, with DISTINCT and FILTER, and arithmetic over them"


def _grouped(key: GroupKey, place: int) -> Scalar:
    """Return a key's value in one block: its position where the values are listed."""
    return key.values[place] if key.listed is None else index_of(key.values[place], key.listed)
