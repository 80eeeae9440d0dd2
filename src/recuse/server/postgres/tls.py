"""The door's certificate, and what a client binds its sign-in to (RFC 5929, tls-server-end-point)."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from recuse.errors import ParameterError
from recuse.server.settings import Listen


@dataclass(frozen=True, slots=True)
class Certificate:
    """What TLS needs, and the hash of the certificate: of SHA-256, as for certificates signed with it."""

    context: ssl.SSLContext
    hash: bytes

    @classmethod
    def of(cls, listen: Listen) -> Certificate | None:
        """Return the certificate of a door, or None if it has none."""
        if listen.certificate is None or listen.key is None:
            return None
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        try:
            context.load_cert_chain(listen.certificate, listen.key)
            text = Path(listen.certificate).read_text()
            first = text[text.index("-----BEGIN CERTIFICATE") :].partition("-----END CERTIFICATE-----")[0]
            der = ssl.PEM_cert_to_DER_cert(first + "-----END CERTIFICATE-----")
        except (OSError, ValueError):
            raise ParameterError("the certificate cannot be used", found=listen.certificate) from None
        return cls(context, sha256(der).digest())
