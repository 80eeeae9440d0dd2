"""The simple and the extended protocol: statements that are prepared, bound, described and executed."""

from __future__ import annotations

import struct
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from recuse.errors import QueryError
from recuse.server.postgres import messages as told
from recuse.server.postgres.conversation import Conversation, Outcome
from recuse.server.postgres.relay import Relay
from recuse.server.postgres.statements import ClientStatement, bound, parameters_of
from recuse.server.postgres.states import StateError
from recuse.server.postgres.values import INT8, TEXT, UNKNOWN, parameter
from recuse.server.postgres.wire import (
    BrokenProtocolError,
    Received,
    ResultColumn,
    message,
    row_description,
    text,
)

FORGETS = ("DEALLOCATE", "DISCARD")
GUESSES = ((INT8, "0"), (TEXT, "'0'"))
"""types that a parameter is tried with which nobody has given one"""
MOST_KEPT = 100


@dataclass(frozen=True, slots=True)
class PreparedStatement:
    """A statement, and the types of its parameters."""

    statement: ClientStatement
    types: tuple[int, ...]
    relayed: bool = False
    """whether the empty PostgreSQL has it"""


@dataclass(slots=True)
class Portal:
    """A statement with its parameters in their places, and how far its rows have been given."""

    statement: ClientStatement
    sql: str
    formats: tuple[int, ...]
    columns: tuple[ResultColumn, ...] | None = None
    outcome: Outcome | None = None
    given: int = 0
    relayed: bool = False

    def formats_of(self, columns: Sequence[ResultColumn]) -> tuple[int, ...]:
        """Return the format of each column: one for all, or one each."""
        if len(self.formats) == len(columns):
            return self.formats
        return (self.formats or (0,))[:1] * len(columns)


ENDS = {b"P": b"1", b"B": b"2", b"D": b"Tn", b"E": b"CIs", b"C": b"3"}
"""by which letter the answer to a message ends"""


class Extended:
    """The state of a client's protocol: transaction, prepared statements, portals.

    What asks the catalogue goes to the empty PostgreSQL as it is, if there is one.
    """

    def __init__(
        self, conversation: Conversation, relay: Callable[[], Awaitable[Relay]] | None = None
    ) -> None:
        self.conversation = conversation
        self._relay = relay
        self.state = b"I"
        self.skipping = False
        self._relaying = False
        self._prepared: dict[str, PreparedStatement] = {}
        self._portals: dict[str, Portal] = {}

    def ready(self) -> bytes:
        """Return that the next question may come, and in which transaction."""
        return message(b"Z", self.state)

    async def synced(self) -> bytes:
        """Return that; after a refusal messages are read again."""
        self.skipping = False
        await self._relay_synced()
        return self.ready()

    async def _relay_synced(self) -> None:
        """Let the empty PostgreSQL end what was begun: its clock runs, and portals last, until then."""
        if self._relay is not None and self._relaying:
            self._relaying = False
            self._portals = {name: one for name, one in self._portals.items() if not one.relayed}
            await (await self._relay()).synced()

    def _is_relayed(self, statement: ClientStatement) -> bool:
        return statement.kind == "catalogue" and self._relay is not None and self.state != b"E"

    async def _relayed(self, letter: bytes, body: Received) -> bytes:
        if self._relay is None:
            raise BrokenProtocolError("this message is not known")
        self._relaying = True
        return await (await self._relay()).ask(letter, body.raw, ENDS[letter])

    def failed(self, *, skipping: bool = False, statement: ClientStatement | None = None) -> None:
        """Take note of a refusal: a transaction has failed, but not for what the catalogue was asked."""
        self.skipping = skipping
        if self.state == b"T" and (statement is None or statement.kind != "catalogue"):
            self.state = b"E"

    async def simple(self, statement: ClientStatement) -> bytes:
        """Return all that a statement of the simple protocol comes to."""
        if statement.kind == "copy":
            return await self._copied(statement)
        if self._relay is not None and self._is_relayed(statement):
            return await (await self._relay()).whole(statement.text)
        outcome = await self._perform(statement, statement.text)
        formats = (0,) * len(outcome.columns or ())
        return told.described(outcome, formats) + told.rows(outcome, formats) + told.finished(outcome)

    async def _copied(self, statement: ClientStatement) -> bytes:
        asked = await self.conversation.understood(statement.rest)
        if asked.kind != "ask":
            raise StateError("only a question can be copied", "0A000", "COPY (SELECT COUNT(*) …) TO STDOUT")
        outcome = await self._perform(asked, asked.text)
        tag = replace(outcome, tag=f"COPY {len(outcome.rows)}")
        return told.copied(outcome, binary="binary" in statement.word) + told.finished(tag)

    async def _perform(self, statement: ClientStatement, sql: str) -> Outcome:
        if self.state == b"E" and statement.kind != "end":
            raise StateError("a statement of this transaction was refused", "25P02", "ROLLBACK")
        outcome = await self.conversation.perform(statement, sql)
        if statement.kind == "begin":
            self.state = b"T"
        elif statement.kind == "end":
            self.state = b"I"
        elif statement.word in FORGETS:
            await self._forget(statement.rest)
        return outcome

    async def _forget(self, said: str) -> None:
        """Forget a prepared statement by its name, or all of them."""
        name = said.rpartition(" ")[2]
        if name.lower() in ("all", "plans"):
            names = list(self._prepared)
        else:
            names = [name[1:-1].replace('""', '"') if name.startswith('"') else name.lower()]
        for one in names:
            await self._close(b"S", one)
        await self._relay_synced()

    async def _close(self, kind: bytes, name: str) -> bytes:
        closed = self._prepared.pop(name, None) if kind == b"S" else self._portals.pop(name, None)
        if closed is None or not closed.relayed:
            return message(b"3")
        return await self._relayed(b"C", Received(kind + text(name)))

    async def handle(self, letter: bytes, body: Received) -> bytes:
        """Return what a message of the extended protocol comes to."""
        match letter:
            case b"P":
                return await self._parse(body)
            case b"B":
                return await self._bind(body)
            case b"D":
                return await self._describe(body)
            case b"E":
                return await self._execute(body)
            case b"C":
                return await self._close(body.take(1), body.string())
        raise BrokenProtocolError("this message is not known")

    async def _parse(self, body: Received) -> bytes:
        name, sql = body.string(), body.string()
        given = [body.long() for _ in range(max(body.number(), 0))]
        count = max(parameters_of(sql), len(given))
        if len(self._prepared) >= MOST_KEPT and name not in self._prepared:
            raise StateError("too many statements are prepared", "53400", "DEALLOCATE ALL")
        types = (*given, *[0] * (count - len(given)))
        statement = await self.conversation.understood(sql)
        relayed = self._is_relayed(statement)
        answer = await self._relayed(b"P", body) if relayed else message(b"1")
        self._prepared[name] = PreparedStatement(statement, tuple(types), relayed)
        return answer

    def _known(self, name: str) -> PreparedStatement:
        if name not in self._prepared:
            raise StateError("there is no such statement", "26000")
        return self._prepared[name]

    async def _bind(self, body: Received) -> bytes:
        portal, name = body.string(), body.string()
        prepared = self._known(name)
        if prepared.relayed:
            self._portals[portal] = Portal(prepared.statement, "", (), relayed=True)
            return await self._relayed(b"B", body)
        how = [body.number() for _ in range(max(body.number(), 0))]
        literals = []
        count = body.number()
        for place in range(max(count, 0)):
            size = body.long()
            raw = None if size == -1 else body.take(size)
            one = how[place] if len(how) > 1 and place < len(how) else (how or [0])[0]
            type = prepared.types[place] if place < len(prepared.types) else 0
            literals.append(parameter(raw, type, one))
        formats = tuple(body.number() for _ in range(max(body.number(), 0)))
        if len(self._portals) >= MOST_KEPT and portal not in self._portals:
            raise StateError("too many portals are open", "53400")
        statement = prepared.statement
        sql = bound(statement.text, literals) if literals else statement.text
        found = ClientStatement.of(sql)
        if found.kind == "select":  # values in their places do not change whom it asks
            found = replace(statement, text=sql, rest=sql)
        self._portals[portal] = Portal(found, sql, formats)
        return message(b"2")

    async def _describe(self, body: Received) -> bytes:
        kind, name = body.take(1), body.string()
        if kind == b"S":
            if self._known(name).relayed:
                return await self._relayed(b"D", body)
            return await self._describe_statement(name)
        if name not in self._portals:
            raise StateError("there is no such portal", "34000")
        portal = self._portals[name]
        if portal.relayed:
            return await self._relayed(b"D", body)
        portal.columns = await self.conversation.columns(portal.statement, portal.sql)
        return self._columns(portal.columns, portal)

    async def _describe_statement(self, name: str) -> bytes:
        """Return the types of parameters, tried where none is given, and the columns: nothing is charged."""
        prepared = self._known(name)
        statement, types, columns = prepared.statement, prepared.types, None
        for guess, stands_in in GUESSES:
            tried = tuple(guess if known in (0, UNKNOWN) else known for known in types)
            literals = [stands_in if known in (0, UNKNOWN) else _sample(known) for known in types]
            try:
                columns = await self.conversation.columns(statement, bound(statement.text, literals))
                break
            except QueryError:
                if guess == GUESSES[-1][0] or 0 not in types:
                    raise
        self._prepared[name] = replace(prepared, types=tried)
        count = struct.pack(">h", len(tried)) + b"".join(struct.pack(">i", one) for one in tried)
        return message(b"t", count) + self._columns(columns, None)

    def _columns(self, columns: tuple[ResultColumn, ...] | None, portal: Portal | None) -> bytes:
        if columns is None:
            return message(b"n")
        formats = (0,) * len(columns) if portal is None else portal.formats_of(columns)
        return row_description(columns, formats)

    async def _execute(self, body: Received) -> bytes:
        name, most = body.string(), body.long()
        if name not in self._portals:
            raise StateError("there is no such portal", "34000")
        portal = self._portals[name]
        if portal.relayed:
            return await self._relayed(b"E", body)
        if portal.statement.kind == "copy":
            return await self._copied(portal.statement)
        if portal.outcome is None:
            portal.outcome = await self._perform(portal.statement, portal.sql)
        outcome = portal.outcome
        formats = portal.formats_of(outcome.columns or ())
        wanted = None if most <= 0 else most
        found = told.rows(outcome, formats, portal.given, wanted)
        portal.given += len(outcome.rows) if wanted is None else wanted
        if portal.given < len(outcome.rows):
            return found + message(b"s")
        return found + told.finished(outcome)


SAMPLES = {16: "TRUE", 1082: "DATE '2000-01-01'", 1114: "TIMESTAMP '2000-01-01'", 25: "'0'", 1043: "'0'"}


def _sample(type: int) -> str:
    """Return a literal of a type, for describing a statement before its parameters are known."""
    return SAMPLES.get(type, "0")
