"""Who asks over HTTP: the bearer of a token, or a browser that signed in with one. All others are refused."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from recuse.server.console.browsers import Browser, Browsers
from recuse.server.http.connection import is_known
from recuse.server.inquiry import Holder
from recuse.server.refusals import CrossSiteError, ForbiddenError, SignInError
from recuse.server.service import Service

BEARER = "Bearer "
CSRF = "x-csrf-token"
CHANGES_NOTHING = ("GET", "HEAD")


class Visitor:
    """Somebody who holds a token, and the dataset that it is of."""

    def __init__(self, service: Service, who: Holder, browser: Browser | None = None) -> None:
        self.service = service
        self.who = who
        self.browser = browser
        """the session of a browser; None for the bearer of a token"""


async def visitor(request: Request) -> Visitor:
    """Return who asks. Unknown, expired and revoked tokens are told the same, in the same way."""
    said = request.headers.get("authorization")
    if said is None and (found := await in_browser(request)) is not None:
        refuse_other_sites(request, found)
        return found
    return await bearer(request, said.removeprefix(BEARER) if said and said.startswith(BEARER) else "")


async def bearer(request: Request, token: str) -> Visitor:
    """Return who holds the token of this text."""
    pace, address = request.app.state.pace, request.client.host if request.client else ""
    found = None
    for service in request.app.state.services.values():  # all of them are asked, whichever knows it
        who = await service.holder(token)
        if who is not None:
            found = Visitor(service, who)
    if found is None:
        pace.failed(address)
        for service in request.app.state.services.values():
            service.counts.sign_ins_failed += 1
        raise SignInError
    pace.refuse_hurry(found.who.token.id)
    is_known(request, found.who.token.name)
    return found


async def in_browser(request: Request) -> Visitor | None:
    """Return who signed in with this browser, while the token lives."""
    browsers: Browsers = request.app.state.browsers
    browser = browsers.find(request.cookies.get(browsers.cookie, ""))
    if browser is None:
        return None
    service = request.app.state.services[browser.dataset]
    request.app.state.pace.refuse_hurry(browser.token.id)
    try:
        found = Visitor(service, await service.somebody(browser.token), browser)
    except SignInError:
        browsers.forget(browser)
        return None
    is_known(request, browser.token.name)
    return found


def refuse_other_sites(request: Request, asking: Visitor) -> None:
    """Refuse what changes something unless a page of ours sent it.

    The cookie is not sent by other sites (SameSite), browsers say where a request comes from (Fetch
    metadata), and only our pages know the session's token: each of the three would do.
    """
    if request.method in CHANGES_NOTHING:
        return
    refuse_other_origins(request)
    if asking.browser is None or not asking.browser.is_own(request.headers.get(CSRF, "")):
        raise CrossSiteError


def refuse_other_origins(request: Request) -> None:
    """Refuse what a browser says to come from elsewhere."""
    if request.headers.get("sec-fetch-site", "same-origin") != "same-origin":
        raise CrossSiteError


def custodian(asking: Annotated[Visitor, Depends(visitor)]) -> Visitor:
    """Return who asks, if it is a custodian."""
    return as_custodian(asking)


def as_custodian(asking: Visitor) -> Visitor:
    """Return a custodian, and refuse anybody else."""
    if not asking.who.is_custodian:
        raise ForbiddenError
    return asking


SignedIn = Annotated[Visitor, Depends(visitor)]
Custodian = Annotated[Visitor, Depends(custodian)]
