"""SQL as a question: a plan, its groups and the settings of its mechanism."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Self

from recuse.engines.collect import NO_GROUPS, Collected, GroupDomain, collect_domain, collect_public
from recuse.engines.engine import Engine
from recuse.errors import QueryError
from recuse.krelation.relation import Shape
from recuse.mechanism.clipped import clipped
from recuse.mechanism.extreme import PRIORS
from recuse.mechanism.groups import Groups, OneOwner, SideBySide, Together
from recuse.mechanism.hull import HullGroups
from recuse.mechanism.mechanisms import mechanism_for
from recuse.mechanism.ordered import AtRank, Largest, Ordered, PlacedGroup
from recuse.mechanism.prepared import prepare
from recuse.mechanism.priced import PriceList, priced
from recuse.mechanism.recursive import Recursive
from recuse.privacy import Epsilon
from recuse.session.answer import Answer
from recuse.session.cells import Combined, Row, StandIn, evaluate, standing_in
from recuse.session.finished import finished, label_of
from recuse.session.formulas import Given, Keys
from recuse.session.question import Arrangement, Part, Releases, Subjects, exactly
from recuse.solver.programs import Solver
from recuse.sql.compile import DerivationQuery, Plan
from recuse.sql.identity import meaning
from recuse.sql.native.question import PublicQuery
from recuse.sql.ordered import OrderedValue
from recuse.sql.placeholder import FIRST_SHARE
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
    firsts: tuple[SqlQuestion, ...] = ()
    scalars: tuple[Combined, ...] = ()
    """what was released first, once it is: the plan has it in its places"""

    @classmethod
    def of(cls, plan: Plan, engine: Engine, loss: Epsilon, mechanism: str, policy: str) -> Self:
        """Return the question that a plan asks, or refuse it. Public tables are read, and nothing else.

        Guarantee: the parts' ε and those of `firsts`, each times how many groups it is paid for in, add up to
        `loss`. How it is split follows from the plan alone.
        """
        domain = collect_domain(engine, plan.grouping)
        if len(domain.keys) > MAX_GROUPS:
            raise QueryError(
                "there are too many groups",
                found=f"{len(domain.keys):,}",
                accepted=f"{MAX_GROUPS:,}",
                hint="list fewer keys in WHERE",
            )
        first, rest = shares(plan, loss)
        firsts = tuple(
            cls(one.plan, NO_GROUPS, engine, loss, _parts(one.plan, NO_GROUPS, first, mechanism), policy)
            for one in plan.firsts
        )
        return cls(plan, domain, engine, loss, _parts(plan, domain, rest, mechanism), policy, firsts)

    def given(self, firsts: Sequence[Releases]) -> Self:
        """Return the question with what was released first in its places."""
        if not self.plan.firsts:
            return self
        scalars: list[Combined] = []
        for first, releases in zip(self.plan.firsts, firsts, strict=False):
            (shown,) = first.plan.columns
            given = Given([found for (found,) in releases], (), [scalar.value for scalar in scalars])
            scalars.append(standing_in(evaluate(shown.what, given, scalars), first.type))
        plan = self.plan.filled([scalar.value for scalar in scalars])
        return replace(self, plan=plan, scalars=tuple(scalars))

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
        measures = zip(self.plan.measures, self.parts, strict=True)
        return [_groups(measure, part, rows, solver) for measure, part in measures]

    def arrange(self, keys: Sequence[Keys], releases: Releases) -> Arrangement:
        """Return the table: labels first, the rows that HAVING and LIMIT leave, in the order of ORDER BY."""
        plan, scalars = self.plan, self.scalars
        values = [scalar.value for scalar in scalars]
        rows = [Given(found, group, values) for group, *found in zip(keys, *releases, strict=True)]
        labels = [shown for shown in plan.columns if shown.is_label]
        numbers = [shown for shown in plan.columns if not shown.is_label]
        return Arrangement(
            tuple(shown.name for shown in labels),
            tuple(shown.name for shown in numbers),
            tuple(
                Row(
                    tuple(label_of(shown.what, row) for shown in labels),
                    tuple(evaluate(shown.what, row, scalars) for shown in numbers),
                )
                for row in finished(rows, plan.steps)
            ),
            tuple(StandIn(first.text, cell) for first, cell in zip(plan.firsts, scalars, strict=False)),
        )

    def public_answer(self, query: PublicQuery) -> Answer:
        """Return the rows of a question about nobody, as they are: exact and free, of any type."""
        rows = tuple(Row(row, ()) for row in collect_public(self.engine, query))
        return Answer(query.names, (), rows, Fraction(0))

    def exact_answer(self, solver: Solver, totals: Callable[[Groups], list[int | None]]) -> Answer:
        """Return the answer with numbers in place of private ones: NOT PRIVATE by itself.

        It is for questions about nobody, with what nobody owns, and for data that is declared public.
        """
        firsts: list[Releases] = []
        for first in self.firsts:
            firsts.append(first.given(firsts).exact_releases(solver, totals))
        asked = self.given(firsts)
        table = asked.arrange(self.keys, asked.exact_releases(solver, totals))
        return Answer(table.key_names, table.names, table.rows, Fraction(0), stand_ins=table.stand_ins)

    def exact_releases(self, solver: Solver, totals: Callable[[Groups], list[int | None]]) -> Releases:
        """Return numbers in place of private ones: NOT PRIVATE by itself."""
        return [
            [exactly(total, part) for total in totals(groups)]
            for part, groups in zip(self.parts, self.read_private_rows(solver), strict=True)
        ]


def shares(plan: Plan, loss: Epsilon) -> tuple[Fraction, Fraction]:
    """Return the ε of each measure that is released first, and of each of the question itself.

    Measures of rows that nobody owns cost nothing, and have no share.
    """
    firsts = sum(measure.is_owned for first in plan.firsts for measure in first.plan.measures)
    rest = sum(measure.is_owned for measure in plan.measures)
    share = FIRST_SHARE if firsts and rest else Fraction(1 if firsts else 0)
    return loss.value * share / max(firsts, 1), loss.value * (1 - share) / max(rest, 1)


def _parts(plan: Plan, domain: GroupDomain, share: Fraction, mechanism: str) -> tuple[Part, ...]:
    return tuple(
        Part(
            mechanism_for(
                mechanism, Epsilon(share / shared(measure, domain)), measure.shape, bound_of(measure)
            )
            if measure.is_owned
            else None,
            measure.granularity,
            counted=measure.aggregate.whole,
        )
        for measure in plan.measures
    )


def bound_of(measure: DerivationQuery) -> int | None:
    """Return the public bound on what a participant has in one group; of vectors it says nothing."""
    return measure.bound if measure.sharing is Sharing.SIDE_BY_SIDE else None


def shared(measure: DerivationQuery, domain: GroupDomain) -> int:
    """Return into how many parts the ε of a measure is split before its mechanism is made.

    Answers that are one of the rows' values are released one by one: a participant is paid for in every group
    that one can touch.
    """
    one_by_one = measure.aggregate.placed and measure.sharing is not Sharing.SIDE_BY_SIDE
    return price_list(measure, domain).most if one_by_one else 1


def _groups(measure: DerivationQuery, part: Part, rows: Collected, solver: Solver) -> Groups:
    """Return the groups of a measure in the form that query and policy say."""
    if isinstance(measure.aggregate, OrderedValue):
        asked, sign = measure.aggregate, measure.aggregate.sign
        picker = AtRank(asked.rank) if asked.rank is not None else Largest(PRIORS[sign])
        placed = [PlacedGroup(group, solver) for group in rows.placed(measure)]
        return Ordered(placed, picker, sign, shared(measure, rows.domain))
    if measure.sharing is Sharing.ONE_OWNER:
        return OneOwner(clipped(rows.contributions(measure), solver))
    relations = rows.relations(measure)
    if measure.sharing is Sharing.SIDE_BY_SIDE or len(relations) < 2:
        return SideBySide([prepare(relation, solver) for relation in relations])
    prices = price_list(measure, rows.domain)
    one_price = measure.shape is Shape.THRESHOLDS or isinstance(part.mechanism, Recursive)
    if prices.worthwhile and not one_price:
        return Together(priced(relations, prices, solver))
    return Together(HullGroups([prepare(relation, solver) for relation in relations]))


def price_list(measure: DerivationQuery, domain: GroupDomain) -> PriceList:
    """Return how many groups each kind of participant can touch."""
    return PriceList(len(domain.keys), {touch.kind: touch.most(domain.keys) for touch in measure.touches})
