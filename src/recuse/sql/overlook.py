"""Windows over the rows of an answer → `Windowed` formulas: what they say is post-processing, so free."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sqlglot import exp

from recuse.errors import QueryError
from recuse.sql.columns import Formulas
from recuse.sql.formula import Formula, Look, OrderTerm, OverRows, Windowed, is_noisy
from recuse.sql.kinds import ColumnKind
from recuse.sql.position import refusal, span
from recuse.sql.said import Said

RANKS: dict[type[exp.Expr], OverRows] = {
    exp.RowNumber: OverRows.ROW_NUMBER,
    exp.Rank: OverRows.RANK,
    exp.DenseRank: OverRows.DENSE_RANK,
}
AGGREGATES: dict[type[exp.Expr], OverRows] = {
    exp.Count: OverRows.COUNT,
    exp.Sum: OverRows.SUM,
    exp.Avg: OverRows.AVG,
    exp.Min: OverRows.MIN,
    exp.Max: OverRows.MAX,
}
KEPT = (OverRows.SUM, OverRows.MIN, OverRows.MAX, OverRows.SHIFTED)
"""what is of the kind of its argument"""
FOLDED = (exp.Sum, exp.Max)
"""what may be asked of all rows of an answer: it is the same with groups that have no rows"""


@dataclass(slots=True)
class AnswerWindows:
    """The windows of one SELECT over answers; `before` is how many the question has already."""

    text: str
    before: int = 0
    found: list[Windowed] = field(default_factory=list)

    def read(self, node: exp.Window, formulas: Formulas) -> Said:
        """Return what a window says of a row."""
        held = {key for key, value in node.args.items() if value}
        call = node.this
        if not held <= {"this", "partition_by", "order", "over"}:
            raise self._refuse("this form of a window over an answer is not understood", node)
        partition = tuple(formulas.read(part).formula for part in node.args.get("partition_by") or ())
        order = node.args.get("order")
        terms = tuple(
            OrderTerm(formulas.read(item.this).formula, bool(item.args.get("desc")),
                      bool(item.args.get("nulls_first")))
            for item in (order.expressions if order is not None else ())
        )  # fmt: skip
        if isinstance(call, exp.Lag | exp.Lead):
            return self._shifted(call, formulas, partition, terms)
        if type(call) in RANKS and not any(call.args.values()):
            return self._said(RANKS[type(call)], None, partition, terms)
        return self._aggregate(call, formulas, partition, terms)

    def _shifted(
        self,
        call: exp.Lag | exp.Lead,
        formulas: Formulas,
        partition: tuple[Formula, ...],
        order: tuple[OrderTerm, ...],
    ) -> Said:
        """Return what LAG and LEAD say: NULL where there is no such row."""
        offset = call.args.get("offset") or exp.Literal.number(1)
        far = int(offset.name) if isinstance(offset, exp.Literal) and offset.name.isdigit() else None
        if not order or far is None or call.args.get("default") is not None:
            hint = "write LAG(x) or LAG(x, 2) with OVER (ORDER BY …), and COALESCE for what is missing"
            problem = "this form of a window over an answer is not understood"
            raise refusal(problem, self.text, span(call, self.text), hint=hint)
        argument = formulas.read(call.this)
        said = self._said(OverRows.SHIFTED, argument, partition, order)
        self.found[-1] = replace(self.found[-1], shift=far if isinstance(call, exp.Lead) else -far)
        return Said(self.found[-1], said.kind)

    def fold(self, call: exp.Expr, formulas: Formulas) -> Said | None:
        """Return what an aggregate of all rows of an answer says; None if it is not of released numbers.

        Which keys have rows is not known, so nothing is said of keys.
        """
        said = self._aggregate(call, formulas, (), ())
        return said if is_noisy(said.formula) else None

    def step(self) -> tuple[Look, ...]:
        """Return the step that works the windows out, if there are any."""
        return (Look(tuple(self.found)),) if self.found else ()

    def _aggregate(
        self,
        call: exp.Expr,
        formulas: Formulas,
        partition: tuple[Formula, ...],
        order: tuple[OrderTerm, ...],
    ) -> Said:
        held = {key for key, value in call.args.items() if value} - {"this", "big_int"}
        star = isinstance(call, exp.Count) and (call.this is None or isinstance(call.this, exp.Star))
        if type(call) not in AGGREGATES or held or isinstance(call.this, exp.Distinct):
            raise self._refuse("this function is not answered over the rows of an answer", call)
        if star:
            return self._said(OverRows.COUNT, None, partition, order)
        argument = formulas.read(call.this)
        function = AGGREGATES[type(call)]
        if function in (OverRows.SUM, OverRows.AVG) and not (argument.kind or ColumnKind.NUMBER).is_number:
            raise self._refuse("this is no number", call.this)
        return self._said(function, argument, partition, order)

    def _said(
        self,
        function: OverRows,
        argument: Said | None,
        partition: tuple[Formula, ...],
        order: tuple[OrderTerm, ...],
    ) -> Said:
        place = self.before + len(self.found)
        window = Windowed(place, function, argument.formula if argument else None, partition, order)
        self.found.append(window)
        if function is OverRows.AVG:
            return Said(window, ColumnKind.NUMBER)
        kept = argument if function in KEPT else None
        return Said(window, ColumnKind.INTEGER if kept is None else kept.kind)

    def _refuse(self, problem: str, node: exp.Expr) -> QueryError:
        named = "RANK(), DENSE_RANK(), ROW_NUMBER(), LAG, LEAD, SUM, AVG, MIN, MAX or COUNT"
        hint = f"write {named} with OVER (…), without a frame"
        return refusal(problem, self.text, span(node, self.text), hint=hint)
