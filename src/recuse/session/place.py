"""Where the ledger of a source lies, what it calls the source, and which others are about the same data.

Forgetting an option must not open a second budget unnoticed: whoever makes one is told.
"""

from __future__ import annotations

import inspect
import os
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Self

from recuse.engines.addresses import place_at
from recuse.engines.files import TABLE_FILES
from recuse.engines.spark_place import SparkPlace
from recuse.errors import LedgerError
from recuse.ledger import Ledger, open_or_create
from recuse.privacy import Delta, Epsilon, decimal_text


class SecondBudgetWarning(UserWarning):
    """A new ledger was made, and another may hold charges on the same data: neither counts the other's."""


def ledger_path(source: object) -> Path | None:
    """Return where the ledger of a file or folder lies by default: beside it, under its name."""
    if not isinstance(source, str | PathLike) or place_at(source) is not None:
        return None
    path = Path(fspath(source)).resolve()
    return path.with_name(path.name + ".ledger")


def ledgers_of(source: object) -> list[Path]:
    """Return the ledgers that are there for a source: its own, its folder's, and those of its files.

    A table file is asked as a part of its folder and, as a graph, by itself: about the same people.
    """
    return [path for path in _possible_ledgers(source) if path.is_file()]


def _possible_ledgers(source: object) -> Iterator[Path]:
    if not isinstance(source, str | PathLike) or place_at(source) is not None:
        return
    path = Path(fspath(source)).resolve()
    related = [path]
    if path.suffix.lower() in TABLE_FILES:
        related.append(path.parent)
    if path.is_dir():
        related += sorted(file for file in path.iterdir() if file.suffix.lower() in TABLE_FILES)
    yield from (found for found in map(ledger_path, related) if found is not None)


@dataclass(frozen=True, slots=True)
class LedgerLocation:
    """The ledger of a source: its path, or None for one that lives as long as the session."""

    source: Path | None
    path: Path | None
    server: str = ""
    """host, port and name of a database on a server; nothing secret"""

    @classmethod
    def of(cls, source: object, ledger: str | PathLike[str] | None = None, policy: object = None) -> Self:
        """Return the place that was named, else the one beside the source; sources in memory have none.

        The ledger of a database on a server lies beside the policy file, under the database's name.
        """
        server = place_at(source)
        if isinstance(server, SparkPlace) and server.folder is not None:
            source = server.folder  # the same data, whoever reads them
        elif server is not None:
            return cls(
                None, _beside(policy, server.name) if ledger is None else Path(ledger).absolute(), str(server)
            )
        known = Path(fspath(source)).resolve() if isinstance(source, str | PathLike) else None
        return cls(known, ledger_path(source) if ledger is None else Path(ledger).absolute())

    def __str__(self) -> str:
        return f"{self.server or self.source or 'data in memory'}, ledger {self.path or 'in memory'}"

    @property
    def name(self) -> str:
        """What the ledger calls the source: its path as seen from there, so that both may be moved together.

        A ledger that serves several sources tells their answers apart by it. Nothing of the data is in it.
        """
        return self.server or self.called(self.source)

    def called(self, file: Path | None) -> str:
        """Return the path of a file as seen from the ledger, nothing for what is in memory."""
        if file is None or self.path is None:
            return ""
        return Path(os.path.relpath(file.resolve(), self.path.resolve().parent)).as_posix()

    def open(self, grant: Epsilon | None, delta: Delta | None = None) -> tuple[Ledger, bool]:
        """Return the ledger and whether it was created now, with the budget granted."""
        if self.path is not None:
            found = open_or_create(self.path, grant, delta)
            if found[1] and (doubt := self.doubt(found[0])):
                warnings.warn(doubt, SecondBudgetWarning, stacklevel=_callers_level())
            return found
        if grant is None:
            raise LedgerError(
                "the policy names no budget", hint="add [budget] and below it epsilon = 10, or name a ledger"
            )
        return Ledger.in_memory(grant, delta), True

    def others(self) -> list[Path]:
        """Return the other ledgers that are there for the same data."""
        here = None if self.path is None else self.path.resolve()
        return [path for path in ledgers_of(self.source) if path != here]

    def doubt(self, ledger: Ledger) -> str | None:
        """Return what to know of a new ledger if it may not be the only one; None where it plainly is."""
        if self.path is None or self.source is None:
            return None
        others = self.others()
        if not others and self.path.resolve() == ledger_path(self.source):
            return None
        granted = decimal_text(ledger.balance().granted)
        other = f"{others[0]} has" if others else "other ledgers have"
        return (
            f"{self.path} is a new ledger with a budget of epsilon = {granted}: what {other} spent on the "
            f"same data is not counted in it{'; name one ledger for both' if others else ''}"
        )


def _beside(policy: object, name: str) -> Path:
    """Return where the ledger of a database on a server lies by default."""
    if not isinstance(policy, str | PathLike):
        raise LedgerError(
            "a database on a server has no ledger beside it", hint='name one: ledger = "shop.ledger"'
        )
    return Path(fspath(policy)).absolute().with_name(f"{re.sub(r'[^A-Za-z0-9_.-]', '_', name)}.ledger")


def _callers_level() -> int:
    """Return the `stacklevel` at which a warning of our caller's names the first line outside the package."""
    package, level, frame = __name__.partition(".")[0], 0, inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        level, frame = level + 1, frame.f_back
    return level
