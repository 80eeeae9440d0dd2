"""What a signed-in client may say, and what it is told: the settings of a connection, and results."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from recuse.dbapi.errors import Error as StatedTwiceError
from recuse.dbapi.text import stated_losses
from recuse.errors import BudgetError, ParameterError
from recuse.ledger import Token
from recuse.mechanism.mechanisms import DEFAULT
from recuse.numerals import nearest
from recuse.privacy import Delta, Epsilon, decimal_text
from recuse.server.inquiry import Inquiry, Job
from recuse.server.postgres.statements import ClientStatement
from recuse.server.postgres.states import StateError
from recuse.server.postgres.values import INT8, KINDS, TEXT
from recuse.server.postgres.wire import ResultColumn
from recuse.server.service import Service
from recuse.session.answer import Answer

VERSION = "16.0"
"""what a client is told where no PostgreSQL is beside the server"""
NOTED = 8
"""how many intervals a notice shows"""
STANDARD = {
    "server_encoding": "UTF8",
    "client_encoding": "UTF8",
    "standard_conforming_strings": "on",
    "integer_datetimes": "on",
    "datestyle": "ISO, MDY",
    "timezone": "UTC",
    "search_path": "public",
    "transaction_isolation": "read committed",
    "transaction isolation level": "read committed",
    "transaction_read_only": "on",
    "default_transaction_read_only": "on",
    "is_superuser": "off",
    "max_identifier_length": "63",
}
"""what clients ask of any PostgreSQL"""
OURS = ("epsilon", "delta", "mechanism", "intervals", "limit")
TABLES = {
    "budget": ("granted", "spent", "remaining"),
    "history": ("number", "at", "epsilon", "question", "data_version"),
    "policy": ("table", "owned"),
}
ONE = ResultColumn("one", INT8)
"""SELECT 1, by which clients find out whether somebody is there"""
UNDEFINED, READ_ONLY, MIXED = "42704", "25006", "0A000"
"""what SQLSTATE calls them"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a statement came to."""

    tag: str
    """the command's, as PostgreSQL ends a statement"""
    columns: tuple[ResultColumn, ...] | None = None
    rows: Sequence[Sequence[Any]] = ()
    notice: tuple[str, str] | None = None
    """a message and its detail"""


@dataclass(slots=True)
class Conversation:
    """Somebody's connection to a dataset, with what was set in it."""

    service: Service
    token: Token
    version: str = VERSION
    """of PostgreSQL, whose catalogue a client sees"""
    said: dict[str, str] = field(default_factory=dict)
    spent: Fraction = Fraction(0)
    answered: bool = False
    """whether anything was charged since a transaction began"""

    async def understood(self, sql: str) -> ClientStatement:
        """Return what a text is."""
        found = ClientStatement.of(sql)
        if found.kind != "select":
            return found
        kind, word = await self.service.asked_of(self.token.name, found.rest)
        return replace(found, kind=kind, word=word, rest=sql)

    async def columns(self, statement: ClientStatement, sql: str) -> tuple[ResultColumn, ...] | None:
        """Return the columns of what a statement gives: known without data, and free."""
        match statement.kind:
            case "constant" if statement.word == ONE.name:
                return (ONE,)
            case "show" | "constant":
                return (ResultColumn(statement.word, TEXT),)
            case "explain":
                return (ResultColumn("QUERY PLAN", TEXT),)
            case "table":
                return tuple(ResultColumn(name, TEXT) for name in TABLES[statement.word])
            case "ask" | "catalogue":
                return self._shown((await self.service.describe(self.token.name, _stated(sql)[0]))["columns"])
        return None

    def _shown(self, columns: Sequence[dict[str, Any]]) -> tuple[ResultColumn, ...]:
        found = []
        for column in columns:
            ends = ("", "_low", "_high") if self.intervals and not column["label"] else ("",)
            kind = KINDS.get(column["kind"], TEXT)
            found += [ResultColumn(column["name"] + end, kind) for end in ends]
        return tuple(found)

    @property
    def intervals(self) -> bool:
        """Whether ends of intervals are columns."""
        return self.said.get("intervals", "off").lower() in ("on", "true", "1", "yes")

    async def perform(self, statement: ClientStatement, sql: str) -> Outcome:
        """Return what a statement comes to, with its parameters in their places; or refuse it."""
        match statement.kind:
            case "empty":
                return Outcome("")
            case "begin" | "quiet":
                self.answered = self.answered and statement.kind != "begin"
                return Outcome(statement.word)
            case "end":
                told = ("charges stay", "what was answered is paid for") if self.answered else None
                self.answered = False
                return Outcome(statement.word, notice=told if statement.word == "ROLLBACK" else None)
            case "set":
                return self.set(statement.word, statement.rest)
            case "show":
                return _one(statement.word, await self._shown_setting(statement.word), "SHOW")
            case "constant" if statement.word == ONE.name:
                return Outcome("SELECT 1", (ONE,), [[1]])
            case "constant":
                return _one(statement.word, self._constant(statement.word), "SELECT 1")
            case "table":
                return await self._table(statement.word)
            case "explain":
                found = await self.service.explain(self.token.name, _stated(statement.rest)[0])
                rows = [[line] for line in found["text"].splitlines()]
                return Outcome("EXPLAIN", (ResultColumn("QUERY PLAN", TEXT),), rows)
            case "write":
                raise StateError("nothing can be written here", READ_ONLY)
            case "catalogue" if statement.word:
                raise StateError(
                    "the catalogue is not served: there is no PostgreSQL beside this server",
                    UNDEFINED,
                    "SELECT * FROM recuse.policy",
                )
            case "mixed":
                raise StateError("system tables are not asked together with others", MIXED)
        return await self.ask(sql)

    def set(self, name: str, value: str) -> Outcome:
        """Set something of the connection; what is not ours is taken note of, and has no meaning."""
        short = name.removeprefix("recuse.")
        if short not in OURS:
            if name.startswith("recuse."):
                raise StateError(f"there is no setting {name}", UNDEFINED, "recuse." + ", recuse.".join(OURS))
            return Outcome("SET")
        if short in ("epsilon", "limit"):
            Epsilon.of(value)
        if short == "delta":
            Delta.of(value)
        self.said[short] = value
        return Outcome("SET")

    async def _shown_setting(self, name: str) -> str:
        short = name.removeprefix("recuse.")
        if short == "remaining":
            holder = await self.service.somebody(self.token)
            balance = await self.service.book.balance(holder.analyst)
            return decimal_text(balance.remaining)
        if short in OURS:
            return self.said.get(short, {"intervals": "off", "mechanism": DEFAULT}.get(short, ""))
        return self.standard(name)

    def standard(self, name: str) -> str:
        """Return a setting that any PostgreSQL has."""
        major, minor = self.version.split(".")
        known = STANDARD | {
            "server_version": f"{self.version} (recuse)",
            "server_version_num": f"{int(major) * 10_000 + int(minor)}",
        }
        if name not in known:
            raise StateError(f"there is no setting {name}", UNDEFINED)
        return known[name]

    def _constant(self, word: str) -> str:
        known = {
            "version": f"PostgreSQL {self.version} (recuse)",
            "current_schema": "public",
            "current_user": self.token.name,
        }
        return known.get(word, self.service.dataset.name)

    async def _table(self, word: str) -> Outcome:
        holder = await self.service.somebody(self.token)
        if word == "policy":
            rows = [
                [table["name"], table["owned"]] for table in await self.service.catalogue(self.token.name)
            ]
        elif word == "budget":
            balance = await self.service.book.balance(holder.analyst)
            rows = [[decimal_text(getattr(balance, name)) for name in TABLES["budget"]]]
        else:
            whose = None if holder.is_custodian else holder.analyst
            found = await self.service.book.do(lambda ledger: ledger.charges(whose, 2**62, 1_000))
            rows = [[n, c.at, decimal_text(c.epsilon), c.query, c.data_version] for n, c in found]
        columns = tuple(ResultColumn(name, TEXT) for name in TABLES[word])
        return Outcome(f"SELECT {len(rows)}", columns, rows)

    async def ask(self, sql: str) -> Outcome:
        """Return the answer to a question, charged for, when its slot has ended."""
        text, stated, chance = _stated(sql)
        holder = await self.service.somebody(self.token)
        epsilon = stated or self.said.get("epsilon")
        if epsilon is None:
            if not (await self.service.describe(self.token.name, text))["public"]:
                raise ParameterError(
                    "what may the answer cost?",
                    hint="SET recuse.epsilon = 0.5, or begin with /* epsilon = 0.5 */",
                )
            epsilon = "1"  # about nobody: it is free
        self._refuse_beyond_the_limit(Epsilon.of(epsilon).value)
        mechanism = self.said.get("mechanism", DEFAULT)
        asked = Inquiry(text, epsilon, chance or self.said.get("delta"), mechanism, "postgres")
        job = await self.service.ask(holder, asked)
        answer = await asyncio.shield(job.done)
        if not answer.stored and answer.remaining is not None:
            self.spent += answer.epsilon
            self.answered = True
        rows = [list(self._values(row, job)) for row in answer]
        return Outcome(f"SELECT {len(rows)}", self._shown(job.columns), rows, _notice(answer))

    def _refuse_beyond_the_limit(self, epsilon: Fraction) -> None:
        limit = self.said.get("limit")
        if limit is not None and self.spent + epsilon > Epsilon.of(limit).value:
            raise BudgetError(
                "this connection may not spend so much",
                found=f"epsilon {decimal_text(epsilon)} asked, {decimal_text(self.spent)} of {limit} spent",
                hint="SET recuse.limit",
            )

    def _values(self, row: Any, job: Job) -> Any:
        keys, cells = iter(row.keys), iter(row.cells)
        for column in job.columns:
            if column["label"]:
                yield next(keys)
                continue
            cell = next(cells)
            yield cell.value
            if self.intervals:
                yield from cell.interval


def _one(name: str, value: str, tag: str) -> Outcome:
    return Outcome(tag, (ResultColumn(name, TEXT),), [[value]])


def _stated(sql: str) -> tuple[str, str | None, str | None]:
    try:
        return stated_losses(sql)
    except StatedTwiceError as error:
        raise ParameterError(str(error)) from None


def _notice(answer: Answer) -> tuple[str, str] | None:
    """Return what a question cost and where the noise lets its first numbers be."""
    if answer.remaining is None:
        return None
    cost = "asked before: free" if answer.stored else f"epsilon {decimal_text(answer.epsilon)} charged"
    told = []
    for row in answer.rows:
        for name, cell in zip(answer.names, row.cells, strict=True):
            low, high = ("unbounded" if end is None else str(nearest(end)) for end in cell.interval)
            told.append(f"{name}: noise {low} to {high}")
    more = f"; and {len(told) - NOTED} more" if len(told) > NOTED else ""
    return f"{cost}, {decimal_text(answer.remaining)} left", "; ".join(told[:NOTED]) + more
