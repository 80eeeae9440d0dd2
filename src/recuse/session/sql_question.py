"""SQL as a question: a plan, its groups and the settings of its mechanism."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

from recuse.engines.collect import GroupDomain, collect, collect_domain
from recuse.engines.engine import Engine
from recuse.errors import QueryError
from recuse.mechanism.mechanisms import mechanism_for
from recuse.mechanism.prepared import Relation, prepare
from recuse.mechanism.release import Release
from recuse.privacy import Epsilon
from recuse.session.answer import Answer
from recuse.session.cells import Keys, Row, evaluate
from recuse.session.question import Arrangement, Part, Releases, Subjects
from recuse.solver.programs import Solver
from recuse.sql.compile import Plan
from recuse.sql.identity import meaning
from recuse.sql.read import ShownKey

MAX_GROUPS = 10_000


@dataclass(frozen=True, slots=True)
class SqlQuestion:
    """A `Question` about a database."""

    plan: Plan
    domain: GroupDomain
    engine: Engine
    loss: Epsilon
    parts: tuple[Part, ...]
    policy: str

    @classmethod
    def of(cls, plan: Plan, engine: Engine, loss: Epsilon, mechanism: str, policy: str) -> Self:
        """Return the question that a plan asks, or refuse it. Public tables are read, and nothing else.

        Guarantee: the parts' ε add up to `loss`; the groups of a part together cost its ε.
        """
        domain = collect_domain(engine, plan.grouping)
        if len(domain.keys) > MAX_GROUPS:
            raise QueryError(
                "there are too many groups",
                found=f"{len(domain.keys):,}",
                accepted=f"{MAX_GROUPS:,}",
                hint="list fewer keys in WHERE",
            )
        share = Epsilon(loss.value / len(plan.measures))
        parts = tuple(
            Part(
                mechanism_for(mechanism, share, measure.shape),
                measure.granularity,
                counted=not measure.aggregate.signed,
            )
            for measure in plan.measures
        )
        return cls(plan, domain, engine, loss, parts, policy)

    @property
    def text(self) -> str:
        return self.plan.text

    @property
    def keys(self) -> Sequence[Keys]:
        return self.domain.keys

    @property
    def disjoint(self) -> bool:
        return self.plan.grouping is None or self.plan.grouping.disjoint

    def identity(self) -> Any:
        return ["sql", meaning(self.plan)]

    def read_private_rows(self, solver: Solver) -> Subjects:
        relations = collect(self.engine, self.plan, self.domain)
        return [[prepare(relation, solver) for relation in groups] for groups in relations]

    def arrange(self, keys: Sequence[Keys], releases: Releases) -> Arrangement:
        """Return the table: keys first, rows in the order that ORDER BY asks for."""
        plan = self.plan
        shown_keys = [shown for shown in plan.columns if isinstance(shown.what, ShownKey)]
        shown_cells = [shown for shown in plan.columns if not isinstance(shown.what, ShownKey)]

        def sorting(row: Row, place: int) -> tuple[bool, Any]:
            shown = plan.columns[place]
            if isinstance(shown.what, ShownKey):
                return False, row.keys[shown.what.position]
            value = row.cells[shown_cells.index(shown)].value
            return value is None, value or 0

        formulas = [shown.what for shown in plan.columns if not isinstance(shown.what, ShownKey)]
        rows = [
            Row(group, tuple(evaluate(formula, found) for formula in formulas))
            for group, *found in zip(keys, *releases, strict=True)
        ]
        for place, descending in reversed(plan.order):
            rows.sort(key=lambda row: sorting(row, place), reverse=descending)
        positions = [shown.what.position for shown in shown_keys if isinstance(shown.what, ShownKey)]
        return Arrangement(
            tuple(shown.name for shown in shown_keys),
            tuple(shown.name for shown in shown_cells),
            tuple(Row(tuple(row.keys[p] for p in positions), row.cells) for row in rows),
        )

    def exact_answer(self, subjects: Subjects, total: Callable[[Relation], int]) -> Answer:
        """Return the answer with a number of each relation in place of a private one: NOT PRIVATE by itself.

        It is for questions about nobody, with what nobody owns, and for data that is declared public.
        """
        releases = [
            [_exactly(total(group.relation) * part.unit, counted=part.counted) for group in groups]
            for part, groups in zip(self.parts, subjects, strict=True)
        ]
        table = self.arrange(self.keys, releases)
        return Answer(table.key_names, table.names, table.rows, Fraction(0))


def _exactly(value: Fraction, *, counted: bool) -> Release:
    return Release(value, (value, value), Fraction(0), Fraction(0), "public", counted=counted)
