"""Who makes room at a door when too many have come: nobody who waits for an answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Protocol, TypeVar

MOST_CONNECTIONS = 200
"""of a door"""


class Guest(Protocol):
    """A connection, as a door sees it."""

    who: str | None
    """whose token it has shown; None: a stranger"""
    since: float
    """when something came from it last"""

    @property
    def is_busy(self) -> bool:
        """Whether it waits for an answer."""


G = TypeVar("G", bound=Guest)


def dispensable(guests: Iterable[G]) -> G | None:
    """Return who is let go: of strangers the longest silent, then of whoever has most; None: all are busy."""
    everybody = list(guests)
    many = Counter(guest.who for guest in everybody)
    idle = [guest for guest in everybody if not guest.is_busy]
    return min(idle, key=lambda one: (one.who is not None, -many[one.who], one.since), default=None)
