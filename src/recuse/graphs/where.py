"""`where`: a condition on the nodes and edges of a copy, read with the SQL chain's allow-list.

`a.city` is an attribute of pattern node a, `ab.weight` of the edge between a and b. The names below stand
for attributes only: what the enumeration knows besides (ranks, degrees) depends on others' edges, so it
has no name. A predicate that has no value for a copy is NULL there, as everywhere in the chain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from recuse.errors import ParameterError, QueryError
from recuse.fold import fold
from recuse.graphs.pattern import MOST_NODES, Pattern, Renaming
from recuse.scalars import expression
from recuse.scalars.types import Boolean, Date, Float, Number, Text, Timestamp, Type, stored
from recuse.sql.asks import is_subquery_predicate
from recuse.sql.catalogue import nearest
from recuse.sql.elaborate import Elaborator, type_of
from recuse.sql.foreign import refuse_foreign
from recuse.sql.lower import Lowering
from recuse.sql.parse import parse
from recuse.sql.position import refusal, span
from recuse.sql.query import Scalar, column
from recuse.sql.refuse import refuse_clauses
from recuse.sql.spoken import COMPARISONS

PREFIX = "SELECT 1 WHERE "
UNTYPED = "UNTYPED"
CHOICES = (exp.Least, exp.Greatest, exp.Coalesce, exp.Nullif)
ORDERINGS = (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between, exp.Least, exp.Greatest)
ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.Neg)
NUMBER_FUNCTIONS = (exp.Abs, exp.Round, exp.Floor, exp.Ceil, exp.Sqrt, exp.Ln, exp.Exp, exp.Pow, exp.Sign)
CASTS: dict[type[Type], str] = {Boolean: "boolean", Date: "date", Timestamp: "timestamp"}


@dataclass(frozen=True, slots=True)
class AttributeSchema:
    """The attributes that nodes and edges have: name and type as DuckDB spells it, UNTYPED if none is known.

    Their names are public, as the columns of a table are.
    """

    nodes: tuple[tuple[str, str], ...] = ()
    edges: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Condition:
    """A checked condition over the columns `n{i}.c{k}` of the i-th node and `m{j}.c{k}` of the j-th edge."""

    text: str
    scalar: Scalar = field(repr=False)
    sql: str = field(repr=False)
    """the condition for the engine, in a form that has a value or NULL for every copy"""

    @property
    def aliases(self) -> tuple[str, ...]:
        """The nodes and edges whose attributes it looks at."""
        return tuple(sorted({part.table for part in self.scalar.find_all(exp.Column)}))


def read_condition(text: str, pattern: Pattern, schema: AttributeSchema) -> Condition:
    """Return the condition that a copy fulfils under some naming of its nodes, or refuse it.

    Guarantee: it looks at attributes of the copy's own nodes and edges, and never raises on data.
    """
    if len(pattern.nodes) > MOST_NODES:
        raise ParameterError(
            "a condition needs a pattern that can be enumerated",
            found=f"{len(pattern.nodes)} nodes",
            accepted=f"at most {MOST_NODES} nodes",
        )
    if not text.strip():
        raise QueryError("the condition is empty", hint="leave it out, or write such as a.city = b.city")
    try:
        return _Reader(pattern, schema, PREFIX + text).read(text)
    except QueryError as error:
        inside = error.line == 1 and error.column is not None
        raise QueryError(
            error.problem,
            line=error.line,
            column=max(1, error.column - len(PREFIX)) if inside and error.column else error.column,
            found=error.found,
            accepted=error.accepted,
            hint=error.hint,
        ) from None


@dataclass(frozen=True, slots=True)
class _Reader:
    pattern: Pattern
    schema: AttributeSchema
    text: str

    def read(self, text: str) -> Condition:
        """Return the condition that is written."""
        tree = parse(self.text)
        if not isinstance(tree, exp.Select) or "where" not in tree.args:
            raise QueryError("this is no condition", hint="write such as a.city = b.city AND ab.weight > 3")
        refuse_clauses(tree, self.text, {"expressions", "where"})
        written = tree.args["where"].this
        for part in written.walk():
            if is_subquery_predicate(part) or isinstance(part, exp.Query):
                raise self._refuse("a subquery looks at other rows than the copy's own", part, None)
        refuse_foreign(written, self.text, skip=lambda _: False)
        resolved = exp.Paren(this=written.transform(self._resolve))  # so that every part has a parent
        typed = self._typed(resolved).this
        Elaborator(self._column, self.text).condition(typed)
        scalar = self._under_any_naming(typed)
        return Condition(text, scalar, Lowering(self._column, self.text).condition(scalar).name)

    # ------------------------------------------------------------------ names

    def _sources(self) -> dict[str, tuple[str, tuple[tuple[str, str], ...]]]:
        """Return what can be named: the alias behind it, and its attributes."""
        found = {node: (f"n{i}", self.schema.nodes) for i, node in enumerate(self.pattern.nodes)}
        for j, (u, v) in enumerate(self.pattern.edges):
            for name in (u + v,) if self.pattern.directed else (u + v, v + u):
                if found.setdefault(name, (f"m{j}", self.schema.edges))[0] != f"m{j}":
                    raise ParameterError(
                        "the name of an edge means two things", found=name, hint="rename the pattern's nodes"
                    )
        return found

    def _resolve(self, node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column):
            return node
        sources = self._sources()
        nodes, edges = self.pattern.nodes, [u + v for u, v in self.pattern.edges]
        if not node.table:
            raise self._refuse(f"whose {node.name}?", node, f"write {nodes[0]}.{node.name}")
        if fold(node.table) not in sources:
            raise self._refuse(
                f"the pattern has no node or edge {node.table}", node, f"there: {', '.join([*nodes, *edges])}"
            )
        alias, attributes = sources[fold(node.table)]
        names = [fold(name) for name, _ in attributes]
        if fold(node.name) not in names:
            near = nearest(node.name, names)
            kind = "nodes" if alias.startswith("n") else "edges"
            hint = f"did you mean {near}?" if near else f"there: {', '.join(names) or 'none'}"
            raise self._refuse(f"the {kind} have no attribute {node.name}", node, hint)
        found = column(alias, f"c{names.index(fold(node.name))}")
        found.this.update_positions(node.this)
        found.args["table"].update_positions(node.args["table"])
        return found

    def _declared(self, node: exp.Expr) -> str | None:
        if not isinstance(node, exp.Column):
            return None
        attributes = self.schema.nodes if node.table.startswith("n") else self.schema.edges
        return attributes[int(node.name.removeprefix("c"))][1]

    def _column(self, node: exp.Expr) -> expression.Variable:
        found = self._declared(node) or UNTYPED
        spelled = "VARCHAR" if found == UNTYPED else found
        alias = node.table if isinstance(node, exp.Column) else ""
        return expression.Variable(alias, node.name, stored(spelled), spelled)

    def _kind(self, node: exp.Expr) -> type[Type] | None:
        """Return the kind of type of a part whose own parts are typed, None if it has none yet."""
        if self._is_untyped(node):
            return None
        try:
            return type(type_of(node, self._column))
        except QueryError:
            return None

    # ------------------------------------------------------------------ types

    def _typed(self, node: exp.Expr) -> exp.Expr:
        """Return the condition in which attributes of no declared type are read as what they stand beside.

        Beside a number they are numbers, beside text they are text; the order of two of them has no meaning.
        """
        for inner in list(node.iter_expressions()):
            self._typed(inner)
        if isinstance(node, (*ARITHMETIC, *NUMBER_FUNCTIONS)):
            self._read_as("double", list(node.iter_expressions()))
        elif isinstance(node, (*COMPARISONS, exp.Between, exp.In, *CHOICES)):
            self._read_alike(node, list(node.iter_expressions()))
        elif isinstance(node, exp.Case):
            branches, otherwise = node.args["ifs"], node.args.get("default")
            self._read_alike(
                node, [*(branch.args["true"] for branch in branches), *filter(None, [otherwise])]
            )
            if node.this is not None:
                self._read_alike(node, [node.this, *(branch.this for branch in branches)])
        return node

    def _read_alike(self, node: exp.Expr, values: list[exp.Expr]) -> None:
        """Read the values without a type, of several that are compared, as the others are."""
        values = [value.unnest() for value in values]
        kinds = {self._kind(value) for value in values}
        numbers = bool(kinds & {Number, Float})
        written = [value for value in values if isinstance(value, exp.Literal) and value.is_string]
        text = [value for value in values if value not in written and self._kind(value) is Text]
        if numbers and text:
            raise self._refuse(
                "a number is compared with text", node, "say what it is: CAST(a.age AS DOUBLE) > 3"
            )
        targets = [target for kind, target in CASTS.items() if kind in kinds]
        if numbers or targets:
            self._read_as("double" if numbers else targets[0], values)
            return
        if isinstance(node, ORDERINGS) and all(map(self._is_untyped, values)):
            raise self._refuse(
                "the order of attributes without a declared type has no meaning",
                node,
                "say what they are: CAST(a.age AS DOUBLE) < CAST(b.age AS DOUBLE)",
            )

    def _is_untyped(self, node: exp.Expr) -> bool:
        return self._declared(node) == UNTYPED

    def _read_as(self, target: str, values: list[exp.Expr]) -> None:
        for value in filter(self._is_untyped, values):
            value.replace(exp.TryCast(this=value.copy(), to=exp.DataType.build(target)))

    # ------------------------------------------------------------------ symmetries

    def _under_any_naming(self, scalar: Scalar) -> Scalar:
        """Return that the condition holds under some renaming of the copy's nodes that leaves it the same."""
        found: dict[str, Scalar] = {}
        for renaming in self.pattern.automorphisms():
            places = dict(self._places(renaming))
            renamed = scalar.transform(lambda node, to=places: _moved(node, to))
            found.setdefault(renamed.sql(dialect="duckdb"), renamed)
        return either([found[key] for key in sorted(found)])

    def _places(self, renaming: Renaming) -> Iterator[tuple[str, str]]:
        for i, node in enumerate(self.pattern.nodes):
            yield f"n{i}", f"n{self.pattern.nodes.index(renaming[node])}"
        place = {edge: j for j, edge in enumerate(self.pattern.edges)}
        for j, (u, v) in enumerate(self.pattern.edges):
            ends = renaming[u], renaming[v]
            yield f"m{j}", f"m{place[ends] if ends in place else place[ends[::-1]]}"

    def _refuse(self, problem: str, node: exp.Expr, hint: str | None) -> QueryError:
        return refusal(problem, self.text, span(node, self.text), hint=hint)


def _moved(node: exp.Expr, places: dict[str, str]) -> exp.Expr:
    return column(places[node.table], node.name) if isinstance(node, exp.Column) else node


def either(parts: Sequence[Scalar]) -> Scalar:
    """Return the parts joined by OR."""
    return exp.or_(*parts, copy=False) if len(parts) > 1 else parts[0]
