"""Signing in with SCRAM-SHA-256 and SCRAM-SHA-256-PLUS (RFC 5802, RFC 5929): the password is the token.

Unknown names, wrong, expired and revoked tokens look alike: the salt of a name follows from the name, and
something is always compared.
"""

from __future__ import annotations

import secrets
from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from dataclasses import dataclass

from recuse.ledger import Token
from recuse.ledger.scram import ITERATIONS, Verifier, salt_of
from recuse.server.refusals import SignInError

PLAIN, PLUS = "SCRAM-SHA-256", "SCRAM-SHA-256-PLUS"
BINDING = "p=tls-server-end-point"
NOBODY = Verifier.salted(secrets.token_hex(32), secrets.token_bytes(16), 1)
"""what is compared where there is nothing to compare"""


@dataclass(frozen=True, slots=True)
class Exchange:
    """An exchange after the client's first message."""

    header: str
    first: str
    challenge: str
    nonce: str
    certificate: bytes | None

    @classmethod
    def begun(cls, name: str, mechanism: str, said: bytes, certificate: bytes | None) -> Exchange:
        """Return the exchange that a client's first message begins; `certificate` is the hash of ours.

        A client that could bind to the channel and believes that we cannot (`y`) is refused: somebody stands
        between.
        """
        header, _, first = _ascii(said).partition(",,")
        plus = mechanism == PLUS and certificate is not None
        allowed = (BINDING,) if plus else ("n",) if certificate is not None else ("n", "y")
        attributes = _attributes(first)
        if header not in allowed or mechanism not in (PLAIN, PLUS) or not attributes.get("r"):
            raise SignInError
        nonce = attributes["r"] + secrets.token_urlsafe(18)
        challenge = f"r={nonce},s={b64encode(salt_of(name)).decode()},i={ITERATIONS}"
        return cls(f"{header},,", first, challenge, nonce, certificate if plus else None)

    def finished(self, said: bytes, known: list[tuple[Token, Verifier]]) -> tuple[Token, bytes]:
        """Return the token whose holder the client has proved to be, and our own proof."""
        message = _ascii(said)
        bare, _, _ = message.rpartition(",p=")
        attributes = _attributes(message)
        try:
            proof, bound = (
                b64decode(attributes.get("p", ""), validate=True),
                b64decode(attributes.get("c", "")),
            )
        except NotBase64:
            raise SignInError from None
        messages = f"{self.first},{self.challenge},{bare}".encode()
        fits = bound == self.header.encode() + (self.certificate or b"") and attributes.get("r") == self.nonce
        found = [(token, one) for token, one in known if one.accepts(proof, messages)]
        NOBODY.accepts(proof, messages)
        if not found or not fits:
            raise SignInError
        token, verifier = found[0]
        return token, b"v=" + b64encode(verifier.signature(messages))


def _ascii(said: bytes) -> str:
    try:
        return said.decode("ascii")
    except UnicodeDecodeError:
        raise SignInError from None


def _attributes(said: str) -> dict[str, str]:
    return {part[0]: part[2:] for part in said.split(",") if part[1:2] == "="}
