"""Tokens: by what a server knows who asks. 256 random bits each, shown once, kept as hashes alone.

    rcs_<id>_<secret>      what somebody holds: over HTTP the bearer, with PostgreSQL's protocol the password

A token is an analyst's or a custodian's, has a purpose and may expire; revoked, it is worth nothing at once.
Whatever a custodian does is written into the audit, whose lines nobody changes.
"""

from __future__ import annotations

import secrets
import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path

from recuse.errors import AnalystError, ParameterError
from recuse.ledger.entries import checked_name
from recuse.ledger.file import readable, transaction
from recuse.ledger.schema import now
from recuse.ledger.scram import Verifier


class Role(Enum):
    """What the holder of a token may do."""

    ANALYST = "analyst"
    """ask, and see what was asked under the same name"""
    CUSTODIAN = "custodian"
    """all that, and grant, publish, make and revoke tokens, and read the audit"""


SHELL = "command line"
"""who acts where nobody signed in: whoever may write to the file"""
PREFIX = "rcs"
SECRET_BYTES = 32
LONGEST_PURPOSE = 100
COLUMNS = "id, name, role, purpose, created, expires, revoked, last_used"


@dataclass(frozen=True, slots=True)
class Token:
    """A token as the ledger knows it: nothing in it opens anything."""

    id: str
    name: str
    """whose it is"""
    role: Role
    purpose: str
    """what it was made for, in the custodian's words"""
    created: str
    expires: str | None
    revoked: str | None
    last_used: str | None

    def is_live(self, at: datetime) -> bool:
        """Return whether it opens anything at a moment."""
        return self.revoked is None and (self.expires is None or at < datetime.fromisoformat(self.expires))


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a ledger."""

    path: Path | str
    connection: sqlite3.Connection

    def create(
        self,
        name: str,
        role: Role,
        purpose: str = "",
        *,
        expires: datetime | None = None,
        who: str = SHELL,
    ) -> tuple[Token, str]:
        """Return a new token and its text, which nobody can be shown again."""
        if len(purpose) > LONGEST_PURPOSE or not purpose.isprintable():
            raise ParameterError(
                "this is no purpose", accepted=f"up to {LONGEST_PURPOSE} printable characters"
            )
        if expires is not None and (expires.tzinfo is None or expires <= datetime.now(UTC)):
            raise ParameterError("a token expires in the future, in a time zone", found=str(expires))
        token = Token(
            secrets.token_hex(8),
            checked_name(name),
            role,
            purpose,
            now(),
            None if expires is None else expires.astimezone(UTC).isoformat(timespec="seconds"),
            revoked=None,
            last_used=None,
        )
        text = f"{PREFIX}_{token.id}_{secrets.token_hex(SECRET_BYTES)}"
        with readable(self.path), transaction(self.connection, "IMMEDIATE"):
            if role is Role.ANALYST:
                self._refuse_unknown(name)
            self.connection.execute(
                "INSERT INTO token (id, name, role, purpose, sha256, scram, created, expires)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(token.id, name, role.value, purpose, _digest(text), str(Verifier.of(name, text))),
                    *(token.created, token.expires),
                ),
            )
            until = "" if token.expires is None else f" until {token.expires}"
            write_down(self.connection, who, "create token", f"{token.id} for {role.value} {name}{until}")
        return token, text

    def _refuse_unknown(self, name: str) -> None:
        if not self.connection.execute("SELECT 1 FROM analyst WHERE name = ?", (name,)).fetchall():
            raise AnalystError(
                "the custodian has named no such analyst", found=name, hint="a grant to an analyst names one"
            )

    def revoke(self, id: str, *, who: str = SHELL) -> Token:
        """Return a token that opens nothing any more."""
        with readable(self.path), transaction(self.connection, "IMMEDIATE"):
            if not self._read("WHERE id = ?", id):
                raise ParameterError(
                    "there is no such token", found=id, hint="the list of tokens has their ids"
                )
            self.connection.execute(
                "UPDATE token SET revoked = ? WHERE id = ? AND revoked IS NULL", (now(), id)
            )
            write_down(self.connection, who, "revoke token", id)
            return self._read("WHERE id = ?", id)[0]

    def all(self) -> list[Token]:
        """Return all tokens, the revoked ones too, in the order in which they were made."""
        with readable(self.path):
            return self._read("ORDER BY created, rowid")

    def holder(self, text: str) -> Token | None:
        """Return the live token of this text, or None: nothing says why."""
        with readable(self.path):
            _, _, rest = text.partition("_")
            id, _, _ = rest.partition("_")
            found = self.connection.execute("SELECT sha256 FROM token WHERE id = ?", (id,)).fetchall()
            # what is not there is compared as well, so that ids cannot be told by the time it takes
            same = compare_digest(found[0][0] if found else "0" * 64, _digest(text))
            return self.live(id) if found and same else None

    def live(self, id: str) -> Token | None:
        """Return the token of an id if it opens anything now."""
        with readable(self.path):
            at = datetime.now(UTC)
            return next((token for token in self._read("WHERE id = ?", id) if token.is_live(at)), None)

    def verifiers(self, name: str) -> list[tuple[Token, Verifier]]:
        """Return somebody's live tokens, each with what proves that it is held (SCRAM)."""
        with readable(self.path):
            at = datetime.now(UTC)
            rows = self.connection.execute("SELECT id, scram FROM token WHERE name = ?", (name,)).fetchall()
            kept = {id: Verifier.parse(text) for id, text in rows}
            found = [token for token in self._read("WHERE name = ?", name) if token.is_live(at)]
            return [(token, kept[token.id]) for token in found]

    def used(self, id: str) -> None:
        """Write down that a token was used now."""
        with readable(self.path), transaction(self.connection, "IMMEDIATE"):
            self.connection.execute("UPDATE token SET last_used = ? WHERE id = ?", (now(), id))

    def _read(self, which: str, *values: str) -> list[Token]:
        rows = self.connection.execute(f"SELECT {COLUMNS} FROM token {which}", values).fetchall()
        return [Token(id, name, Role(role), *rest) for id, name, role, *rest in rows]


def write_down(connection: sqlite3.Connection, who: str, what: str, detail: str) -> None:
    """Add a line to the audit, inside the caller's transaction."""
    connection.execute(
        "INSERT INTO audit (at, who, what, detail) VALUES (?, ?, ?, ?)", (now(), who, what, detail)
    )


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()
