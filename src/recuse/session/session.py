"""A session: a database with its policy and its ledger, of which questions are asked in SQL.

text ─compile→ Plan ─question→ Question ─charge→ Paid ─answer→ Answer
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from fractions import Fraction
from os import PathLike
from typing import Any, Unpack

from sqlglot import exp

from recuse.engines.binding import check_plan
from recuse.engines.engine import Engine
from recuse.engines.open import Source, open_engine, recognised
from recuse.errors import QueryError, RecuseError
from recuse.html import fields
from recuse.mechanism.mechanisms import DEFAULT
from recuse.policy import Policy
from recuse.privacy import Delta, Epsilon, NumberLike
from recuse.session.answer import Answer
from recuse.session.cdf_question import CdfQuestion
from recuse.session.distribution import BinOptions, Bins
from recuse.session.estimate import LADDER, RUNS, Estimate, enough, from_answer, from_data, wanted_error
from recuse.session.fingerprint import policy_hash
from recuse.session.like import declared_public
from recuse.session.outward import FailureLog
from recuse.session.parts import Parts
from recuse.session.place import LedgerLocation
from recuse.session.scale import FewPeopleWarning, too_few
from recuse.session.spine import Spine
from recuse.session.sql_question import SqlQuestion
from recuse.session.statistics import Statistics
from recuse.session.synthetic import make
from recuse.session.tables import DescribedTable, described_tables
from recuse.sql.clock import present
from recuse.sql.compile import compile_query
from recuse.sql.derivation import joins_of
from recuse.sql.explain import Explanation
from recuse.sql.growth import growing_joins
from recuse.sql.ownership import own
from recuse.sql.plan import Plan
from recuse.sql.query import Scan
from recuse.sql.render import table_reference


class JoinGrowthWarning(UserWarning):
    """A question joins tables that can have more rows together than an engine goes through."""


class Session(Spine):
    """An open database. Use `connect` to get one."""

    def __init__(
        self, engine: Engine, policy: Policy, place: LedgerLocation, parts: Parts, analyst: str | None = None
    ) -> None:
        failures = parts.failures if policy.failure_log is None else FailureLog(policy.failure_log)
        super().__init__(place, policy.budget, policy.delta, parts, failures, analyst)
        self.policy = policy
        self.engine = engine
        self._policy_hash = policy_hash(policy)

    def compile(self, sql: str, moment: datetime | None = None) -> Plan:
        """Return the plan of a question, or refuse it; no data is read, nothing is charged.

        It is asked now, or at that `moment` (UTC): what `CURRENT_DATE` is in it.
        """
        plan = compile_query(sql, self.policy, self.engine.catalogue(), moment or present())
        check_plan(plan, self.engine)
        return plan

    def tables(self) -> tuple[DescribedTable, ...]:
        """Return the tables, their columns and whose their rows are: no row is read, it is free."""
        return tuple(described_tables(self.policy, self.engine.catalogue()))

    def explain(self, sql: str) -> Explanation:
        """Return what is understood of a question and who owns the rows: no data is read, it is free."""
        plan = self.compile(sql)
        return replace(plan.explanation, warnings=self.warnings(plan))

    def warnings(self, plan: Plan) -> tuple[str, ...]:
        """Return what to know before a question is charged: joins that can have too many rows.

        Guarantee: it follows from the question, the catalogue, what the policy states in [rows] and public
        tables; no private row is read.
        """
        if not self.policy.rows:
            return ()
        asked = [plan, *(first.plan for first in plan.firsts)]
        joins = [join for one in asked for measure in one.measures for join in joins_of(measure.tables)]
        return tuple(dict.fromkeys(map(str, growing_joins(dict.fromkeys(joins), self._rows_of))))

    def _rows_of(self, table: str) -> int | None:
        stated = self.policy.rows_of(table)
        known = self.engine.catalogue().table(table)
        if stated is not None or known is None or not self.policy.is_public(table):
            return stated
        count = exp.select("COUNT(*) AS n").from_(table_reference(Scan(known.name, known)))
        (found,) = self.engine.run([self.engine.dialect.statement(count)])
        return int(found["n"][0].as_py())

    def question(
        self,
        sql: str,
        epsilon: NumberLike,
        *,
        mechanism: str = DEFAULT,
        delta: NumberLike | None = None,
        moment: datetime | None = None,
    ) -> SqlQuestion:
        """Return a question that `charge` and `answer` take, or refuse it. No private row is read."""
        return self._question(self.compile(sql, moment), epsilon, mechanism, delta)

    def _question(
        self, plan: Plan, epsilon: NumberLike, mechanism: str, delta: NumberLike | None = None
    ) -> SqlQuestion:
        chance = None if delta is None else Delta.of(delta)
        loss = Epsilon.of(epsilon)
        return SqlQuestion.of(plan, self.engine, loss, mechanism, self._policy_hash, chance)

    def ask(
        self, sql: str, epsilon: NumberLike, *, delta: NumberLike | None = None, mechanism: str = DEFAULT
    ) -> Answer:
        """Return the private answer to an SQL question: a number, or a table of them.

        The same question with the same ε, policy and data version gets the stored answer again, free of
        charge, however it is spelled.

        Guarantee: ε-private towards every participant that the policy protects (proofs.md, theorems R3
        to R7); ε is charged before any private row is read and is never refunded (theorem R4). Several
        aggregates share ε evenly; all groups of one are released for its whole share (theorems E0, E0' and
        W). A question about public tables alone is answered exactly, and free. With `delta` keys of GROUP BY
        are found among private rows, (ε, δ)-privately (theorems K1 to K3): the policy must grant δ.

        Whatever fails after the charge is an `UnansweredError`: one text, no cause. The charge stays, and to
        ask again is a new question.
        """
        return self.reply(self.question(sql, epsilon, delta=delta, mechanism=mechanism))

    def histogram(self, value: str, source: str, epsilon: NumberLike, **bins: Unpack[BinOptions]) -> Answer:
        """Return how many rows of FROM `source` have a value in each bin: above one edge, up to the next.

        Bins have the `edges` that are given, or are so many `bins` of equal width `between` two ends; without
        those the smallest and the largest value are released first, for a fifth of ε. A condition `where`
        says of which rows.

        Guarantee: as `ask`: it is the question SELECT HISTOGRAM(value, …) FROM source WHERE condition.
        """
        return self.ask(Bins.of(**bins).question(value, source), epsilon)

    def cdf(self, value: str, source: str, epsilon: NumberLike, **bins: Unpack[BinOptions]) -> Answer:
        """Return which share of the rows has a value up to each edge; edges as in `histogram`.

        Guarantee: as `histogram`: shares are made of running totals of its bins (proofs.md, lemma Y).
        """
        question = CdfQuestion.of(self.question(Bins.of(**bins).question(value, source), epsilon))
        if question.bins.plan.is_public:
            raise QueryError("nobody is protected here", hint="ask for it in SQL: about nobody it is exact")
        return self.settle(question)

    def ask_number(self, sql: str, epsilon: NumberLike, *, mechanism: str = DEFAULT) -> Answer:
        """Return the private answer to a question that asks for one COUNT or SUM; refuse any other."""
        plan = self.compile(sql)
        if not plan.is_number:
            raise QueryError("this asks for more than one number", hint="ask for one COUNT or SUM")
        return self.reply(self._question(plan, epsilon, mechanism))

    def reply(self, question: SqlQuestion) -> Answer:
        """Return the answer to a question of this session, charged for; one about nobody is free."""
        if question.plan.public is not None:
            return question.public_answer(question.plan.public)
        for text in self.warnings(question.plan):
            warnings.warn(text, JoinGrowthWarning, stacklevel=3)
        for text in too_few(question.plan, question.parts, self.policy.rows_of, len(question.keys)):
            warnings.warn(text, FewPeopleWarning, stacklevel=3)
        if question.plan.is_public:  # only rows without owners are counted, whatever else there may be
            return question.exact_answer(self._parts.solver, lambda groups: groups.constants())
        return self.settle(question)

    def estimate(
        self,
        sql: str,
        epsilon: NumberLike,
        *,
        like: Source | Statistics | Answer,
        mechanism: str = DEFAULT,
        runs: int = RUNS,
    ) -> Estimate:
        """Return how far the answer will lie from the truth, from what is public; nothing is charged.

        `like` is a database, folder, frames or connection of the same schema that you declare public;
        `Statistics` that you state, from which one is made up; or an earlier answer to the same question.

        Guarantee: no row of the private database is read; of it only the catalogue is used.
        """
        return self.estimates(sql, [epsilon], like=like, mechanism=mechanism, runs=runs)[0]

    def estimates(
        self,
        sql: str,
        epsilons: Sequence[NumberLike],
        *,
        like: Source | Statistics | Answer,
        mechanism: str = DEFAULT,
        runs: int = RUNS,
    ) -> list[Estimate]:
        """Return the estimates for several ε: what they are made from is read and prepared once.

        Guarantee: as `estimate`.
        """
        plan, losses = self.compile(sql), [Epsilon.of(epsilon) for epsilon in epsilons]
        if plan.is_public:
            return [Estimate(Fraction(0), "about nobody: the answer is exact", (), ()) for _ in losses]
        if isinstance(like, Answer):
            return [from_answer(plan, loss, like) for loss in losses]
        data: Source
        if isinstance(like, Statistics):
            made = make(self.engine.catalogue(), self.policy, plan, like)
            data, cautions = made.database, made.cautions
            basis = "on data made up from the statistics stated"
        else:
            data, cautions, basis = declared_public(like), (), "on data declared public"
        with closing(open_engine(data, self.policy)) as engine:
            public = compile_query(sql, self.policy, engine.catalogue(), present())
            check_plan(public, engine)
            # all groups, in one order, whatever they hold
            every = replace(public, steps=())
            asked = [SqlQuestion.of(every, engine, loss, mechanism, self._policy_hash) for loss in losses]
            found = from_data(asked, runs, self._parts, basis)
            return [replace(one, cautions=(*cautions, *one.cautions)) for one in found]

    def epsilon_for(
        self, sql: str, error: str | NumberLike, *, like: Source | Statistics, runs: int = 60
    ) -> Estimate:
        """Return the estimate of the smallest ε at which 9 answers of 10 err by less: `2 %`, or a number.

        Guarantee: as `estimate`.
        """
        wanted, relative = wanted_error(error)
        return enough(self.estimates(sql, LADDER, like=like, runs=runs), wanted, relative=relative)

    def close(self) -> None:
        """Close the database and the ledger. To close twice does no harm."""
        self.engine.close()
        super().close()

    def __repr__(self) -> str:
        return f"<Session on {self.place}>"

    def _repr_html_(self) -> str:
        """Return the tables for a notebook, and whose their rows are."""
        said = ((table.name, f"{', '.join(table.columns)}\n{table.owned}") for table in self.tables())
        return fields([("open", str(self.place)), *said])


def connect(
    source: Source,
    policy: Policy | str | PathLike[str],
    ledger: str | PathLike[str] | None = None,
    *,
    analyst: str | None = None,
    parts: Parts | None = None,
) -> Session:
    """Return a session on a DuckDB file, a folder of CSV or Parquet files, frames by name, or a connection.

    A database on a PostgreSQL server is named by its connection string, `postgresql://…`.

    The ledger of a file or folder lies beside it as `NAME.ledger` unless another is named, that of a server's
    database beside the policy file; frames and connections without one are counted in memory, for as long as
    the session lives. `analyst` is whose limit is charged too, if the custodian has named analysts. A policy
    that does not fit the database is refused.
    """
    rules = policy if isinstance(policy, Policy) else Policy.read(policy)
    place = LedgerLocation.of(recognised(source), ledger, policy)
    engine = open_engine(source, rules)
    try:
        own(rules, engine.catalogue())
    except RecuseError:
        engine.close()
        raise
    return Session(engine, rules, place, parts or Parts(), analyst)


def histogram(session: Session, value: str, source: str, epsilon: NumberLike, **bins: Any) -> Answer:
    """Return how many rows have a value in each bin: `Session.histogram`."""
    return session.histogram(value, source, epsilon, **bins)


def cdf(session: Session, value: str, source: str, epsilon: NumberLike, **bins: Any) -> Answer:
    """Return which share of the rows has a value up to each edge: `Session.cdf`."""
    return session.cdf(value, source, epsilon, **bins)
