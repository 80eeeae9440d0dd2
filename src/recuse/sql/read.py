"""Syntax tree + catalogue → `Reading`: every clause and name understood, or refused with its place.

The outermost SELECT is read here: its groups, its aggregates, and with `columns` what is made of them. A
SELECT around one that is answered only looks at its rows. All below is read by `relations` and `conditions`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from recuse.errors import QueryError, quote
from recuse.fold import fold, same
from recuse.scalars.expression import Constant
from recuse.scalars.types import Number, Opaque, common
from recuse.sql.absences import together
from recuse.sql.aggregates import AGGREGATES, COUNT
from recuse.sql.answered import answered_within, is_aggregated
from recuse.sql.columns import Formulas, Said
from recuse.sql.elaborate import type_of
from recuse.sql.finish import Finish, Shown, renamed
from recuse.sql.formula import FinishingStep, Keep, Operator, ReleasedFirst, ShownKey, Term, operation
from recuse.sql.frame import Frame
from recuse.sql.groups import (
    GroupKey,
    Listed,
    domain_values,
    equal_public_column,
    form_of,
    index_of,
    is_public_key,
    known_values,
    listed_values,
    typed,
)
from recuse.sql.kinds import ColumnKind, kind_of
from recuse.sql.named import NOTHING, Known
from recuse.sql.ordered import OrderedCall, ordered_call
from recuse.sql.placeholder import DECIMAL, WHOLE, Released
from recuse.sql.position import clause_span, refusal, span
from recuse.sql.query import Aggregate, Block, Measure, Output, Scalar, Schema
from recuse.sql.refuse import (
    always_holds,
    names_a_participant,
    refuse_clauses,
    refuse_individuals,
    refuse_set_operation,
)
from recuse.sql.relations import Relations
from recuse.sql.scope import Scope

OUTERMOST = frozenset({"expressions", "from_", "joins", "where", "with_", "group", "having"})
FINISHED = frozenset({"order", "limit", "offset", "distinct"})
REPRESENTATIVES = (exp.AnyValue, exp.First, exp.Last, exp.Min, exp.Max)
"""aggregates that say of a key what it is"""


@dataclass(frozen=True, slots=True)
class Reading:
    """What is asked: measures, the columns made of them, the groups, and what is done with the rows."""

    measures: tuple[Measure, ...]
    columns: tuple[Shown, ...]
    keys: tuple[GroupKey, ...] = ()
    steps: tuple[FinishingStep, ...] = ()
    frames: tuple[Block, ...] = ()
    """the rows before any aggregate"""
    firsts: tuple[First, ...] = ()
    """the scalars that are released before anything else, in order"""


@dataclass(frozen=True, slots=True)
class First:
    """A number that is released first: the question that it answers, its type, and how it is written."""

    reading: Reading
    type: Number
    text: str


def read(tree: exp.Query, schema: Schema) -> Reading:
    """Return the question that the tree asks."""
    firsts = _Firsts()
    found = _read(tree, Relations(schema, released=firsts.place), NOTHING, firsts)
    return replace(found, firsts=tuple(firsts.asked))


@dataclass(slots=True)
class _Firsts:
    """The scalars met so far; one that is written twice is one."""

    asked: list[First] = field(default_factory=list)
    places: dict[tuple[object, ...], int] = field(default_factory=dict)

    def place(self, tree: exp.Expr, relations: Relations, known: Known) -> Released:
        """Return the place of the number that a subquery stands for."""
        named = [fold(table.name) for table in tree.find_all(exp.Table)]
        meant = (tree.sql(), *(id(known[name].tree) for name in named if name in known))
        if meant not in self.places:
            found = _read(tree, relations, known, self)
            if len(found.columns) != 1 or found.keys or found.steps or not found.columns[0].kind.is_number:
                problem = "a subquery that stands for a value of private rows returns one number"
                raise relations.refuse(problem, tree, "return one COUNT, SUM or AVG, without GROUP BY")
            kind = WHOLE if found.columns[0].kind is ColumnKind.INTEGER else DECIMAL
            self.asked.append(First(found, kind, _written(tree, relations.schema.text)))
            self.places[meant] = len(self.asked) - 1
        position = self.places[meant]
        return Released.at(position, self.asked[position].type)


def _written(tree: exp.Expr, text: str) -> str:
    place = span(tree, text)
    return tree.sql(dialect="duckdb") if place is None else text[place[0] : place[1] + 1]


def _read(tree: exp.Expr, relations: Relations, known: Known, firsts: _Firsts) -> Reading:
    """Return what a query asks whose rows are the answer."""
    text = relations.schema.text
    known = relations.with_names(tree, known)
    if isinstance(tree, exp.Subquery):
        refuse_clauses(tree, text, {"this", "with_", *FINISHED})
        return _Onlooker(relations, _read(tree.this, relations, known, firsts)).reading(tree)
    if not isinstance(tree, exp.Select):
        raise refuse_set_operation(tree, text)
    inner = answered_within(tree, known, relations.with_names)
    if inner is None:
        return _Reader(relations.schema, relations, known, firsts).question(tree)
    query, within, names = inner
    found = _read(query, relations, within, firsts)
    found = replace(found, columns=renamed(found.columns, names))
    return _Onlooker(relations, found, tree.args["from_"].this.alias_or_name).reading(tree)


@dataclass(frozen=True, slots=True)
class _Onlooker:
    """A reader of a SELECT around an answer: what it makes of the answer's rows is free."""

    relations: Relations
    answer: Reading
    name: str = ""

    def reading(self, tree: exp.Expr) -> Reading:
        """Return the answer as the SELECT around it shows it."""
        text = self.relations.schema.text
        formulas = Formulas(self._column, text, self._not_understood)
        steps: list[FinishingStep] = []
        columns = self.answer.columns
        if isinstance(tree, exp.Select):
            refuse_clauses(tree, text, {"expressions", "from_", "where", "with_", *FINISHED})
            if tree.args.get("where") is not None:
                steps.append(Keep(formulas.condition(tree.args["where"].this)))
            columns = tuple(shown for node in tree.expressions for shown in self._shown(node, formulas))
        finish = Finish(columns, formulas, text)
        steps += finish.steps(tree, len(self.answer.keys))
        return replace(self.answer, columns=columns, steps=(*self.answer.steps, *steps))

    def _shown(self, node: exp.Expr, formulas: Formulas) -> Sequence[Shown]:
        if node.is_star:
            star = node if isinstance(node, exp.Star) else node.this
            if any(star.args.values()):
                raise self.relations.refuse("this form of * is not accepted", node, "name the columns")
            return self.answer.columns
        said = formulas.read(node.unalias())
        name = node.alias or (node.name if isinstance(node, exp.Column) else node.sql())
        return [Shown(name, said.formula, said.kind or ColumnKind.OTHER)]

    def _column(self, node: exp.Expr) -> Said | None:
        if not isinstance(node, exp.Column) or (node.table and not same(node.table, self.name)):
            return None
        found = [shown for shown in self.answer.columns if same(shown.name, node.name)]
        if len(found) != 1:
            names = ", ".join(shown.name for shown in self.answer.columns)
            raise self.relations.refuse(f"there is no column {node.name} here", node, f"there: {names}")
        return Said(found[0].what, found[0].kind)

    def _not_understood(self, node: exp.Expr) -> QueryError:
        if node.find(exp.Window):
            hint = "leave it out; ORDER BY and LIMIT rank rows of an answer"
            return self.relations.refuse("a window function looks at other rows", node, hint)
        hint = "write it with +, -, *, /, CASE, COALESCE, ROUND and comparisons"
        return self.relations.refuse("this is not computed from an answer", node, hint)


@dataclass(slots=True)
class _Reader:
    schema: Schema
    relations: Relations
    known: Known
    firsts: _Firsts
    measures: dict[str, Measure] = field(default_factory=dict)
    spelled: dict[str, int] = field(default_factory=dict)
    """the keys of GROUP BY by what is written, which may be another column than the groups come from"""
    aliases: dict[str, Said] = field(default_factory=dict)
    """the columns of the SELECT list that have been read, by their aliases"""

    def question(self, tree: exp.Select) -> Reading:
        """Return FROM and WHERE, then the groups, then the columns, then what is done with the rows."""
        text = self.schema.text
        refuse_clauses(tree, text, OUTERMOST | FINISHED)
        group, having = tree.args.get("group"), tree.args.get("having")
        if tree.args.get("from_") is not None and group is None and not _asks(tree):
            raise refuse_individuals(tree, text)
        frames = self._frames(tree)
        keys = self._keys(tree, group, frames) if group is not None else ()
        formulas = Formulas(lambda node: self._begin(node, keys, frames), text, self._not_an_aggregate)
        columns = tuple(self._column(node, keys, formulas) for node in tree.expressions)
        steps: list[FinishingStep] = []
        if having is not None and not always_holds(having.this):
            steps.append(Keep(formulas.condition(having.this)))
        steps += Finish(columns, formulas, text).steps(tree, len(keys))
        if not self.measures and tree.args.get("from_") is not None:
            raise refuse_individuals(tree, text)
        sources = tuple(self.relations.sources)
        measures = tuple(replace(measure, known=sources) for measure in self.measures.values())
        return Reading(measures, columns, keys, tuple(steps), tuple(frame.block for frame in frames))

    def _frames(self, tree: exp.Select) -> list[Frame]:
        """Return FROM and WHERE; without FROM there is one row, of which only subqueries can say anything."""
        if tree.args.get("from_") is None and tree.find(exp.Subquery) and not _asks(tree):
            return [Frame(Block(), Scope(self.schema.text))]
        return self.relations.frames(tree, self.known, None)

    # -------------------------------------------------------------- GROUP BY

    def _keys(self, tree: exp.Select, group: exp.Group, frames: list[Frame]) -> tuple[GroupKey, ...]:
        form = {key for key, value in group.args.items() if value}
        if any(isinstance(node, exp.Rollup | exp.Cube | exp.GroupingSets) for node in group.expressions):
            form = set()
        if form == {"all"}:
            nodes = [node.unalias() for node in tree.expressions if not is_aggregated(node)]
            nodes = [node for node in nodes if node.find(exp.Column)]
        elif form == {"expressions"}:
            nodes = [self._meant(node, tree, frames[0]) for node in group.expressions]
        else:
            place = clause_span(group, "GROUP BY", self.schema.text)
            hint = "list the keys, and ask once for each list"
            raise refusal("this form of GROUP BY is not accepted", self.schema.text, place, hint=hint)
        for position, node in enumerate(nodes):
            self.spelled.setdefault(self._value(node, frames[0]).unnest().sql(), position)
        return tuple(self._key(node, frames) for node in nodes)

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
            [known_values(value, self.relations.lookup()) for value in values],
        ):
            if found and found[0] is not None and all(other == found[0] for other in found):
                return GroupKey(name, values, self._typed(found[0], node, values))
        if pairs and all(is_public_key(self.schema, block, value) for block, value in pairs):
            return GroupKey(name, values, None)
        public = tuple(equal_public_column(self.schema, block, value) for block, value in pairs)
        lookup = self.relations.lookup()
        kinds = {type_of(value, lookup) for value in (*values, *(one for one in public if one is not None))}
        if None not in public and len(kinds) == 1:
            return GroupKey(name, tuple(one for one in public if one is not None), None)
        if any(names_a_participant(self.schema, block, value) for block, value in pairs):
            raise self._refuse(
                "every group would be an individual",
                node,
                f"ask how many there are: COUNT(DISTINCT {node.sql()}), or group by something they share",
            )
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

    def _column(self, node: exp.Expr, keys: tuple[GroupKey, ...], formulas: Formulas) -> Shown:
        inner = node.unalias()
        if inner.is_star:
            raise self._refuse("* would list individuals", inner, "write SELECT COUNT(*)")
        said = formulas.read(inner)
        if node.alias:
            self.aliases.setdefault(fold(node.alias), said)
        name = node.alias or (inner.name if isinstance(inner, exp.Column) else inner.sql())
        if isinstance(said.formula, ShownKey) and not node.alias:
            name = keys[said.formula.position].name
        return Shown(name, said.formula, said.kind or ColumnKind.OTHER)

    def _begin(self, node: exp.Expr, keys: tuple[GroupKey, ...], frames: list[Frame]) -> Said | None:
        """Return what a formula can begin with: an aggregate, a key, a column named before, a scalar."""
        if isinstance(node, exp.Subquery) and isinstance(node.unnest(), exp.Query):
            return self._scalar(node)
        if isinstance(node, exp.IgnoreNulls):
            node = node.this
        if isinstance(node, exp.AggFunc | exp.Filter | exp.WithinGroup):
            return self._representative(node, keys, frames) or self._aggregate(node, keys, frames)
        if is_aggregated(node) or node.find(exp.Query, exp.Window):
            return None
        columns = list(node.find_all(exp.Column))
        scope = frames[0].scope
        if isinstance(node, exp.Column) and not node.table and not scope.alone(node.name):
            return self.aliases.get(fold(node.name)) or self._key_of(node, keys, frames)
        if not columns or any(not part.table and not scope.alone(part.name) for part in columns):
            return None
        return self._key_of(node, keys, frames)

    def _key_of(self, node: exp.Expr, keys: tuple[GroupKey, ...], frames: list[Frame]) -> Said | None:
        """Return the key that an expression is; None if it may be made of keys; else refuse a column."""
        try:
            shown = self._value(node, frames[0]).unnest().sql()
        except QueryError:
            if isinstance(node, exp.Column):
                raise
            return None
        if shown in self.spelled:
            position = self.spelled[shown]
            kind = kind_of(type_of(keys[position].values[0], self.relations.lookup()))
            return Said(ShownKey(position), kind)
        if isinstance(node, exp.Column):
            problem = "this column is neither a key of GROUP BY nor an aggregate"
            raise self._refuse(problem, node, f"aggregate it: COUNT({node.sql()}), or group by it")
        return None

    def _representative(self, node: exp.Expr, keys: tuple[GroupKey, ...], frames: list[Frame]) -> Said | None:
        """Return the key that an aggregate such as ANY_VALUE says again."""
        if not isinstance(node, REPRESENTATIVES) or not keys or node.this.find(exp.Query, exp.AggFunc):
            return None
        if {key for key, value in node.args.items() if value} != {"this"}:
            return None
        try:
            return self._key_of(node.this.unnest(), keys, frames)
        except QueryError:
            return None

    def _scalar(self, node: exp.Expr) -> Said:
        place = self.firsts.place(node.unnest(), self.relations, self.known)
        position = int(place.name)
        shown = self.firsts.asked[position].reading.columns[0]
        return Said(ReleasedFirst(position), shown.kind)

    def _aggregate(self, node: exp.Expr, keys: tuple[GroupKey, ...], frames: list[Frame]) -> Said:
        call, test = node, None
        if isinstance(node, exp.Filter):
            call, test = node.this, node.expression.this
        ordered = ordered_call(call)
        if isinstance(ordered, OrderedCall):
            once = isinstance(ordered.argument, exp.Distinct)
            arguments = ordered.argument.expressions if once else [ordered.argument]
            if len(arguments) == 1:
                term = self._measure(ordered.aggregate, arguments, test, keys, frames, once=once)
                return Said(term, ColumnKind.NUMBER)
            ordered = ordered.argument
        if ordered is not None:
            hint = "write MAX(x), MEDIAN(x), QUANTILE_CONT(x, 0.9)"
            raise self._refuse("this form of the aggregate is not understood", ordered, hint)
        if isinstance(call, exp.CountIf) and type(call) not in AGGREGATES:
            test = call.this if test is None else exp.and_(test, call.this)
            call = exp.Count(this=exp.Star(), big_int=True)
        held = {key for key, value in call.args.items() if value} - {"this", "big_int"}
        if not isinstance(call, exp.AggFunc) or type(call) not in AGGREGATES or (held - {"expressions"}):
            raise self._not_an_aggregate(node)
        once = isinstance(call.this, exp.Distinct)
        arguments = call.this.expressions if once else [call.this, *call.expressions]
        star = isinstance(call, exp.Count) and (call.this is None or isinstance(call.this, exp.Star))
        if call.this is None and not star:
            raise self._refuse(f"{call.sql_name()} of nothing is not understood", call, "write COUNT(*)")
        if once and call.this.args.get("on"):
            raise self._refuse("DISTINCT ON keeps one row of many", call, "write DISTINCT without ON")
        if star and call.this is not None and any(call.this.args.values()):
            raise self._refuse("this form of * is not accepted", call, "write COUNT(*)")
        if len(arguments) != 1 and not (once and isinstance(call, exp.Count) and arguments):
            raise self._refuse(f"{call.sql_name()} takes one argument here", call, "ask for each by itself")
        if star:
            return _whole(self._measure(COUNT, [], test, keys, frames, once=False))
        kinds = AGGREGATES[type(call)]
        first, *others = (self._measure(kind, arguments, test, keys, frames, once=once) for kind in kinds)
        if not others:
            return _whole(first) if kinds[0].whole else Said(first, ColumnKind.NUMBER)
        found = operation(Operator.DIVIDE, first, others[0])
        for other in others[1:]:
            found = operation(Operator.DIVIDE, found, other)
        return Said(found, ColumnKind.NUMBER)

    def _not_an_aggregate(self, node: exp.Expr) -> QueryError:
        if node.find(exp.Window):
            return self._refuse("a window function looks at other rows", node, "write GROUP BY")
        if isinstance(node, exp.AggFunc | exp.Filter):
            hint = "ask how many rows lie above a value: COUNT(*) … WHERE x > 10"
            return self._refuse("this aggregate is not answered", node, hint, accepted=_accepted())
        if node.find(exp.Query):
            return self._refuse("a subquery in the SELECT list is not monotone", node, "ask it by itself")
        hint = "compute with +, -, *, /, CASE, COALESCE and ROUND, or write SELECT COUNT(*) FROM …"
        return self._refuse("this output is not made of aggregates", node, hint, accepted=_accepted())

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

    # -------------------------------------------------------------- small things

    def _value(self, node: exp.Expr, frame: Frame) -> Scalar:
        return self.relations.conditions(self.known).value(node, frame.scope)

    def _refuse(
        self, problem: str, node: exp.Expr, hint: str | None, *, accepted: str | None = None
    ) -> QueryError:
        text = self.schema.text
        return refusal(problem, text, span(node, text), accepted=accepted, hint=hint)


def _asks(tree: exp.Select) -> bool:
    """Return whether a SELECT aggregates, or says that it would by a window."""
    parts = [*tree.expressions, *([tree.args["having"]] if tree.args.get("having") else [])]
    return any(is_aggregated(part) or isinstance(part.unalias(), exp.Window) for part in parts)


def _accepted() -> str:
    """Return the aggregates that there are, in words."""
    *others, last = (call.sql_name() for call in AGGREGATES)
    told = f"{', '.join(others)}, {last}, MAX, MIN, MEDIAN and QUANTILE_CONT"
    return f"{told}, with DISTINCT and FILTER, and arithmetic over them"


def _whole(term: Term) -> Said:
    return Said(term, ColumnKind.INTEGER)


def _grouped(key: GroupKey, place: int) -> Scalar:
    """Return a key's value in one block: its position where the values are listed."""
    return key.values[place] if key.listed is None else index_of(key.values[place], key.listed)
