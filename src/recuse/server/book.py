"""The ledger of a dataset as the front process has it: one thread writes, and nobody else of this server."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from recuse.ledger import Balance, Bill, Charged, Ledger, Stored
from recuse.ledger.mark import Mark, mark_of, refuse_older
from recuse.policy import Policy
from recuse.session.place import LedgerLocation, SecondBudgetWarning

T = TypeVar("T")


class Book:
    """A ledger with its high-water mark, used from one thread alone."""

    def __init__(self, place: LedgerLocation, policy: Policy, mark: Path | None = None) -> None:
        self.place = place
        self._policy = policy
        self._mark_path = mark
        self._thread = ThreadPoolExecutor(1, "ledger")
        self._ledger: Ledger | None = None
        self._mark = Mark()

    async def open(self) -> bool:
        """Return whether the ledger was made now. One that has forgotten charges is refused."""
        return await self.do_alone(self._open)

    def _open(self) -> bool:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SecondBudgetWarning)
            self._ledger, made = self.place.open(self._policy.budget, self._policy.delta)
        path = Path(self._ledger.path)
        self._mark_path = mark_of(path) if self._mark_path is None else self._mark_path
        refuse_older(path, self._ledger.mark, self._mark_path)
        self._mark = self._ledger.mark()
        self._mark.write(self._mark_path)
        return made

    async def do(self, work: Callable[[Ledger], T]) -> T:
        """Return what is done with the ledger, in its thread."""
        return await self.do_alone(lambda: work(self._opened()))

    async def do_alone(self, work: Callable[[], T]) -> T:
        """Return what is done in the ledger's thread; what was begun is finished, whoever stops waiting."""
        return await asyncio.shield(asyncio.get_running_loop().run_in_executor(self._thread, work))

    def _opened(self) -> Ledger:
        if self._ledger is None:
            raise RuntimeError("the ledger is not open")
        return self._ledger

    async def charge(self, bill: Bill) -> Charged | Stored:
        """Return the receipt of a charge, which is on disk, or the answer that was given before.

        Guarantee: as `Ledger.charge`; and the high-water mark knows of the charge before anybody looks.
        """

        def charged(ledger: Ledger) -> Charged | Stored:
            receipt = ledger.charge(bill)
            if isinstance(receipt, Charged) and self._mark_path is not None:
                self._mark = ledger.mark(self._mark)
                self._mark.write(self._mark_path)
            return receipt

        return await self.do(charged)

    async def balance(self, analyst: str | None = None) -> Balance:
        """Return what is granted and spent: of somebody, or of the database."""
        return await self.do(lambda ledger: ledger.balance(analyst))

    def close(self) -> None:
        """Close the ledger when what was begun is done."""
        if self._ledger is not None:
            self._thread.submit(self._ledger.close)
            self._ledger = None
        self._thread.shutdown(wait=True)
