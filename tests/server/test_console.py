"""The console's pages: who sees which, how browsers sign in, and what other sites cannot make them do."""

from __future__ import annotations

import re
import time
from contextlib import contextmanager
from datetime import UTC, datetime
from fractions import Fraction

import pytest
from starlette.responses import Response

from recuse.ledger import Balance, Charge, Role, Token
from recuse.server.console.browsers import IDLE, LONGEST, Browsers
from recuse.server.console.burndown import burndown
from recuse.server.console.pages import pages
from recuse.server.console.picture import picture
from support.serving import COUNT, waited

SHOWN = sorted(route.path for route in pages.routes if "GET" in route.methods and route.path != "/sign-in")
POSTED = sorted(route.path for route in pages.routes if "POST" in route.methods)


@contextmanager
def browser(school, token=None):
    """Give a client that signs in as a browser does, and says what its pages say."""
    from httpx import Client

    with Client(base_url=school.address, timeout=60) as client:
        if token is not None:
            assert client.post("/sign-in", json={"token": token}).json() == {"to": "/"}
            found = re.search(r'name="csrf" content="([^"]+)"', client.get("/").text)
            client.headers["x-csrf-token"] = found[1]
        yield client


@pytest.fixture(scope="module")
def ann(school):
    with browser(school, school.token("ann", grant="5")) as client:
        yield client


def test_every_page_is_closed_to_whoever_has_not_signed_in(school):
    assert SHOWN == ["/", "/admin", "/budget", "/history", "/patterns", "/policy"]
    with browser(school) as nobody:
        for cookie in (None, "", "x", "x" * 5000):
            headers = {} if cookie is None else {"cookie": f"recuse={cookie}"}
            for path in SHOWN:
                response = nobody.get(path, headers=headers)
                assert (response.status_code, response.headers["location"]) == (303, "/sign-in"), path
                assert not response.content
            assert nobody.post("/sign-out", json={}, headers=headers).status_code == 401
        assert nobody.get("/sign-in").status_code == 200
        assert nobody.get("/nothing").status_code == 404


def test_a_bearer_token_opens_no_page(school, ada):
    for path in SHOWN:
        assert ada.get(f"{school.address}{path}").status_code == 303


def test_admin_is_the_custodians_alone(school, ann):
    with browser(school, school.token("cyn", Role.CUSTODIAN)) as cyn:
        for path in SHOWN:
            assert ann.get(path).status_code == (403 if path == "/admin" else 200), path
            response = cyn.get(path)
            assert (response.status_code, response.headers["content-type"]) == (
                200,
                "text/html; charset=utf-8",
            )
    assert "custodians" in ann.get("/admin").text
    assert 'href="/admin"' not in ann.get("/").text
    assert POSTED == ["/sign-in", "/sign-out"], "all else that changes something is in the interface"


def test_custodians_routes_are_closed_to_browsers_of_analysts(school, cy, ann):
    for path, methods in cy.get("/openapi.json").json()["paths"].items():
        for method, told in methods.items():
            response = ann.request(method, path.replace("{id}", "x"), json={} if method == "post" else None)
            assert (response.status_code == 403) == ("custody" in told["tags"]), (method, path)


def test_pages_run_nothing_inline_and_are_kept_by_nobody(school, ann):
    for path in SHOWN:
        response = ann.get(path)
        policy = response.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert response.headers["cache-control"] == "no-store"
        text = re.sub(r'<script type="application/json" id="data">[^<]*</script>', "", response.text)
        assert not re.search(r"<script(?![^>]* src=)|<style|\son\w+=|\sstyle=|javascript:", text), path
        for source in re.findall(r'(?:src|href)="(/static/[^"]+)"', response.text):
            assert ann.get(source).status_code == 200, source


def test_static_files_are_those_of_the_console(school, ann):
    for path in ("/static/../pages.py", "/static/%2e%2e/pages.py", "/static/", "/static/nothing.js"):
        assert ann.get(path).status_code == 404


def test_the_cookie_is_out_of_reach_and_new_at_every_sign_in(school):
    token = school.token("ben")
    with browser(school) as client:
        said = client.post("/sign-in", json={"token": f" {token}\n"}).headers["set-cookie"]
        assert re.fullmatch(r"recuse=[\w-]{43}; HttpOnly; Path=/; SameSite=strict", said)
        first = client.cookies["recuse"]
        assert client.get("/sign-in").headers["location"] == "/"
        client.post("/sign-in", json={"token": token})
        assert client.cookies["recuse"] != first
        with browser(school) as other:
            assert other.get("/", headers={"cookie": f"recuse={first}"}).status_code == 303, (
                "the old one is dead"
            )
    assert token not in str(said)


def test_who_is_not_known_is_told_the_same(school):
    token = school.token("old")
    book = school.book()
    book.tokens().revoke(token.split("_")[1])
    book.close()
    with browser(school) as client:
        told = {
            (found.status_code, found.text)
            for found in (client.post("/sign-in", json={"token": text}) for text in (token, "x", "rcs_0_0"))
        }
        assert len(told) == 1
        assert "set-cookie" not in client.post("/sign-in", json={"token": "x"}).headers
        assert client.post("/sign-in", json={"token": token, "to": "/x"}).status_code == 422
        assert client.post("/sign-in", data={"token": token}).status_code == 415


def test_other_sites_can_make_a_browser_do_nothing(school):
    with browser(school, school.token("dan", grant="5")) as client:
        csrf = client.headers.pop("x-csrf-token")
        asked = {"sql": COUNT, "epsilon": "1"}
        for headers in (
            {},
            {"x-csrf-token": "x"},
            {"x-csrf-token": csrf, "sec-fetch-site": "cross-site"},
            {"x-csrf-token": csrf, "sec-fetch-site": "same-site"},
            {"x-csrf-token": csrf, "sec-fetch-site": "none"},
        ):
            response = client.post("/api/v1/questions", json=asked, headers=headers)
            assert (response.status_code, response.json()["code"]) == (403, "cross-site")
            assert client.post("/sign-out", json={}, headers=headers).status_code == 403
        cross = {"sec-fetch-site": "cross-site"}
        assert client.post("/sign-in", json={"token": "x"}, headers=cross).status_code == 403
        assert school.spent("dan") == 0
        own = {"x-csrf-token": csrf, "sec-fetch-site": "same-origin"}
        assert client.post("/api/v1/questions", json=asked, headers=own).status_code == 202


def test_signing_out_and_revoking_end_sessions_at_once(school):
    token = school.token("eli")
    with browser(school, token) as one, browser(school, token) as two, browser(school, token) as three:
        assert one.post("/sign-out", json={}).json() == {"to": "/sign-in"}
        assert (one.get("/").status_code, two.get("/").status_code) == (303, 200)
        two.post("/sign-out", json={"everywhere": True})
        assert three.get("/").status_code == 303
    with browser(school, token) as client:
        book = school.book()
        book.tokens().revoke(token.split("_")[1])
        book.close()
        assert client.get("/").status_code == 303
        assert client.get("/api/v1/me").status_code == 401


def test_sessions_end_when_they_are_idle_or_old():
    now = [0.0]
    browsers = Browsers(secure=True, clock=lambda: now[0])
    token = Token("1", "ann", Role.ANALYST, "", "", None, None, None)
    response = Response()
    browsers.begin("school", token, response)
    said = response.headers["set-cookie"]
    assert said.startswith("__Host-recuse=")
    assert {"Secure", "HttpOnly", "Path=/", "SameSite=strict"} <= set(said.split("; "))
    name = said.partition("=")[2].partition(";")[0]
    now[0] = IDLE
    assert browsers.find(name) is not None
    now[0] += IDLE + 1
    assert browsers.find(name) is None
    response = Response()
    browsers.begin("school", token, response)
    name = response.headers["set-cookie"].partition("=")[2].partition(";")[0]
    for _ in range(int(LONGEST / IDLE)):
        now[0] += IDLE
        assert browsers.find(name) is not None
    now[0] += 1
    assert browsers.find(name) is None


def test_a_price_is_known_before_it_is_paid(school):
    with (
        browser(school, school.token("fay", grant="2")) as fay,
        school.http(school.token("fay", grant="2")) as api,
    ):
        asked = {"sql": COUNT, "epsilon": "1/2"}
        assert fay.post("/api/v1/price", json=asked).json() == {"price": "epsilon", "epsilon": "1/2"}
        waited(api, COUNT, "1/2")
        assert fay.post("/api/v1/price", json=asked).json()["price"] == "stored"
        about_nobody = {"sql": "SELECT COUNT(*) FROM town", "epsilon": "1"}
        assert fay.post("/api/v1/price", json=about_nobody).json()["price"] == "public"
        assert fay.post("/api/v1/price", json={"sql": "SELECT", "epsilon": "1"}).status_code == 422
    assert school.spent("fay") == Fraction(1, 2)


def test_a_pattern_becomes_a_question(school, ann):
    body = {"table": "friendship", "source": "a", "target": "b", "pattern": "a-b, b-c, c-a"}
    sql = ann.post("/api/v1/pattern", json=body).json()["sql"]
    assert ann.post("/api/v1/explain", json={"sql": sql}).status_code == 200
    assert ann.post("/api/v1/pattern", json=body | {"pattern": "a-a"}).status_code == 422
    hostile = ann.post("/api/v1/pattern", json=body | {"table": 'x"; DROP TABLE pupil; --'}).json()["sql"]
    assert '"x""; DROP TABLE pupil; --"' in hostile
    assert ann.post("/api/v1/explain", json={"sql": hostile}).status_code == 422


def test_with_nothing_left_every_page_works(school):
    with (
        browser(school, school.token("gil", grant="1/4")) as gil,
        school.http(school.token("gil", grant="1/4")) as api,
    ):
        waited(api, COUNT, "1/4")
        assert "ε 0" in gil.get("/").text
        for path in SHOWN:
            assert gil.get(path).status_code == (403 if path == "/admin" else 200)
        number = api.get("/history").json()[0]["number"]
        assert COUNT in gil.get(f"/?open={number}").text


def test_an_analyst_opens_only_own_questions(school, ann):
    with school.http(school.token("hal")) as api:
        secret = COUNT + " WHERE age < 17"
        waited(api, secret, "1/4")
        number = api.get("/history").json()[0]["number"]
    assert secret not in ann.get(f"/?open={number}").text
    for path in SHOWN:
        assert secret not in ann.get(path).text


def test_what_is_written_is_shown_as_text(school):
    """A name may hold anything; a page shows it and runs nothing of it."""
    sql = """SELECT COUNT(*) AS "</script><img src=x onerror=alert(1)>" FROM pupil"""
    with browser(school, school.token("ida")) as ida, school.http(school.token("ida")) as api:
        assert waited(api, sql, "1")["state"] == "done"
        number = api.get("/history").json()[0]["number"]
        for path in ("/history", "/budget", f"/?open={number}"):
            text = ida.get(path).text
            assert "onerror" in text
            assert "<img" not in text


def test_refusals_are_counted(school, ann):
    from httpx import get

    def refused():
        found = get(f"http://127.0.0.1:{school.ports['metrics']}/metrics").text
        return float(re.search(r'recuse_refused{dataset="school"} (\S+)', found)[1])

    before = refused()
    ann.post("/api/v1/questions", json={"sql": "SELECT", "epsilon": "1"})
    ann.post("/api/v1/questions", json={"sql": COUNT, "epsilon": "999"})
    until = time.monotonic() + 60
    while refused() < before + 2 and time.monotonic() < until:  # what is not covered is known at the charge
        time.sleep(0.05)
    assert refused() == before + 2


def charge(at, epsilon, answer="[]"):
    return Charge(at, Fraction(epsilon), "q", "ann", 1, None, answer, None)


def test_a_burn_down_ends_at_what_is_left():
    charges = [charge("2026-01-01T10:00:00+00:00", 3, None), charge("2026-01-01T00:00:00+00:00", 2)]
    steps = burndown(Balance(Fraction(10), Fraction(5)), charges, datetime(2026, 1, 1, 20, tzinfo=UTC))
    assert steps.path == "M0 0.0H0.0V32.0H320.0V80.0H640.0"
    assert steps.was == "10"
    assert steps.unanswered == (320.0,)
    assert burndown(Balance(Fraction(1), Fraction(0)), []) is None


def test_a_picture_has_every_table_and_link_once():
    def table(name, role, *links):
        return {"name": name, "role": role, "links": [{"columns": [["c"]], "to": to} for to in links]}

    tables = [
        table("item", "linked", "orders"),
        table("orders", "linked", "customer", "shop"),
        table("customer", "participant"),
        table("tax", "public"),
        table("secret", "closed"),
        table("staff", "linked", "staff"),
    ]
    drawn = picture(tables)
    boxes = {box.name: box for box in drawn.boxes}
    assert set(boxes) == {"item", "orders", "customer", "tax", "secret", "staff", "shop"}
    assert boxes["customer"].x == boxes["shop"].x < boxes["orders"].x < boxes["item"].x < boxes["tax"].x
    assert boxes["tax"].x < boxes["secret"].x
    assert len({(box.x, box.y) for box in drawn.boxes}) == len(boxes), "none covers another"
    assert len(drawn.arrows) == 4
    assert all(box.x + 170 <= drawn.width and box.y + 44 <= drawn.height for box in drawn.boxes)
