"""ORDER BY, LIMIT, OFFSET and DISTINCT over an answer → steps: what is done with rows that were released.

All of it looks at released numbers and public keys alone, so it is free, and no row of an answer that is
stored depends on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from recuse.errors import QueryError
from recuse.fold import same
from recuse.sql.columns import Formulas
from recuse.sql.formula import Arrange, FinishingStep, FirstRows, Formula, OrderTerm, ShownKey, is_noisy
from recuse.sql.kinds import ColumnKind
from recuse.sql.position import clause_span, refusal, span

FINISHED = frozenset({"order", "limit", "offset", "distinct"})
"""the clauses that are read here"""
DISTINCT = "DISTINCT over the answer drops rows that happen to be equal"
MOST_ROWS = 10**9


@dataclass(frozen=True, slots=True)
class Shown:
    """An output column."""

    name: str
    what: Formula
    """what it shows"""
    kind: ColumnKind
    told: bool = False
    """whether it says what its row is about although it is made of what was released first: an edge"""

    @property
    def is_label(self) -> bool:
        """Whether it says what a row is about, and holds no number that has an interval."""
        return self.told or not self.kind.is_number or not is_noisy(self.what)


@dataclass(frozen=True, slots=True)
class Finish:
    """A reader of what stands behind a SELECT, given its columns and how else expressions are read."""

    columns: Sequence[Shown]
    formulas: Formulas
    text: str

    def steps(self, tree: exp.Expr, keys: int) -> tuple[FinishingStep, ...]:
        """Return the steps that a query asks for, in their order; `keys` is how many GROUP BY has."""
        self._refuse_distinct(tree, keys)
        found: list[FinishingStep] = []
        order = tree.args.get("order")
        if order is not None:
            terms = [term for item in order.expressions for term in self._terms(item)]
            found.append(Arrange(tuple(terms)))
        limit, offset = self._limit(tree), self._count(tree.args.get("offset"), "OFFSET") or 0
        if limit is not None or offset:
            found.append(FirstRows(offset, limit))
        return tuple(found)

    def _terms(self, item: exp.Expr) -> list[OrderTerm]:
        node = item.this
        first = bool(item.args.get("nulls_first"))
        if isinstance(node, exp.Var) and same(node.name, "ALL"):
            formulas = [shown.what for shown in self.columns]
        else:
            formulas = [self._meant(node)]
        return [OrderTerm(formula, bool(item.args.get("desc")), first) for formula in formulas]

    def _meant(self, node: exp.Expr) -> Formula:
        """Return the column that a position or an alias names, else the formula that is written."""
        if isinstance(node, exp.Literal) and not node.is_string and node.name.isdigit():
            place = int(node.name)
            if not 1 <= place <= len(self.columns):
                raise self._refuse(f"there is no column {place}", node, f"there are {len(self.columns)}")
            return self.columns[place - 1].what
        if isinstance(node, exp.Column) and not node.table:
            named = [shown.what for shown in self.columns if same(shown.name, node.name)]
            if named:
                return named[0]
        return self.formulas.read(node).formula

    def _limit(self, tree: exp.Expr) -> int | None:
        clause = tree.args.get("limit")
        if isinstance(clause, exp.Fetch):
            options = clause.args.get("limit_options")
            if options is not None and (options.args.get("percent") or options.args.get("with_ties")):
                raise self._refuse("this form of FETCH is not accepted", clause, "write LIMIT 10")
            count = clause.args.get("count") or exp.Literal.number(1)
            return self._count(exp.Limit(expression=count.copy()), "FETCH")
        return self._count(clause, "LIMIT")

    def _count(self, clause: exp.Expr | None, word: str) -> int | None:
        """Return the number of rows that a clause names."""
        if clause is None:
            return None
        node = clause.args.get("expression")
        plain = isinstance(node, exp.Literal) and not node.is_string and node.name.isdigit()
        if node is None or not plain or clause.args.get("limit_options") or int(node.name) > MOST_ROWS:
            place = clause_span(clause, word, self.text)
            raise refusal(f"{word} takes a number of rows", self.text, place, hint=f"write {word} 10")
        return int(node.name)

    def _refuse_distinct(self, tree: exp.Expr, keys: int) -> None:
        """Refuse DISTINCT unless the rows are different anyway: one row, or every key among the columns."""
        once = tree.args.get("distinct")
        shown = {one.what.position for one in self.columns if isinstance(one.what, ShownKey)}
        if once is None or (len(shown) == keys and not once.args.get("on")):
            return
        place = clause_span(once, "DISTINCT", self.text)
        hint = "leave DISTINCT out, or select every key of GROUP BY"
        raise refusal(DISTINCT, self.text, place, hint=hint)

    def _refuse(self, problem: str, node: exp.Expr, hint: str) -> QueryError:
        return refusal(problem, self.text, span(node, self.text), hint=hint)


def renamed(columns: Sequence[Shown], names: Sequence[str]) -> tuple[Shown, ...]:
    """Return columns under other names, the first ones first."""
    given = [*names, *(shown.name for shown in columns[len(names) :])]
    return tuple(replace(shown, name=name) for shown, name in zip(columns, given, strict=False))
