"""The console as people see it: in chromium, by keyboard and by pointer, wide and narrow, light and dark."""

from __future__ import annotations

import os
import re
import shutil
import signal
from contextlib import contextmanager
from pathlib import Path

import pytest

from recuse.ledger import Role
from support.serving import COUNT, TRIANGLES, serving

sync_api = pytest.importorskip("playwright.sync_api", reason="pip install 'recuse[browser-test]'")
axe = pytest.importorskip("axe_playwright_python", reason="pip install 'recuse[browser-test]'")
pytest.importorskip("httpx", reason="pip install 'recuse[server-test]'")
CHROMIUM = os.environ.get("RECUSE_CHROMIUM") or shutil.which("chromium")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no browser: apt-get install chromium, or name one in RECUSE_CHROMIUM"
)
ARGUMENTS = [
    "--no-sandbox",
    "--headless",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
AXE = Path(axe.__file__).parent / "axe.min.js"
PAGES = ["/", "/patterns", "/budget", "/policy", "/history"]
HOSTILE = "<img src=x onerror=alert(1)>"
SHOTS = os.environ.get("RECUSE_SCREENSHOTS")
"""a folder for pictures of the pages: those of the documents were made so"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    made = serving(tmp_path_factory.mktemp("school"), "http", slot=0.5, workers=2)
    yield made
    made.kill(signal.SIGTERM)


@pytest.fixture(scope="module")
def chromium():
    sync_api.expect.set_options(timeout=60_000)  # as long as a busy machine needs
    with sync_api.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@contextmanager
def visiting(chromium, server, token, **options):
    """Give a page of somebody who has signed in; whatever a browser complains of fails the test."""
    context = chromium.new_context(viewport={"width": 1200, "height": 860}, **options)
    context.set_default_timeout(60_000)
    page = context.new_page()
    complaints = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda said: complaints.append(said.text) if "Security Policy" in said.text else None)
    page.on("dialog", lambda dialog: (complaints.append(dialog.message), dialog.dismiss()))
    page.goto(f"{server.address}/")
    assert page.url.endswith("/sign-in")
    page.get_by_label("Token").fill(token)
    page.keyboard.press("Enter")
    page.wait_for_url(f"{server.address}/")
    yield page
    context.close()
    assert not complaints


@pytest.fixture(scope="module")
def ada(server):
    return server.token("ada", grant="50")


def written(page, sql):
    """Write a question and wait until it is understood."""
    page.locator("#sql").fill(sql)
    page.locator("#ask:not([disabled])").wait_for()


def shot(page, name):
    if SHOTS:
        page.screenshot(path=Path(SHOTS) / f"{name}.png", full_page=True)


def judged(page):
    """Return what axe-core finds wrong with a page."""
    page.evaluate(AXE.read_text())
    return [
        (found["id"], [node["html"][:200] for node in found["nodes"]])
        for found in page.evaluate("axe.run()")["violations"]
    ]


def test_a_question_is_asked_by_keyboard_alone(chromium, server, ada):
    with visiting(chromium, server, ada) as page:
        expect = sync_api.expect
        expect(page.locator("#sql")).to_be_focused()
        page.keyboard.type("SELECT sex, COUNT(*) AS n FROM pu", delay=5)
        expect(page.get_by_role("option", name="pupil")).to_be_visible()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        expect(page.locator("#sql")).to_have_value("SELECT sex, COUNT(*) AS n FROM pupil")
        page.keyboard.type(" GROUP BY sexx")
        expect(page.locator(".mistake")).to_have_text("sexx")
        expect(page.locator("#problem")).to_contain_text("did you mean sex?")
        expect(page.locator("#ask")).to_be_disabled()
        shot(page, "mistake")
        page.keyboard.press("Backspace")
        expect(page.locator("#ask")).to_have_text("Ask, spending ε 0.5")
        expect(page.locator("#understood")).to_contain_text("each (id) is one participant")
        expect(page.locator("#expectation")).to_contain_text("typically off by")
        before = server.spent("ada")
        page.keyboard.press("Control+Enter")
        expect(page.locator("#charge")).to_contain_text("ε 0.5 charged, 49.5 left")
        assert server.spent("ada") - before == pytest.approx(0.5)
        expect(page.locator("#answer tbody tr")).to_have_count(2)
        expect(page.locator("#left")).to_have_text("ε 49.5")
        expect(page.locator("#ask")).to_have_text("Ask, free: asked before")
        shot(page, "ask")
        assert judged(page) == []
        page.keyboard.press("Tab")
        expect(page.locator("#sql")).not_to_be_focused()


def test_completion_knows_a_tables_columns_and_takes_no_key_that_is_not_its_own(chromium, server, ada):
    with visiting(chromium, server, ada) as page:
        expect = sync_api.expect
        page.locator("#sql").fill("SELECT COUNT(*) FROM friendship f WHERE f.")
        page.keyboard.press("End")
        page.keyboard.press("Control+Space")
        assert page.get_by_role("option").all_inner_texts() == ["a\nfriendship", "b\nfriendship"]
        page.keyboard.press("Escape")
        expect(page.get_by_role("listbox")).to_be_hidden()
        page.locator("#sql").fill("SELECT COUNT(*) FROM ")
        page.keyboard.press("Control+Space")
        words = [text.split("\n")[0] for text in page.get_by_role("option").all_inner_texts()]
        assert sorted(words) == ["friendship", "pupil", "town"]


def test_either_handle_moves_the_other(chromium, server, ada):
    with visiting(chromium, server, ada) as page:
        expect = sync_api.expect
        written(page, COUNT)
        expect(page.locator("#expectation")).to_contain_text("9 of 10 by less than")
        page.get_by_label("or: off by at most").fill("20 %")
        thick = float(page.locator("#epsilon").input_value())
        page.get_by_label("or: off by at most").fill("2 %")
        thin = float(page.locator("#epsilon").input_value())
        assert 0.01 <= thick < thin <= 10
        expect(page.locator("#ask")).to_have_text(f"Ask, spending ε {thin:g}")
        page.locator("#epsilon").fill("1")
        expect(page.get_by_label("or: off by at most")).to_have_value("")
        said = page.locator("#expectation").inner_text()
        page.get_by_text("Suppose so many rows").click()
        page.get_by_label("pupil").fill("90")
        page.keyboard.press("Tab")
        expect(page.locator("#expectation")).not_to_have_text(said)
        written(page, TRIANGLES)
        expect(page.locator("#expectation")).to_contain_text("9 of 10 by less than")
        page.get_by_label("or: off by at most").fill("0.01 %")
        expect(page.locator("#expectation")).to_contain_text("No ε up to 10")


def test_a_subgraph_is_drawn_and_counted(chromium, server, ada):
    with visiting(chromium, server, ada) as page:
        expect = sync_api.expect
        page.get_by_role("link", name="Patterns").click()
        expect(page.locator("#sql-text")).to_contain_text("JOIN")
        page.get_by_role("button", name="Clear").click()
        for place in ((80, 60), (200, 60), (140, 160)):
            page.locator("#canvas").click(position={"x": place[0], "y": place[1]})
        for one, other in (("a", "b"), ("b", "c"), ("c", "a")):
            page.locator(f"[data-node={one}]").click()
            page.locator(f"[data-node={other}]").click()
        expect(page.get_by_label("The same in words")).to_have_value("a-b, b-c, c-a")
        expect(page.locator("#sql-text")).to_contain_text("JOIN edge AS e3")
        page.locator("#epsilon").fill("20")
        expect(page.locator("#ask")).to_have_text("Ask, spending ε 20")
        shot(page, "patterns")
        page.locator("#ask").click()
        expect(page.locator(".big")).to_be_visible()
        assert abs(float(page.locator(".big").inner_text()) - 40) <= 10, "a ring of 40 with chords"
        page.get_by_label("The same in words").fill("a->b, b->c")
        expect(page.get_by_label("directions matter")).to_be_checked()
        expect(page.locator("#sql-text")).to_contain_text('SELECT DISTINCT "a" AS u, "b" AS v')
        page.get_by_label("The same in words").fill("a-b, c-d")
        expect(page.locator("#problem")).to_contain_text("not connected")
        expect(page.locator("#ask")).to_be_disabled()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 360])
def test_axe_finds_nothing_and_nothing_is_wider_than_the_page(chromium, server, ada, scheme, width):
    with visiting(chromium, server, ada, color_scheme=scheme) as page:
        page.set_viewport_size({"width": width, "height": 800})
        for path in PAGES:
            page.goto(f"{server.address}{path}")
            if path == "/":
                written(page, COUNT)
                page.locator("#ask").click()
                page.locator("#charge").wait_for()
            sync_api.expect(page.locator("h1")).to_be_visible()
            assert judged(page) == [], path
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path
            shot(page, f"{path.strip('/') or 'answer'}-{scheme}-{width}")


def test_a_custodian_makes_a_token_that_works_and_revokes_it(chromium, server):
    with visiting(chromium, server, server.token("cy", Role.CUSTODIAN), color_scheme="dark") as page:
        expect = sync_api.expect
        page.get_by_role("link", name="Admin").click()
        page.locator("#grant-analyst").fill("zoe")
        page.locator("#grant-epsilon").fill("3")
        page.get_by_role("button", name="Set the limit").click()
        expect(page.locator("#done")).to_have_text("The limit is set.")
        page.get_by_label("For whom").fill("nobody")
        page.get_by_role("button", name="Make the token").click()
        expect(page.get_by_role("alert")).to_contain_text("no such analyst")
        page.get_by_label("For whom").fill("zoe")
        page.get_by_label("Purpose").fill(HOSTILE)
        page.get_by_label("Days until").fill("30")
        page.get_by_role("button", name="Make the token").click()
        expect(page.locator("#done code")).to_be_visible()
        token = page.locator("#done code").inner_text()
        with visiting(chromium, server, token) as zoe:
            expect(zoe.locator("#left")).to_have_text("ε 3")
            page.reload()
            assert token not in page.content(), "shown once"
            expect(page.get_by_text(HOSTILE)).to_be_visible()
            assert judged(page) == []
            shot(page, "admin")
            name = f"Revoke token {token.split('_')[1]} of zoe"
            page.get_by_role("button", name=name).click()
            page.get_by_label("Write the name of its holder").fill("zoe")
            page.get_by_role("button", name="Revoke", exact=True).click()
            expect(page.locator("#done")).to_contain_text("is revoked")
            zoe.reload()
            assert zoe.url.endswith("/sign-in")
        expect(page.get_by_role("region", name="Audit")).to_contain_text("revoke token")


def test_names_that_are_markup_are_shown_and_run_nothing(chromium, server, ada):
    with visiting(chromium, server, ada) as page:
        written(page, f'SELECT COUNT(*) AS "{HOSTILE}</script>" FROM pupil WHERE age < 16')
        page.locator("#ask").click()
        page.locator("#charge").wait_for()
        sync_api.expect(page.locator("#answer")).to_contain_text(HOSTILE)
        page.get_by_role("link", name="History").click()
        sync_api.expect(page.locator("pre").first).to_contain_text(HOSTILE)
        page.get_by_role("link", name=re.compile("Open again, free")).first.click()
        sync_api.expect(page.locator("#sql")).to_have_value(re.compile("onerror"))
        sync_api.expect(page.locator("#ask")).to_have_text("Ask, free: asked before")
        assert page.locator("img").count() == 0


def test_a_page_of_another_site_can_charge_nothing(chromium, server, ada):
    """The same browser is signed in here, and visits a page elsewhere that posts to us."""
    before = server.spent("ada")
    with visiting(chromium, server, ada) as page:
        context = page.context
        elsewhere = context.new_page()
        elsewhere.route(
            "**/evil", lambda route: route.fulfill(body="<h1>evil</h1>", content_type="text/html")
        )
        elsewhere.goto(server.address.replace("127.0.0.1", "localhost") + "/evil")
        body = {"sql": COUNT, "epsilon": "7"}
        outcome = elsewhere.evaluate(
            """async ([address, body]) => {
                const send = (headers, mode) => fetch(address, {method: "POST", mode, credentials: "include",
                    headers, body: JSON.stringify(body)}).then((r) => r.status + r.type, (e) => "stopped");
                return [await send({"Content-Type": "application/json"}, "cors"),
                        await send({"Content-Type": "text/plain"}, "no-cors")];
            }""",
            [f"{server.address}/api/v1/questions", body],
        )
        assert outcome == ["stopped", "stopped"]
        assert page.evaluate("fetch('/api/v1/me').then((r) => r.status)") == 200, "signed in all the while"
    assert server.spent("ada") == before


def test_with_nothing_left_pages_show_and_stored_answers_are_free(chromium, server):
    with visiting(chromium, server, server.token("poor", grant="1/4")) as page:
        expect = sync_api.expect
        page.locator("#epsilon").fill("0.25")
        written(page, COUNT)
        page.locator("#ask").click()
        expect(page.locator("#left")).to_have_text("ε 0")
        for path in PAGES:
            assert page.goto(f"{server.address}{path}").status == 200
        page.goto(f"{server.address}/")
        page.locator("#epsilon").fill("0.25")
        written(page, COUNT)
        expect(page.locator("#ask")).to_have_text("Ask, free: asked before")
        page.locator("#ask").click()
        expect(page.locator("#charge")).to_contain_text("free")
        page.locator("#epsilon").fill("0.3")
        expect(page.locator("#waiting")).to_contain_text("the budget does not cover")
        expect(page.locator("#ask")).to_be_disabled()


def test_signing_out_ends_it(chromium, server, ada):
    with visiting(chromium, server, ada) as page:
        page.get_by_role("button", name="Sign out").click()
        page.wait_for_url(f"{server.address}/sign-in")
        assert judged(page) == []
        page.goto(f"{server.address}/history")
        assert page.url.endswith("/sign-in")
