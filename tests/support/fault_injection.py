"""Faults at every call after the charge: which calls there are, and what leaves when one of them fails.

A profile function sees every call of this package, and every call that it makes of the engine, of Arrow, of
SQLite and of the solver; another raises at the one that is to fail.
"""

from __future__ import annotations

import sqlite3
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
    """Sees the calls after a charge, in the order in which each is first made."""

    def __init__(self) -> None:
        self.calls: dict[Call, None] = {}

    def __call__(self, frame: FrameType, event: str, arg: Any) -> None:
        code = frame.f_code
        if code not in _ours:
            _ours[code] = code.co_filename.startswith(SOURCE) and code.co_filename not in GUARDS
        if not _ours[code]:
            return
        if event == "call":
            self.calls[code, ""] = None
        elif event == "c_call" and _module(arg).partition(".")[0] in OTHERS:
            self.calls[code, _name(arg)] = None


class Saboteur:
    """Raises at one call after a charge, and is out of the way of all others."""

    def __init__(self, target: Call, fault: BaseException) -> None:
        self._code, self._called = target
        self._event = "c_call" if self._called else "call"
        self._fault = fault

    def __call__(self, frame: FrameType, event: str, arg: Any) -> None:
        if frame.f_code is not self._code or event != self._event:
            return
        if not self._called or (_module(arg).partition(".")[0] in OTHERS and _name(arg) == self._called):
            raise self._fault


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


def calls_of(ask: Callable[[], object]) -> list[Call]:
    """Return all calls after the charge of a question."""
    watcher = Watcher()
    with watching(watcher):
        ask()
    return list(watcher.calls)


def left_by(ask: Callable[[], object], call: Call, fault: BaseException) -> object:
    """Return all that leaves when one call fails; None if it is answered all the same.

    Some errors are expected inside: a call that is tried in another way has not failed.
    """
    try:
        with watching(Saboteur(call, fault)):
            ask()
    except BaseException as error:
        return form_of(error)
    return None


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
