"""What the front process and its workers say to each other: JSON, each message behind its length.

A worker says of a question that it is refused (before any charge, and with all that a refusal says), or gives
what was found, or says that it failed: no more than that, since a failure after the charge may quote a row.
"""

from __future__ import annotations

import json
import struct
from typing import Any

Message = dict[str, Any]
LENGTH = struct.Struct(">I")
MOST_BYTES = 256 * 1024 * 1024


def framed(message: Message) -> bytes:
    """Return a message as bytes."""
    body = json.dumps(message).encode()
    return LENGTH.pack(len(body)) + body
