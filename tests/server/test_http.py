"""The HTTP door: what is asked, refused, charged and shown, and to whom."""

from __future__ import annotations

from fractions import Fraction

import pytest

import recuse
from recuse.ledger import Role
from support.serving import CANARY, COUNT, waited


def test_a_question_is_charged_waits_and_is_answered(school, ada):
    before = school.spent("ada")
    response = ada.post("/questions", json={"sql": COUNT, "epsilon": "1/2"})
    assert response.status_code == 202
    assert response.headers["location"].endswith(response.json()["id"])
    assert set(response.json()) == {"id", "state", "not_before", "wait"}, "nothing says how far it is"
    found = waited(ada, COUNT, "1/2")
    while found.get("code") == "busy":  # the one before is on its way
        found = waited(ada, COUNT, "1/2")
    assert found["state"] == "done"
    assert school.spent("ada") - before == Fraction(1, 2), "paid for once"
    answer = found["answer"]
    assert (answer["columns"][0]["name"], answer["stored"]) == ("n", True)
    ((value,),) = answer["rows"]
    assert answer["low"][0][0] <= value <= answer["high"][0][0]


def test_the_same_question_is_free_and_comes_at_once(school, ada):
    waited(ada, COUNT, "1")
    before = school.spent("ada")
    response = ada.post("/questions", json={"sql": COUNT, "epsilon": "1"})
    assert (response.status_code, response.json()["answer"]["stored"]) == (200, True)
    assert school.spent("ada") == before


def test_about_nobody_it_is_exact_and_free(school, ada):
    before = school.spent("ada")
    response = ada.post("/questions", json={"sql": "SELECT name FROM town ORDER BY name", "epsilon": "1"})
    assert (response.status_code, response.json()["answer"]["rows"]) == (200, [["Aa"], ["Bb"]])
    assert response.json()["answer"]["remaining"] is None
    assert school.spent("ada") == before


def test_a_refusal_says_where_and_costs_nothing(school, ada):
    before = school.spent("ada")
    response = ada.post("/questions", json={"sql": "SELECT COUNT(*)\nFROM pupils", "epsilon": "1"})
    assert response.status_code == 422
    assert response.headers["content-type"] == "application/problem+json"
    told = response.json()
    assert (told["code"], told["line"], told["column"], told["hint"]) == (
        "query.table",
        2,
        6,
        "did you mean pupil?",
    )
    assert school.spent("ada") == before


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"sql": COUNT, "epsilon": "0"}, "parameter"),
        ({"sql": COUNT, "epsilon": "1e9"}, None),
        ({"sql": COUNT, "epsilon": 1}, "request"),
        ({"sql": COUNT}, "request"),
        ({"sql": COUNT, "epsilon": "1", "extra": 1}, "request"),
        ({"sql": "x" * 20_001, "epsilon": "1"}, "request"),
        ({"sql": COUNT, "epsilon": "1", "mechanism": "none"}, "parameter"),
        ({"sql": COUNT, "epsilon": "1", "delta": "1e-6"}, None),
        ([], "request"),
    ],
)
def test_what_is_not_as_it_should_be_costs_nothing(school, ada, body, code):
    before = school.spent("ada")
    response = ada.post("/questions", json=body)
    assert 400 <= response.status_code < 500
    assert code in (None, response.json()["code"])
    assert school.spent("ada") == before


def test_a_question_that_is_not_covered_is_refused(school):
    token = school.token("poor", grant="1/4")
    with school.http(token) as client:
        response = client.post("/questions", json={"sql": COUNT, "epsilon": "1/2"})
        assert (response.status_code, response.json()["code"]) == (402, "budget")
        assert waited(client, COUNT, "1/4")["state"] == "done"
        for path in ("/history", "/budget", "/catalogue", "/me", "/data-version"):
            assert client.get(path).status_code == 200, "with nothing left all that only looks works"
        assert client.post("/explain", json={"sql": COUNT}).status_code == 200
        assert waited(client, COUNT, "1/4")["answer"]["stored"]


def test_one_question_at_a_time(school):
    with school.http(school.token("hasty")) as client:
        for number in range(7, 100, 2):
            first = client.post("/questions", json={"sql": COUNT, "epsilon": f"1/{number}"}).json()
            second = client.post("/questions", json={"sql": COUNT, "epsilon": f"1/{number + 1}"})
            if client.get(f"/questions/{first['id']}").json()["state"] == "waiting":  # it was, all the while
                break
            while second.json().get("state") == "waiting":
                second = client.get(f"/questions/{second.json()['id']}")
        assert (second.status_code, second.json()["code"]) == (429, "busy")
        while client.get(f"/questions/{first['id']}").json()["state"] == "waiting":
            pass
        charged = {charge["epsilon"] for charge in client.get("/history").json()}
        assert f"1/{number}" in charged
        assert f"1/{number + 1}" not in charged


def test_an_analyst_sees_only_what_is_their_own(school, ada):
    waited(ada, COUNT, "1/9")
    job = ada.post("/questions", json={"sql": COUNT, "epsilon": "1/9"}).json()["id"]
    with school.http(school.token("eve")) as eve:
        assert eve.get("/history").json() == []
        assert eve.get(f"/questions/{job}").status_code == 404
        assert eve.get("/budget").json()["spent"] == "0"
    assert {entry["analyst"] for entry in ada.get("/history").json()} == {"ada"}
    page = ada.get("/history", params={"limit": 1}).json()
    assert len(page) == 1
    assert ada.get("/history", params={"before": page[0]["number"]}).json()[0]["number"] < page[0]["number"]


def test_a_custodian_grants_makes_tokens_revokes_them_and_reads_the_audit(school, cy):
    assert cy.post("/grants", json={"analyst": "bob", "epsilon": "3"}).json()["granted"] == "3"
    made = cy.post("/tokens", json={"name": "bob", "purpose": "test", "days": 2}).json()
    with school.http(made["token"]) as bob:
        assert bob.get("/me").json() == {"name": "bob", "role": "analyst", "dataset": "school"}
        assert cy.delete(f"/tokens/{made['id']}").status_code == 200
        assert bob.get("/me").status_code == 401, "at once"
    acts = [(act["who"], act["what"]) for act in cy.get("/audit").json()][-3:]
    assert acts == [("cy", "grant"), ("cy", "create token"), ("cy", "revoke token")]
    assert made["token"] not in str(cy.get("/tokens").json()) + str(cy.get("/audit").json())
    assert "bob" in [analyst["name"] for analyst in cy.get("/analysts").json()]
    assert cy.delete("/tokens/none").status_code == 422


def test_a_custodian_waits_for_no_slot(school, cy):
    book = school.book()
    named = {analyst.name for analyst in book.analysts()}
    book.close()
    assert "cy" not in named
    cy.post("/grants", json={"analyst": "cy", "epsilon": "9"})
    assert waited(cy, COUNT, "1/3")["state"] == "done"


ROUTES = ["explain", "estimate", "questions", "grants", "tokens", "publish"]


def test_every_route_is_closed_to_whoever_has_no_token(school, cy):
    paths = cy.get("/openapi.json").json()["paths"]
    assert len(paths) >= 13
    for token in (None, "x", "rcs_0_0", "x" * 10_000):
        with school.http(token) as nobody:
            for path, methods in paths.items():
                for method in methods:
                    url = path.removeprefix("/api/v1").replace("{id}", "x")
                    response = nobody.request(method, url, json={} if method == "post" else None)
                    assert (response.status_code, response.json()["code"]) == (401, "sign-in"), (method, path)
            assert nobody.get("/openapi.json").status_code == 401


def test_custodians_routes_are_closed_to_analysts(school, cy, ada):
    paths = cy.get("/openapi.json").json()["paths"]
    closed = 0
    for path, methods in paths.items():
        for method, told in methods.items():
            if "custody" in told["tags"]:
                url = path.removeprefix("/api/v1").replace("{id}", "x")
                response = ada.request(method, url, json={} if method == "post" else None)
                assert (response.status_code, response.json()["code"]) == (403, "forbidden"), (method, path)
                closed += 1
    assert closed >= 7


def test_nothing_is_kept_by_browsers_and_only_json_is_read(school, ada):
    for response in (ada.get("/me"), ada.get("/nothing"), ada.post("/explain", json={})):
        assert response.headers["cache-control"] == "no-store"
        assert response.headers["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in response.headers["content-security-policy"]
        assert "server" not in response.headers
    form = ada.post("/explain", content=b"sql=x", headers={"content-type": "text/plain"})
    assert form.status_code == 415
    assert ada.post("/explain", content=b'{"sql": "' + b"x" * 70_000 + b'"}').status_code in (413, 415)
    big = {"content-type": "application/json"}
    assert ada.post("/explain", content=b'"' + b"x" * 70_000, headers=big).status_code == 413
    chunks = (b'"' + b"x" * 9_000 for _ in range(20))
    assert ada.post("/explain", content=chunks, headers=big).status_code == 413
    assert ada.get("/nothing").json()["status"] == 404


def test_explaining_and_describing_cost_nothing(school, ada):
    before = school.spent("ada")
    told = ada.post("/explain", json={"sql": COUNT}).json()
    assert "pupil" in told["text"]
    tables = {table["name"]: table for table in ada.get("/catalogue").json()}
    assert set(tables) == {"pupil", "friendship", "town"}
    assert school.spent("ada") == before


def test_an_estimate_is_free_limited_and_as_the_library_has_it(school, ada):
    body = {"sql": COUNT, "epsilons": ["1/10", "1"], "rows": {"pupil": 500}, "runs": 20}
    before = school.spent("ada")
    thin, thick = ada.post("/estimate", json=body).json()
    assert thin["columns"][0]["typical"] >= thick["columns"][0]["typical"]
    for rows in (10**12, 2_000_000, 0, -1, "9"):
        assert ada.post("/estimate", json=body | {"rows": {"pupil": rows}}).status_code == 422
    assert ada.post("/estimate", json=body | {"rows": {}}).json()["code"] == "parameter.statistics"
    assert school.spent("ada") == before


def test_metrics_are_elsewhere_and_hold_neither_questions_nor_values(school, ada, cy):
    import httpx

    found = httpx.get(f"http://127.0.0.1:{school.ports['metrics']}/metrics").text
    assert 'recuse_charged{dataset="school"}' in found
    assert "recuse_epsilon_left" in found
    assert "SELECT" not in found
    assert CANARY not in found
    assert "_seconds" not in found, "times tell about rows"
    assert ada.get("/metrics").status_code == 404


def test_publishing_makes_old_questions_new(school, cy):
    with school.http(school.token("pia")) as pia:
        first = waited(pia, COUNT, "1/11")
        assert cy.post("/publish").json()["data_version"] == 2
        again = waited(pia, COUNT, "1/11")
        assert (first["answer"]["stored"], again["answer"]["stored"]) == (False, False)
    assert school.spent("pia") == Fraction(2, 11)


def test_the_client_asks_as_a_local_session_does(school):
    token = school.token("kim")
    with recuse.connect(school.address, token=token) as db:
        answer = db.ask(COUNT, "0.5")
        assert (answer.stored, answer.epsilon, db.budget.spent) == (False, Fraction(1, 2), Fraction(1, 2))
        assert answer.remaining <= db.budget.remaining, "what the database has left may be less"
        assert db.ask(COUNT, "0.5").value == answer.value
        assert db.budget.spent == Fraction(1, 2), "paid for once"
        assert "pupil" in str(db.explain(COUNT))
        grouped = db.ask("SELECT sex, COUNT(*) AS n, AVG(age) AS a FROM pupil GROUP BY sex ORDER BY sex", 5)
        assert [row.keys for row in grouped] == [("f",), ("m",)]
        assert list(grouped.to_pandas().columns) == ["sex", "n", "n_low", "n_high", "a", "a_low", "a_high"]
        expected = db.estimate(COUNT, 1, like=recuse.Statistics({"pupil": 100}), runs=10)
        assert "typically off by" in str(expected)
        assert len(db.history()) == 2
        with pytest.raises(recuse.QueryError, match="line 1, column 22: there is no table nothing"):
            db.ask("SELECT COUNT(*) FROM nothing", 1)
        with pytest.raises(recuse.BudgetError):
            db.ask(COUNT, 1000)
        with pytest.raises(recuse.ParameterError):
            db.ask(COUNT, -1)
    with pytest.raises(recuse.RecuseError, match="not known"):
        recuse.connect(school.address, token="rcs_1_2").ask(COUNT, 1)


def test_the_client_sends_no_token_in_the_clear():
    for wrong in (
        {"source": "http://example.org", "token": "t"},
        {"source": "https://x"},
        {"source": "x", "token": "t"},
    ):
        with pytest.raises(recuse.ParameterError):
            recuse.connect(**wrong)


def test_a_client_whose_server_is_gone_says_so():
    with pytest.raises(recuse.DatabaseError, match="does not answer"):
        recuse.connect("http://127.0.0.1:9", token="t").ask(COUNT, 1)


def test_unknown_and_revoked_tokens_are_told_the_same(school, cy):
    token = school.token("gone")
    school_ledger = school.book()
    school_ledger.tokens().revoke(token.split("_")[1])
    school_ledger.close()
    texts = set()
    for text in (token, token[:-1] + "0", "rcs_" + "0" * 16 + "_" + "0" * 64):
        with school.http(text) as client:
            response = client.get("/me")
            texts.add((response.status_code, response.text, str(sorted(response.headers.items()))))
    assert len(texts) == 1
    assert Role.ANALYST.value == "analyst"
