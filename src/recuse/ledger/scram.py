"""SCRAM-SHA-256 (RFC 5802, RFC 7677): proof that somebody holds a token, without the token being sent.

A name's salt follows from the name alone, so that all tokens of a name are tried at once, and a name that
nobody has looks like one that somebody has. Tokens are 256 random bits: a salt that is known helps nobody.
"""

from __future__ import annotations

import hmac
from base64 import b64decode, b64encode
from dataclasses import dataclass
from hashlib import pbkdf2_hmac, sha256
from typing import Self

ITERATIONS = 4096


def salt_of(name: str) -> bytes:
    """Return the salt of a name, whether anybody has it or not."""
    return sha256(b"recuse scram salt\0" + name.encode()).digest()[:16]


@dataclass(frozen=True, slots=True)
class Verifier:
    """What a server keeps of a token: it proves that a client has it, and does not say it."""

    stored_key: bytes
    server_key: bytes

    @classmethod
    def of(cls, name: str, password: str, iterations: int = ITERATIONS) -> Self:
        """Return the verifier of a password."""
        return cls.salted(password, salt_of(name), iterations)

    @classmethod
    def salted(cls, password: str, salt: bytes, iterations: int) -> Self:
        """Return the verifier of a password with a salt of its own."""
        key = pbkdf2_hmac("sha256", password.encode(), salt, iterations)
        return cls(sha256(sign(key, b"Client Key")).digest(), sign(key, b"Server Key"))

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return a verifier from its text."""
        stored, _, server = text.partition(":")
        return cls(b64decode(stored), b64decode(server))

    def __str__(self) -> str:
        return f"{b64encode(self.stored_key).decode()}:{b64encode(self.server_key).decode()}"

    def accepts(self, proof: bytes, messages: bytes) -> bool:
        """Return whether a client's proof over the messages exchanged shows that it has the password."""
        signature = sign(self.stored_key, messages)
        if len(proof) != len(signature):
            return False
        key = bytes(a ^ b for a, b in zip(proof, signature, strict=True))
        return hmac.compare_digest(sha256(key).digest(), self.stored_key)

    def signature(self, messages: bytes) -> bytes:
        """Return what proves to the client that the server knows the password's verifier."""
        return sign(self.server_key, messages)


def sign(key: bytes, message: bytes) -> bytes:
    """Return HMAC-SHA-256."""
    return hmac.digest(key, message, "sha256")
