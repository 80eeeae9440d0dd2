"""What leaves after the charge: the answer, or one form of failure, whatever failed.

    charge ─→ after_charge(work, log) ─→ answer
                        └─ any failure ─→ UnansweredError, and details for the custodian's log

An error of the engine, the encoder, a solver, the noise or the ledger's disk may quote a row, and that it is
raised may depend on one. So its type, its text and its traceback stay here. The charge is kept, and asking
again is a new question: a free second try would be a free look.
"""

from __future__ import annotations

import os
import stat
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import numpy as np

from recuse.errors import UnansweredError

T = TypeVar("T")

PRIVATE = 0o600
"""Who may read a log of failures: its owner."""


@dataclass(frozen=True, slots=True)
class FailureLog:
    """Where the details of failures go: a file that the custodian named, else nowhere."""

    path: Path | None = None

    def note(self, error: BaseException) -> None:
        """Append what failed, with its traceback. Nothing is raised: a log that fails says nothing.

        Only a plain file is written, and only its owner may read it: never a terminal, a pipe or a link.
        """
        if self.path is None:
            return
        with suppress(BaseException):
            at = datetime.now(UTC).isoformat(timespec="seconds")
            told = "".join(traceback.format_exception(error)).splitlines()
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            descriptor = os.open(self.path, flags, PRIVATE)
            try:
                if stat.S_ISREG(os.fstat(descriptor).st_mode):
                    os.fchmod(descriptor, PRIVATE)
                    lines = [f"{at} {line}\n" for line in told]
                    os.write(descriptor, "".join(lines).encode("utf-8", "replace"))
            finally:
                os.close(descriptor)


NO_LOG = FailureLog()

_charged: ContextVar[bool] = ContextVar("charged", default=False)
"""Whether anything has been charged since a door was opened."""


def after_charge(work: Callable[[], T], log: FailureLog = NO_LOG) -> T:
    """Return what `work` returns; whatever it raises comes out as an `UnansweredError` and nothing else.

    An interrupt (Ctrl-C) comes out as a new `KeyboardInterrupt`: it is the asker's own, but what it broke
    into is left behind. Warnings are not shown, and the arithmetic of arrays neither warns nor raises,
    however the process was set up: both would depend on private values.

    Guarantee: type, text, arguments, cause, context and traceback of what is raised are the same for every
    failure of `work` (tests/attacks/test_faults.py).
    """
    _charged.set(True)
    interrupted = False
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return work()
    except KeyboardInterrupt:
        interrupted = True
    except BaseException as error:  # the one place where every error is caught: none may leave as it is
        log.note(error)
    # raised out here, where no error is being handled: nothing is chained to it
    if interrupted:
        raise KeyboardInterrupt
    raise UnansweredError


def door(work: Callable[[], T], *, letting: tuple[type[BaseException], ...]) -> T:
    """Return what a whole command returns; once it has charged, whatever it raises is an `UnansweredError`.

    What a command does with an answer (showing it, closing files) comes after the charge too. Errors of
    the types `letting` leave as they are, and so does what is raised before anything is charged. A door may
    stand within another: a shell has one for every question.
    """
    before = _charged.get()
    _charged.set(False)
    try:
        return work()
    except letting:
        raise
    except BaseException:
        if not _charged.get():
            raise
    finally:
        _charged.set(before or _charged.get())
    raise UnansweredError
