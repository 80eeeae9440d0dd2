"""Refusals over HTTP: `application/problem+json` (RFC 9457) with our code, place and hint."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from fastapi.responses import JSONResponse

from recuse.errors import RecuseError
from recuse.refusal import said

STATUS = {
    "budget": 402,
    "ledger.analyst": 403,
    "ledger": 503,
    "database": 503,
    "unavailable": 503,
    "busy": 429,
    "sign-in": 401,
    "forbidden": 403,
    "cross-site": 403,
    "unanswered": 504,
}
"""what a refusal is called in HTTP, by its code; all others are 422: the question itself is refused"""
KIND = "application/problem+json"
TITLES = {
    400: "not understood",
    404: "nothing is here",
    405: "not in this way",
    413: "too long",
    415: "not JSON",
}


def status_of(error: RecuseError) -> int:
    """Return the status of a refusal."""
    return STATUS.get(error.code, 422)


def problem(error: RecuseError) -> dict[str, Any]:
    """Return a refusal as an object."""
    told = {name: value for name, value in said(error).items() if value is not None and name != "problem"}
    return {"title": error.problem, "status": status_of(error), "detail": str(error), **told}


def refused(_: Request, error: Exception) -> JSONResponse:
    """Return the response to what was refused."""
    if not isinstance(error, RecuseError):
        raise error
    headers = {"Retry-After": "1"} if error.code in ("busy", "unavailable") else {}
    if error.code == "sign-in":
        headers["WWW-Authenticate"] = "Bearer"
    return JSONResponse(problem(error), status_of(error), headers, KIND)


def plainly(status: int) -> JSONResponse:
    """Return a response that says no more than its status."""
    title = TITLES.get(status, "this is a mistake in recuse" if status >= 500 else "refused")
    return JSONResponse({"title": title, "status": status, "code": "http"}, status, media_type=KIND)


def malformed(_: Request, error: Exception) -> JSONResponse:
    """Return where a body is not as it should be; what was sent is not repeated."""
    places = [".".join(map(str, found["loc"])) for found in getattr(error, "errors", list)()]
    told = {"title": "the request is not as it should be", "status": 422, "code": "request", "fields": places}
    return JSONResponse(told, 422, media_type=KIND)
