"""SQL as a question: a plan, its groups and the settings of its mechanism."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Self

from recuse.engines.candidates import Candidates
from recuse.engines.collect import (
    NO_GROUPS,
    Collected,
    GroupDomain,
    collect_domain,
    collect_public,
)
from recuse.engines.engine import Engine
from recuse.errors import QueryError
from recuse.krelation.relation import Shape
from recuse.mechanism.groups import Groups, OneOwner, SideBySide, Together
from recuse.mechanism.hull import HullGroups
from recuse.mechanism.mechanisms import DEFAULT
from recuse.mechanism.peeled import Peeled, worth_peeling
from recuse.mechanism.prepared import prepare, prepare_kept
from recuse.mechanism.priced import priced
from recuse.mechanism.recursive import Recursive
from recuse.noise import Noise
from recuse.privacy import Delta, Epsilon
from recuse.session.answer import Answer
from recuse.session.candidates import finder_of
from recuse.session.cells import Combined, Row, StandIn, evaluate, standing_in
from recuse.session.finished import finished, label_of
from recuse.session.formulas import Given, Keys, moment_of
from recuse.session.intervals import UNBOUNDED
from recuse.session.picked import PickedValue, picked
from recuse.session.question import Arrangement, Part, Releases, Subjects, exactly
from recuse.session.scale import cut_cautions, spared_cautions
from recuse.session.shares import Split, parts_of, price_list, refuse_delta, refuse_thin_shares
from recuse.session.vectors import vectors
from recuse.solver.programs import Solver
from recuse.sql.dense import Dense
from recuse.sql.grouping import MAX_GROUPS, Grouping
from recuse.sql.identity import meaning
from recuse.sql.native.question import PublicQuery
from recuse.sql.plan import DerivationQuery, FirstPlan, Plan
from recuse.sql.sharing import Sharing

Totals = Callable[[Groups], list[int | None]]
"""the numbers of all groups, in place of private ones"""


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
    named: str = DEFAULT
    """the mechanism that was asked for"""
    delta: Delta | None = None

    @classmethod
    def of(
        cls,
        plan: Plan,
        engine: Engine,
        loss: Epsilon,
        mechanism: str,
        policy: str,
        delta: Delta | None = None,
    ) -> Self:
        """Return the question that a plan asks, or refuse it. Public tables are read, and nothing else.

        Guarantee: the parts' ε and those of `firsts`, each times how many groups it is paid for in, add up to
        `loss`. How it is split follows from the plan alone.
        """
        refuse_delta(plan, loss, delta)
        domain = collect_domain(engine, plan.grouping)
        if domain.size > MAX_GROUPS:
            raise QueryError(
                "there are too many groups",
                found=f"{domain.size:,}",
                accepted=f"{MAX_GROUPS:,}",
                hint="list fewer keys in WHERE",
            )
        split = Split.of(plan, loss)
        refuse_thin_shares(plan, domain, split)
        firsts = tuple(
            cls(
                one.plan,
                NO_GROUPS,
                engine,
                loss,
                parts_of(one.plan, NO_GROUPS, split.end if one.end else split.scalar, mechanism),
                policy,
            )
            for one in plan.firsts
        )
        parts = parts_of(plan, domain, split.rest, mechanism)
        return cls(plan, domain, engine, loss, parts, policy, firsts, named=mechanism, delta=delta)

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
        filled = replace(self, plan=plan, scalars=tuple(scalars))
        if not self.domain.is_open or len(scalars) < len(self.plan.firsts):
            return filled
        return filled._with(self.domain.given(lambda position: scalars[position].value))

    def found(self, solver: Solver, noise: Noise) -> Self:
        """Return the question with the keys that are found among private rows.

        Guarantee: private with the share of ε for it, and with δ (proofs.md, theorems K1 to K3).
        """
        if self.plan.finding is None or self.delta is None:
            return self
        share = Epsilon(Split.of(self.plan, self.loss).finding)
        candidates = Candidates.of(self.engine, self.plan.finding)
        told = finder_of(candidates, self.plan.finding.sharing, solver).find(share, self.delta, noise)
        return self._with(self.domain.found(candidates.chosen(told)))

    def _with(self, domain: GroupDomain) -> Self:
        """Return the question about groups that are known now."""
        parts = parts_of(self.plan, domain, Split.of(self.plan, self.loss).rest, self.named)
        return replace(self, domain=domain, parts=parts)

    def settled(self, solver: Solver, totals: Totals) -> Self:
        """Return the question about the groups that data which is public has: NOT PRIVATE by itself."""
        asked = self
        if asked.domain.is_open:
            exact = [first.exact_releases(solver, totals) for first in self.firsts]
            asked = self._with(self.given(exact).domain)
        if asked.plan.finding is None:
            return asked
        return asked._with(asked.domain.found(Candidates.of(self.engine, asked.plan.finding).table))

    @property
    def text(self) -> str:
        return self.plan.text

    def identity(self) -> Any:
        return ["sql", meaning(self.plan)]

    @property
    def keys(self) -> Sequence[Keys]:
        return self.domain.keys

    def read_private_rows(self, solver: Solver) -> Subjects:
        plan = self.plan.in_groups(lambda place: len(self.domain.of_set(place).keys))
        rows = Collected.of(self.engine, plan, self.domain)
        measures = zip(plan.measures, self.parts, strict=True)
        return [_groups(measure, part, rows, solver, plan.largest) for measure, part in measures]

    def arrange(self, keys: Sequence[Keys], releases: Releases) -> Arrangement:
        """Return the table: labels first, the rows that HAVING and LIMIT leave, in the order of ORDER BY."""
        plan, scalars = self.plan, self.scalars
        rows = self._given(keys, releases)
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
            tuple(
                _stand_in(first, cell)
                for first, cell in zip(plan.firsts, scalars, strict=False)
                if not first.end
            ),
            tuple(self._notes()),
            (*cut_cautions(plan, releases), *spared_cautions(plan, self.parts, releases)),
        )

    def _given(self, keys: Sequence[Keys], releases: Releases) -> list[Given]:
        """Return what the formulas of every row are computed from, set of keys by set of keys."""
        values = [scalar.value for scalar in self.scalars]
        each = self.plan.each
        if not self.domain.sets:
            return [Given(found, group, values) for group, *found in zip(keys, *releases, strict=True)]
        rows, left = list[Given](), iter(keys)
        for place in range(len(self.domain.sets)):
            mine = zip(*releases[each * place : each * (place + 1)], strict=True)
            rows += [Given(found, next(left), values, place=place) for found in mine]
        return rows

    def _notes(self) -> Iterator[str]:
        """Yield what was released of the groups themselves, of each set of keys once."""
        sets = self.domain.sets or (self.domain,)
        before = self.plan.grouping
        asked = () if before is None else [one.grouping for one in before.sets] or [before]
        found = dict.fromkeys(
            note
            for one, domain in zip(asked, sets, strict=bool(asked))
            for note in _ends(one, domain.grouping)
        )
        yield from found

    def public_answer(self, query: PublicQuery) -> Answer:
        """Return the rows of a question about nobody, as they are: exact and free, of any type."""
        rows = tuple(Row(row, ()) for row in collect_public(self.engine, query))
        return Answer(query.names, (), rows, Fraction(0))

    def exact_answer(self, solver: Solver, totals: Totals) -> Answer:
        """Return the answer with numbers in place of private ones: NOT PRIVATE by itself.

        It is for questions about nobody, with what nobody owns, and for data that is declared public.
        """
        asked = self.ready(solver, totals)
        table = asked.arrange(asked.keys, asked.exact_releases(solver, totals))
        return Answer(table.key_names, table.names, table.rows, Fraction(0), stand_ins=table.stand_ins)

    def ready(self, solver: Solver, totals: Totals) -> Self:
        """Return the question with what is released first known exactly: NOT PRIVATE by itself."""
        firsts: list[Releases] = []
        for first in self.firsts:
            firsts.append(first.given(firsts).exact_releases(solver, totals))
        return self.given(firsts).settled(solver, totals)

    def exact_releases(self, solver: Solver, totals: Totals) -> Releases:
        """Return numbers in place of private ones: NOT PRIVATE by itself."""
        return [
            [exactly(total, part) for total in totals(groups)]
            for part, groups in zip(self.parts, self.read_private_rows(solver), strict=True)
        ]


def _ends(before: Grouping | None, after: Grouping | None) -> Iterator[str]:
    """Yield between which ends keys lie that were released."""
    if before is None or after is None:
        return
    for name, asked, known in zip(before.names, before.keys, after.keys, strict=True):
        if isinstance(known, Dense) and asked != known and known.size is not None:
            yield f"{name}: {known.note()}"


def _stand_in(first: FirstPlan, cell: Combined) -> StandIn:
    value = any(measure.aggregate.placed for measure in first.plan.measures)
    return StandIn(first.text, cell, moment_of(first.type, cell.value), value and cell.interval == UNBOUNDED)


def _groups(
    measure: DerivationQuery, part: Part, rows: Collected, solver: Solver, largest: int | None
) -> Groups:
    """Return the groups of a measure in the form that query and policy say; `largest`: who wants so many."""
    if isinstance(measure.aggregate, PickedValue):
        return picked(measure, measure.aggregate, rows, solver)
    if measure.sharing is Sharing.ONE_OWNER:
        return OneOwner(vectors(measure, rows, solver))
    if (kept := rows.staying(measure)) is not None:
        return SideBySide(list(map(prepare_kept, kept)))
    relations = rows.relations(measure)
    if measure.sharing is Sharing.SIDE_BY_SIDE or len(relations) < 2:
        return SideBySide([prepare(relation, solver) for relation in relations])
    prices = price_list(measure, rows.domain)
    one_price = measure.shape is Shape.THRESHOLDS or isinstance(part.mechanism, Recursive)
    if prices.worthwhile and not one_price:
        return Together(priced(relations, prices, solver))
    hull = HullGroups([prepare(relation, solver) for relation in relations])
    if largest is not None and worth_peeling(len(relations), largest):
        return Peeled(hull, largest)
    return Together(hull)
