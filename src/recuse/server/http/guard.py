"""What holds for every request and response: sizes, JSON alone, nothing is kept by browsers and proxies."""

from __future__ import annotations

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recuse.server.http.problems import plainly

MOST_BODY = 65_536
HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Guard:
    """Around the application: refuses what is too long or no JSON, before it is read."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        headers, seen = Headers(scope=scope), 0
        length = headers.get("content-length", "0")
        if scope["method"] in ("POST", "PUT", "PATCH"):
            if not length.isdigit() or int(length) > MOST_BODY:
                await plainly(413)(scope, receive, answer)
                return
            kind = headers.get("content-type", "").partition(";")[0].strip().lower()
            if kind != "application/json" and (int(length) or "transfer-encoding" in headers):
                await plainly(415)(scope, receive, answer)
                return

        async def measured() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > MOST_BODY:
                raise HTTPException(413)
            return message

        await self.app(scope, measured, answer)
