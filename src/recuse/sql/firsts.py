"""The numbers that stand in a question and are released before it is asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TypeGuard

from sqlglot import exp

from recuse.fold import fold
from recuse.scalars.types import Date, Timestamp
from recuse.sql.finish import Shown
from recuse.sql.formula import Formula, Operation, Operator, ReleasedFirst, Term, operation
from recuse.sql.kinds import ColumnKind
from recuse.sql.measure import Measure
from recuse.sql.named import Known
from recuse.sql.placeholder import (
    DAY,
    DECIMAL,
    EDGE,
    FIRST_SHARE,
    LARGER_SHARE,
    SAID,
    SECOND,
    WHOLE,
    PlaceType,
    Released,
)
from recuse.sql.position import span
from recuse.sql.reading import First, Reading
from recuse.sql.relations import Relations
from recuse.sql.said import Said

_KINDS: dict[ColumnKind, PlaceType] = {
    ColumnKind.INTEGER: WHOLE,
    ColumnKind.NUMBER: DECIMAL,
    ColumnKind.DATE: DAY,
    ColumnKind.TIMESTAMP: SECOND,
}
"""the type of the place for each kind of value"""


@dataclass(slots=True)
class Firsts:
    """The scalars met so far; one that is written twice is one."""

    read: Callable[[exp.Expr, Relations, Known, Firsts], Reading]
    asked: list[First] = field(default_factory=list)
    places: dict[tuple[object, ...], int] = field(default_factory=dict)
    share: Fraction = FIRST_SHARE

    def forget(self, kept: int) -> None:
        """Drop all but the scalars that were met first."""
        del self.asked[kept:]
        self.places = {meant: place for meant, place in self.places.items() if place < kept}

    def end(self, measure: Measure, text: str) -> int:
        """Return the position of an end of a key: the largest or the smallest of its whole numbers."""
        shown = Shown(text, Term(0), ColumnKind.INTEGER)
        self.asked.append(First(Reading((measure,), (shown,)), WHOLE, text, end=True))
        return len(self.asked) - 1

    def place(self, tree: exp.Expr, relations: Relations, known: Known) -> Released:
        """Return the place of the number that a subquery stands for."""
        meant = _meaning(tree, known)
        if meant not in self.places:
            found = self.read(tree, relations, known, self)
            if EDGE in tree.meta and not found.columns[0].kind.is_number:
                raise relations.met.refuse(
                    "between ends that are released a histogram is one of numbers",
                    tree.expressions[0].this,
                    "list the edges: HISTOGRAM(d, [DATE '2025-01-01', DATE '2026-01-01']);"
                    " or count days: HISTOGRAM(date_diff('day', DATE '2025-01-01', d), 20)",
                )
            kind = _KINDS.get(found.columns[0].kind) if len(found.columns) == 1 else None
            if kind is None or found.keys or found.steps:
                problem = "a subquery that stands for a value of private rows returns one number or moment"
                raise relations.met.refuse(problem, tree, "return one aggregate, without GROUP BY")
            if isinstance(kind, Date | Timestamp):
                found = replace(found, columns=(_counted(found.columns[0]),))
            if EDGE not in tree.meta and any(measure.aggregate.placed for measure in found.measures):
                self.share = LARGER_SHARE
            self.asked.append(First(found, kind, _written(tree, relations.schema.text)))
            self.places[meant] = len(self.asked) - 1
        return self._at(self.places[meant])

    def again(self, tree: exp.Expr, known: Known) -> Released | None:
        """Return the place that a subquery has: it uses no columns around it, so it is the same anywhere."""
        position = self.places.get(_meaning(tree, known))
        return None if position is None else self._at(position)

    def _at(self, position: int) -> Released:
        return Released.at(position, self.asked[position].type)


def _meaning(tree: exp.Expr, known: Known) -> tuple[object, ...]:
    """Return what a query says, and which CTEs it says it of."""
    named = [fold(table.name) for table in tree.find_all(exp.Table)] if known else []
    return tree, *(id(known[name].tree) for name in named if name in known)


def said_first(position: int, kind: PlaceType, column: ColumnKind) -> Said:
    """Return a value that was released first, where an answer shows it."""
    found = ReleasedFirst(position)
    match kind:
        case Date():
            return Said(operation(Operator.DATE, found), ColumnKind.DATE)
        case Timestamp():
            return Said(operation(Operator.MOMENT, found), ColumnKind.TIMESTAMP)
    return Said(found, column)


def _counted(shown: Shown) -> Shown:
    """Return a moment as the number of days or seconds that it is released as."""
    since = shown.what.arguments[0] if _is_moment(shown.what) else operation(Operator.SINCE, shown.what)
    return replace(shown, what=since, kind=ColumnKind.INTEGER)


def _is_moment(formula: Formula) -> TypeGuard[Operation]:
    return isinstance(formula, Operation) and formula.operator in (Operator.DATE, Operator.MOMENT)


def _written(tree: exp.Expr, text: str) -> str:
    place = span(tree, text)
    if SAID in tree.meta:
        return str(tree.meta[SAID])
    return tree.sql(dialect="duckdb") if place is None else text[place[0] : place[1] + 1]
