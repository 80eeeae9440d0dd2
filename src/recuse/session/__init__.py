"""A session: a database with its policy and its ledger, of which questions are asked.

    text ─compile→ Plan ─charge→ ledger ─collect→ KRelations ─mechanism→ Releases ─formulas→ Answer

Everything that can be refused is refused before the ledger is charged; data is looked at only after.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from os import PathLike, fspath
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from recuse.engines.collect import Domain, collect, collect_domain
from recuse.engines.duckdb import DuckDB, Source
from recuse.engines.engine import Engine
from recuse.errors import LedgerError, QueryError
from recuse.krelation.relation import KRelation
from recuse.ledger import Balance, Ledger, open_or_create
from recuse.mechanism.groups import release_groups
from recuse.mechanism.mechanisms import DEFAULT, chosen
from recuse.mechanism.parameters import Doublings, Exponent, Parameters
from recuse.mechanism.prepared import prepare
from recuse.mechanism.release import Release
from recuse.noise import Noise, SecureNoise
from recuse.policy import Policy
from recuse.privacy import Epsilon, Number
from recuse.session.answer import Answer, Cell, Row, evaluate
from recuse.solver.cutting import cutting
from recuse.solver.programs import Solver
from recuse.sql.compile import Plan, compile_query
from recuse.sql.explain import Explanation
from recuse.sql.read import Key

MAX_GROUPS = 10_000


@dataclass(frozen=True, slots=True)
class Parts:
    """What a session is wired from; tests replace the noise."""

    solver: Solver = cutting
    noise: Noise = field(default_factory=SecureNoise)


class Session:
    """An open database. Use `connect` to get one."""

    def __init__(
        self, engine: Engine, policy: Policy, ledger: Callable[[], tuple[Ledger, bool]], parts: Parts
    ) -> None:
        self.policy = policy
        self.engine = engine
        self.ledger_is_new = False
        self._parts = parts
        self._open_ledger = ledger
        self._ledger: Ledger | None = None

    @property
    def ledger(self) -> Ledger:
        """The ledger, opened (and a new one created from the policy's budget) when first needed."""
        if self._ledger is None:
            self._ledger, self.ledger_is_new = self._open_ledger()
        return self._ledger

    @property
    def budget(self) -> Balance:
        """What is granted, spent and left."""
        return self.ledger.balance()

    def compile(self, sql: str) -> Plan:
        """Return the plan of a question, or refuse it; no data is read, nothing is charged."""
        plan = compile_query(sql, self.policy, self.engine.catalogue())
        self.engine.check(plan)
        return plan

    def explain(self, sql: str) -> Explanation:
        """Return what is understood of a question and who owns the rows: no data is read, it is free."""
        return self.compile(sql).explanation

    def ask(self, sql: str, epsilon: Number, *, mechanism: str = DEFAULT) -> Release | Answer:
        """Return the private answer to an SQL question: one release, or a table of them.

        One aggregate without groups is a `Release`; groups and several aggregates are an `Answer`.

        Guarantee: ε-private towards every participant that the policy protects (docs/proofs.md, theorems R3
        to R7); ε is charged before any private row is read and is never refunded (theorem R4). Several
        aggregates share ε evenly; groups share it too unless each participant touches one group only.
        """
        return self._ask(self.compile(sql), sql, Epsilon.of(epsilon), mechanism)

    def ask_number(self, sql: str, epsilon: Number, *, mechanism: str = DEFAULT) -> Release:
        """Return the private answer to a question that asks for one COUNT or SUM; refuse any other."""
        plan = self.compile(sql)
        answer = self._ask(plan, sql, Epsilon.of(epsilon), mechanism) if plan.is_number else None
        if not isinstance(answer, Release):
            raise QueryError("this asks for more than one number", hint="ask for one COUNT or SUM")
        return answer

    def _ask(self, plan: Plan, sql: str, loss: Epsilon, mechanism: str) -> Release | Answer:
        domain = collect_domain(self.engine, plan.grouping)
        rules = _parameters(plan, domain, loss, mechanism)
        balance = self.ledger.charge(loss, sql)
        relations = collect(self.engine, plan, domain)
        measured = [
            self._release(plan, place, groups, rule, balance.remaining)
            for place, (groups, rule) in enumerate(zip(relations, rules, strict=True))
        ]
        if plan.is_number:
            return measured[0][0]
        by_group = zip(domain.keys, *measured, strict=True)
        rows = [Row(keys, _cells(plan, releases)) for keys, *releases in by_group]
        return _arranged(plan, rows, loss.value, balance.remaining)

    def _release(
        self, plan: Plan, place: int, groups: Sequence[KRelation], rule: Rule, remaining: Fraction
    ) -> list[Release]:
        """Return the releases of one measure, a group each, in the query's own unit."""
        disjoint = plan.grouping is None or plan.grouping.disjoint
        granularity = plan.measures[place].granularity
        prepared = [prepare(relation, self._parts.solver) for relation in groups]
        found = release_groups(prepared, rule, self._parts.noise, disjoint=disjoint)
        tidy = [
            release.rounded(signed=relation.signed).in_units(granularity)
            for release, relation in zip(found, groups, strict=True)
        ]
        return [replace(release, remaining=remaining) for release in tidy]

    def close(self) -> None:
        """Close the database and the ledger."""
        self.engine.close()
        if self._ledger is not None:
            self._ledger.close()
            self._ledger = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


Rule = Parameters[Exponent | Doublings]


def _parameters(plan: Plan, domain: Domain, loss: Epsilon, mechanism: str) -> list[Rule]:
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


def _cells(plan: Plan, releases: Sequence[Release]) -> tuple[Cell, ...]:
    return tuple(evaluate(shown.what, releases) for shown in plan.columns if not isinstance(shown.what, Key))


def _arranged(plan: Plan, rows: Sequence[Row], epsilon: Fraction, remaining: Fraction) -> Answer:
    """Return the table: keys first, rows in the order that ORDER BY asks for."""
    keys = [shown for shown in plan.columns if isinstance(shown.what, Key)]
    cells = [shown for shown in plan.columns if not isinstance(shown.what, Key)]

    def sorting(row: Row, place: int) -> tuple[bool, Any]:
        shown = plan.columns[place]
        if isinstance(shown.what, Key):
            return False, row.keys[shown.what.position]
        value = row.cells[cells.index(shown)].value
        return value is None, value or 0

    ordered = list(rows)
    for place, descending in reversed(plan.order):
        ordered.sort(key=lambda row: sorting(row, place), reverse=descending)
    positions = [shown.what.position for shown in keys if isinstance(shown.what, Key)]
    shown_rows = tuple(Row(tuple(row.keys[p] for p in positions), row.cells) for row in ordered)
    return Answer(
        key_names=tuple(shown.name for shown in keys),
        names=tuple(shown.name for shown in cells),
        rows=shown_rows,
        epsilon=epsilon,
        remaining=remaining,
    )


def connect(
    source: Source,
    policy: Policy | str | PathLike[str],
    ledger: str | PathLike[str] | None = None,
    *,
    parts: Parts | None = None,
) -> Session:
    """Return a session on a DuckDB file, a folder of CSV or Parquet files, frames by name, or a connection.

    The ledger of a file or folder lies beside it as `NAME.ledger` unless another is named; frames and
    connections without one are counted in memory, for as long as the session lives.
    """
    rules = policy if isinstance(policy, Policy) else Policy.read(policy)
    path = ledger_path(source) if ledger is None else Path(ledger)

    def open_ledger() -> tuple[Ledger, bool]:
        if path is not None:
            return open_or_create(path, rules.budget)
        if rules.budget is None:
            raise LedgerError(
                "the policy names no budget", hint="add [budget] and below it epsilon = 10, or name a ledger"
            )
        return Ledger.in_memory(rules.budget), True

    return Session(DuckDB.open(source, rules), rules, open_ledger, parts or Parts())


def ledger_path(source: Source) -> Path | None:
    """Return where the ledger of a database lies by default: beside it, under its name."""
    if not isinstance(source, str | PathLike):
        return None
    path = Path(fspath(source)).resolve()
    return path.with_name(path.name + ".ledger")
