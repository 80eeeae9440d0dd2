"""One client of the PostgreSQL door: start-up, sign-in, then messages until it leaves."""

from __future__ import annotations

import asyncio
import secrets
import struct
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from recuse.errors import RecuseError
from recuse.server.limits import Pace
from recuse.server.postgres import messages as told
from recuse.server.postgres.conversation import Conversation
from recuse.server.postgres.empty import EmptyDatabase
from recuse.server.postgres.exchange import Extended
from recuse.server.postgres.relay import Relay, RelayBrokenError
from recuse.server.postgres.signin import PLAIN, PLUS, Exchange
from recuse.server.postgres.statements import split
from recuse.server.postgres.tls import Certificate
from recuse.server.postgres.wire import (
    MOST_AFTER,
    MOST_BEFORE,
    BrokenProtocolError,
    Received,
    message,
    read_body,
    read_message,
    text,
)
from recuse.server.refusals import SignInError
from recuse.server.service import Service

CANCEL, SSL, GSS, PROTOCOL = 80877102, 80877103, 80877104, 3
STARTING = 20.0
"""seconds until somebody must have signed in"""
REPORTED = ("server_version", "server_encoding", "client_encoding", "standard_conforming_strings",
            "integer_datetimes", "TimeZone", "DateStyle")  # fmt: skip
GONE = (OSError, asyncio.IncompleteReadError, EOFError)


@dataclass(slots=True)
class Running:
    """A connection as a cancellation finds it."""

    secret: int
    task: asyncio.Task[None] | None = None


class Visit:
    """A client, from its first byte on."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        services: Mapping[str, Service],
        pace: Pace,
        certificate: Certificate | None,
        running: dict[int, Running],
        catalogues: Mapping[str, EmptyDatabase],
        version: str,
    ) -> None:
        self.reader, self.writer = reader, writer
        self.services, self.pace, self.certificate, self.running = services, pace, certificate, running
        self.catalogues, self.version = catalogues, version
        self.is_secure = False
        self.who: str | None = None
        """whose token it signed in with"""
        self.since = asyncio.get_running_loop().time()
        self._relay: Relay | None = None
        self._running: Running | None = None

    @property
    def is_busy(self) -> bool:
        """Whether it waits for an answer."""
        return self._running is not None and self._running.task is not None

    async def serve(self) -> None:
        """Talk until the client leaves, or breaks the protocol."""
        number = 0
        try:
            async with asyncio.timeout(STARTING):
                said = await self._started()
                if said is None:
                    return
                conversation = await self._signed_in(said)
                number = self._registered()
                self.who, self._running = conversation.token.name, self.running[number]
            await self._talk(conversation, self._running)
        except RecuseError as error:
            with suppress(*GONE):
                self.writer.write(told.refused(error, fatal=True))
                await self.writer.drain()
        except (*GONE, TimeoutError):
            pass
        finally:
            self.running.pop(number, None)
            if self._relay is not None:
                await self._relay.close()
            with suppress(*GONE):
                self.writer.close()
                await self.writer.wait_closed()

    # -------------------------------------------------------------- start-up

    async def _started(self) -> dict[str, str] | None:
        """Return what the client says of itself; None after a cancellation."""
        while True:
            body = Received(await read_body(self.reader, MOST_BEFORE))
            code = body.long()
            if code == SSL and self.certificate is not None and not self.is_secure:
                self.writer.write(b"S")
                await self.writer.drain()
                await self.writer.start_tls(self.certificate.context)
                self.is_secure = True
            elif code in (SSL, GSS):
                self.writer.write(b"N")
                await self.writer.drain()
            elif code == CANCEL:
                self._cancel(body.long(), body.long())
                return None
            elif code >> 16 == PROTOCOL:
                break
            else:
                raise BrokenProtocolError("this version of the protocol is not spoken")
        if self.certificate is not None and not self.is_secure:
            raise BrokenProtocolError("this door is opened with TLS alone", hint="sslmode=require")
        found: dict[str, str] = {}
        while name := body.string():
            found[name] = body.string()
        return found

    def _cancel(self, number: int, secret: int) -> None:
        """Let a client stop waiting; what was charged stays charged."""
        found = self.running.get(number)
        if found is not None and found.secret == secret and found.task is not None:
            found.task.cancel()

    async def _signed_in(self, said: dict[str, str]) -> Conversation:
        name = said.get("user", "")
        service = self.services.get(said.get("database", name))
        address = str((self.writer.get_extra_info("peername") or ("",))[0])
        offered = [PLUS, PLAIN] if self.is_secure else [PLAIN]
        self.writer.write(message(b"R", struct.pack(">i", 10), *map(text, offered), b"\0"))
        body = Received(await self._password())
        mechanism, size = body.string(), body.long()
        bound = self.certificate.hash if self.certificate is not None and self.is_secure else None
        exchange = Exchange.begun(name, mechanism, body.take(max(size, 0)), bound)
        self.writer.write(message(b"R", struct.pack(">i", 11), exchange.challenge.encode()))
        proof = await self._password()
        known = [] if service is None else await service.book.do(lambda book: book.tokens().verifiers(name))
        try:
            token, signature = exchange.finished(proof, known)
        except SignInError:
            self.pace.failed(address)
            raise
        if service is None:
            raise SignInError
        self.writer.write(message(b"R", struct.pack(">i", 12), signature))
        self.writer.write(message(b"R", struct.pack(">i", 0)))
        await service.somebody(token)
        conversation = Conversation(service, token, self.version)
        self._begin(conversation, said)
        return conversation

    async def _password(self) -> bytes:
        await self.writer.drain()
        letter, body = await read_message(self.reader, MOST_BEFORE)
        if letter != b"p":
            raise BrokenProtocolError("a password was expected")
        return body

    def _begin(self, conversation: Conversation, said: dict[str, str]) -> None:
        """Take over what the client sets when it connects: `options=-c recuse.epsilon=0.5`, or by name."""
        words = said.get("options", "").replace("-c ", "-c").split()
        settings = dict(word[2:].partition("=")[::2] for word in words if word.startswith("-c"))
        settings |= {name: value for name, value in said.items() if name.startswith("recuse.")}
        for name, value in settings.items():
            try:
                conversation.set(name.lower(), value)
            except RecuseError as error:
                raise BrokenProtocolError(str(error)) from None
        for name in REPORTED:
            self.writer.write(message(b"S", text(name), text(conversation.standard(name.lower()))))

    def _registered(self) -> int:
        number = secrets.randbelow(2**31 - 1) + 1
        self.running[number] = Running(secrets.randbits(31))
        self.writer.write(message(b"K", struct.pack(">ii", number, self.running[number].secret)))
        return number

    # -------------------------------------------------------------- talking

    async def _talk(self, conversation: Conversation, running: Running) -> None:
        catalogue = self.catalogues.get(conversation.service.dataset.name)

        async def relay() -> Relay:
            if catalogue is None:
                raise RelayBrokenError
            if self._relay is None or not self._relay.is_open:
                service = conversation.service
                version = await service.book.do(lambda ledger: ledger.data_version())
                self._relay = await catalogue.relay(version, await service.catalogue(conversation.token.name))
            return self._relay

        extended = Extended(conversation, None if catalogue is None else relay)
        self.writer.write(extended.ready())
        while True:
            await self.writer.drain()
            letter, body = await read_message(self.reader, MOST_AFTER)
            if letter == b"X":
                return
            running.task = asyncio.ensure_future(self._answer(letter, body, extended))
            try:
                await running.task
            except asyncio.CancelledError:
                visit = asyncio.current_task()
                if visit is not None and visit.cancelling():
                    raise
                extended.failed()
                self.writer.write(told.cancelled())
                if letter == b"Q":
                    self.writer.write(extended.ready())
            finally:
                running.task = None

    async def _answer(self, letter: bytes, body: bytes, extended: Extended) -> None:
        """Write what a message comes to."""
        if letter == b"Q":
            await self._simple(Received(body).string(), extended)
            return
        if letter == b"S":
            self.writer.write(await extended.synced())
            return
        if extended.skipping or letter == b"H":
            return
        try:
            await self._admitted(extended)
            self.writer.write(await extended.handle(letter, Received(body)))
        except SignInError:
            raise
        except RecuseError as error:
            extended.failed(skipping=True)
            self.writer.write(told.refused(error))

    async def _simple(self, sql: str, extended: Extended) -> None:
        for part in split(sql):
            statement = None
            try:
                await self._admitted(extended)
                statement = await extended.conversation.understood(part)
                self.writer.write(await extended.simple(statement))
            except SignInError:
                raise
            except RecuseError as error:
                extended.failed(statement=statement)
                self.writer.write(told.refused(error, sql=part))
                break
        self.writer.write(extended.ready())

    async def _admitted(self, extended: Extended) -> None:
        """Refuse whoever comes too fast; whose token is revoked or expired is let go (`SignInError`)."""
        talking = extended.conversation
        self.pace.refuse_hurry(talking.token.id)
        await talking.service.somebody(talking.token)
