"""The numbers that stand in a question and are released before it is asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

from sqlglot import exp

from recuse.fold import fold
from recuse.sql.finish import Shown
from recuse.sql.formula import Term
from recuse.sql.kinds import ColumnKind
from recuse.sql.measure import Measure
from recuse.sql.named import Known
from recuse.sql.placeholder import DECIMAL, EDGE, FIRST_SHARE, LARGER_SHARE, SAID, WHOLE, Released
from recuse.sql.position import span
from recuse.sql.reading import First, Reading
from recuse.sql.relations import Relations


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
            if len(found.columns) != 1 or found.keys or found.steps or not found.columns[0].kind.is_number:
                problem = "a subquery that stands for a value of private rows returns one number"
                raise relations.met.refuse(problem, tree, "return one COUNT, SUM or AVG, without GROUP BY")
            kind = WHOLE if found.columns[0].kind is ColumnKind.INTEGER else DECIMAL
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


def _written(tree: exp.Expr, text: str) -> str:
    place = span(tree, text)
    if SAID in tree.meta:
        return str(tree.meta[SAID])
    return tree.sql(dialect="duckdb") if place is None else text[place[0] : place[1] + 1]
