"""The high-water mark: what has been charged at least, written down in a second place.

A ledger that is put back from an old copy has forgotten charges, and would let them be spent again. So a
server writes after every charge how many there were, their hash and what was spent; a ledger that does not
begin with these charges is refused.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

from recuse.errors import LedgerError
from recuse.ledger.file import reason
from recuse.ledger.spending import NOTHING, Spending


@dataclass(frozen=True, slots=True)
class Mark:
    """So many charges, one hash of them all, and what they spent: by analyst, nobody's under no name."""

    charges: int = 0
    digest: str = ""
    spent: Mapping[str, Spending] = field(default_factory=dict)

    def extended(self, rows: Iterable[tuple[Any, ...]]) -> Mark:
        """Return the mark with more charges after these: at, epsilon, query, key, analyst, delta."""
        count, digest, spent = self.charges, self.digest, dict(self.spent)
        for row in rows:
            _, epsilon, _, _, analyst, delta = row
            digest = sha256(json.dumps([digest, *row]).encode()).hexdigest()
            before = spent.get(analyst or "", NOTHING)
            spent[analyst or ""] = before[0] + Fraction(epsilon), before[1] + Fraction(delta)
            count += 1
        return Mark(count, digest, spent)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Return the mark in a file; one of no charges if there is none."""
        try:
            found = json.loads(path.read_text())
            spent = {name: (Fraction(e), Fraction(d)) for name, (e, d) in found["spent"].items()}
            return cls(int(found["charges"]), str(found["digest"]), spent)
        except FileNotFoundError:
            return cls()
        except (OSError, ValueError, TypeError, KeyError, AttributeError, ZeroDivisionError):
            raise LedgerError(
                "the high-water mark cannot be read, so nothing is answered",
                found=str(path),
                hint="it says what was spent at least: put the file back, or remove it if you know better",
            ) from None

    def write(self, path: Path) -> None:
        """Put the mark into a file: whole, or as it was."""
        told = {name: [str(amount) for amount in spending] for name, spending in self.spent.items()}
        text = json.dumps({"charges": self.charges, "digest": self.digest, "spent": told})
        try:
            descriptor, draft = tempfile.mkstemp(prefix=path.name, dir=path.parent)
            with os.fdopen(descriptor, "w") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.replace(draft, path)
        except OSError as error:
            raise LedgerError(
                "the high-water mark cannot be written, so nothing is answered",
                found=f"{reason(error)}: {path}",
            ) from None


NO_CHARGES = Mark()


def mark_of(ledger: Path) -> Path:
    """Return where the mark of a ledger lies unless another place is named: beside it."""
    return ledger.with_name(ledger.name + ".mark")


def refuse_older(ledger: Path, marked: Callable[[Mark, int], Mark], place: Path | None = None) -> None:
    """Refuse a ledger that does not begin with the charges of its mark; `marked` gives the first n."""
    known = Mark.read(mark_of(ledger) if place is None else place)
    if marked(NO_CHARGES, known.charges) == known:
        return
    raise LedgerError(
        "this ledger has forgotten charges, so nothing is answered",
        found=f"a mark of {known.charges:,} charges that the ledger does not begin with: {ledger}",
        hint="was an old copy put back? recuse ledger restore counts what was spent since",
    )
