"""A SELECT around an answer → the answer as it shows it: what it makes of the rows is free."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from recuse.errors import QueryError
from recuse.fold import same
from recuse.sql.columns import Formulas
from recuse.sql.finish import FINISHED, Finish, Shown
from recuse.sql.formula import FinishingStep, FirstRows, Keep, Look
from recuse.sql.kinds import ColumnKind
from recuse.sql.overlook import FOLDED, AnswerWindows
from recuse.sql.reading import Reading
from recuse.sql.refuse import refuse_clauses
from recuse.sql.relations import Relations
from recuse.sql.said import Said


@dataclass(frozen=True, slots=True)
class Onlooker:
    """A reader of a SELECT around an answer: what it makes of the answer's rows is free."""

    relations: Relations
    answer: Reading
    name: str = ""

    def reading(self, tree: exp.Expr) -> Reading:
        """Return the answer as the SELECT around it shows it."""
        text = self.relations.schema.text
        windows = self._windows()

        def begin(node: exp.Expr) -> Said | None:
            return windows.read(node, formulas) if isinstance(node, exp.Window) else self._column(node)

        formulas = Formulas(begin, text, self._not_understood)
        steps: list[FinishingStep] = []
        kept: list[FinishingStep] = []
        columns = self.answer.columns
        if isinstance(tree, exp.Select):
            refuse_clauses(tree, text, {"expressions", "from_", "where", "with_", "qualify", *FINISHED})
            if tree.args.get("where") is not None:
                steps.append(Keep(formulas.condition(tree.args["where"].this)))
            columns = tuple(shown for node in tree.expressions for shown in self._shown(node, formulas))
            if tree.args.get("qualify") is not None:
                kept.append(Keep(formulas.condition(tree.args["qualify"].this)))
        finish = Finish(columns, formulas, text).steps(tree, len(self.answer.keys))
        every = (*self.answer.steps, *steps, *windows.step(), *kept, *finish)
        return replace(self.answer, columns=columns, steps=every)

    def folded(self, tree: exp.Select) -> Reading:
        """Return the one row that aggregates make of the answer's rows."""
        text = self.relations.schema.text
        refuse_clauses(tree, text, {"expressions", "from_", "with_"})
        windows = self._windows()

        def begin(node: exp.Expr) -> Said | None:
            if isinstance(node, FOLDED):
                return windows.fold(node, formulas)
            return self._column(node)

        formulas = Formulas(begin, text, self._not_understood)
        columns = tuple(shown for node in tree.expressions for shown in self._shown(node, formulas))
        steps = (*self.answer.steps, *windows.step(), FirstRows(0, 1))
        return replace(self.answer, columns=columns, steps=steps)

    def _windows(self) -> AnswerWindows:
        before = sum(len(step.windows) for step in self.answer.steps if isinstance(step, Look))
        return AnswerWindows(self.relations.schema.text, before)

    def _shown(self, node: exp.Expr, formulas: Formulas) -> Sequence[Shown]:
        if node.is_star:
            star = node if isinstance(node, exp.Star) else node.this
            if any(star.args.values()):
                raise self.relations.met.refuse("this form of * is not accepted", node, "name the columns")
            return self.answer.columns
        said = formulas.read(node.unalias())
        name = node.alias or (node.name if isinstance(node, exp.Column) else node.sql())
        return [Shown(name, said.formula, said.kind or ColumnKind.OTHER)]

    def _column(self, node: exp.Expr) -> Said | None:
        if not isinstance(node, exp.Column) or (node.table and not same(node.table, self.name)):
            return None
        found = [shown for shown in self.answer.columns if same(shown.name, node.name)]
        if len(found) != 1:
            names = ", ".join(shown.name for shown in self.answer.columns)
            raise self.relations.met.refuse(f"there is no column {node.name} here", node, f"there: {names}")
        return Said(found[0].what, found[0].kind)

    def _not_understood(self, node: exp.Expr) -> QueryError:
        hint = "write it with +, -, *, /, CASE, COALESCE, ROUND and comparisons"
        return self.relations.met.refuse("this is not computed from an answer", node, hint)
