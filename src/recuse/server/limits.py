"""How fast somebody may ask, and guess: by token and by address, from what is public alone."""

from __future__ import annotations

import time
from collections import OrderedDict

from recuse.server.refusals import BusyError

PER_SECOND = 50.0
BURST = 200.0
"""requests of one token"""
GUESSES = 300.0
GUESSES_PER_SECOND = 1.0
"""failed sign-ins of one address"""
KEPT = 10_000
MOST_SQL = 20_000
"""characters of a statement"""
MOST_STATED = 1_000_000
"""rows that an estimate may be asked to make up"""


class Bucket:
    """So many at once, and so many a second after that; the oldest names are forgotten."""

    def __init__(self, burst: float, per_second: float) -> None:
        self._burst = burst
        self._rate = per_second
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def left(self, name: str) -> float:
        """Return how many more are allowed now."""
        left, at = self._left.get(name, (self._burst, 0.0))
        return min(self._burst, left + (time.monotonic() - at) * self._rate)

    def take(self, name: str) -> bool:
        """Return whether one more is allowed, and count it."""
        left = self.left(name)
        self._left[name] = (max(left - 1, 0.0), time.monotonic())
        self._left.move_to_end(name)
        while len(self._left) > KEPT:
            self._left.popitem(last=False)
        return left >= 1


class Pace:
    """The pace of everybody who comes by a door."""

    def __init__(self) -> None:
        self._requests = Bucket(BURST, PER_SECOND)
        self._guesses = Bucket(GUESSES, GUESSES_PER_SECOND)

    def refuse_hurry(self, token: str) -> None:
        """Refuse a token whose requests come too fast."""
        if not self._requests.take(token):
            raise BusyError("requests come too fast", accepted=f"{PER_SECOND:g} a second")

    def failed(self, address: str) -> None:
        """Count a sign-in that failed, and refuse an address from which too many have.

        Whoever holds a token is let in all the same: behind a proxy all have one address.
        """
        if not self._guesses.take(address):
            raise BusyError("too many sign-ins have failed", hint="wait a minute")
