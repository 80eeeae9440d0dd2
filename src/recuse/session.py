"""A session: a database with its policy and its ledger, of which questions are asked.

    text ─compile→ DerivationQuery ─charge→ ledger ─collect→ KRelation ─mechanism→ Release

Everything that can be refused is refused before the ledger is charged; data is looked at only after.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from os import PathLike, fspath
from pathlib import Path

from recuse.engines.collect import collect
from recuse.engines.duckdb import DuckDB, Source
from recuse.engines.engine import Engine
from recuse.errors import LedgerError
from recuse.ledger import Balance, Ledger, open_or_create
from recuse.mechanism.mechanisms import DEFAULT, chosen, run
from recuse.mechanism.prepared import prepare
from recuse.mechanism.release import Release
from recuse.noise import Noise, SecureNoise
from recuse.policy import Policy
from recuse.privacy import Epsilon, Number
from recuse.solver.programs import Solver
from recuse.solver.cutting import cutting
from recuse.sql.compile import DerivationQuery, compile_query
from recuse.sql.explain import Explanation


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

    def compile(self, sql: str) -> DerivationQuery:
        """Return the derivation query of a question, or refuse it; no data is read, nothing is charged."""
        query = compile_query(sql, self.policy, self.engine.catalogue())
        self.engine.check(query)
        return query

    def explain(self, sql: str) -> Explanation:
        """Return what is understood of a question and who owns the rows: no data is read, it is free."""
        return self.compile(sql).explanation

    def ask(self, sql: str, epsilon: Number, *, mechanism: str = DEFAULT) -> Release:
        """Return the private answer to an SQL question.

        Guarantee: ε-private towards every participant that the policy protects (docs/proofs.md, theorems R3
        to R6); ε is charged before any row is read and is never refunded (theorem R4).
        """
        loss = Epsilon.of(epsilon)
        query = self.compile(sql)
        parameters = chosen(mechanism, loss, query.shape)
        balance = self.ledger.charge(loss, sql)
        relation = collect(self.engine, query)
        answer = run(prepare(relation, self._parts.solver), parameters, self._parts.noise)
        tidy = answer.rounded(signed=relation.signed).in_units(query.granularity)
        return replace(tidy, remaining=balance.remaining)


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
