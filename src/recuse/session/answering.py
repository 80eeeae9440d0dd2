"""Plan + data → the answer: collect the relations, run the mechanism, make the columns of the releases.

Nothing here knows of a ledger: `Session` charges first. Estimates run it on data that is public.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from recuse.engines.collect import Domain, collect
from recuse.engines.engine import Engine
from recuse.errors import QueryError
from recuse.mechanism.groups import release_groups
from recuse.mechanism.mechanisms import chosen
from recuse.mechanism.parameters import Doublings, Exponent, Parameters
from recuse.mechanism.prepared import Prepared, Relation, prepare
from recuse.mechanism.release import Release
from recuse.noise import Noise, SecureNoise
from recuse.privacy import Epsilon
from recuse.session.answer import Answer
from recuse.session.cells import Cell, Row, evaluate
from recuse.session.outward import NO_LOG, FailureLog
from recuse.solver.cutting import cutting
from recuse.solver.programs import Solver
from recuse.sql.compile import Plan
from recuse.sql.read import Key

MAX_GROUPS = 10_000

Rule = Parameters[Exponent | Doublings]


@dataclass(frozen=True, slots=True)
class Parts:
    """What a session is wired from; tests replace the noise.

    `failures` is where a graph's session logs what failed after a charge; a database's policy says it.
    """

    solver: Solver = cutting
    noise: Noise = field(default_factory=SecureNoise)
    failures: FailureLog = NO_LOG


def rules_of(plan: Plan, domain: Domain, loss: Epsilon, mechanism: str) -> list[Rule]:
    """Return the parameters of every measure: they share ε evenly.

    Guarantee: the measures' ε add up to `loss`; the groups of a measure together cost its ε.
    """
    groups = len(domain.keys)
    if groups > MAX_GROUPS:
        raise QueryError(
            "there are too many groups",
            found=f"{groups:,}",
            accepted=f"{MAX_GROUPS:,}",
            hint="list fewer keys in WHERE",
        )
    share = Epsilon(loss.value / len(plan.measures))
    return [chosen(mechanism, share, measure.shape) for measure in plan.measures]


Collected = list[list[Prepared]]
"""For every measure the relation of each group, with its programs."""


def look(engine: Engine, plan: Plan, domain: Domain, solver: Solver) -> Collected:
    """Return the relations of a question. This is where data is looked at."""
    relations = collect(engine, plan, domain)
    return [[prepare(relation, solver) for relation in groups] for groups in relations]


def answer(
    plan: Plan, domain: Domain, collected: Collected, rules: Sequence[Rule], noise: Noise
) -> Release | Answer:
    """Return the private answer of a question, in the query's own units.

    Guarantee: private with the sum of the rules' ε (docs/proofs.md, theorems R3 to R7).
    """
    disjoint = plan.grouping is None or plan.grouping.disjoint
    measured = []
    for measure, groups, rule in zip(plan.measures, collected, rules, strict=True):
        found = release_groups(groups, rule, noise, disjoint=disjoint)
        share = rule.answer_epsilon / (1 if disjoint else len(groups) or 1)
        measured.append(
            [
                replace(_tidy(release, group.relation, measure.granularity), noise_epsilon=share)
                for release, group in zip(found, groups, strict=True)
            ]
        )
    return arranged(plan, domain, measured, sum((rule.epsilon for rule in rules), start=Fraction(0)))


def public_answer(plan: Plan, domain: Domain, collected: Collected) -> Release | Answer:
    """Return what a question about nobody is answered with: exact, and free.

    Guarantee: only rows without owners are counted, whatever else the relations may hold.
    """
    return _exact(plan, domain, collected, lambda relation: relation.constant)


def true_answer(plan: Plan, domain: Domain, collected: Collected) -> Release | Answer:
    """Return the true answer of a question: NOT PRIVATE, for data that is declared public."""
    return _exact(plan, domain, collected, lambda relation: relation.true_answer())


def _exact(
    plan: Plan, domain: Domain, collected: Collected, total: Callable[[Relation], int]
) -> Release | Answer:
    measured = [
        [_exactly(total(group.relation) * measure.granularity) for group in groups]
        for measure, groups in zip(plan.measures, collected, strict=True)
    ]
    return arranged(plan, domain, measured, Fraction(0))


def _exactly(value: Fraction) -> Release:
    return Release(value, (value, value), Fraction(0), Fraction(0), "public")


def _tidy(release: Release, relation: Relation, granularity: Fraction) -> Release:
    return release.rounded(signed=relation.signed).in_units(granularity)


def arranged(
    plan: Plan, domain: Domain, measured: Sequence[Sequence[Release]], epsilon: Fraction
) -> Release | Answer:
    """Return one number as it is; else the table: keys first, rows in the order that ORDER BY asks for."""
    if plan.is_number:
        return measured[0][0]
    shown_keys = [shown for shown in plan.columns if isinstance(shown.what, Key)]
    shown_cells = [shown for shown in plan.columns if not isinstance(shown.what, Key)]

    def sorting(row: Row, place: int) -> tuple[bool, Any]:
        shown = plan.columns[place]
        if isinstance(shown.what, Key):
            return False, row.keys[shown.what.position]
        value = row.cells[shown_cells.index(shown)].value
        return value is None, value or 0

    by_group = zip(domain.keys, *measured, strict=True)
    rows = [Row(keys, _cells(plan, releases)) for keys, *releases in by_group]
    for place, descending in reversed(plan.order):
        rows.sort(key=lambda row: sorting(row, place), reverse=descending)
    positions = [shown.what.position for shown in shown_keys if isinstance(shown.what, Key)]
    return Answer(
        key_names=tuple(shown.name for shown in shown_keys),
        names=tuple(shown.name for shown in shown_cells),
        rows=tuple(Row(tuple(row.keys[p] for p in positions), row.cells) for row in rows),
        epsilon=epsilon,
    )


def _cells(plan: Plan, releases: Sequence[Release]) -> tuple[Cell, ...]:
    return tuple(evaluate(shown.what, releases) for shown in plan.columns if not isinstance(shown.what, Key))
