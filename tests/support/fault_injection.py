"""Faults at every call after the charge: which calls there are, and what leaves when one of them fails.

A profile function sees every call of this package, and every call that it makes of the engine, of Arrow, of
SQLite and of the solver; another raises at the one that is to fail.
"""

from __future__ import annotations

import sqlite3
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
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


_ours: dict[CodeType, bool] = {}


class Watcher:
    """Sees the calls after a charge, in the order in which each is first made, and how often."""

    def __init__(self) -> None:
        self.calls: Counter[Call] = Counter()

    def __call__(self, frame: FrameType, event: str, arg: Any) -> None:
        code = frame.f_code
        if code not in _ours:
            _ours[code] = code.co_filename.startswith(SOURCE) and code.co_filename not in GUARDS
        if not _ours[code]:
            return
        if event == "call":
            self.calls[code, ""] += 1
        elif event == "c_call" and _module(arg).partition(".")[0] in OTHERS:
            self.calls[code, _name(arg)] += 1


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


def _name(function: Any) -> str:
    return str(getattr(function, "__qualname__", function))


def _module(function: Any) -> str:
    return str(getattr(function, "__module__", None) or type(getattr(function, "__self__", None)).__module__)


@contextmanager
def watching(watcher: Watcher | Saboteur) -> Iterator[None]:
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


def left_by(ask: Callable[[], object], fault: Fault) -> object:
    """Return all that leaves when one call fails; None if it is answered all the same.

    Some errors are expected inside: a call that is tried in another way has not failed. Nor has one that the
    interpreter makes to end a generator that is no longer needed: what is raised there goes nowhere.
    """
    saboteur, left = Saboteur(fault), None
    try:
        with watching(saboteur), patch.object(sys, "unraisablehook", lambda _: None):
            ask()
    except BaseException as error:
        left = form_of(error)
    assert saboteur.struck, f"{fault} was never made"
    return left


def form_of(error: BaseException) -> object:
    """Return everything that can be seen of an error, its places in our code among it."""
    told = traceback.extract_tb(error.__traceback__)
    places = [(place.filename, place.lineno) for place in told if place.filename.startswith(SOURCE)]
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
