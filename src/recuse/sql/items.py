"""One item of FROM → its blocks: a table, a view, a CTE, a derived table, LATERAL or a list of VALUES."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from recuse.errors import QueryError
from recuse.fold import fold
from recuse.sql.answered import is_one_row
from recuse.sql.catalogue import Table
from recuse.sql.met import Met
from recuse.sql.named import Known, view_query
from recuse.sql.position import Span, placed, span
from recuse.sql.query import Block, Output, Scalar, Scan, column
from recuse.sql.refuse import refuse_clauses, refuse_table_form
from recuse.sql.schema import Schema
from recuse.sql.scope import Scope
from recuse.sql.sets import aligned


@dataclass(frozen=True, slots=True)
class ItemReader:
    """A reader of items of FROM, given how queries, views and values are read."""

    schema: Schema
    met: Met
    within: tuple[str, ...]
    """the views that are being read"""
    query: Callable[[exp.Expr, Known, Scope | None], tuple[Block, ...]]
    view: Callable[[str, str], tuple[Block, ...]]
    """returns the blocks of a view's text, given its name"""
    value: Callable[[exp.Expr, Known, Scope], Scalar]
    released: Callable[[exp.Expr, Known], Scalar] | None
    """returns the place of the number that a subquery of private rows stands for"""

    def read(self, item: exp.Expr, known: Known, before: Scope) -> tuple[str, list[str], tuple[Block, ...]]:
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
            name = item.alias or self.met.fresh("listed")
        elif isinstance(item, exp.Subquery):
            blocks = self._derived(item, known)
            name = item.alias or self.met.fresh("derived")
        elif isinstance(item, exp.Lateral) and isinstance(item.this, exp.Subquery):
            refuse_clauses(item, self.schema.text, {"this", "alias"})
            blocks = self.query(item.this, known, before)
            name = item.alias or self.met.fresh("derived")
        else:
            hint = "name a table, or write a join" if not isinstance(item, exp.Unnest) else "join a table"
            raise self.met.refuse("FROM takes tables and subqueries only", item, hint)
        columns = [output.name for output in blocks[0].outputs]
        if len(renamed) > len(columns):
            raise self.met.refuse("there are more names than columns", item, "leave the column list out")
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
            outputs.append(Output(name, self.released(alone, known)))
        return (Block(outputs=tuple(outputs)),)

    def _values(self, item: exp.Values, known: Known) -> tuple[Block, ...]:
        """Return the rows that a VALUES list writes down, each a block of its own: they are nobody's."""
        rows = [node.expressions if isinstance(node, exp.Tuple) else [node] for node in item.expressions]
        nothing = Scope(self.schema.text)
        blocks = []
        for row in rows:
            values = [self.value(node, known, nothing) for node in row]
            outputs = tuple(Output(f"col{place}", value) for place, value in enumerate(values))
            blocks.append(Block(outputs=outputs))
        return aligned(blocks, self.met.lookup(), item, self.schema.text)

    def _table(self, item: exp.Table) -> tuple[Block, ...]:
        table = self.met.known_table(item)
        if table.view is not None:
            return self._view(item, table, table.view)
        scan = Scan(self.met.fresh(item.alias or table.name), table)
        self.met.met(scan, item)
        outputs = tuple(Output(known.name, column(scan.alias, known.name)) for known in table.columns)
        return (Block(sources=(scan,), outputs=outputs),)

    def _view(self, item: exp.Table, table: Table, definition: str) -> tuple[Block, ...]:
        """Return the blocks of a view, read from its definition as if it stood in the query."""
        if fold(table.name) in self.within:
            raise self.met.refuse(f"the view {table.name} refers to itself", item, "name another table")
        try:
            text = view_query(definition)
            blocks = self.view(text, fold(table.name))
        except QueryError as error:
            raise self.met.refuse(
                f"the view {table.name} is refused: {error.problem}", item, error.hint
            ) from None
        if len(blocks[0].outputs) != len(table.columns):
            raise self.met.refuse(f"the view {table.name} is older than its tables", item, "create it again")
        names = [known.name for known in table.columns]
        place = span(item, self.schema.text)
        return tuple(_shown_as(block, names, place) for block in blocks)


def _shown_as(block: Block, names: Sequence[str], place: Span | None) -> Block:
    """Return a view's block under the view's column names, as if all of it stood where the view is named."""
    pairs = zip(names, block.outputs, strict=True)
    outputs = tuple(Output(name, placed(output.value, place)) for name, output in pairs)
    conditions = tuple(placed(condition, place) for condition in block.conditions)
    return replace(block, outputs=outputs, conditions=conditions)
