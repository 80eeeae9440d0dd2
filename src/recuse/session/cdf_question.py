"""An empirical distribution as a question: which share of the rows lies up to each edge, for one ε."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

from recuse.engines.collect import Collected
from recuse.errors import QueryError
from recuse.mechanism.cumulative import Cumulative
from recuse.mechanism.groups import RunningTotals
from recuse.mechanism.release import Release
from recuse.noise import Noise
from recuse.privacy import Delta, Epsilon
from recuse.session.cells import Combined, Row, confidence, within
from recuse.session.formulas import Keys
from recuse.session.monotone import falling
from recuse.session.question import Arrangement, Part, Question, Releases, Subjects
from recuse.session.sql_question import SqlQuestion
from recuse.session.truth import UNKNOWN
from recuse.session.vectors import vectors
from recuse.solver.programs import Solver
from recuse.sql.sharing import has_one_owner

SHARE = "share"


@dataclass(frozen=True, slots=True)
class CdfQuestion:
    """A `Question`: the running totals of a histogram's bins, each as a share of the last.

    Rows have one owner each, so that all bins have all of ε however many they are (theorem E0).
    """

    bins: SqlQuestion

    delta: ClassVar[Delta | None] = None

    @classmethod
    def of(cls, bins: SqlQuestion) -> Self:
        """Return the question about the bins of a histogram, or refuse it."""
        plan = bins.plan
        keys = () if plan.grouping is None else plan.grouping.names
        if len(plan.measures) != 1 or len(keys) != 1 or plan.steps or plan.finding is not None:
            raise QueryError("a distribution is of one value", hint="name a column, tables, and a condition")
        if not has_one_owner(plan.single.tables):
            raise QueryError(
                "a distribution is answered of rows with one owner each",
                hint="ask how many rows lie up to some edges: COUNT(*) … WHERE x <= 10, or for a histogram",
            )
        return cls(bins)

    @property
    def text(self) -> str:
        return f"shares up to each edge: {self.bins.text}"

    @property
    def loss(self) -> Epsilon:
        return self.bins.loss

    @property
    def policy(self) -> str:
        return self.bins.policy

    @property
    def parts(self) -> Sequence[Part]:
        return self.bins.parts

    @property
    def keys(self) -> Sequence[Keys]:
        return self.bins.keys

    @property
    def firsts(self) -> Sequence[Question]:
        return self.bins.firsts

    def given(self, firsts: Sequence[Releases]) -> Self:
        return replace(self, bins=self.bins.given(firsts))

    def found(self, solver: Solver, noise: Noise) -> Self:
        return replace(self, bins=self.bins.found(solver, noise))

    def identity(self) -> Any:
        return ["cdf", self.bins.identity()]

    def read_private_rows(self, solver: Solver) -> Subjects:
        rows = Collected.of(self.bins.engine, self.bins.plan, self.bins.domain)
        (measure,) = self.bins.plan.measures
        return [RunningTotals(Cumulative(vectors(measure, rows, solver)))]

    def arrange(self, keys: Sequence[Keys], releases: Releases) -> Arrangement:
        """Return a row for every edge: shares made not to fall from one to the next, which costs nothing."""
        (found,) = releases
        table = self.bins.arrange(keys, releases)
        rising = falling([one.value for one in reversed(found)])[::-1]
        rows = [
            Row(row.keys[-1:], (share_of(one, value, found[-1], rising[-1]),))
            for row, one, value in zip(table.rows, found, rising, strict=True)
        ]
        return replace(
            table, key_names=table.key_names[-1:], names=(SHARE,), rows=tuple(rows[:-1])
        )  # above the last edge there is nothing more


def share_of(part: Release, value: Fraction, whole: Release, total: Fraction) -> Combined:
    """Return a part of a whole, both released: the interval holds if both of theirs do."""
    (low, high), (least, most) = part.interval, whole.interval
    found = Combined(
        value / total if total else None,
        (
            low / most if low is not None and most else None,
            high / least if high is not None and least else None,
        ),
        max(0.0, 1 - (1 - confidence(part)) - (1 - confidence(whole))),
        part.epsilon,
        UNKNOWN,
    )
    return within(found, Fraction(0), Fraction(1))
