"""Browsers that signed in: a random name in a cookie, all else on this side, gone when the server ends."""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from hmac import compare_digest

from starlette.responses import Response

from recuse.ledger import Token

IDLE = 3600.0
LONGEST = 12 * 3600.0
"""seconds after which a browser signs in anew: without a request, and in all"""
MOST = 10_000
"""the browser that was seen longest ago is forgotten for the next one"""
NAME_BYTES = 32


@dataclass(slots=True)
class Browser:
    """A browser in which somebody signed in."""

    key: str
    """the hash of its cookie"""
    dataset: str
    token: Token
    csrf: str
    began: float
    seen: float

    def is_own(self, csrf: str) -> bool:
        """Return whether a page that was shown to this browser says so."""
        return compare_digest(self.csrf.encode(), csrf.encode())


class Browsers:
    """All browsers that signed in."""

    def __init__(self, *, secure: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self._secure = secure
        self._clock = clock
        self._kept: OrderedDict[str, Browser] = OrderedDict()

    @property
    def cookie(self) -> str:
        """What the cookie is called: with TLS no other site and no page in the clear can set one."""
        return "__Host-recuse" if self._secure else "recuse"

    def begin(self, dataset: str, token: Token, response: Response) -> Browser:
        """Sign a browser in, under a name that nobody had."""
        name, now = secrets.token_urlsafe(NAME_BYTES), self._clock()
        browser = Browser(_digest(name), dataset, token, secrets.token_urlsafe(NAME_BYTES), now, now)
        self._kept[browser.key] = browser
        while len(self._kept) > MOST:
            self._kept.popitem(last=False)
        response.set_cookie(
            self.cookie, name, path="/", secure=self._secure, httponly=True, samesite="strict"
        )
        return browser

    def find(self, name: str) -> Browser | None:
        """Return the browser with this cookie, unless it has been idle or signed in for too long."""
        found, now = self._kept.get(_digest(name)), self._clock()
        if found is None:
            return None
        if now - found.seen > IDLE or now - found.began > LONGEST:
            self.forget(found)
            return None
        found.seen = now
        self._kept.move_to_end(found.key)
        return found

    def forget(self, browser: Browser) -> None:
        """Sign a browser out."""
        self._kept.pop(browser.key, None)

    def forget_all(self, browser: Browser) -> None:
        """Sign out every browser of the same person."""
        same = (browser.dataset, browser.token.name)
        for other in [one for one in self._kept.values() if (one.dataset, one.token.name) == same]:
            self.forget(other)


def _digest(name: str) -> str:
    return sha256(name.encode()).hexdigest()
