"""Queries below the outermost SELECT → blocks: tables, derived tables, CTEs, views and set operations.

A derived table is written out where it stands; UNION ALL makes one block of each branch. What is not read
here is refused, whatever it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from recuse.errors import QueryError
from recuse.fold import fold
from recuse.sql.absences import absorbed
from recuse.sql.conditions import Conditions
from recuse.sql.frame import Frame
from recuse.sql.having import grouped
from recuse.sql.items import ItemReader
from recuse.sql.joins import Joins, beside, is_parenthesised_join, keeps_right, refuse_many
from recuse.sql.met import Met
from recuse.sql.named import NOTHING, Known, names_in
from recuse.sql.narrow import read_narrowed
from recuse.sql.native.expressions import NativeExpressions
from recuse.sql.native.own import own_source
from recuse.sql.native.read import NativeReader
from recuse.sql.native.seen import NotOwn
from recuse.sql.native.tree import names_of
from recuse.sql.parse import parse
from recuse.sql.position import clause_span, refusal
from recuse.sql.predicates import NESTED
from recuse.sql.query import Block, Output, Scalar, SetOf, column
from recuse.sql.refuse import READ, refuse_clauses, refuse_having, refuse_joins
from recuse.sql.schema import Schema
from recuse.sql.scope import Entry, Scope
from recuse.sql.sets import (
    SetKind,
    aligned,
    difference,
    distinct,
    intersection,
    says_distinct,
    set_operation_kind,
    uses_around,
)
from recuse.sql.walk import below


@dataclass(slots=True)
class Relations:
    """A reader of queries; `met` are all sources, each under an alias of its own."""

    schema: Schema
    met: Met
    within: tuple[str, ...] = ()
    """the views that are being read"""
    released: Callable[[exp.Expr, Relations, Known], Scalar] | None = None
    """returns the place of the number that a subquery of private rows stands for"""
    again: Callable[[exp.Expr, Known], Scalar | None] = lambda *_: None
    """returns the place that a subquery has been given before"""

    # -------------------------------------------------------------- queries

    def query(self, tree: exp.Expr, known: Known, outer: Scope | None) -> tuple[Block, ...]:
        """Return the blocks of a query whose rows are used by another, each with its outputs.

        What no blocks can say, or only with rows of several owners, is run as it is, if each of its rows has
        owners of its own.
        """
        before = len(self.met.sources)
        try:
            found = self._blocks(tree, known, outer)
        except QueryError:
            del self.met.sources[before:]
            other = self._own(tree, known, outer) or self._by_group(tree, known, outer)
            if other is None:
                raise
            return other
        mixed = any(block.absent or any(isinstance(s, SetOf) for s in block.sources) for block in found)
        if not mixed or all(map(self.schema.is_public, found)):
            return found
        return self._own(tree, known, outer) or found

    def _by_group(self, tree: exp.Expr, known: Known, outer: Scope | None) -> tuple[Block, ...] | None:
        """Return the blocks of a query with GROUP BY and HAVING, None if it has none."""
        tree = self.unwrapped(tree)
        if not isinstance(tree, exp.Select):
            return None
        taken = {fold(node.alias_or_name) for node in tree.find_all(exp.Table, exp.Subquery)}
        name = next(name for name in (f"groups_{n}" for n in range(1, len(taken) + 2)) if name not in taken)
        found = grouped(tree, name, self.schema.text)
        if found is None:
            return None
        return self._blocks(found.written_out(), self.with_names(tree, known), outer)

    def _own(self, tree: exp.Expr, known: Known, outer: Scope | None) -> tuple[Block, ...] | None:
        """Return the block that scans a query of any form, None if it is not own."""
        before = len(self.met.sources)
        try:
            query = NativeReader(self.schema, self.met, self.within).query(
                tree, known, outer, self.met.lookup()
            )
            around = () if outer is None else outer.around
            own = own_source(self.met.fresh("own"), query, around, self.schema, self.met.sources)
        except (QueryError, NotOwn):
            del self.met.sources[before:]
            return None
        self.met.sources.append(own)
        outputs = tuple(Output(name, column(own.alias, name)) for name in names_of(query))
        return (Block(sources=(own,), outputs=outputs),)

    def _blocks(self, tree: exp.Expr, known: Known, outer: Scope | None) -> tuple[Block, ...]:
        tree = self.unwrapped(tree)
        known = self.with_names(tree, known)
        if isinstance(tree, exp.SetOperation):
            return self._set_operation(tree, known, outer)
        if isinstance(tree, exp.Select):
            return self._select(tree, known, outer)
        raise self.met.refuse("only a SELECT is understood here", tree, "write SELECT … FROM …")

    def unwrapped(self, tree: exp.Expr) -> exp.Expr:
        """Return a query without the parentheses around it."""
        while isinstance(tree, exp.Subquery):
            refuse_clauses(tree, self.schema.text, {"this", "alias"})
            tree = tree.this
        return tree

    def with_names(self, tree: exp.Expr, known: Known) -> Known:
        """Return the CTEs that the query can see."""
        return names_in(tree, known, self.schema.text)

    def _select(self, tree: exp.Select, known: Known, outer: Scope | None) -> tuple[Block, ...]:
        text = self.schema.text
        refuse_clauses(tree, text, READ | {"distinct", "group", "having", "order"})
        once = tree.args.get("distinct")
        if once is not None and once.args.get("on"):
            raise refusal("DISTINCT ON keeps one row of many, whichever comes first", text,
                          clause_span(once, "DISTINCT", text), hint="write DISTINCT without ON")  # fmt: skip
        frames = self.frames(tree, known, outer)
        blocks = tuple(block for frame in frames for block in self._shown(tree, frame, known))
        group, having = tree.args.get("group"), tree.args.get("having")
        if having is not None:
            refuse_having(having, text)
        if group is not None and not says_distinct(tree, group):
            problem = "GROUP BY in a subquery is understood only if it returns exactly what it groups by"
            hint = "write SELECT DISTINCT; aggregate in the outermost SELECT only"
            raise refusal(problem, text, clause_span(group, "GROUP BY", text), hint=hint)
        return (self.distinct(blocks, tree),) if once is not None or group is not None else blocks

    def _shown(self, tree: exp.Select, frame: Frame, known: Known) -> list[Block]:
        """Return the blocks of a frame's rows with what is selected: several if subqueries decide it."""
        nodes = [node.unalias() for node in tree.expressions if not node.is_star]
        found = []
        for case, values in self.conditions(known).values(nodes, frame.scope):
            given = iter(values)
            outputs: list[Output] = []
            for number, node in enumerate(tree.expressions, start=1):
                if node.is_star:
                    outputs += [Output(*pair) for pair in frame.scope.starred(node)]
                else:
                    name = node.alias or (node.name if isinstance(node, exp.Column) else f"column{number}")
                    outputs.append(Output(name, next(given)))
            found.append(replace(frame.narrowed(case).block, outputs=tuple(outputs)))
        return found

    def _set_operation(self, tree: exp.SetOperation, known: Known, outer: Scope | None) -> tuple[Block, ...]:
        kind = set_operation_kind(tree, self.schema.text)
        left, right = (self.query(part, known, outer) for part in (tree.this, tree.expression))
        blocks = aligned([*left, *right], self.met.lookup(), tree, self.schema.text)
        if kind is SetKind.UNION_ALL:
            return blocks
        if kind is SetKind.UNION:
            return (self.distinct(blocks, tree),)
        first, others = self.distinct(blocks[: len(left)], tree), blocks[len(left) :]
        if kind is SetKind.INTERSECT:
            return (intersection(first, self.distinct(others, tree)),)
        others = absorbed(others)
        if any(block.absent for block in below(others)):
            raise self.met.refuse(NESTED[0], tree.expression, NESTED[1])
        return (difference(first, others),)

    def distinct(self, blocks: Sequence[Block], tree: exp.Expr) -> Block:
        """Return the block of the distinct outputs of the blocks."""
        made, block = distinct(self.met.fresh("set"), blocks, self.met.lookup(), tree, self.schema.text)
        if uses_around(made):
            problem = "DISTINCT, UNION and INTERSECT cannot use columns of the rows around"
            raise self.met.refuse(problem, tree, "leave them out, or compare outside of them")
        self.met.sources.append(made)
        return block

    # -------------------------------------------------------------- FROM

    def frames(self, tree: exp.Select, known: Known, outer: Scope | None) -> list[Frame]:
        """Return FROM, the joins and WHERE: one frame for every combination of UNION ALL branches."""
        read = lambda one, names: self._frames(one, names, outer)  # noqa: E731
        return read_narrowed(read, tree, known, self.met.sources)

    def _frames(self, tree: exp.Select, known: Known, outer: Scope | None) -> list[Frame]:
        start, empty = tree.args.get("from_"), Frame(Block(), Scope(self.schema.text, outer=outer))
        if start is None:
            if outer is None and not self.within:
                raise self.met.refuse("the query has no FROM", tree, "write SELECT COUNT(*) FROM a_table")
            frames = [empty]
        else:
            frames = self._items([empty], start.this, known)
        frames = self._joined(frames, tree.args.get("joins") or [], known)
        where = tree.args.get("where")
        if where is not None:
            conditions = self.conditions(known)
            frames = [
                case for frame in frames for case in frame.cases(conditions.read(where.this, frame.scope))
            ]
        refuse_many(frames, tree, self.schema.text)
        return frames

    def _items(self, frames: list[Frame], item: exp.Expr, known: Known) -> list[Frame]:
        """Return every frame joined with every branch of one item of FROM."""
        nested = item.args.get("joins") or ()
        if is_parenthesised_join(item):
            refuse_clauses(item, self.schema.text, {"this", "joins"})
            return self._joined(self._parenthesised(frames, item.this, known), nested, known)
        # only what is LATERAL depends on the rows before it
        first = self._one().read(item, known, frames[0].scope)
        found = []
        for place, frame in enumerate(frames):
            again = place > 0 and isinstance(item, exp.Lateral)
            name, columns, blocks = self._one().read(item, known, frame.scope) if again else first
            if frame.scope.entry(name) is not None:
                hint = "give each its own alias: FROM t a, t b"
                raise self.met.refuse(f"two tables in FROM are called {name}", item, hint)
            for block in blocks:
                named = tuple(
                    (renamed, output.value) for renamed, output in zip(columns, block.outputs, strict=True)
                )
                found.append(frame.joined(replace(block, outputs=()), Entry(name, named)))
        refuse_many(found, item, self.schema.text)
        return self._joined(found, nested, known)

    def _joined(self, frames: list[Frame], joins: Sequence[exp.Join], known: Known) -> list[Frame]:
        refuse_joins(joins, self.schema.text)
        for join in joins:
            frames = self.joins(known).join(frames, join)
        return frames

    def _parenthesised(self, frames: list[Frame], item: exp.Expr, known: Known) -> list[Frame]:
        """Return the frames with a join in parentheses; by itself where it keeps rows of a right side."""
        if not frames[0].names.entries or not keeps_right(item):
            return self._items(frames, item, known)
        alone = replace(frames[0].names, entries=(), merged=())
        return beside(frames, self._items([Frame(Block(), alone)], item, known), item, self.schema.text)

    def _one(self) -> ItemReader:
        """Return the reader of single items of FROM."""
        released = self.released
        return ItemReader(
            self.schema,
            self.met,
            self.within,
            self.query,
            self._view,
            lambda node, known, scope: self.conditions(known).value(node, scope),
            None if released is None else lambda tree, known: released(tree, self, known),
        )

    def _view(self, text: str, name: str) -> tuple[Block, ...]:
        """Return the blocks of a view's definition, read as if it stood in the query."""
        inside = replace(self.schema, text=text)
        reader = Relations(inside, self.met.inside(inside), (*self.within, name), self.released, self.again)
        return reader.query(parse(text, self.schema.catalogue.dialect), NOTHING, None)

    # -------------------------------------------------------------- names

    def conditions(self, known: Known) -> Conditions:
        """Return the reader of conditions that sees these CTEs."""
        return Conditions(
            self.schema,
            lambda tree, scope: self.query(tree, known, scope),
            lambda node, scope: self._expressions(known, scope).value(node),
            self.met.sources,
            lambda tree: self._released(tree, known),
            lambda tree: self.again(tree, known),
        )

    def _released(self, tree: exp.Expr, known: Known) -> Scalar:
        if self.released is None:
            problem = "a value of private rows is not understood here"
            raise self.met.refuse(problem, tree, "compare with a number")
        return self.released(tree, self, known)

    def _expressions(self, known: Known, scope: Scope) -> NativeExpressions:
        """Return the reader of expressions whose subqueries are run as they are."""
        reader = NativeReader(self.schema, self.met, self.within)
        queries = lambda tree, inside, lookup: reader.query(tree, known, inside, lookup)  # noqa: E731
        return NativeExpressions(self.schema, queries, scope, self.met.lookup())

    def joins(self, known: Known) -> Joins:
        """Return the reader of joins that sees these CTEs."""
        return Joins(self.conditions(known), lambda frames, item: self._items(frames, item, known))
