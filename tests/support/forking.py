"""Processes that are forked or killed at a chosen moment: run as a script, so that nothing else shares them.

`python -m support.forking MODE …`:
    die FOLDER HONEST|LATE               for each moment, one process asks and dies at it
    race FOLDER HONEST|UNLOCKED          eight processes ask for half as many answers as they want
    draws SECURE|INHERITED               two children of one process print what they draw
    inherited FOLDER                     a child uses the session that its parent had opened

`die` prints the moment, how often data was looked at before death, the exit code, and what was spent; `race`
how many charges were granted to each.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import sys
import time
from contextlib import nullcontext
from fractions import Fraction
from functools import partial
from pathlib import Path

from recuse.errors import BudgetError, LedgerError
from recuse.ledger import Bill, Ledger, open_or_create
from recuse.noise import SecureNoise
from recuse.privacy import Epsilon
from recuse.session.session import Session, connect
from recuse.session.spine import release
from recuse.session.stored import stored_text
from support.racing import child, heard
from support.shop import COUNT, make_shop

MOMENTS = ("look", "looked", "store", "stored")


# ------------------------------------------------------------------ dying


class Late(Session):
    """A broken twin: the ledger is charged when the answer is known."""

    def reply(self, question):
        releases = release(question, question.read_private_rows(self._parts.solver), SecureNoise())
        paid = self.ledger.charge(Bill(question.text, question.loss, "key", "policy"))
        self.ledger.store(paid, stored_text(question.keys, releases))
        return releases


def die(folder: Path, kind: str) -> None:
    database, policy = make_shop(folder)
    for moment in MOMENTS:
        ledger = folder / f"{moment}.ledger"
        open_or_create(ledger, Epsilon(Fraction(2)))[0].close()
        process, reading = child(partial(dying, moment, kind, database, policy, ledger))
        looked, code = heard(reading), os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        print(moment, looked, code, Ledger.open(ledger).balance().spent)


def dying(moment: str, kind: str, database: Path, policy: Path, path: Path, writing: int) -> None:
    session = connect(database, policy, path)
    if kind == "LATE":
        session.__class__ = Late
    run, store = type(session.engine).run, Ledger.store

    def dying_run(engine, statements):
        os.write(writing, b".")
        _die_if(moment == "look")
        found = run(engine, statements)
        _die_if(moment == "looked")
        return found

    def dying_store(ledger, paid, text):
        _die_if(moment == "store")
        store(ledger, paid, text)
        _die_if(moment == "stored")

    type(session.engine).run, Ledger.store = dying_run, dying_store
    session.ask(COUNT, "0.5")


def _die_if(now: bool) -> None:
    if now:
        os.kill(os.getpid(), signal.SIGKILL)


# ------------------------------------------------------------------ racing


class Unlocked(Ledger):
    """A broken twin: what is left is read, and written a moment later, without a lock."""

    def _transaction(self, kind):
        return nullcontext()

    def _payer(self, name):
        time.sleep(0.01)
        return super()._payer(name)


def race(folder: Path, kind: str) -> None:
    path = folder / "race.ledger"
    processes, each = 8, 8
    open_or_create(path, Epsilon(Fraction(processes * each // 2)))

    ready = multiprocessing.get_context("fork").Barrier(processes)

    def work(place: int, writing: int) -> None:
        ledger = (Ledger if kind == "HONEST" else Unlocked).open(path)
        ready.wait()
        for number in range(each):
            try:
                ledger.charge(Bill("a question", Epsilon(Fraction(1)), f"{place}-{number}", "policy"))
            except BudgetError:
                continue
            except LedgerError:  # the twin's own confusion: what it has granted counts
                break
            os.write(writing, b".")

    started = [child(lambda writing, place=place: work(place, writing)) for place in range(processes)]
    print(*(heard(reading) for _, reading in started))
    for process, _ in started:
        os.waitpid(process, 0)


# ------------------------------------------------------------------ forking


class Inherited:
    """A broken twin: a generator that lives in the process, so that children inherit its state."""

    def __init__(self) -> None:
        self.random = random.Random(os.urandom(16))

    def laplace(self, scale: Fraction) -> int:
        return self.random.randint(-int(scale), int(scale))

    def bits(self, count: int) -> int:
        return self.random.getrandbits(count)


def draws(kind: str) -> None:
    noise = SecureNoise() if kind == "SECURE" else Inherited()
    noise.laplace(Fraction(10**9)), noise.bits(64)  # whatever is seeded is seeded now

    def work(writing: int) -> None:
        drawn = [
            noise.laplace(Fraction(10**9)),
            noise.bits(64),
            noise.laplace(Fraction(10**9)),
            noise.bits(64),
        ]
        os.write(writing, " ".join(map(str, drawn)).encode())

    for _ in range(2):
        process, reading = child(work)
        os.waitpid(process, 0)
        print(os.read(reading, 4096).decode())


def inherited(folder: Path) -> None:
    database, policy = make_shop(folder)
    with connect(database, policy) as session:
        session.ask(COUNT, "0.5")

        def work(writing: int) -> None:
            try:
                session.ask("SELECT COUNT(*) FROM orders WHERE id > 1", "0.5")
                os.write(writing, b"answered")
            except LedgerError as error:
                os.write(writing, str(error).encode())

        process, reading = child(work)
        os.waitpid(process, 0)
        print(os.read(reading, 4096).decode())
        print(session.budget.spent)


if __name__ == "__main__":
    mode, *rest = sys.argv[1:]
    if mode == "draws":
        draws(*rest)
    elif mode == "inherited":
        inherited(Path(rest[0]))
    else:
        {"die": die, "race": race}[mode](Path(rest[0]), *rest[1:])
