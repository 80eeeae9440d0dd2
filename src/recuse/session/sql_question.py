"""SQL as a question: a plan, its groups and the settings of its mechanism."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

from recuse.engines.collect import Collected, GroupDomain, collect_domain
from recuse.engines.engine import Engine
from recuse.errors import QueryError
from recuse.mechanism.clipped import clipped
from recuse.mechanism.extreme import PRIORS
from recuse.mechanism.groups import Groups, OneOwner, Shared, SideBySide
from recuse.mechanism.mechanisms import mechanism_for
from recuse.mechanism.ordered import AtRank, Largest, Ordered, PlacedGroup
from recuse.mechanism.prepared import prepare
from recuse.mechanism.release import Release
from recuse.privacy import Epsilon
from recuse.session.answer import Answer
from recuse.session.cells import Keys, Row, evaluate
from recuse.session.question import Arrangement, Part, Releases, Subjects
from recuse.solver.programs import Solver
from recuse.sql.compile import DerivationQuery, Plan
from recuse.sql.identity import meaning
from recuse.sql.ordered import OrderedValue
from recuse.sql.read import ShownKey
from recuse.sql.sharing import Sharing

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

        Guarantee: the parts' ε, times how many groups they are paid for in, add up to `loss`.
        """
        domain = collect_domain(engine, plan.grouping)
        if len(domain.keys) > MAX_GROUPS:
            raise QueryError(
                "there are too many groups",
                found=f"{len(domain.keys):,}",
                accepted=f"{MAX_GROUPS:,}",
                hint="list fewer keys in WHERE",
            )
        share = loss.value / len(plan.measures)
        parts = tuple(
            Part(
                mechanism_for(mechanism, Epsilon(share / shared(measure, domain)), measure.shape),
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

    def identity(self) -> Any:
        return ["sql", meaning(self.plan)]

    def read_private_rows(self, solver: Solver) -> Subjects:
        rows = Collected.of(self.engine, self.plan, self.domain)
        return [_groups(measure, rows, solver) for measure in self.plan.measures]

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

    def exact_answer(self, totals: Iterable[list[int | None]]) -> Answer:
        """Return the answer with numbers in place of private ones: NOT PRIVATE by itself.

        It is for questions about nobody, with what nobody owns, and for data that is declared public.
        """
        releases = [
            [_exactly(None if total is None else total * part.unit, counted=part.counted) for total in groups]
            for part, groups in zip(self.parts, totals, strict=True)
        ]
        table = self.arrange(self.keys, releases)
        return Answer(table.key_names, table.names, table.rows, Fraction(0))


def shared(measure: DerivationQuery, domain: GroupDomain) -> int:
    """Return into how many parts the ε of a measure is split before its mechanism is made.

    Answers that are one of the rows' values are released one by one: a participant who may touch all groups
    is paid for in each.
    """
    one_by_one = measure.aggregate.placed and measure.sharing is not Sharing.SIDE_BY_SIDE
    return max(1, len(domain.keys)) if one_by_one else 1


def _groups(measure: DerivationQuery, rows: Collected, solver: Solver) -> Groups:
    """Return the groups of a measure in the form that query and policy say."""
    if isinstance(measure.aggregate, OrderedValue):
        asked, sign = measure.aggregate, measure.aggregate.sign
        picker = AtRank(asked.rank) if asked.rank is not None else Largest(PRIORS[sign])
        placed = [PlacedGroup(group, solver) for group in rows.placed(measure)]
        return Ordered(placed, picker, sign, shared(measure, rows.domain))
    if measure.sharing is Sharing.ONE_OWNER:
        return OneOwner(clipped(rows.contributions(measure), solver))
    relations = [prepare(relation, solver) for relation in rows.relations(measure)]
    return SideBySide(relations) if measure.sharing is Sharing.SIDE_BY_SIDE else Shared(relations)


def _exactly(value: Fraction | None, *, counted: bool) -> Release:
    none, zero = value is None, Fraction(0)
    return Release(value or zero, (value, value), zero, zero, "public", counted=counted, undefined=none)
