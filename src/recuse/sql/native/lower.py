"""NativeQuery → SQL that an engine runs: every expression in its total form, every choice of rows settled.

Guarantee: no row makes the statement raise, and its rows are a function of the bags of rows of its tables
(proofs.md, "Queries that are run as they are").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from recuse.scalars.build import bring
from recuse.scalars.expression import Constant, Expression, Query, Variable
from recuse.scalars.function import Mistyped
from recuse.scalars.types import Type
from recuse.sql.dialect import DUCKDB, Dialect
from recuse.sql.elaborate import Asking, Elaborator, Lookup
from recuse.sql.native.asked import EngineCall, Sorted, in_order
from recuse.sql.native.steps import ShownRows, Step, Steps, steps_of
from recuse.sql.native.tree import (
    JoinKind,
    NativeItem,
    NativeQuery,
    NativeSelect,
    NativeSet,
    names_of,
    nowhere,
)
from recuse.sql.position import refusal, span
from recuse.sql.query import Output, Scalar, Scan
from recuse.sql.render import table_reference


@dataclass(frozen=True, slots=True)
class NativeLowering:
    """The compiler of queries; `around` knows the columns of the rows around, `text` is for refusals."""

    around: Lookup = nowhere
    text: str = ""
    dialect: Dialect = DUCKDB

    def query(self, query: NativeQuery) -> str:
        """Return the SQL of a query; its columns have the names that it gives them."""
        return self._set(query) if isinstance(query, NativeSet) else self._select(query)

    def body(self, query: Query, operands: tuple[str, ...]) -> str:
        """Return a subquery or a function of many rows inside an expression, given its operands."""
        if isinstance(query.body, EngineCall):
            call = query.body
            if call.order or call.ignore_nulls:
                self._refuse_all_but_calls("an aggregate of rows in an order")
            if call.over is not None and "INTERVAL" in call.over.reach:
                self._refuse_all_but_calls("a frame by time")
            self._refuse_all_but_calls(call.function)
            return call.sql(operands, self.dialect.spelled)
        if isinstance(query.body, Asking):
            return self._asking(query.body, operands)
        raise TypeError("a subquery of another making")

    def _refuse_all_but_calls(self, what: str) -> None:
        """Refuse what has no form in the engine's SQL: what DuckDB means by it, another may not."""
        if self.dialect.calls is not None and what not in self.dialect.calls:
            raise refusal(
                f"{what} in a subquery is not written for {self.dialect.name} yet",
                self.text,
                None,
                accepted=", ".join(sorted(self.dialect.calls)),
                hint="write it as a join, or ask it of a copy in DuckDB",
            )

    # -------------------------------------------------------------- expressions

    def value(self, expression: Expression, node: Scalar) -> str:
        """Return a typed expression in its total form."""
        try:
            return self.dialect.scalar(expression, self.body)
        except Mistyped as mistake:
            raise refusal(mistake.problem, self.text, span(node, self.text), hint=mistake.hint) from None

    def elaborator(self) -> Elaborator:
        """Return the reader of typed expressions."""
        return Elaborator(self.around, self.text)

    def _condition(self, node: Scalar) -> str:
        return self.value(self.elaborator().condition(node), node)

    def _where(self, conditions: Sequence[Scalar]) -> str:
        return f" WHERE {' AND '.join(map(self._condition, conditions))}" if conditions else ""

    def _asking(self, body: Asking, operands: tuple[str, ...]) -> str:
        query = body.query
        if not isinstance(query, NativeSelect | NativeSet):
            raise TypeError("a subquery of another making")
        if body.word == "EXISTS":
            return f"EXISTS ({self.query(query)})"
        if body.word == "VALUE":
            return f"({self._single(query)})"
        rows = self._brought(query, body.kinds)
        left = operands[0] if len(operands) == 1 else f"({', '.join(operands)})"
        if body.word == "IN":
            return f"({left} IN ({rows}))"
        return f"({left} {body.operator} {body.word} ({rows}))"

    def _single(self, query: NativeQuery) -> str:
        """Return the one value of a query; several rows fail, and what fails is NULL."""
        if at_most_one_row(query):
            return self.query(query)
        self._refuse_all_but_calls("one value of several rows")
        name = self.dialect.identifier(names_of(query)[0])
        asked = self.dialect.identifier("asked")
        return f"SELECT CASE WHEN count(*) <= 1 THEN first({name}) END FROM ({self.query(query)}) AS {asked}"

    def _brought(self, query: NativeQuery, kinds: Sequence[Type]) -> str:
        """Return a query whose columns are brought to these types."""
        if tuple(query.types) == tuple(kinds):
            return self.query(query)
        values = []
        for name, kind, wanted in zip(names_of(query), query.types, kinds, strict=True):
            value = bring(Variable("asked", name, kind), wanted)
            values.append(f"{self.value(value, exp.Null())} AS {self.dialect.identifier(name)}")
        asked = self.dialect.identifier("asked")
        return f"SELECT {', '.join(values)} FROM ({self.query(query)}) AS {asked}"

    # -------------------------------------------------------------- SELECT

    def _select(self, query: NativeSelect) -> str:
        steps = steps_of(query, self.around, lambda lookup: Elaborator(lookup, self.text))
        here = replace(self, around=steps.rows)
        source = f"{here._from(query.items, self)}{here._where(query.where)}"
        here, source = here._steps(steps.groups, source, self.around)
        if steps.groups:
            source += here._where(steps.having)
        numbered = () if steps.numbered is None else (steps.numbered,)
        here, source = here._steps((*numbered, *steps.windows), source, self.around)
        if steps.windows:
            source += here._where(steps.shown.qualify)
        return here._shown(query, steps, source)

    def _steps(self, steps: Sequence[Step], source: str, around: Lookup) -> tuple[NativeLowering, str]:
        here = self
        for step in steps:
            source = here._step(step, source)
            here = replace(here, around=step.lookup(around))
        return here, source

    def _step(self, step: Step, source: str) -> str:
        """Return FROM the rows of a step, which are made of those of a source."""
        columns = [
            f"{self.value(one.value, one.source)} AS {self.dialect.identifier(one.name)}"
            for one in step.columns
        ]
        keys = ", ".join(str(place) for place in range(1, step.keys + 1))
        grouped = f" GROUP BY {keys}" if keys else ""
        listed = ", ".join(columns) or "1"
        return f" FROM (SELECT {listed}{source}{grouped}) AS {self.dialect.identifier(step.alias)}"

    def _shown(self, query: NativeSelect, steps: Steps, source: str) -> str:
        elaborator = self.elaborator()
        values = [elaborator.expression(output.value) for output in steps.shown.outputs]
        pairs = zip(values, steps.shown.outputs, strict=True)
        listed = [
            f"{self.value(value, output.value)} AS {self.dialect.identifier(output.name)}"
            for value, output in pairs
        ]
        once = "DISTINCT " if query.distinct else ""
        if query.once_by:
            by = [self.value(elaborator.expression(one), one) for one in steps.shown.once_by]
            once = f"DISTINCT ON ({', '.join(by)}) "
        order = self._order(steps.shown, values, complete=query.limit is not None or query.offset > 0
                            or bool(query.once_by))  # fmt: skip
        return f"SELECT {once}{', '.join(listed)}{source}{order}{_limit(query)}"

    def _order(self, shown: ShownRows, values: Sequence[Expression], *, complete: bool) -> str:
        """Return ORDER BY, by all columns in the end if rows that tie must be told apart."""
        if complete or shown.order:
            self._refuse_all_but_calls("ORDER BY and LIMIT")
        parts: list[str] = []
        places: set[int] = set()
        outputs = [output.value.unnest() for output in shown.outputs]
        for sorting in shown.order:
            plain = sorting.value.unnest()
            place = outputs.index(plain) + 1 if plain in outputs else 0
            value = self.elaborator().expression(sorting.value)
            if isinstance(value, Constant) or place in places:
                continue
            ordered = Sorted(self._ordered(value, sorting.value), sorting.descending, sorting.nulls_first)
            places.add(place or -1)
            parts.append(ordered.words(str(place) if place else self.value(value, sorting.value)))
        if complete:
            for place, value in enumerate(values, start=1):
                if place not in places and not isinstance(value, Constant):
                    self._ordered(value, shown.outputs[place - 1].value)
                    parts.append(Sorted(value).words(str(place)))
        return f" ORDER BY {', '.join(parts)}" if parts else ""

    def _ordered(self, value: Expression, node: Scalar) -> Expression:
        try:
            return in_order(value)
        except Mistyped as mistake:
            raise refusal(mistake.problem, self.text, span(node, self.text), hint=mistake.hint) from None

    # -------------------------------------------------------------- FROM

    def _from(self, items: Sequence[NativeItem], outside: NativeLowering) -> str:
        if not items:
            return ""
        found = f" FROM {self._item(items[0], outside)}"
        for item in items[1:]:
            if item.kind is JoinKind.INNER and not item.on:
                found += f" CROSS JOIN {self._item(item, outside)}"
            else:
                on = " AND ".join(map(self._condition, item.on)) or "TRUE"
                found += f" {item.kind.value} JOIN {self._item(item, outside)} ON {on}"
        return found

    def _item(self, item: NativeItem, outside: NativeLowering) -> str:
        if isinstance(item.rows, Scan):
            return table_reference(replace(item.rows, alias=item.alias)).sql(self.dialect.grammar)
        compiler = self if item.lateral else outside
        word = "LATERAL " if item.lateral else ""
        return f"{word}({compiler.query(item.rows)}) AS {self.dialect.identifier(item.alias)}"

    # -------------------------------------------------------------- sets

    def _set(self, query: NativeSet) -> str:
        sides = [self._brought(side, query.types) for side in (query.left, query.right)]
        word = f"{query.word.value} ALL" if query.every else query.word.value
        names = ", ".join(self.dialect.identifier(name) for name in query.names)
        rows = f"({sides[0]}) {word} ({sides[1]})"
        if (
            not query.order
            and query.limit is None
            and not query.offset
            and names_of(query.left) == query.names
        ):
            return rows
        alias = "together"
        kinds = dict(zip(query.names, query.types, strict=True))

        def lookup(node: Scalar) -> Variable:
            if isinstance(node, exp.Column) and not node.table:
                return Variable(alias, node.name, kinds[node.name])
            return self.around(node)

        here = replace(self, around=lookup)
        outputs = tuple(
            Output(name, exp.column(exp.to_identifier(name, quoted=True))) for name in query.names
        )
        shown = ShownRows(outputs, (), (), (), query.order)
        values = [lookup(output.value) for output in outputs]
        order = here._order(shown, values, complete=query.limit is not None or query.offset > 0)
        return (
            f"SELECT {names} FROM ({rows}) AS {self.dialect.identifier(alias)}({names}){order}{_limit(query)}"
        )


def _limit(query: NativeQuery) -> str:
    limit = "" if query.limit is None else f" LIMIT {query.limit}"
    return f"{limit} OFFSET {query.offset}" if query.offset else limit


def at_most_one_row(query: NativeQuery) -> bool:
    """Return whether a query returns one row at most, whatever its tables hold."""
    if query.limit is not None and query.limit <= 1:
        return True
    return isinstance(query, NativeSelect) and (query.keys == () or not query.items)
