"""Queries below the outermost SELECT → blocks: tables, derived tables, CTEs, views and set operations.

A derived table is written out where it stands; UNION ALL makes one block of each branch. What is not read
here is refused, whatever it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from recuse.errors import QueryError
from recuse.fold import fold
from recuse.sql.absences import absorbed
from recuse.sql.answered import is_one_row
from recuse.sql.catalogue import Table
from recuse.sql.conditions import Conditions
from recuse.sql.elaborate import Lookup
from recuse.sql.frame import Frame
from recuse.sql.having import grouped
from recuse.sql.joins import Joins
from recuse.sql.named import NOTHING, Known, names_in, view_query
from recuse.sql.native.attribute import NotOwn
from recuse.sql.native.expressions import NativeExpressions
from recuse.sql.native.own import own_source
from recuse.sql.native.read import NativeReader
from recuse.sql.native.tree import names_of
from recuse.sql.parse import parse
from recuse.sql.placeholder import SOURCE
from recuse.sql.position import Span, clause_span, placed, refusal, span
from recuse.sql.predicates import NESTED
from recuse.sql.query import (
    Block,
    BlockSource,
    Output,
    Scalar,
    Scan,
    Schema,
    SetOf,
    below,
    column,
    type_lookup,
)
from recuse.sql.refuse import READ, refuse_clauses, refuse_having, refuse_joins, refuse_table_form
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

MAX_SOURCES = 64
MAX_READ = 512


@dataclass(slots=True)
class Relations:
    """A reader of queries; `sources` are all that it has met, each under an alias of its own."""

    schema: Schema
    sources: list[BlockSource] = field(default_factory=list)
    within: tuple[str, ...] = ()
    """the views that are being read"""
    taken: set[str] = field(default_factory=set)
    """aliases that are no source's, as they are compared"""
    released: Callable[[exp.Expr, Relations, Known], Scalar] | None = None
    """returns the place of the number that a subquery of private rows stands for"""

    # -------------------------------------------------------------- queries

    def query(self, tree: exp.Expr, known: Known, outer: Scope | None) -> tuple[Block, ...]:
        """Return the blocks of a query whose rows are used by another, each with its outputs.

        What no blocks can say, or only with rows of several owners, is run as it is, if each of its rows has
        owners of its own.
        """
        met = len(self.sources)
        try:
            found = self._blocks(tree, known, outer)
        except QueryError:
            del self.sources[met:]
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
        met = len(self.sources)
        try:
            query = NativeReader(self.schema, self, self.within).query(tree, known, outer, self.lookup())
            around = () if outer is None else outer.around
            own = own_source(self.fresh("own"), query, around, self.schema, self.sources)
        except (QueryError, NotOwn):
            del self.sources[met:]
            return None
        self.sources.append(own)
        outputs = tuple(Output(name, column(own.alias, name)) for name in names_of(query))
        return (Block(sources=(own,), outputs=outputs),)

    def _blocks(self, tree: exp.Expr, known: Known, outer: Scope | None) -> tuple[Block, ...]:
        tree = self.unwrapped(tree)
        known = self.with_names(tree, known)
        if isinstance(tree, exp.SetOperation):
            return self._set_operation(tree, known, outer)
        if isinstance(tree, exp.Select):
            return self._select(tree, known, outer)
        raise self.refuse("only a SELECT is understood here", tree, "write SELECT … FROM …")

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
            raise refusal(
                "GROUP BY in a subquery is understood only if it returns exactly what it groups by",
                text,
                clause_span(group, "GROUP BY", text),
                hint="write SELECT DISTINCT; aggregate in the outermost SELECT only",
            )
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
                    outputs += self._star(node, frame.scope)
                else:
                    name = node.alias or (node.name if isinstance(node, exp.Column) else f"column{number}")
                    outputs.append(Output(name, next(given)))
            found.append(replace(frame.narrowed(case).block, outputs=tuple(outputs)))
        return found

    def _star(self, node: exp.Expr, scope: Scope) -> list[Output]:
        star = node if isinstance(node, exp.Star) else node.this
        if not isinstance(star, exp.Star) or any(star.args.values()):
            raise self.refuse("this form of * is not accepted", node, "name the columns")
        if isinstance(node, exp.Star):
            return [Output(name, value) for name, value in scope.star()]
        entry = scope.entry(node.args["table"].name)
        if entry is None:
            names = ", ".join(entry.name for entry in scope.entries)
            problem = f"no table in FROM is called {node.args['table'].name}"
            raise self.refuse(problem, node, f"there: {names}")
        return [Output(name, value) for name, value in entry.columns]

    def _set_operation(self, tree: exp.SetOperation, known: Known, outer: Scope | None) -> tuple[Block, ...]:
        kind = set_operation_kind(tree, self.schema.text)
        left, right = (self.query(part, known, outer) for part in (tree.this, tree.expression))
        blocks = aligned([*left, *right], self.lookup(), tree, self.schema.text)
        if kind is SetKind.UNION_ALL:
            return blocks
        if kind is SetKind.UNION:
            return (self.distinct(blocks, tree),)
        first, others = self.distinct(blocks[: len(left)], tree), blocks[len(left) :]
        if kind is SetKind.INTERSECT:
            return (intersection(first, self.distinct(others, tree)),)
        others = absorbed(others)
        if any(block.absent for block in below(others)):
            raise self.refuse(NESTED[0], tree.expression, NESTED[1])
        return (difference(first, others),)

    def distinct(self, blocks: Sequence[Block], tree: exp.Expr) -> Block:
        """Return the block of the distinct outputs of the blocks."""
        made, block = distinct(self.fresh("set"), blocks, self.lookup(), tree, self.schema.text)
        if uses_around(made):
            problem = "DISTINCT, UNION and INTERSECT cannot use columns of the rows around"
            raise self.refuse(problem, tree, "leave them out, or compare outside of them")
        self.sources.append(made)
        return block

    # -------------------------------------------------------------- FROM

    def frames(self, tree: exp.Select, known: Known, outer: Scope | None) -> list[Frame]:
        """Return FROM, the joins and WHERE: one frame for every combination of UNION ALL branches."""
        start = tree.args.get("from_")
        empty = Frame(Block(), Scope(self.schema.text, outer=outer))
        if start is None:
            if outer is None and not self.within:
                raise self.refuse("the query has no FROM", tree, "write SELECT COUNT(*) FROM a_table")
            frames = [empty]
        else:
            frames = self._items([empty], start.this, known)
        joins = tree.args.get("joins") or []
        refuse_joins(joins, self.schema.text)
        for join in joins:
            frames = self.joins(known).join(frames, join)
        where = tree.args.get("where")
        if where is not None:
            conditions = self.conditions(known)
            frames = [
                case for frame in frames for case in frame.cases(conditions.read(where.this, frame.scope))
            ]
        self._few(frames, tree)
        return frames

    def _few(self, frames: Sequence[Frame], item: exp.Expr) -> None:
        if len(frames) > MAX_SOURCES or max(len(frame.block.sources) for frame in frames) > MAX_SOURCES:
            raise refusal("too many tables in FROM", self.schema.text, span(item, self.schema.text),
                          accepted=f"{MAX_SOURCES}")  # fmt: skip

    def _items(self, frames: list[Frame], item: exp.Expr, known: Known) -> list[Frame]:
        """Return every frame joined with every branch of one item of FROM."""
        nested = item.args.get("joins") or ()
        if isinstance(item, exp.Subquery) and isinstance(item.this, exp.Table) and not item.alias:
            refuse_clauses(item, self.schema.text, {"this"})
            return self._items(frames, item.this, known)
        # only what is LATERAL depends on the rows before it
        first = self._item(item, known, frames[0].scope)
        found = []
        for place, frame in enumerate(frames):
            again = place > 0 and isinstance(item, exp.Lateral)
            name, columns, blocks = self._item(item, known, frame.scope) if again else first
            if frame.scope.entry(name) is not None:
                hint = "give each its own alias: FROM t a, t b"
                raise self.refuse(f"two tables in FROM are called {name}", item, hint)
            for block in blocks:
                named = tuple(
                    (renamed, output.value) for renamed, output in zip(columns, block.outputs, strict=True)
                )
                found.append(frame.joined(replace(block, outputs=()), Entry(name, named)))
        self._few(found, item)
        refuse_joins(nested, self.schema.text)
        for join in nested:
            found = self.joins(known).join(found, join)
        return found

    def _item(self, item: exp.Expr, known: Known, before: Scope) -> tuple[str, list[str], tuple[Block, ...]]:
        """Return the name of one item, its column names and its blocks."""
        alias = item.args.get("alias")
        renamed = [name.name for name in (alias.args.get("columns") or ())] if alias is not None else []
        if isinstance(item, exp.Table):
            refuse_table_form(item, self.schema.text)
            cte = known.get(fold(item.name)) if not item.db else None
            if cte is not None:
                blocks = self._derived(cte.tree, cte.known)
                renamed = renamed or list(cte.columns)
            else:
                blocks = self._table(item)
            name = item.alias or item.name
        elif isinstance(item, exp.Values):
            blocks = self._values(item, known)
            name = item.alias or self.fresh("listed")
        elif isinstance(item, exp.Subquery):
            blocks = self._derived(item, known)
            name = item.alias or self.fresh("derived")
        elif isinstance(item, exp.Lateral) and isinstance(item.this, exp.Subquery):
            refuse_clauses(item, self.schema.text, {"this", "alias"})
            blocks = self.query(item.this, known, before)
            name = item.alias or self.fresh("derived")
        else:
            hint = "name a table, or write a join" if not isinstance(item, exp.Unnest) else "join a table"
            raise self.refuse("FROM takes tables and subqueries only", item, hint)
        columns = [output.name for output in blocks[0].outputs]
        if len(renamed) > len(columns):
            raise self.refuse("there are more names than columns", item, "leave the column list out")
        columns[: len(renamed)] = renamed
        return name, columns, blocks

    def _derived(self, tree: exp.Expr, known: Known) -> tuple[Block, ...]:
        """Return the blocks of a query in FROM; one row of aggregates of private rows is released first."""
        try:
            return self.query(tree, known, None)
        except QueryError:
            found = self._one_row(tree, known)
            if not found:
                raise
            return found

    def _one_row(self, tree: exp.Expr, known: Known) -> tuple[Block, ...]:
        """Return the one row of a query that aggregates all it looks at: numbers that are released first."""
        if self.released is None or not is_one_row(tree):
            return ()
        outputs = []
        for number, node in enumerate(tree.unnest().expressions, start=1):
            alone = tree.unnest().copy()
            alone.set("expressions", [node.copy()])
            name = node.alias or f"column{number}"
            outputs.append(Output(name, self.released(alone, self, known)))
        return (Block(outputs=tuple(outputs)),)

    def _values(self, item: exp.Values, known: Known) -> tuple[Block, ...]:
        """Return the rows that a VALUES list writes down, each a block of its own: they are nobody's."""
        rows = [node.expressions if isinstance(node, exp.Tuple) else [node] for node in item.expressions]
        nothing = Scope(self.schema.text)
        blocks = []
        for row in rows:
            values = [self.conditions(known).value(node, nothing) for node in row]
            outputs = tuple(Output(f"col{place}", value) for place, value in enumerate(values))
            blocks.append(Block(outputs=outputs))
        return aligned(blocks, self.lookup(), item, self.schema.text)

    def _table(self, item: exp.Table) -> tuple[Block, ...]:
        table = self.known_table(item)
        if table.view is not None:
            return self._view(item, table, table.view)
        scan = Scan(self.fresh(item.alias or table.name), table)
        self.met(scan, item)
        outputs = tuple(Output(known.name, column(scan.alias, known.name)) for known in table.columns)
        return (Block(sources=(scan,), outputs=outputs),)

    def known_table(self, item: exp.Table) -> Table:
        """Return the table that an item names, or refuse it: its rows are somebody's, or public."""
        catalogue = self.schema.catalogue
        table = catalogue.table(item.name)
        path = tuple(map(fold, (table.path if table is not None else ()) or ("main", item.name)))
        stated = tuple(fold(part) for part in (item.catalog, item.db, item.name) if part)
        if len(stated) > 1 and path[-len(stated) :] != stated and stated[:-1] != ("main",):
            raise self.refuse("there is no such schema", item, f"write {item.name}")
        if table is None:
            near = catalogue.nearest_table(item.name)
            names = ", ".join(sorted(t.name for t in catalogue.tables)[:12]) or "none"
            hint = f"did you mean {near}?" if near else f"the tables are: {names}"
            raise self.refuse(f"there is no table {item.name}", item, hint)
        if table.view is None and self.schema.ownership.of(table.name) is None:
            hint = "say who its rows belong to: [[protect]], [[link]] or [[public]]"
            raise self.refuse(f"the policy does not mention table {table.name}", item, hint)
        return table

    def _view(self, item: exp.Table, table: Table, definition: str) -> tuple[Block, ...]:
        """Return the blocks of a view, read from its definition as if it stood in the query."""
        if fold(table.name) in self.within:
            raise self.refuse(f"the view {table.name} refers to itself", item, "name another table")
        try:
            text = view_query(definition)
            inside = replace(self.schema, text=text)
            reader = Relations(
                inside, self.sources, (*self.within, fold(table.name)), self.taken, self.released
            )
            blocks = reader.query(parse(text), NOTHING, None)
        except QueryError as error:
            raise self.refuse(
                f"the view {table.name} is refused: {error.problem}", item, error.hint
            ) from None
        if len(blocks[0].outputs) != len(table.columns):
            raise self.refuse(f"the view {table.name} is older than its tables", item, "create it again")
        names = [known.name for known in table.columns]
        place = span(item, self.schema.text)
        return tuple(_shown_as(block, names, place) for block in blocks)

    # -------------------------------------------------------------- names

    def conditions(self, known: Known) -> Conditions:
        """Return the reader of conditions that sees these CTEs."""
        return Conditions(
            self.schema,
            lambda tree, scope: self.query(tree, known, scope),
            lambda node, scope: self._expressions(known, scope).value(node),
            self.sources,
            lambda tree: self._released(tree, known),
        )

    def _released(self, tree: exp.Expr, known: Known) -> Scalar:
        if self.released is None:
            raise self.refuse("a value of private rows is not understood here", tree, "compare with a number")
        return self.released(tree, self, known)

    def _expressions(self, known: Known, scope: Scope) -> NativeExpressions:
        """Return the reader of expressions whose subqueries are run as they are."""
        reader = NativeReader(self.schema, self, self.within)
        queries = lambda tree, inside, lookup: reader.query(tree, known, inside, lookup)  # noqa: E731
        return NativeExpressions(self.schema, queries, scope, self.lookup())

    def joins(self, known: Known) -> Joins:
        """Return the reader of joins that sees these CTEs."""
        return Joins(self.conditions(known), lambda frames, item: self._items(frames, item, known))

    def lookup(self) -> Lookup:
        """Return the function that says of which type a column is."""
        return type_lookup(self.sources)

    def fresh(self, wish: str) -> str:
        """Return an alias that no other source of the query has."""
        taken = {SOURCE, *(fold(source.alias) for source in self.sources), *self.taken}
        names = [wish, *(f"{wish}_{number}" for number in range(2, len(taken) + 3))]
        return next(name for name in names if fold(name) not in taken)

    def alias(self, wish: str) -> str:
        """Return an alias for what is no source: nothing else will have it."""
        found = self.fresh(wish)
        self.taken.add(fold(found))
        return found

    def met(self, scan: Scan, item: exp.Expr) -> None:
        """Take note of a table that is read."""
        if len(self.sources) == MAX_READ:
            raise self.refuse("the query reads too many tables", item, "use every CTE and view fewer times")
        self.sources.append(scan)

    def refuse(self, problem: str, node: exp.Expr, hint: str | None) -> QueryError:
        """Return the refusal that points at a node."""
        return refusal(problem, self.schema.text, span(node, self.schema.text), hint=hint)


def _shown_as(block: Block, names: Sequence[str], place: Span | None) -> Block:
    """Return a view's block under the view's column names, as if all of it stood where the view is named."""
    pairs = zip(names, block.outputs, strict=True)
    outputs = tuple(Output(name, placed(output.value, place)) for name, output in pairs)
    conditions = tuple(placed(condition, place) for condition in block.conditions)
    return replace(block, outputs=outputs, conditions=conditions)
