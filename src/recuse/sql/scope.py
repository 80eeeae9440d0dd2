"""What a name means in a SELECT: its sources' columns, those that USING merged, then the query around it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sqlglot import exp

from recuse.errors import NoColumnError, QueryError
from recuse.fold import fold, same
from recuse.sql.catalogue import PSEUDO_COLUMNS, nearest
from recuse.sql.position import placed, refusal, span
from recuse.sql.query import Block, Scalar

NO_ROWS = Block()


@dataclass(frozen=True, slots=True)
class Entry:
    """One item of FROM: the name it is called by, and its columns as expressions over real sources."""

    name: str
    columns: tuple[tuple[str, Scalar], ...]

    def column(self, name: str) -> Scalar | None:
        """Return the expression of a column, in any case."""
        return next((value for known, value in self.columns if same(known, name)), None)


@dataclass(frozen=True, slots=True)
class Scope:
    """The items of FROM so far, the columns that joins merged, and the scope of the query around.

    `rows` are what has been read of the block whose names these are, `beside` blocks whose names are too.
    """

    text: str
    entries: tuple[Entry, ...] = ()
    merged: tuple[tuple[str, Scalar], ...] = ()
    outer: Scope | None = None
    rows: Block = NO_ROWS
    beside: tuple[Block, ...] = ()

    @property
    def around(self) -> tuple[Block, ...]:
        """The blocks whose columns can be used here, outermost first."""
        return (*(self.outer.around if self.outer is not None else ()), *self.beside, self.rows)

    def adding(self, entry: Entry) -> Scope:
        """Return the scope with one more item."""
        return replace(self, entries=(*self.entries, entry))

    def merging(self, name: str, value: Scalar) -> Scope:
        """Return the scope in which `name` alone means the column of a USING or NATURAL join."""
        others = tuple(pair for pair in self.merged if pair[0] != fold(name))
        return replace(self, merged=(*others, (fold(name), value)))

    def names(self) -> Iterator[str]:
        """Yield the column names that can be written without a table, each once."""
        seen = set()
        for entry in self.entries:
            for name, _ in entry.columns:
                if fold(name) not in seen:
                    seen.add(fold(name))
                    yield name

    def alone(self, name: str) -> list[tuple[str, Scalar]]:
        """Return what a name without table can mean here, with the table's name."""
        for known, value in self.merged:
            if known == fold(name):
                return [("", value)]
        found = ((entry.name, entry.column(name)) for entry in self.entries)
        return [(table, value) for table, value in found if value is not None]

    def star(self) -> list[tuple[str, Scalar]]:
        """Return what * stands for: every column, merged ones once."""
        merged = dict(self.merged)
        found: list[tuple[str, Scalar]] = []
        seen: set[str] = set()
        for entry in self.entries:
            for name, value in entry.columns:
                if fold(name) in merged:
                    if fold(name) in seen:
                        continue
                    seen.add(fold(name))
                    value = merged[fold(name)]
                found.append((name, value))
        return found

    def starred(self, node: exp.Expr) -> list[tuple[str, Scalar]]:
        """Return what * or t.* stands for in a SELECT list."""
        star = node if isinstance(node, exp.Star) else node.this
        if not isinstance(star, exp.Star) or any(star.args.values()):
            raise self._refuse("this form of * is not accepted", node, "name the columns")
        if isinstance(node, exp.Star):
            return self.star()
        entry = self.entry(node.args["table"].name)
        if entry is None:
            names = ", ".join(entry.name for entry in self.entries)
            problem = f"no table in FROM is called {node.args['table'].name}"
            raise self._refuse(problem, node, f"there: {names}")
        return list(entry.columns)

    def resolve(self, node: exp.Column) -> Scalar:
        """Return what a column means: found here, or in the query around."""
        if isinstance(node.this, exp.Star):
            raise self._refuse("* stands for columns only in COUNT(*) or in a subquery", node, "name them")
        if node.args.get("db"):
            raise self._refuse("a column is written as alias.column", node, "give the table a short alias")
        scope: Scope | None = self
        while scope is not None:
            found = scope._find(node)
            if len(found) > 1:
                names = " or ".join(f"{name}.{node.name}" for name, _ in found)
                raise self._refuse(f"column {node.name} stands in several tables", node, f"write {names}")
            if found:
                return placed(found[0][1], span(node, self.text))
            scope = scope.outer
        raise self._unknown(node)

    def shared_names(self, right: Scope, join: exp.Join) -> list[str]:
        """Return the columns that USING names, or that NATURAL finds on both sides of a join."""
        if join.args.get("using"):
            return [node.name for node in join.args["using"]]
        if join.args.get("method") != "NATURAL":
            return []
        before = {fold(name) for name in self.names()}
        names = [name for name in right.names() if fold(name) in before]
        if not names:
            hint = "write CROSS JOIN, or JOIN … ON"
            raise self._refuse("NATURAL JOIN finds no column that both sides have", join, hint)
        return names

    def entry(self, name: str) -> Entry | None:
        """Return the item of FROM that is called by that name here."""
        return next((entry for entry in self.entries if same(entry.name, name)), None)

    def _find(self, node: exp.Column) -> list[tuple[str, Scalar]]:
        if not node.table:
            return self.alone(node.name)
        entry = self.entry(node.table)
        if entry is None:
            return []
        value = entry.column(node.name)
        if value is None:
            raise self._no_column(node, [entry])
        return [(entry.name, value)]

    def _unknown(self, node: exp.Column) -> QueryError:
        if not node.table:
            return self._no_column(node, list(self.entries))
        names = ", ".join(entry.name for entry in self.entries) or "none"
        return self._refuse(f"no table in FROM is called {node.table}", node, f"there: {names}")

    def _no_column(self, node: exp.Column, entries: list[Entry]) -> QueryError:
        if fold(node.name) in PSEUDO_COLUMNS:
            return self._refuse(
                f"{node.name} is where a row is stored, not what it says", node, "use the table's key"
            )
        names = [name for entry in entries for name, _ in entry.columns]
        near = nearest(node.name, names)
        where = (entries[0].name or "the result") if len(entries) == 1 else "these tables"
        hint = f"did you mean {near}?" if near else f"there: {', '.join(names[:12]) or 'none'}"
        if node.this.args.get("quoted") and not near:
            hint = "text stands in single quotes: 'text'"
        return self._refuse(f"there is no column {node.name} in {where}", node, hint, NoColumnError)

    def _refuse(
        self, problem: str, node: exp.Expr, hint: str | None, kind: type[QueryError] = QueryError
    ) -> QueryError:
        return refusal(problem, self.text, span(node, self.text), hint=hint, kind=kind)
