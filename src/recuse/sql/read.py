"""Syntax tree + catalogue → `Reading`: every clause and name understood, or refused with its place.

The outermost SELECT is read here: its groups, its aggregates, and with `columns` what is made of them. A
SELECT around one that is answered only looks at its rows. All below is read by `relations` and `conditions`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from sqlglot import exp

from recuse.errors import QueryError
from recuse.fold import fold
from recuse.privacy import decimal_text
from recuse.sql.answered import AnsweredQuery, answered_below, answered_within, is_aggregated
from recuse.sql.beside import answers_beside
from recuse.sql.centred import centred, product_granularity
from recuse.sql.columns import Formulas
from recuse.sql.companions import with_companions
from recuse.sql.elaborate import type_of
from recuse.sql.finish import FINISHED, Finish, Shown, renamed
from recuse.sql.firsts import Firsts, said_first
from recuse.sql.formula import FinishingStep, Keep, ShownKey
from recuse.sql.frame import Frame
from recuse.sql.groups import GroupKey
from recuse.sql.histogram import HIDDEN, LABEL, written_histogram
from recuse.sql.keys import KeyReader
from recuse.sql.keysets import KeySetMeasures
from recuse.sql.kinds import ColumnKind, kind_of
from recuse.sql.means import of_all_rows
from recuse.sql.measures import accepted, not_answered
from recuse.sql.met import Met
from recuse.sql.mode import MostFrequentValue, at_position, mode_call, position_of
from recuse.sql.named import NOTHING, Known
from recuse.sql.onlooker import Onlooker
from recuse.sql.overlook import AnswerWindows
from recuse.sql.placeholder import LARGER_SHARE, Released
from recuse.sql.position import refusal, span
from recuse.sql.query import Block, Scalar
from recuse.sql.reading import Reading
from recuse.sql.refuse import always_holds, refuse_clauses, refuse_individuals
from recuse.sql.relations import Relations
from recuse.sql.said import Said
from recuse.sql.schema import Schema
from recuse.sql.scope import Scope
from recuse.sql.stacked import side_by_side, stacked, what_follows
from recuse.sql.trimmed import trimmed

OUTERMOST = frozenset({"expressions", "from_", "joins", "where", "with_", "group", "having", "qualify"})


def read(tree: exp.Query, schema: Schema) -> Reading:
    """Return the question that the tree asks."""
    firsts = Firsts(_read)
    relations = Relations(schema, Met(schema), released=firsts.place, again=firsts.again)
    found = _read(tree, relations, NOTHING, firsts)
    return replace(found, firsts=tuple(firsts.asked), first_share=firsts.share)


def _read(tree: exp.Expr, relations: Relations, known: Known, firsts: Firsts) -> Reading:
    """Return what a query asks whose rows are the answer."""
    text = relations.schema.text
    known = relations.with_names(tree, known)
    if isinstance(tree, exp.Subquery):
        refuse_clauses(tree, text, {"this", "with_", *FINISHED})
        return Onlooker(relations, _read(tree.this, relations, known, firsts)).reading(tree)
    if not isinstance(tree, exp.Select):
        return _stacked(tree, relations, known, firsts)
    inner = answered_within(tree, known, relations.with_names)
    if inner is None:
        asked = answers_beside(tree, known) or with_companions(tree, known, relations.schema) or tree
        return _asked(asked, relations, known, firsts)
    return _around(inner, relations, firsts).reading(tree)


def _stacked(tree: exp.Expr, relations: Relations, known: Known, firsts: Firsts) -> Reading:
    """Return answers under each other: a UNION of rows of aggregates."""
    row = side_by_side(tree, relations.schema.text)
    found = stacked(_asked(row, relations, known, firsts), tree, relations.schema.text)
    return Onlooker(relations, found).reading(what_follows(tree))


def _around(inner: AnsweredQuery, relations: Relations, firsts: Firsts) -> Onlooker:
    """Return the reader of a SELECT around an answer."""
    found = _read(inner.query, relations, inner.known, firsts)
    found = replace(found, columns=renamed(found.columns, inner.names))
    return Onlooker(relations, found, inner.alias)


def _asked(tree: exp.Select, relations: Relations, known: Known, firsts: Firsts) -> Reading:
    """Return what a SELECT asks about rows; where it cannot, what it asks about the rows of an answer."""
    before = len(relations.met.sources), len(firsts.asked)
    try:
        return _about_rows(tree, relations, known, firsts)
    except QueryError as refused:
        for again in _about_groups(tree, relations, known, firsts):
            del relations.met.sources[before[0] :]
            firsts.forget(before[1])
            try:
                return again()
            except QueryError:
                continue
        raise refused


def _about_rows(tree: exp.Select, relations: Relations, known: Known, firsts: Firsts) -> Reading:
    groups = KeyReader(relations, known, firsts.end)
    return _Reader(relations.schema, relations, known, firsts, groups).question(tree)


def _about_groups(
    tree: exp.Select, relations: Relations, known: Known, firsts: Firsts
) -> Iterator[Callable[[], Reading]]:
    """Yield how else a SELECT over groups can be read: as totals of rows, or over their answers."""
    inner = answered_below(tree, known, relations.with_names)
    if inner is None:
        return
    added = of_all_rows(tree, known)
    if added is not None:
        yield lambda: _about_rows(added[0], relations, added[1], firsts)
    yield lambda: _around(inner, relations, firsts).folded(tree)


@dataclass(slots=True)
class _Reader:
    schema: Schema
    relations: Relations
    known: Known
    firsts: Firsts
    groups: KeyReader
    measures: KeySetMeasures = field(default_factory=lambda: KeySetMeasures(()))
    """once the keys are read"""
    aliases: dict[str, Said] = field(default_factory=dict)
    """the columns of the SELECT list that have been read, by their aliases"""
    says: dict[str, None] = field(default_factory=dict)
    """what people are to know besides, each once"""

    def question(self, tree: exp.Select) -> Reading:
        """Return FROM and WHERE, then the groups, then the columns, then what is done with the rows."""
        text = self.schema.text
        tree = written_histogram(tree, text, self._first)
        refuse_clauses(tree, text, OUTERMOST | FINISHED)
        group, having = tree.args.get("group"), tree.args.get("having")
        if tree.args.get("from_") is not None and group is None and not _asks(tree):
            raise refuse_individuals(tree, text)
        frames = self._frames(tree)
        keys = self.groups.read(tree, group, frames) if group is not None else ()
        sets = [tuple(keys[place] for place in places) for places in self.groups.sets]
        self.measures = KeySetMeasures.of(self.relations, self.known, sets or [keys])
        windows = AnswerWindows(text)

        def begin(node: exp.Expr) -> Said | None:
            if isinstance(node, exp.Literal):
                return None
            if keys and isinstance(node, exp.Window):
                return windows.read(node, formulas)
            if isinstance(node, exp.Grouping | exp.GroupingId):
                return self.groups.grouping(node, keys, frames)
            if (mode := mode_call(node)) is not None:
                return self._mode(*mode, frames)
            written = trimmed(node, tree, self._refuse, self._first) or self._centred(node, tree, frames)
            return self._begin(node, keys, frames) if written is None else formulas.read(written)

        formulas = Formulas(begin, text, self._not_an_aggregate)
        read = [(node, self._column(node, keys, formulas, frames)) for node in tree.expressions]
        columns = tuple(shown for node, shown in read if HIDDEN not in node.meta)
        steps: list[FinishingStep] = []
        if having is not None and (sets or not always_holds(having.this)):
            steps.append(Keep(formulas.condition(having.this)))
        qualify = tree.args.get("qualify")
        kept = () if qualify is None else (Keep(formulas.condition(qualify.this)),)
        finish = Finish(columns, formulas, text).steps(tree, len(keys) + bool(sets))
        steps += [*windows.step(), *kept, *finish]
        if self.measures.none and tree.args.get("from_") is not None:
            raise refuse_individuals(tree, text)
        blocks = tuple(frame.block for frame in frames)
        return Reading(
            self.measures.all(), columns, keys, tuple(steps), blocks, self.groups.sets, says=tuple(self.says)
        )

    def _frames(self, tree: exp.Select) -> list[Frame]:
        """Return FROM and WHERE; without FROM there is one row, of which only subqueries can say anything."""
        if tree.args.get("from_") is None and tree.find(exp.Subquery) and not _asks(tree):
            return [Frame(Block(), Scope(self.schema.text))]
        return self.relations.frames(tree, self.known, None)

    def _column(
        self, node: exp.Expr, keys: tuple[GroupKey, ...], formulas: Formulas, frames: list[Frame]
    ) -> Shown:
        inner = node.unalias()
        if inner.is_star:
            raise self._refuse("* would list individuals", inner, "write SELECT COUNT(*)")
        said = self.groups.label(inner, keys, frames, lambda: formulas.read(inner))
        if node.alias:
            self.aliases.setdefault(fold(node.alias), said)
        name = node.alias or (inner.name if isinstance(inner, exp.Column) else inner.sql())
        if isinstance(said.formula, ShownKey) and not node.alias:
            name = keys[said.formula.position].name
        return Shown(name, said.formula, said.kind or ColumnKind.OTHER, told=LABEL in node.meta)

    def _begin(self, node: exp.Expr, keys: tuple[GroupKey, ...], frames: list[Frame]) -> Said | None:
        """Return what a formula can begin with: an aggregate, a key, a column named before, a scalar."""
        if isinstance(node, exp.Subquery) and isinstance(node.unnest(), exp.Query):
            node = self._first(node.unnest())
        if isinstance(node, Released):
            return self._scalar(node)
        if isinstance(node, exp.IgnoreNulls):
            node = node.this
        if isinstance(node, exp.AggFunc | exp.Filter | exp.WithinGroup):
            return self.groups.representative(node, keys, frames) or self.measures.aggregate(node, frames)
        parts = list(node.find_all(exp.Column, exp.AggFunc, exp.Window))
        columns = [part for part in parts if isinstance(part, exp.Column)]
        if len(columns) < len(parts) and (node.find(exp.Window) or is_aggregated(node)):
            return None
        scope = frames[0].scope
        if isinstance(node, exp.Column) and not node.table and not scope.alone(node.name):
            return self.aliases.get(fold(node.name)) or self.groups.said(node, keys, frames)
        if not columns or any(not part.table and not scope.alone(part.name) for part in columns):
            return None
        return self.groups.said(node, keys, frames)

    def _mode(self, value: exp.Expr, test: exp.Expr | None, frames: list[Frame]) -> Said:
        """Return the most frequent of values that a list, a domain or their type gives."""
        listed = self.groups.listed(value, frames)
        if listed is None or all(self.schema.is_public(frame.block) for frame in frames):
            hint = f"list the values: WHERE {value.sql()} IN (…)"
            known = "a list in the query, a [[domain]] of the policy, or a type with few values"
            raise self._refuse("MODE is answered of values that are listed", value, hint, accepted=known)
        aggregate, place = MostFrequentValue(len(listed.values)), position_of(value, listed)
        term = self.measures.term(aggregate, place, test, frames)
        kind = kind_of(type_of(self._value(value, frames[0]), self.relations.met.lookup()))
        return Said(at_position(term, listed.values), kind)

    def _centred(self, node: exp.Expr, tree: exp.Select, frames: list[Frame]) -> exp.Expr | None:
        """Return how a variance and the like is written; one of public rows is left to the engine."""
        if all(self.schema.is_public(frame.block) for frame in frames):
            return None
        if (written := centred(node, tree, self.schema.granularity, self._first)) is None:
            return None
        if tree.args.get("group") is None:
            self.firsts.share = LARGER_SHARE
        granule = decimal_text(product_granularity(self.schema.granularity))
        self.says.setdefault(f"a sum of products in units of {granule}, about the mean that is released")
        return written

    def _first(self, query: exp.Expr) -> Released:
        return self.firsts.place(query, self.relations, self.known)

    def _scalar(self, place: Released) -> Said:
        position = int(place.name)
        first = self.firsts.asked[position]
        return said_first(position, first.type, first.reading.columns[0].kind)

    def _not_an_aggregate(self, node: exp.Expr) -> QueryError:
        if node.find(exp.Window):
            return self._refuse("a window function looks at other rows", node, "write GROUP BY")
        if isinstance(node, exp.AggFunc | exp.Filter):
            return not_answered(node, self.schema.text)
        if node.find(exp.Query):
            return self._refuse("a subquery in the SELECT list is not monotone", node, "ask it by itself")
        hint = "compute with +, -, *, /, CASE, COALESCE and ROUND, or write SELECT COUNT(*) FROM …"
        return self._refuse("this output is not made of aggregates", node, hint, accepted=accepted())

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
