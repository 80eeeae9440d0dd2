"""`Met`: the tables of a question that were met so far, each under an alias of its own."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from recuse.errors import ClosedTableError, NoTableError, QueryError
from recuse.fold import fold
from recuse.sql.catalogue import Table
from recuse.sql.elaborate import Lookup
from recuse.sql.placeholder import SOURCE
from recuse.sql.position import refusal, span
from recuse.sql.query import BlockSource, Scan
from recuse.sql.schema import Schema
from recuse.sql.walk import type_lookup

MAX_READ = 512


@dataclass(slots=True)
class Met:
    """The sources of a question, and the aliases that are taken."""

    schema: Schema
    sources: list[BlockSource] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)
    """aliases that are no source's, as they are compared"""

    def inside(self, schema: Schema) -> Met:
        """Return the same sources and aliases, for a text of its own: a view's."""
        return Met(schema, self.sources, self.taken)

    def known_table(self, item: exp.Table) -> Table:
        """Return the table that an item names, or refuse it: its rows are somebody's, or public."""
        catalogue = self.schema.catalogue
        table = catalogue.table(item.name)
        path = tuple(map(fold, (table.path if table is not None else ()) or ("main", item.name)))
        stated = tuple(fold(part) for part in (item.catalog, item.db, item.name) if part)
        if len(stated) > 1 and path[-len(stated) :] != stated and stated[:-1] not in _spoken(path):
            raise self.refuse("there is no such schema", item, f"write {item.name}")
        if table is None and (why := catalogue.why_not(item.name)) is not None:
            raise self.refuse(f"{item.name} is not read: {why}", item, "ask another table")
        if table is None:
            near = catalogue.nearest_table(item.name)
            names = ", ".join(sorted(t.name for t in catalogue.tables)[:12]) or "none"
            hint = f"did you mean {near}?" if near else f"the tables are: {names}"
            raise self.refuse(f"there is no table {item.name}", item, hint, NoTableError)
        if table.view is None and self.schema.ownership.of(table.name) is None:
            hint = "say who its rows belong to: [[protect]], [[link]] or [[public]]"
            raise self.refuse(f"the policy does not mention table {table.name}", item, hint, ClosedTableError)
        return table

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

    def refuse(
        self, problem: str, node: exp.Expr, hint: str | None, kind: type[QueryError] = QueryError
    ) -> QueryError:
        """Return the refusal that points at a node."""
        return refusal(problem, self.schema.text, span(node, self.schema.text), hint=hint, kind=kind)


def _spoken(path: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Return the schemas by which a table may be called besides its own.

    Clients of PostgreSQL say `public`: that is where they see the tables of DuckDB's `main`.
    """
    return (("main",), ("public",)) if path[-2:-1] == ("main",) else (("main",),)
