"""The service of one dataset: who asks → explain, estimate, ask → answer. Doors call it, and have no logic.

    sql ─ bill ─ asked before? ─ a seat is free ─ charge ─ look ─ end of slot ─ store ─ arrange ─ answer

The front process, in which this is, never opens the data: a worker does, and hands over what was released.
All that others can see of a question (its answer, that it is stored, the history) changes at ends of slots.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from recuse.engines.open import is_address
from recuse.errors import RecuseError, UnansweredError
from recuse.ledger import Bill, Charged, Role, Stored, Token
from recuse.policy import Policy
from recuse.server.alerts import alert
from recuse.server.book import Book
from recuse.server.counts import Counts
from recuse.server.frames import Message
from recuse.server.inquiry import Holder, Inquiry, Job, Price
from recuse.server.planners import Planners
from recuse.server.process import Standing, WorkerFailed
from recuse.server.refusals import BusyError, SignInError, UnavailableError
from recuse.server.seats import Seats
from recuse.server.settings import Answers, ServedDataset
from recuse.session.answer import Answer
from recuse.session.carried import received
from recuse.session.place import LedgerLocation

T = TypeVar("T")
ESTIMATING = 60.0
"""seconds after which somebody who is estimated for is told to come later"""
JOBS_KEPT = 1_000
USED_AGAIN = timedelta(minutes=1)
"""how often it is written down that a token is used"""


class Service:
    """A dataset that is served."""

    def __init__(self, dataset: ServedDataset, answers: Answers) -> None:
        self.dataset = dataset
        self.answers = answers
        self.policy = Policy.read(dataset.policy)
        source = dataset.database if is_address(dataset.database) else Path(dataset.database)
        self.book = Book(
            LedgerLocation.of(source, dataset.ledger, dataset.policy),
            self.policy,
            None if dataset.mark is None else Path(dataset.mark),
        )
        opening = {
            "source": dataset.database,
            "policy": dataset.policy,
            "ledger": None if self.book.place.path is None else str(self.book.place.path),
            "memory": answers.memory,
        }
        self.seats = Seats(opening, answers)
        self.counts = Counts()
        self._planners = Planners(opening)
        self._estimator = Standing(opening, ESTIMATING)
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._tasks: set[asyncio.Task[None]] = set()
        self._asking: set[str] = set()
        self._estimating: set[str] = set()
        self._version = 0
        self._used: dict[str, datetime] = {}

    async def start(self) -> bool:
        """Open the ledger, start the workers; return whether the ledger is new. What is refused is raised."""
        made = await self.book.open()
        self._version = await self.book.do(lambda ledger: ledger.data_version())
        await asyncio.gather(self.seats.start(), self._planners.start())
        return made

    async def stop(self) -> None:
        """End the workers, and close the ledger. Questions that are charged and not answered stay so."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.seats.stop()
        await self._planners.stop()
        await self._estimator.stop()
        self.book.close()

    # -------------------------------------------------------------- who

    async def holder(self, text: str) -> Holder | None:
        """Return who holds the live token of this text, or None."""
        token = await self.book.do(lambda ledger: ledger.tokens().holder(text))
        return None if token is None else await self.somebody(token)

    async def somebody(self, token: Token) -> Holder:
        """Return who a token's holder is: it must be live now. Every door asks before every question."""
        live = await self.book.do(lambda ledger: ledger.tokens().live(token.id))
        if live is None:
            raise SignInError
        at = datetime.now(UTC)
        if at - self._used.get(token.id, datetime.min.replace(tzinfo=UTC)) > USED_AGAIN:
            self._used[token.id] = at
            await self.book.do(lambda ledger: ledger.tokens().used(token.id))
        named = await self.book.do(lambda ledger: {analyst.name for analyst in ledger.analysts()})
        return Holder(live, live.name if live.role is Role.ANALYST or live.name in named else None)

    # -------------------------------------------------------------- free

    async def explain(self, name: str, sql: str) -> Any:
        """Return what is understood of a question; no private row is read."""
        return await self._planned(name, {"do": "explain", "sql": sql})

    async def describe(self, name: str, sql: str) -> Any:
        """Return the columns of a question's answer: the plan knows them."""
        with self._refusals_counted():
            return await self._planned(name, {"do": "describe", "sql": sql})

    async def asked_of(self, name: str, sql: str) -> tuple[str, str]:
        """Return whom a SELECT asks: the catalogue of PostgreSQL, the data, or both, which is refused."""
        kind, word = await self._planned(name, {"do": "asked of", "sql": sql})
        return kind, word

    async def catalogue(self, name: str) -> Any:
        """Return the tables with their columns and owners: no row."""
        return await self._planned(name, {"do": "catalogue"})

    async def estimate(self, who: Holder, asked: Message) -> Any:
        """Return how far answers will lie from the truth, from statistics that were stated; one at a time."""
        if who.token.name in self._estimating:
            raise BusyError("one estimate at a time", hint="wait for the one before")
        self._estimating.add(who.token.name)
        try:
            return await _available(self._estimator.ask({"do": "estimate", **asked}))
        finally:
            self._estimating.discard(who.token.name)

    async def price(self, who: Holder, asked: Inquiry) -> Price:
        """Return what a question would cost now; nothing is charged."""
        found = await self._planned(who.token.name, asked.message("bill"))
        if found["public"]:
            return Price.ABOUT_NOBODY
        bill = asked.bill(found, who.analyst)
        stored = await self.book.do(lambda ledger: ledger.stored(bill))
        return Price.EPSILON if stored is None else Price.STORED

    async def _planned(self, name: str, message: Message) -> Any:
        """Return what is found for somebody of this name."""
        await self._follow()
        return await _available(self._planners.ask(name, message))

    async def _follow(self) -> None:
        """Let workers open the data anew when the custodian has published it."""
        version = await self.book.do(lambda ledger: ledger.data_version())
        if version != self._version:
            self._version = version
            self.seats.restart()
            await self._planners.restart()

    # -------------------------------------------------------------- asking

    async def ask(self, who: Holder, asked: Inquiry) -> Job:
        """Return a question on its way, or refuse it; what was answered before, and what is free, is done.

        Guarantee: nothing is refused for what a row says, and nothing but a worker that is given a receipt
        reads one (proofs.md, theorem R4).
        """
        with self._refusals_counted():
            return await self._asked(who, asked)

    async def _asked(self, who: Holder, asked: Inquiry) -> Job:
        found = await self._planned(who.token.name, asked.message("bill"))
        job = Job(secrets.token_hex(16), who.token.name, found["columns"])
        if found["public"]:
            self._begin_one(who, job, self._free_of_charge(asked))
            await asyncio.wait([job.done])
            return self._kept(job)
        bill = asked.bill(found, who.analyst)
        stored = await self.book.do(lambda ledger: ledger.stored(bill))
        if stored is not None:
            self.counts.stored += 1
            job.done.set_result(await self._arranged(who, asked, stored.answer, stored))
            return self._kept(job)
        self._begin_one(who, job, self._charged(who, asked, bill, job))
        return self._kept(job)

    def _begin_one(self, who: Holder, job: Job, work: Coroutine[Any, Any, Answer]) -> None:
        """Begin with a question that takes a seat, unless its asker has one, or too many wait for one."""
        name = who.token.name
        if name in self._asking or self.seats.is_full:
            work.close()
            if name in self._asking:
                raise BusyError("one question at a time", hint="wait for the answer to the one before")
            raise BusyError("too many questions wait", hint="ask again later: nothing was charged")
        self._asking.add(name)
        self._begin(job, work, lambda: self._asking.discard(name))

    def job(self, who: Holder, id: str) -> Job | None:
        """Return a question of somebody's own."""
        found = self._jobs.get(id)
        return found if found is not None and found.who == who.token.name else None

    async def _free_of_charge(self, asked: Inquiry) -> Answer:
        async with self.seats.taken() as seat:
            found = await self.seats.at_once(seat, asked.message("public"))
        if found is None:
            raise UnavailableError
        return received(found)

    async def _charged(self, who: Holder, asked: Inquiry, bill: Bill, job: Job) -> Answer:
        """Return the answer to a question, charged for when a worker is free to look."""
        async with self.seats.taken() as seat:
            await seat.ready()
            await self.somebody(who.token)
            receipt = await self.book.charge(bill)
            if isinstance(receipt, Stored):
                return await self._arranged(who, asked, receipt.answer, receipt)
            self.counts.charged += 1
            await self._alerted(bill)
            message = asked.message("look", key=bill.key)
            if who.is_custodian:
                text = await self.seats.at_once(seat, message)
            else:
                job.not_before = datetime.now(UTC) + timedelta(seconds=self.answers.slot)
                text = await self.seats.looked(seat, message)
            if text is None:
                self.counts.unanswered += 1
                raise UnansweredError
            await self.book.do(lambda ledger: ledger.store(receipt, text))
        return await self._arranged(who, asked, text, receipt)

    async def _alerted(self, bill: Bill) -> None:
        """Tell the custodian's log when a budget runs out; what is spent is public."""
        charge = bill.epsilon.value
        for name in {None, bill.analyst}:
            alert(self.dataset.name, name, await self.book.balance(name), charge)

    async def _arranged(self, who: Holder, asked: Inquiry, text: str, receipt: Charged | Stored) -> Answer:
        told = {"remaining": str(receipt.remaining), "data_version": receipt.data_version}
        is_stored = isinstance(receipt, Stored)
        message = asked.message("arrange", answer=text, stored=is_stored, **told)
        return received(await _available(self._planners.ask(who.token.name, message)))

    @contextmanager
    def _refusals_counted(self) -> Iterator[None]:
        try:
            yield
        except RecuseError:
            self.counts.refused += 1
            raise

    def _begin(self, job: Job, work: Awaitable[Answer], after: Callable[[], None] = lambda: None) -> None:
        async def done() -> None:
            try:
                job.done.set_result(await work)
            except RecuseError as error:
                self.counts.refused += not isinstance(error, UnansweredError)
                job.done.set_exception(error)
            except WorkerFailed:
                job.done.set_exception(UnavailableError())
            finally:
                after()
                if not job.done.done():
                    job.done.cancel()
                elif not job.done.cancelled():
                    job.done.exception()  # seen, whoever waits

        task = asyncio.ensure_future(done())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _kept(self, job: Job) -> Job:
        self._jobs[job.id] = job
        finished = [id for id, old in self._jobs.items() if old.done.done()]
        for id in finished[: max(0, len(self._jobs) - JOBS_KEPT)]:
            del self._jobs[id]
        return job


async def _available(work: Awaitable[T]) -> T:
    """Return what a worker for public things found; one that failed is no more than that."""
    try:
        return await work
    except WorkerFailed:
        raise UnavailableError from None
