"""A ledger put back from a copy: what was spent after the copy was made stays spent, as far as is known."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from fractions import Fraction
from pathlib import Path

from recuse.errors import LedgerError
from recuse.ledger.backup import charge_lost, copy_to
from recuse.ledger.file import readable, transaction, uri_of
from recuse.ledger.ledger import Ledger
from recuse.ledger.mark import Mark, mark_of
from recuse.ledger.schema import now
from recuse.ledger.spending import NOTHING
from recuse.ledger.tokens import SHELL, write_down


def restore(copy: Path, path: Path, mark: Path | None = None, who: str = SHELL) -> Fraction:
    """Return how much ε was spent since the copy was made, which is charged to the ledger that is put back.

    It is known from the high-water mark; without one nothing is known of it. No ledger is written over.
    Guarantee: as `charge_lost`.
    """
    for there in (path, path.with_name(path.name + "-wal")):
        if there.exists():
            raise LedgerError(
                "there is a ledger already", found=str(there), hint="move it away first, with its -wal file"
            )
    if not copy.is_file():
        raise LedgerError("there is no copy here", found=str(copy))
    place = mark_of(path) if mark is None else mark
    known = Mark.read(place)
    draft = path.with_name(path.name + ".restored")
    with readable(copy), closing(sqlite3.connect(f"file:{uri_of(copy)}?mode=ro", uri=True)) as source:
        copy_to(source, draft)
    try:
        ledger = Ledger.open(draft)  # an older version is brought up, and what is damaged refused
        lost = _charge_what_is_missing(ledger, known, who)
        ledger.mark().write(place)
        ledger.tokens().connection.execute("PRAGMA journal_mode = WAL")
        ledger.close()
        draft.rename(path)
    finally:
        for rest in (draft, draft.with_name(draft.name + "-wal"), draft.with_name(draft.name + "-shm")):
            rest.unlink(missing_ok=True)
    return lost


def _charge_what_is_missing(ledger: Ledger, known: Mark, who: str) -> Fraction:
    """Charge what the mark says was spent and the ledger does not know: an unknown name's as nobody's."""
    before, total = ledger.mark().spent, Fraction(0)
    named = {analyst.name for analyst in ledger.analysts()}
    connection = ledger.tokens().connection
    with readable(ledger.path), transaction(connection, "IMMEDIATE"):
        for name, (epsilon, delta) in known.spent.items():
            had = before.get(name, NOTHING)
            missing, chance = max(Fraction(0), epsilon - had[0]), max(Fraction(0), delta - had[1])
            if missing > 0:
                charge_lost(connection, name if name in named else None, missing, chance, now())
                total += missing
        write_down(connection, who, "restore", f"{total} was spent since the copy was made")
    return total
