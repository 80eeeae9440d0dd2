"""The pages of the console. Nobody sees one without signing in, and Admin is the custodians' alone."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import JSONResponse, RedirectResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import HTMLResponse, Response

from recuse.numerals import nearest
from recuse.privacy import decimal_text
from recuse.server.console.burndown import burndown
from recuse.server.console.picture import picture
from recuse.server.http.shown import shown_balance, shown_charge, shown_token
from recuse.server.http.visitor import (
    Visitor,
    as_custodian,
    bearer,
    in_browser,
    refuse_other_origins,
    refuse_other_sites,
)
from recuse.server.refusals import SignInError

HERE = Path(__file__).parent
STATIC = HERE / "static"
TEMPLATES = Environment(
    loader=FileSystemLoader(HERE / "templates"), autoescape=True, undefined=StrictUndefined
)
SIGN_IN = "/sign-in"
MOST_CHARGES = 2_000
"""charges that a picture of a budget is drawn from, the newest"""
PAGE = 50

pages = APIRouter(include_in_schema=False)


class SignInBody(BaseModel):
    """What is sent to sign in."""

    model_config = ConfigDict(extra="forbid", strict=True)
    token: Annotated[str, Field(min_length=1, max_length=200)]


class SignOutBody(BaseModel):
    """What is sent to sign out: this browser, or all of the same person."""

    model_config = ConfigDict(extra="forbid", strict=True)
    everywhere: bool = False


async def reader(request: Request) -> Visitor:
    """Return who looks at a page: somebody who signed in with this browser."""
    found = await in_browser(request)
    if found is None:
        raise SignInError
    return found


def curator(asking: Annotated[Visitor, Depends(reader)]) -> Visitor:
    """Return who looks at a custodian's page, if it is one."""
    return as_custodian(asking)


PageReader = Annotated[Visitor, Depends(reader)]
PageCurator = Annotated[Visitor, Depends(curator)]


def is_page(request: Request) -> bool:
    """Return whether a person looks, and not a program."""
    return not request.url.path.startswith("/api/") and request.method in ("GET", "HEAD")


def sent_to_sign_in() -> Response:
    """Return the way to the page that asks for a token."""
    return RedirectResponse(SIGN_IN, 303)


def failed(title: str, detail: str, status: int) -> Response:
    """Return a page that says why there is none."""
    told = TEMPLATES.get_template("failed.html").render(title=title, detail=detail)
    return HTMLResponse(told, status)


@pages.get(SIGN_IN)
async def signing_in(request: Request) -> Response:
    """Return the page that asks for a token."""
    if await in_browser(request) is not None:
        return RedirectResponse("/", 303)
    return HTMLResponse(TEMPLATES.get_template("sign-in.html").render())


@pages.post(SIGN_IN)
async def sign_in(body: SignInBody, request: Request) -> Response:
    """Begin a session for whoever holds a token; one that this browser had before ends."""
    refuse_other_origins(request)
    found = await bearer(request, body.token.strip())
    browsers = request.app.state.browsers
    if (old := browsers.find(request.cookies.get(browsers.cookie, ""))) is not None:
        browsers.forget(old)
    response = JSONResponse({"to": "/"})
    browsers.begin(found.service.dataset.name, found.who.token, response)
    return response


@pages.post("/sign-out")
async def sign_out(body: SignOutBody, asking: PageReader, request: Request) -> Response:
    """End a session, or all of the same person."""
    refuse_other_sites(request, asking)
    browsers = request.app.state.browsers
    if asking.browser is not None:
        (browsers.forget_all if body.everywhere else browsers.forget)(asking.browser)
    response = JSONResponse({"to": SIGN_IN})
    response.delete_cookie(browsers.cookie, path="/")
    return response


@pages.get("/")
async def ask(asking: PageReader, open: Annotated[int, Query(ge=0, lt=2**62)] = 0) -> Response:
    """Return the page on which questions are asked; `open`: the number of one in the history."""
    tables = await asking.service.catalogue(asking.who.token.name)
    name = None if asking.who.is_custodian else asking.who.analyst
    found = await asking.service.book.do(lambda ledger: ledger.charges(name, open + 1, 1)) if open else []
    charge = next((shown_charge(number, charge) for number, charge in found if number == open), None)
    return await _page(asking, "ask", tables=tables, data=_data(asking, tables) | {"open": charge})


@pages.get("/patterns")
async def patterns(asking: PageReader) -> Response:
    """Return the page on which subgraphs are drawn and counted."""
    tables = await asking.service.catalogue(asking.who.token.name)
    return await _page(asking, "patterns", edges=_edges(tables), data=_data(asking, tables))


@pages.get("/budget")
async def budget(asking: PageReader) -> Response:
    """Return what was spent when: one's own; a custodian's, of the database and of each analyst."""
    name, book = asking.who.analyst, asking.service.book
    if not asking.who.is_custodian:
        balances = [(name or "", await book.balance(name))]
        charges = await book.do(lambda ledger: ledger.charges(name, 2**62, MOST_CHARGES))
    else:
        balances = [("database", await book.balance())]
        balances += [(one.name, one.balance) for one in await book.do(lambda ledger: ledger.analysts())]
        charges = await book.do(lambda ledger: ledger.charges(None, 2**62, MOST_CHARGES))
    every = [charge for _, charge in charges]
    drawn = []
    for place, (whose, balance) in enumerate(balances):
        own = every if place == 0 else [charge for charge in every if charge.analyst == whose]
        drawn.append({"name": whose, "balance": shown_balance(balance), "steps": burndown(balance, own)})
    unanswered = sum(charge.answer is None for charge in every)
    shown = [shown_charge(number, charge) for number, charge in charges[:PAGE]]
    return await _page(asking, "budget", drawn=drawn, charges=shown, unanswered=unanswered)


@pages.get("/policy")
async def policy(asking: PageReader) -> Response:
    """Return whose the rows of each table are, as a picture and in words; no row is shown."""
    tables = await asking.service.catalogue(asking.who.token.name)
    text = Path(asking.service.dataset.policy).read_text("utf-8") if asking.who.is_custodian else None
    version = await asking.service.book.do(lambda ledger: ledger.data_version())
    return await _page(asking, "policy", tables=tables, drawn=picture(tables), text=text, version=version)


@pages.get("/history")
async def history(asking: PageReader, before: Annotated[int, Query(ge=1, lt=2**62)] = 2**62 - 1) -> Response:
    """Return what was asked, newest first: one's own; a custodian's, all."""
    name, book = None if asking.who.is_custodian else asking.who.analyst, asking.service.book
    rows = await book.do(lambda ledger: ledger.charges(name, before, PAGE + 1))
    version = await book.do(lambda ledger: ledger.data_version())
    shown = [shown_charge(number, charge) for number, charge in rows[:PAGE]]
    older = shown[-1]["number"] if len(rows) > PAGE else None
    return await _page(asking, "history", charges=shown, version=version, older=older)


@pages.get("/admin")
async def admin(asking: PageCurator) -> Response:
    """Return what custodians do: limits, tokens, publications; and what was done."""
    service = asking.service
    analysts = await service.book.do(lambda ledger: ledger.analysts())
    tokens = await service.book.do(lambda ledger: ledger.tokens().all())
    acts = await service.book.do(lambda ledger: ledger.audit())
    balance = await service.book.balance()
    version = await service.book.do(lambda ledger: ledger.data_version())
    return await _page(
        asking,
        "admin",
        analysts=[{"name": one.name} | shown_balance(one.balance) for one in analysts],
        tokens=[shown_token(one) | {"live": one.revoked is None} for one in reversed(tokens)],
        acts=list(reversed(acts))[:200],
        database=shown_balance(balance),
        version=version,
        counts=service.counts,
        exceeded=service.seats.exceeded,
    )


async def _page(asking: Visitor, name: str, **shown: Any) -> Response:
    balance = await asking.service.book.balance(asking.who.analyst)
    text = TEMPLATES.get_template(f"{name}.html").render(
        page=name,
        dataset=asking.service.dataset.name,
        name=asking.who.token.name,
        is_custodian=asking.who.is_custodian,
        csrf=asking.browser.csrf if asking.browser else "",
        left=decimal_text(balance.remaining),
        granted=decimal_text(balance.granted),
        share=nearest(balance.remaining / balance.granted) if balance.granted else 0,
        **shown,
    )
    return HTMLResponse(text)


def _data(asking: Visitor, tables: Any) -> dict[str, Any]:
    """Return what a page's script is given: names and stated numbers, nothing of a row."""
    dataset = asking.service.dataset
    return {
        "tables": [table for table in tables if table["role"] != "closed"],
        "rows": dict(dataset.rows),
        "largest": dict(dataset.largest),
        "slot": 0 if asking.who.is_custodian else asking.service.answers.slot,
        "dataset": dataset.name,
        "name": asking.who.token.name,
    }


def _edges(tables: Any) -> list[dict[str, str]]:
    """Return the tables whose rows join two of the same kind, with the columns that do."""
    found = []
    for table in tables:
        single = [(link["columns"][0][0], link["to"]) for link in table["links"] if _is_end(link)]
        for (source, kind), (target, other) in pairwise(single):
            if kind == other:
                found.append({"table": table["name"], "source": source, "target": target, "kind": kind})
    return found


def _is_end(link: dict[str, Any]) -> bool:
    return len(link["columns"]) == 1 and len(link["columns"][0]) == 1
