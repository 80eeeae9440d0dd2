"""Syntax tree + catalogue → `Query`: every clause and name understood, or refused with its place.

Accepted by allow-list: what this module does not read out of the tree is refused, whatever it is.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from recuse.errors import QueryError
from recuse.sql.catalogue import PSEUDO_COLUMNS, Table
from recuse.sql.position import clause_span, refusal, span
from recuse.sql.query import Aggregate, Query, Scalar, Scan, Schema, column
from recuse.sql.scalars import check_scalar

MAX_SOURCES = 64

# clause in sqlglot's tree: how it is written, why it is refused, what to write instead
CLAUSES: dict[str, tuple[str, str, str | None]] = {
    "with_": ("WITH", "a WITH clause is not answered yet", "write the tables themselves in FROM"),
    "distinct": ("DISTINCT", "SELECT DISTINCT is not answered yet", "ask for COUNT(*) or SUM(x)"),
    "group": ("GROUP BY", "GROUP BY is not answered yet", "ask for one number, with the group in WHERE"),
    "having": ("HAVING", "HAVING compares aggregates of private rows", "move the condition to WHERE"),
    "order": ("ORDER BY", "the answer is one number: there is nothing to order", "leave ORDER BY out"),
    "limit": ("LIMIT", "which rows LIMIT keeps depends on all the others", "leave LIMIT out"),
    "offset": ("OFFSET", "which rows OFFSET skips depends on all the others", "leave OFFSET out"),
    "qualify": ("QUALIFY", "a window function looks at other rows", "leave QUALIFY out"),
    "windows": ("WINDOW", "a window function looks at other rows", "leave WINDOW out"),
    "sample": ("SAMPLE", "a sample depends on chance", "leave the sample out"),
    "pivots": ("PIVOT", "PIVOT is not answered", "ask one question for each column"),
    "into": ("INTO", "SELECT INTO writes a table", "leave INTO out"),
    "locks": ("FOR", "FOR UPDATE locks rows", "leave it out"),
    "laterals": ("LATERAL", "LATERAL is not answered", "write a join"),
}
READ = frozenset({"expressions", "from_", "joins", "where"})


def read(tree: exp.Query, schema: Schema) -> Query:
    """Return the query that the tree means."""
    if not isinstance(tree, exp.Select):
        raise _not_a_select(tree, schema.text)
    _refuse_clauses(tree, schema.text)
    return _Reader(schema).query(tree)


def _not_a_select(tree: exp.Query, text: str) -> QueryError:
    if isinstance(tree, exp.SetOperation):
        word = tree.key.upper()
        place = clause_span(tree.expression, word, text)
        if isinstance(tree, exp.Except):
            problem, hint = (
                "EXCEPT drops rows when others appear",
                "ask for both parts and subtract the answers",
            )
        else:
            problem, hint = f"{word} is not answered yet", "ask for each part by itself"
        return refusal(problem, text, place, hint=hint)
    return refusal(
        "only one plain SELECT is answered", text, span(tree, text), hint="leave the parentheses out"
    )


def _refuse_clauses(tree: exp.Select, text: str) -> None:
    for key, value in tree.args.items():
        if not value or key in READ:
            continue
        node = value[0] if isinstance(value, list) else value
        keyword, problem, hint = CLAUSES.get(key, (key.upper(), f"this clause is not accepted: {key}", None))
        place = clause_span(node, keyword, text) if isinstance(node, exp.Expr) else None
        raise refusal(problem, text, place, hint=hint)


@dataclass(frozen=True, slots=True)
class _Reader:
    schema: Schema

    def query(self, tree: exp.Select) -> Query:
        """Return FROM, then the joins in order, then WHERE, then the aggregate."""
        start = tree.args.get("from_")
        if start is None:
            raise QueryError("the query has no FROM", hint="write SELECT COUNT(*) FROM a_table")
        sources: list[Scan] = []
        conditions: list[Scalar] = []
        self._add(sources, start.this)
        for join in tree.args.get("joins") or ():
            self._check_join(join)
            self._add(sources, join.this)
            if join.args.get("on") is not None:
                conditions += self._conjuncts(join.args["on"], sources)
        if tree.args.get("where") is not None:
            conditions += self._conjuncts(tree.args["where"].this, sources)
        aggregate, argument = self._aggregate(tree.expressions, sources)
        return Query(aggregate, argument, tuple(sources), tuple(conditions))

    # -------------------------------------------------------------- FROM

    def _add(self, sources: list[Scan], item: exp.Expr) -> None:
        """Append one item of FROM."""
        if len(sources) == MAX_SOURCES:
            raise self._refuse("too many tables in FROM", item, accepted=f"{MAX_SOURCES}")
        scan = self._scan(item)
        if any(other.alias.lower() == scan.alias.lower() for other in sources):
            raise self._refuse(
                f"two tables in FROM are called {scan.alias}",
                item,
                hint="give each its own alias: FROM t a, t b",
            )
        sources.append(scan)

    def _scan(self, item: exp.Expr) -> Scan:
        if not isinstance(item, exp.Table):
            raise self._refuse(
                "FROM takes tables only", item, hint="name a table; a subquery is not answered yet"
            )
        extra = [
            key for key, value in item.args.items() if value and key not in ("this", "alias", "db", "catalog")
        ]
        if extra:
            _, problem, hint = CLAUSES.get(extra[0], ("", "this form of a table is not accepted", None))
            raise self._refuse(problem, item, hint=hint)
        if not isinstance(item.this, exp.Identifier):
            raise self._refuse(
                "a table function reads something else than a table", item, hint="name a table"
            )
        alias = item.args.get("alias")
        if alias is not None and alias.args.get("columns"):
            raise self._refuse("renamed columns are not accepted", item, hint="leave the column list out")
        return Scan(item.alias or item.name, self._table(item))

    def _table(self, item: exp.Table) -> Table:
        catalogue = self.schema.catalogue
        table = catalogue.table(item.name)
        if item.catalog or (item.db and item.db.lower() != "main"):
            raise self._refuse("tables are named without schema", item, hint=f"write {item.name}")
        if table is None:
            near = catalogue.nearest_table(item.name)
            known = ", ".join(sorted(t.name for t in catalogue.tables)[:12]) or "none"
            hint = f"did you mean {near}?" if near else f"the tables are: {known}"
            raise self._refuse(f"there is no table {item.name}", item, hint=hint)
        if table.view is not None:
            raise self._refuse(f"{table.name} is a view", item, hint="name the tables beneath it")
        if self.schema.ownership.of(table.name) is None:
            raise self._refuse(
                f"the policy does not mention table {table.name}",
                item,
                hint="say who its rows belong to: [[protect]], [[link]] or [[public]]",
            )
        return table

    def _check_join(self, join: exp.Join) -> None:
        side, kind, method = (join.args.get(key) or "" for key in ("side", "kind", "method"))
        if side or kind == "OUTER":
            raise self._refuse(
                "an outer join keeps rows because others are missing: it is not monotone",
                join,
                hint="write JOIN … ON …",
            )
        if method == "NATURAL" or join.args.get("using"):
            raise self._refuse(
                "NATURAL and USING are not answered yet", join, hint="write JOIN … ON a.x = b.x"
            )
        known = {key for key, value in join.args.items() if value} <= {"this", "on", "kind"}
        if method or kind not in ("", "INNER", "CROSS") or not known:
            name = " ".join(word for word in (method, kind) if word) or "this kind of"
            raise self._refuse(
                f"{name} JOIN is not accepted", join, accepted="JOIN … ON, CROSS JOIN, comma", hint=None
            )

    # -------------------------------------------------------------- expressions

    def _conjuncts(self, node: exp.Expr, sources: list[Scan]) -> list[Scalar]:
        resolved = self._resolve(node, sources)
        while isinstance(resolved, exp.Paren):
            resolved = resolved.this
        parts = resolved.flatten() if isinstance(resolved, exp.And) else [resolved]
        return [part.copy() for part in parts]

    def _resolve(self, node: exp.Expr, sources: list[Scan]) -> Scalar:
        """Return the expression with every column qualified and spelled as in the catalogue."""
        check_scalar(node, self.schema.catalogue, self.schema.text)

        def qualify(part: exp.Expr) -> exp.Expr:
            return self._column(part, sources) if isinstance(part, exp.Column) else part

        return node.transform(qualify)

    def _column(self, node: exp.Column, sources: list[Scan]) -> exp.Column:
        if isinstance(node.this, exp.Star):
            raise self._refuse("* stands for columns only inside COUNT(*)", node, hint="name the columns")
        scans = sources
        if node.table:
            scans = [scan for scan in sources if scan.alias.lower() == node.table.lower()]
            if not scans:
                names = ", ".join(scan.alias for scan in sources)
                raise self._refuse(f"no table in FROM is called {node.table}", node, hint=f"there: {names}")
        found = [(scan, known) for scan in scans if (known := scan.table.column(node.name)) is not None]
        if len(found) > 1:
            names = " or ".join(f"{scan.alias}.{known.name}" for scan, known in found)
            raise self._refuse(f"column {node.name} stands in several tables", node, hint=f"write {names}")
        if not found:
            raise self._unknown(node, scans)
        scan, known = found[0]
        return column(scan.alias, known.name)

    def _unknown(self, node: exp.Column, scans: list[Scan]) -> QueryError:
        if node.name.lower() in PSEUDO_COLUMNS:
            return self._refuse(
                f"{node.name} is where a row is stored, not what it says", node, hint="use the table's key"
            )
        near = next((name for scan in scans if (name := scan.table.nearest_column(node.name))), None)
        where = scans[0].table.name if len(scans) == 1 else "these tables"
        hint = f"did you mean {near}?" if near else None
        if node.this.args.get("quoted") and not near:
            hint = "text stands in single quotes: 'text'"
        return self._refuse(f"there is no column {node.name} in {where}", node, hint=hint)

    # -------------------------------------------------------------- SELECT

    def _aggregate(self, outputs: list[exp.Expr], sources: list[Scan]) -> tuple[Aggregate, Scalar | None]:
        if len(outputs) != 1:
            raise QueryError(
                "one aggregate is answered at a time",
                found=f"{len(outputs)} columns",
                accepted="COUNT(*), SUM(x)",
                hint="ask one question for each",
            )
        node = outputs[0].unalias()
        match node:
            case exp.Count() if isinstance(node.this, exp.Star) and not any(node.this.args.values()):
                return Aggregate.COUNT, None
            case exp.Sum() if not isinstance(node.this, exp.Distinct | exp.Order):
                return Aggregate.SUM, self._resolve(node.this, sources)
        hints = {
            exp.Count: "write COUNT(*), with WHERE x IS NOT NULL for COUNT(x)",
            exp.Avg: "ask for SUM(x) and COUNT(*)",
            exp.Filter: "move the condition to WHERE",
        }
        hint = hints.get(type(node), "write SELECT COUNT(*) FROM … or SELECT SUM(x) FROM …")
        raise self._refuse("this output is not answered yet", node, accepted="COUNT(*), SUM(x)", hint=hint)

    def _refuse(
        self, problem: str, node: exp.Expr, *, accepted: str | None = None, hint: str | None = None
    ) -> QueryError:
        text = self.schema.text
        return refusal(problem, text, span(node, text), accepted=accepted, hint=hint)
