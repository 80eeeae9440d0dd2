"""A session: a database with its policy and its ledger, of which questions are asked.

    text ─compile→ Plan ─charge→ ledger ─collect→ KRelations ─mechanism→ Releases ─formulas→ Answer

Everything that can be refused is refused before the ledger is charged; data is looked at only after. What is
answered is written into the ledger before it is shown, and the same question gets it again for nothing. What
fails after the charge has one form, whatever it is (`outward`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from os import PathLike
from types import TracebackType
from typing import Self

import duckdb

from recuse.engines.collect import Domain, collect_domain
from recuse.engines.duckdb import DuckDB, Source
from recuse.engines.engine import Engine
from recuse.errors import DatabaseError, ParameterError, QueryError, RecuseError
from recuse.ledger import Balance, Charged, Ledger, Question, Stored
from recuse.mechanism.mechanisms import DEFAULT
from recuse.mechanism.release import Release
from recuse.policy import Policy
from recuse.privacy import Epsilon, Number
from recuse.session.answer import Answer, stamped
from recuse.session.answering import Parts, Rule, answer, look, public_answer, rules_of
from recuse.session.estimate import RUNS, Estimate, from_data, from_release
from recuse.session.fingerprint import plan_key, policy_hash
from recuse.session.outward import FailureLog, after_charge
from recuse.session.place import Place, SecondBudgetWarning, ledgers_of
from recuse.session.stored import restored, written
from recuse.session.synthetic import Statistics, make
from recuse.sql.compile import Plan, compile_query
from recuse.sql.explain import Explanation
from recuse.sql.ownership import own

__all__ = ["Parts", "SecondBudgetWarning", "Session", "connect"]


class Session:
    """An open database. Use `connect` to get one."""

    def __init__(
        self,
        engine: Engine,
        policy: Policy,
        place: Place,
        parts: Parts,
        analyst: str | None = None,
    ) -> None:
        self.policy = policy
        self.engine = engine
        self.place = place
        self.analyst = analyst
        self.ledger_is_new = False
        self.failures = parts.failures if policy.failure_log is None else FailureLog(policy.failure_log)
        self._parts = parts
        self._ledger: Ledger | None = None
        self._policy_hash = policy_hash(policy)

    @property
    def ledger(self) -> Ledger:
        """The ledger, opened (and a new one created from the policy's budget) when first needed."""
        if self._ledger is None:
            self._ledger, self.ledger_is_new = self.place.open(self.policy.budget)
        return self._ledger

    @property
    def has_ledger(self) -> bool:
        """Whether the ledger has been needed yet; refusals need none."""
        return self._ledger is not None

    @property
    def budget(self) -> Balance:
        """What is granted, spent and left: of the analyst who asks, else of the database."""
        return self.ledger.balance(self.analyst)

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

        One aggregate without groups is a `Release`; groups and several aggregates are an `Answer`. The same
        question with the same ε, policy and data version gets the stored answer again, free of charge.

        Guarantee: ε-private towards every participant that the policy protects (docs/proofs.md, theorems R3
        to R7); ε is charged before any private row is read and is never refunded (theorem R4). Several
        aggregates share ε evenly; groups share it too unless each participant touches one group only. A
        question about public tables alone is answered exactly, and free.

        Whatever fails after the charge is an `UnansweredError`: one text, no cause. The charge stays, and to
        ask again is a new question.
        """
        return self._ask(self.compile(sql), sql, Epsilon.of(epsilon), mechanism)

    def ask_number(self, sql: str, epsilon: Number, *, mechanism: str = DEFAULT) -> Release:
        """Return the private answer to a question that asks for one COUNT or SUM; refuse any other."""
        plan = self.compile(sql)
        found = self._ask(plan, sql, Epsilon.of(epsilon), mechanism) if plan.is_number else None
        if not isinstance(found, Release):
            raise QueryError("this asks for more than one number", hint="ask for one COUNT or SUM")
        return found

    def _ask(self, plan: Plan, sql: str, loss: Epsilon, mechanism: str) -> Release | Answer:
        domain = collect_domain(self.engine, plan.grouping)
        rules = rules_of(plan, domain, loss, mechanism)
        if plan.is_public:
            return public_answer(plan, domain, look(self.engine, plan, domain, self._parts.solver))
        key = plan_key(plan, rules, self._policy_hash)
        asked = Question(sql, loss, key, self._policy_hash, self.analyst, self.place.name)
        paid = self.ledger.charge(asked)
        return after_charge(lambda: self._answer(plan, domain, rules, paid), self.failures)

    def _answer(
        self, plan: Plan, domain: Domain, rules: Sequence[Rule], paid: Charged | Stored
    ) -> Release | Answer:
        """Return the answer to a question that is paid for: only here private rows are read."""
        if isinstance(paid, Stored):
            found = restored(paid.answer)
        else:
            collected = look(self.engine, plan, domain, self._parts.solver)
            found = answer(plan, domain, collected, rules, self._parts.noise)
            self.ledger.store(paid, written(found))
        return stamped(
            found,
            remaining=paid.remaining,
            policy=self._policy_hash,
            data_version=paid.data_version,
            stored=isinstance(paid, Stored),
        )

    def estimate(
        self,
        sql: str,
        epsilon: Number,
        *,
        like: Source | Statistics | Release,
        mechanism: str = DEFAULT,
        runs: int = RUNS,
    ) -> Estimate:
        """Return how far the answer will lie from the truth, from what is public; nothing is charged.

        `like` is a database, folder, frames or connection of the same schema that you declare public;
        `Statistics` that you state, from which one is made up; or an earlier release of the same question.

        Guarantee: no row of the private database is read; of it only the catalogue is used.
        """
        plan, loss = self.compile(sql), Epsilon.of(epsilon)
        if plan.is_public:
            return Estimate(Fraction(0), "about nobody: the answer is exact", (), ())
        if isinstance(like, Release):
            return from_release(plan, loss, like)
        data: Source
        if isinstance(like, Statistics):
            made = make(self.engine.catalogue(), self.policy, plan, like)
            data, cautions = made.database, made.cautions
            basis = "on data made up from the statistics stated"
        else:
            data, cautions, basis = _declared_public(like), (), "on data declared public"
        with DuckDB.open(data, self.policy) as engine:
            public = compile_query(sql, self.policy, engine.catalogue())
            engine.check(public)
            found = from_data(engine, public, loss, mechanism, runs, self._parts, basis)
            return replace(found, cautions=(*cautions, *found.cautions))

    def close(self) -> None:
        """Close the database and the ledger."""
        self.engine.close()
        if self._ledger is not None:
            self._ledger.close()
            self._ledger = None

    def __repr__(self) -> str:
        return f"<Session on {self.place}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def connect(
    source: Source,
    policy: Policy | str | PathLike[str],
    ledger: str | PathLike[str] | None = None,
    *,
    analyst: str | None = None,
    parts: Parts | None = None,
) -> Session:
    """Return a session on a DuckDB file, a folder of CSV or Parquet files, frames by name, or a connection.

    The ledger of a file or folder lies beside it as `NAME.ledger` unless another is named; frames and
    connections without one are counted in memory, for as long as the session lives. `analyst` is whose limit
    is charged too, if the custodian has named analysts. A policy that does not fit the database is refused.
    """
    rules = policy if isinstance(policy, Policy) else Policy.read(policy)
    place = Place.of(_named(source), ledger)
    engine = DuckDB.open(source, rules)
    try:
        own(rules, engine.catalogue())
    except RecuseError:
        engine.close()
        raise
    return Session(engine, rules, place, parts or Parts(), analyst)


def _declared_public(like: Source) -> Source:
    """Return the data of an estimate, unless a ledger beside it says that it is private."""
    ledgers = ledgers_of(_named(like))
    if ledgers:
        raise ParameterError(
            "this data has a ledger, so it is private: an estimate from it would cost what an answer costs",
            found=str(ledgers[0]),
            hint="name public data of the same schema",
        )
    return like


def _named(source: Source) -> Source:
    """Return the source, or say how frames are passed."""
    if not isinstance(source, str | PathLike | Mapping | duckdb.DuckDBPyConnection):
        raise DatabaseError(
            "frames are passed by name, so that SQL can name them",
            found=type(source).__name__,
            hint='{"orders": frame} in place of frame',
        )
    return source
