"""Aggregates → `Measure`s: the rows that each counts or sums, over the rows that FROM and WHERE leave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from recuse.errors import QueryError
from recuse.scalars.expression import Constant
from recuse.scalars.function import OPAQUE
from recuse.scalars.types import Opaque
from recuse.sql.absences import together
from recuse.sql.aggregates import AGGREGATES, COUNT, SUM, SUM_OF_NONNEGATIVE
from recuse.sql.elaborate import type_of
from recuse.sql.formula import Operator, Term, operation
from recuse.sql.frame import Frame
from recuse.sql.groups import GroupKey
from recuse.sql.kinds import ColumnKind
from recuse.sql.measure import Aggregate, Measure
from recuse.sql.named import Known
from recuse.sql.ordered import OrderedCall, OrderedValue, Unit, ordered_call
from recuse.sql.position import refusal, span
from recuse.sql.query import Block, Output, Scalar
from recuse.sql.relations import Relations
from recuse.sql.said import Said
from recuse.sql.signs import mean_where_values_are, none_weighs_less_than_nothing

MOMENTS = {
    Unit.DAY: (Operator.DATE, ColumnKind.DATE),
    Unit.SECOND: (Operator.MOMENT, ColumnKind.TIMESTAMP),
}
"""what is made of the days and seconds that are released"""

CAST = "cast it: CAST(x AS DOUBLE); a CSV file's types are declared in [columns] of the policy"


@dataclass(slots=True)
class Measures:
    """The aggregates met so far; equal ones are one."""

    relations: Relations
    known: Known
    found: dict[str, Measure] = field(default_factory=dict)
    constants: dict[int, tuple[Scalar, Constant | None]] = field(default_factory=dict)
    """what expressions are that need no row, by the identity of these, which are kept with it"""

    def all(self) -> tuple[Measure, ...]:
        """Return the measures, each with all sources that the query was read with."""
        sources = tuple(self.relations.met.sources)
        return tuple(replace(measure, known=sources) for measure in self.found.values())

    def aggregate(self, node: exp.Expr, keys: tuple[GroupKey, ...], frames: list[Frame]) -> Said:
        """Return what an aggregate stands for: a measure, or a formula over several."""
        refuse = self.relations.met.refuse
        call, test = node, None
        if isinstance(node, exp.Filter):
            call, test = node.this, node.expression.this
        ordered = ordered_call(call)
        if isinstance(ordered, OrderedCall):
            once = isinstance(ordered.argument, exp.Distinct)
            arguments = ordered.argument.expressions if once else [ordered.argument]
            if len(arguments) == 1:
                return self._ordered(self.term(ordered.aggregate, arguments, test, keys, frames, once=once))
            ordered = ordered.argument
        if ordered is not None:
            hint = "write MAX(x), MEDIAN(x), QUANTILE_CONT(x, 0.9)"
            raise refuse("this form of the aggregate is not understood", ordered, hint)
        if isinstance(call, exp.CountIf) and type(call) not in AGGREGATES:
            test = call.this if test is None else exp.and_(test, call.this)
            call = exp.Count(this=exp.Star(), big_int=True)
        held = {key for key, value in call.args.items() if value} - {"this", "big_int"}
        odd = held - {"expressions"} or (call.this is None and not isinstance(call, exp.Count))
        if not isinstance(call, exp.AggFunc) or type(call) not in AGGREGATES or odd:
            raise not_answered(node, self.relations.schema.text)
        once = isinstance(call.this, exp.Distinct)
        arguments = call.this.expressions if once else [call.this, *call.expressions]
        star = isinstance(call, exp.Count) and (call.this is None or isinstance(call.this, exp.Star))
        if star and call.this is not None and any(call.this.args.values()):
            raise refuse("this form of * is not accepted", call, "write COUNT(*)")
        if len(arguments) != 1 and not (once and isinstance(call, exp.Count) and arguments):
            raise refuse(f"{call.sql_name()} takes one argument here", call, "ask for each by itself")
        if star:
            return _whole(self.term(COUNT, [], test, keys, frames, once=False))
        kinds = AGGREGATES[type(call)]
        first, *others = (self.term(kind, arguments, test, keys, frames, once=once) for kind in kinds)
        if not others:
            return _whole(first) if kinds[0].whole else Said(first, ColumnKind.NUMBER)
        found = operation(Operator.DIVIDE, first, others[0])
        for other in others[1:]:
            found = operation(Operator.DIVIDE, found, other)
        summed = list(self.found.values())[first.measure]
        return Said(mean_where_values_are(found, summed, self.relations.met.lookup()), ColumnKind.NUMBER)

    def _ordered(self, term: Term) -> Said:
        """Return a value that was picked, as what it is: a number, a date or a timestamp."""
        aggregate = list(self.found.values())[term.measure].aggregate
        if not isinstance(aggregate, OrderedValue) or not aggregate.is_moment:
            whole = aggregate.granularity(self.relations.schema).denominator == 1
            return Said(term, ColumnKind.INTEGER if whole else ColumnKind.NUMBER)
        operator, kind = MOMENTS[aggregate.unit]
        return Said(operation(operator, term), kind)

    def term(
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
        if name not in self.found:
            blocks = [
                block
                for place, frame in enumerate(frames)
                for block in self._rows(kind, arguments, test, frame, [key.placed(place) for key in keys])
            ]
            null_keys = frozenset(place for place, key in enumerate(keys) if key.has_null)
            blocks = [replace(block, null_keys=null_keys) for block in blocks]
            blocks = self._possible(blocks)
            if kind is SUM and none_weighs_less_than_nothing(blocks, self.relations.met.lookup()):
                kind = SUM_OF_NONNEGATIVE
            if once:
                blocks = [self._once(kind, blocks, len(keys), arguments[0])]
            bare = [replace(block, outputs=()) for block in blocks]
            lookup = self.relations.met.lookup()
            types = [type_of(block.weight, lookup) for block in bare if block.weight is not None]
            self.found[name] = Measure(kind.suited(types[0]) if types else kind, together(bare), ())
        return Term(list(self.found).index(name))

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
            type_ = None if weight is None else type_of(weight, self.relations.met.lookup())
            problem = None if type_ is None else kind.refuses(type_)
            if problem is not None:
                hint = OPAQUE if isinstance(type_, Opaque) else CAST
                raise self.relations.met.refuse(problem, arguments[0], hint)
            blocks = [kind.rows(each.narrowed(case).block, values) for each in frames]
            found += [replace(b, outputs=tuple(outputs), keys=tuple(keys), weight=weight) for b in blocks]
        return found

    def _possible(self, blocks: list[Block]) -> list[Block]:
        """Return the blocks that can have rows of any weight, as far as constants say; one at least.

        The rows of an outer join that have no partner mostly go here: a column of the other side is NULL.
        """
        elaborator = self.relations.conditions(self.known).elaborator()

        def known(value: Scalar) -> Constant | None:
            if id(value) not in self.constants:
                found = elaborator.expression(value)
                self.constants[id(value)] = value, found if isinstance(found, Constant) else None
            return self.constants[id(value)][1]

        def is_possible(block: Block) -> bool:
            needed = [key for place, key in enumerate(block.keys) if place not in block.null_keys]
            weight = [] if block.weight is None else [block.weight]
            said = [found for found in map(known, (*block.conditions, *weight)) if found is not None]
            keys = [found for found in map(known, needed) if found is not None]
            return all(found.value for found in said) and all(found.value is not None for found in keys)

        possible = [block for block in blocks if is_possible(block)] or blocks[:1]
        if len(possible) == 1:
            return possible
        return [replace(b, conditions=tuple(c for c in b.conditions if not known(c))) for b in possible]

    def _once(self, kind: Aggregate, blocks: list[Block], keys: int, node: exp.Expr) -> Block:
        """Return the block of the distinct keys and values."""
        bare = [replace(block, keys=(), null_keys=frozenset(), weight=None) for block in blocks]
        block = self.relations.distinct(bare, node)
        values = [output.value for output in block.outputs]
        weight = kind.value(values[keys:])
        nulls = blocks[0].null_keys
        return replace(block, keys=tuple(values[:keys]), null_keys=nulls, weight=weight)


def not_answered(node: exp.Expr, text: str) -> QueryError:
    """Return the refusal of an aggregate that there is not."""
    hint = "ask how many rows lie above a value: COUNT(*) … WHERE x > 10"
    problem = "this aggregate is not answered"
    return refusal(problem, text, span(node, text), accepted=accepted(), hint=hint)


def accepted() -> str:
    """Return the aggregates that there are, in words."""
    *others, last = (call.sql_name() for call in AGGREGATES)
    told = f"{', '.join(others)}, {last}, MAX, MIN, MEDIAN, QUANTILE_CONT, MODE, STDDEV, CORR and REGR_SLOPE"
    return f"{told}, with DISTINCT and FILTER, and arithmetic over them"


def _whole(term: Term) -> Said:
    return Said(term, ColumnKind.INTEGER)
