"""Faults at every call after the charge: which calls there are, and what leaves when one of them fails.

A profile function sees every call of this package, and every call that it makes of the engine, of Arrow, of
SQLite and of the solver. Another copies the process at each one that is to fail: the copy fails there and
tells what leaves, and the question goes on. So one run has as many faults as one likes.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sqlite3
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any
from unittest.mock import patch

import duckdb
import pyarrow

import recuse
from recuse.errors import BudgetError, DatabaseError, QueryError
from recuse.ledger import Bill, Charged, Ledger, Stored
from recuse.session import outward

SOURCE = str(Path(recuse.__file__).parent)
GUARDS = {outward.__file__}
"""the place where failures get their form: nothing guards the guard"""
OTHERS = ("duckdb", "_duckdb", "pyarrow", "sqlite3", "_sqlite3", "highspy", "opendp")
SECRET = "Ada Lovelace earns 90"

Call = tuple[CodeType, str]
"""a function of ours, and the function of another library that it calls, if that is what fails"""


class UnheardOfError(BaseException):
    """What no handler expects."""


class UnprintableError(Exception):
    """An error that cannot even be shown."""

    def __str__(self) -> str:
        raise RuntimeError(SECRET)


def errors() -> list[BaseException]:
    """Return one error of every kind."""
    chained = ValueError(SECRET)
    chained.__cause__ = KeyError(SECRET)
    return [
        ValueError(SECRET),
        MemoryError(),
        duckdb.ConversionException(f"Could not convert string '{SECRET}' to INT32"),
        OverflowError(SECRET),
        RecursionError(SECRET),
        pyarrow.ArrowInvalid(SECRET),
        DatabaseError(SECRET),
        SystemExit(7),
        sqlite3.OperationalError("database or disk is full"),
        UnheardOfError(SECRET),
        ZeroDivisionError(SECRET),
        BudgetError(SECRET),
        duckdb.OutOfMemoryException(SECRET),
        UnprintableError(),
        chained,
        AssertionError(SECRET),
        UnicodeDecodeError("utf-8", SECRET.encode(), 0, 1, SECRET),
        OSError(28, SECRET),
        QueryError(SECRET, line=90),
        pyarrow.ArrowMemoryError(SECRET),
        RuntimeWarning(SECRET),
        StopIteration(90),
    ]


_known: dict[int, CodeType] = {}
_ours: dict[int, bool] = {}
"""whether code is ours, by its id: to hash it looks at all of it, every time; `_known` keeps it there"""


def _is_ours(code: CodeType) -> bool:
    _known[id(code)] = code
    _ours[id(code)] = code.co_filename.startswith(SOURCE) and code.co_filename not in GUARDS
    return _ours[id(code)]


class Watcher:
    """Sees the calls after a charge, in the order in which each is first made, and how often."""

    def __init__(self) -> None:
        self._made: Counter[tuple[int, str]] = Counter()

    def __call__(self, frame: FrameType, event: str, arg: Any) -> None:
        place = id(frame.f_code)
        if not (_ours[place] if place in _ours else _is_ours(frame.f_code)):
            return
        if event == "call":
            self._made[place, ""] += 1
        elif event == "c_call" and _module(arg).partition(".")[0] in OTHERS:
            self._made[place, _name(arg)] += 1

    @property
    def calls(self) -> Counter[Call]:
        """The calls, and how often each was made."""
        return Counter({(_known[place], called): times for (place, called), times in self._made.items()})


@dataclass(frozen=True)
class Fault:
    """An error at one call, the first or a later time that it is made."""

    call: Call
    time: int
    error: BaseException


class Saboteur:
    """Raises at one call after a charge, and is out of the way of all others."""

    def __init__(self, fault: Fault) -> None:
        self._fault, self._left = fault, fault.time
        self._code, self._called = fault.call
        self._event = "c_call" if self._called else "call"

    @property
    def struck(self) -> bool:
        """Whether the call was made, so that it failed."""
        return self._left == 0

    def __call__(self, frame: FrameType, event: str, arg: Any) -> None:
        if frame.f_code is not self._code or event != self._event:
            return
        if not self._called or (_module(arg).partition(".")[0] in OTHERS and _name(arg) == self._called):
            self._left -= 1
            if self.struck:
                raise self._fault.error


class Forker:
    """Copies the process at each of some calls after a charge: the copy fails there."""

    LONGEST = 120
    """seconds after which a copy is ended; what it would have told is missing then"""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self._faults = {(id(fault.call[0]), fault.call[1], fault.time): fault for fault in faults}
        self._codes = {place for place, _, _ in self._faults}
        self._made: Counter[tuple[int, str]] = Counter()
        self.told: list[tuple[str | None, bool]] = []
        self.pipe: int | None = None
        """where a copy tells what left it; None in the process itself"""

    @property
    def unmade(self) -> list[Fault]:
        """The faults whose call was not made, so that nothing failed."""
        return list(self._faults.values())

    def __call__(self, frame: FrameType, event: str, arg: Any) -> None:
        place = id(frame.f_code)
        if place not in self._codes:
            return
        if event == "call":
            call = place, ""
        elif event == "c_call" and _module(arg).partition(".")[0] in OTHERS:
            call = place, _name(arg)
        else:
            return
        self._made[call] += 1
        if fault := self._faults.pop((*call, self._made[call]), None):
            self._fork(fault.error)

    def _fork(self, error: BaseException) -> None:
        (reading, writing), home = os.pipe(), os.getpid()
        process = os.fork()
        if process == 0:
            gc.disable()  # it would touch, and so copy, all memory
            signal.alarm(self.LONGEST)
            os.getpid = lambda: home  # the ledger of a copy is its own: nothing is spent twice
            self.pipe = writing
            raise error
        os.close(writing)
        with os.fdopen(reading, "rb") as heard:
            said = heard.read()
        os.waitpid(process, 0)
        self.told.append(pickle.loads(said))

    def tell(self, left: str | None, *, charged: bool) -> None:
        """End a copy, and say what left it and whether its charge stays."""
        if self.pipe is not None:
            os.write(self.pipe, pickle.dumps((left, charged)))
            os._exit(0)


def _name(function: Any) -> str:
    return str(getattr(function, "__qualname__", function))


def _module(function: Any) -> str:
    return str(getattr(function, "__module__", None) or type(getattr(function, "__self__", None)).__module__)


@contextmanager
def watching(watcher: Watcher | Saboteur | Forker) -> Iterator[None]:
    """Let a watcher see every call after a charge, while the body runs."""
    charge = Ledger.charge

    def watched(self: Ledger, question: Bill) -> Charged | Stored:
        paid = charge(self, question)
        sys.setprofile(watcher)
        return paid

    try:
        with patch.object(Ledger, "charge", watched):
            yield
    finally:
        sys.setprofile(None)


def calls_of(ask: Callable[[], object]) -> Counter[Call]:
    """Return all calls after the charge of a question, and how often each is made."""
    watcher = Watcher()
    with watching(watcher):
        ask()
    return watcher.calls


def left_by(ask: Callable[[], object], faults: Iterable[Fault], charged: Callable[[], bool]) -> set[str]:
    """Return all that leaves when each of the calls fails; every one must be charged, answered or not.

    Some errors are expected inside: a call that is tried in another way has not failed. Nor has one that the
    interpreter makes to end a generator that is no longer needed: what is raised there goes nowhere.
    """
    forker, left = Forker(faults), None
    try:
        with patch.object(sys, "unraisablehook", lambda _: None), watching(forker):
            ask()
    except BaseException as error:
        if forker.pipe is None:
            raise
        left = repr(form_of(error))
    finally:
        if forker.pipe is not None:  # whatever else happens, a copy ends here
            forker.tell(left, charged=charged())
    assert not forker.unmade, f"never made: {forker.unmade}"
    assert all(stays for _, stays in forker.told), "the charge stays"
    return {form for form, _ in forker.told if form is not None}


def left_one_by_one(
    ask: Callable[[], object], faults: Iterable[Fault], charged: Callable[[], bool]
) -> set[str]:
    """Return the same as `left_by`, from a question for each fault: for what opens and closes an engine.

    Threads are not copied with a process, and closing waits for them.
    """
    found = set()
    for fault in faults:
        saboteur = Saboteur(fault)
        try:
            with patch.object(sys, "unraisablehook", lambda _: None), watching(saboteur):
                ask()
        except BaseException as error:
            found.add(repr(form_of(error)))
        assert saboteur.struck, f"never made: {fault}"
        assert charged(), "the charge stays"
    return found


def form_of(error: BaseException) -> object:
    """Return everything that can be seen of an error, its places in our code among it."""
    walked = traceback.walk_tb(error.__traceback__)
    places = [
        (one.f_code.co_filename, line) for one, line in walked if one.f_code.co_filename.startswith(SOURCE)
    ]
    try:
        text = str(error)
    except RuntimeError:
        text = "unprintable"
    return (
        type(error),
        text,
        error.args,
        error.__cause__,
        error.__context__,
        sorted(map(str, vars(error).items())),
        places,
    )
