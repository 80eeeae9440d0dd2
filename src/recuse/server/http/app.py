"""The routes of the HTTP door. Whoever has no live token is refused; custodians' routes are theirs alone."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.staticfiles import StaticFiles

from recuse.errors import RecuseError
from recuse.graphs.names import read_pattern
from recuse.graphs.statement import EdgeTable, count_statement
from recuse.ledger import Role
from recuse.privacy import Delta, Epsilon
from recuse.server.console.browsers import Browsers
from recuse.server.console.pages import STATIC, failed, is_page, pages, sent_to_sign_in
from recuse.server.http.bodies import (
    EstimateBody,
    ExplainBody,
    GrantBody,
    PatternBody,
    QuestionBody,
    TokenBody,
)
from recuse.server.http.guard import Guard
from recuse.server.http.problems import malformed, plainly, refused
from recuse.server.http.shown import JsonObject, shown_balance, shown_charge, shown_job, shown_token
from recuse.server.http.visitor import Custodian, SignedIn, custodian
from recuse.server.inquiry import Inquiry
from recuse.server.limits import Pace
from recuse.server.refusals import SignInError
from recuse.server.service import Service

ROOT = "/api/v1"


def application(services: Mapping[str, Service], *, secure: bool = False) -> FastAPI:
    """Return the application: every route needs a token, or a browser that signed in with one.

    `secure`: whether it is served with TLS, so that cookies are never sent without.
    """
    app = FastAPI(title="Recuse", version=version("recuse"), openapi_url=None, docs_url=None, redoc_url=None)
    app.state.services = services
    app.state.pace = Pace()
    app.state.browsers = Browsers(secure=secure)
    app.include_router(questions)
    app.include_router(custody)
    app.include_router(pages)
    app.mount("/static", StaticFiles(directory=STATIC))
    app.add_exception_handler(RecuseError, said_no)
    app.add_exception_handler(RequestValidationError, said_no)
    app.add_exception_handler(HTTPException, said_no)
    app.add_exception_handler(Exception, lambda *_: plainly(500))
    app.add_middleware(Guard)
    return app


def said_no(request: Request, error: Exception) -> Response:
    """Return what a program is told of a refusal; a person is shown it on a page, or where to sign in."""
    if isinstance(error, SignInError) and is_page(request):
        return sent_to_sign_in()
    if isinstance(error, RecuseError):
        told = refused(request, error)
        title, detail = error.problem, error.hint or ""
    elif isinstance(error, HTTPException):
        told, title, detail = plainly(error.status_code), "Nothing is here", ""
    else:
        told, title, detail = malformed(request, error), "Nothing is here", ""
    return failed(title, detail, told.status_code) if is_page(request) else told


questions = APIRouter(prefix=ROOT, tags=["asking"])
custody = APIRouter(prefix=ROOT, tags=["custody"], dependencies=[Depends(custodian)])


@questions.get("/openapi.json", include_in_schema=False)
async def openapi(request: Request, asking: SignedIn) -> Any:  # noqa: ARG001
    """Return what is served, as OpenAPI has it."""
    return request.app.openapi()


@questions.post("/explain")
async def explain(body: ExplainBody, asking: SignedIn) -> JsonObject:
    """Return what is understood of a question and who owns each row: free."""
    found: JsonObject = await asking.service.explain(asking.who.token.name, body.sql)
    return found


@questions.post("/estimate")
async def estimate(body: EstimateBody, asking: SignedIn) -> list[JsonObject]:
    """Return what error to expect for each ε, from statistics that are stated: free."""
    found: list[JsonObject] = await asking.service.estimate(asking.who, body.model_dump())
    return found


@questions.post("/price")
async def price(body: QuestionBody, asking: SignedIn) -> JsonObject:
    """Return what a question would cost: its ε, or nothing if it was asked before or is about nobody."""
    found = await asking.service.price(asking.who, _inquiry(body))
    return {"price": found.value, "epsilon": body.epsilon}


@questions.post("/pattern")
async def pattern(body: PatternBody, asking: SignedIn) -> JsonObject:  # noqa: ARG001
    """Return the SELECT that counts a pattern in a table of edges: to be explained, and asked."""
    edges = EdgeTable(body.table, body.source, body.target)
    return {"sql": count_statement(read_pattern(body.pattern), edges)}


@questions.post("/questions", status_code=202)
async def ask(body: QuestionBody, asking: SignedIn, response: Response) -> JsonObject:
    """Ask a question and charge its ε: 202 and where the answer will be, or 200 and what was asked before."""
    job = await asking.service.ask(asking.who, _inquiry(body))
    if job.done.done() and (error := job.done.exception()):
        raise error
    response.headers["Location"] = f"{ROOT}/questions/{job.id}"
    response.status_code = 200 if job.done.done() else 202
    return shown_job(job)


@questions.get("/questions/{id}")
async def question(id: str, asking: SignedIn) -> JsonObject:
    """Return a question of one's own: waiting, done, refused or unanswered."""
    job = asking.service.job(asking.who, id)
    if job is None:
        raise HTTPException(404)
    return shown_job(job)


@questions.get("/history")
async def history(
    asking: SignedIn,
    before: Annotated[int, Query(ge=1, lt=2**62)] = 2**62 - 1,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> list[JsonObject]:
    """Return what was charged, newest first: one's own; a custodian's, all."""
    name = None if asking.who.is_custodian else asking.who.analyst
    rows = await asking.service.book.do(lambda ledger: ledger.charges(name, before, limit))
    return [shown_charge(number, charge) for number, charge in rows]


@questions.get("/budget")
async def budget(asking: SignedIn) -> JsonObject:
    """Return what is granted, spent and left: one's own, or the database's for a custodian."""
    found = await asking.service.book.balance(asking.who.analyst)
    return shown_balance(found)


@questions.get("/catalogue")
async def catalogue(asking: SignedIn) -> list[JsonObject]:
    """Return the tables with their columns, keys and owners: no row."""
    found: list[JsonObject] = await asking.service.catalogue(asking.who.token.name)
    return found


@questions.get("/data-version")
async def data_version(asking: SignedIn) -> JsonObject:
    """Return the number of the data's present state."""
    return {"data_version": await asking.service.book.do(lambda ledger: ledger.data_version())}


@questions.get("/me")
async def me(asking: SignedIn) -> JsonObject:
    """Return who one is here."""
    token = asking.who.token
    return {"name": token.name, "role": token.role.value, "dataset": asking.service.dataset.name}


@custody.get("/policy")
async def policy(asking: Custodian) -> JsonObject:
    """Return who is protected, as the custodian wrote it."""
    return {
        "tables": await asking.service.catalogue(asking.who.token.name),
        "file": asking.service.dataset.policy,
    }


@custody.get("/analysts")
async def analysts(asking: Custodian) -> list[JsonObject]:
    """Return the analysts whom grants have named, and what they have left."""
    found = await asking.service.book.do(lambda ledger: ledger.analysts())
    return [{"name": one.name} | shown_balance(one.balance) for one in found]


@custody.post("/grants")
async def grant(body: GrantBody, asking: Custodian) -> JsonObject:
    """Set the whole limit of an analyst, or of the database."""
    epsilon, delta = Epsilon.of(body.epsilon), None if body.delta is None else Delta.of(body.delta)
    who = asking.who.token.name
    found = await asking.service.book.do(lambda ledger: ledger.grant(epsilon, body.analyst, delta, who))
    return shown_balance(found)


@custody.get("/tokens")
async def tokens(asking: Custodian) -> list[JsonObject]:
    """Return all tokens: whose, what for, until when."""
    return [shown_token(one) for one in await asking.service.book.do(lambda ledger: ledger.tokens().all())]


@custody.post("/tokens", status_code=201)
async def create_token(body: TokenBody, asking: Custodian) -> JsonObject:
    """Make a token; its text is in this response and nowhere else."""
    expires = None if body.days is None else datetime.now(UTC) + timedelta(days=body.days)
    who, role = asking.who.token.name, Role(body.role)
    token, text = await asking.service.book.do(
        lambda ledger: ledger.tokens().create(body.name, role, body.purpose, expires=expires, who=who)
    )
    return shown_token(token) | {"token": text}


@custody.delete("/tokens/{id}")
async def revoke_token(id: str, asking: Custodian) -> JsonObject:
    """Revoke a token: it opens nothing from now on."""
    who = asking.who.token.name
    found = await asking.service.book.do(lambda ledger: ledger.tokens().revoke(id, who=who))
    return shown_token(found)


@custody.post("/publish")
async def publish(asking: Custodian) -> JsonObject:
    """Say that the data has changed: questions asked before are answered anew, and charged."""
    who = asking.who.token.name
    return {"data_version": await asking.service.book.do(lambda ledger: ledger.publish(who))}


@custody.get("/audit")
async def audit(asking: Custodian) -> list[JsonObject]:
    """Return what custodians did."""
    acts = await asking.service.book.do(lambda ledger: ledger.audit())
    return [{"at": act.at, "who": act.who, "what": act.what, "detail": act.detail} for act in acts]


def _inquiry(body: QuestionBody) -> Inquiry:
    return Inquiry(body.sql, body.epsilon, body.delta, body.mechanism)
