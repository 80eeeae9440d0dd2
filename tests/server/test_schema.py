"""Requests made from the interface's OpenAPI meet no mistake of ours; what is refused costs nothing."""

from __future__ import annotations

import signal
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable

from recuse.ledger import Role
from support.profiles import examples
from support.serving import COUNT, serving, waited

schemathesis = pytest.importorskip("schemathesis", reason="pip install 'recuse[server-test]'")
MODES = [schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE]
ONCE = settings(
    max_examples=examples(60), deadline=None, database=None, suppress_health_check=list(HealthCheck)
)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server of its own: whatever is granted, published or revoked here concerns nobody else."""
    made = serving(tmp_path_factory.mktemp("fuzzed"), "http")
    yield made
    made.kill(signal.SIGTERM)
    assert "Traceback" not in (made.folder / "stderr").read_text()


def spent(server):
    book = server.book()
    found = book.balance().spent
    book.close()
    return found


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.value)
@pytest.mark.parametrize("role", list(Role), ids=lambda role: role.value)
def test_no_request_meets_a_mistake_of_ours_or_is_charged_when_refused(server, role, mode):
    states, tried = {}, set()
    with server.http(server.token("fuzz", role)) as client:
        schema = schemathesis.openapi.from_dict(client.get("/openapi.json").json())
        client.base_url = server.address

        def is_met(case):
            before = spent(server) if "/questions" in case.operation.label else None
            sent = case.as_transport_kwargs(base_url=server.address)
            headers = {"authorization": client.headers["authorization"]}
            response = client.request(
                sent["method"],
                sent["url"],
                params=sent.get("params"),
                headers=headers | ({"content-type": "application/json"} if "json" in sent else {}),
                **({"json": sent["json"]} if "json" in sent else {}),
            )
            tried.add(case.operation.label)
            states[response.status_code] = states.get(response.status_code, 0) + 1
            assert response.status_code < 500, case.as_curl_command()
            assert response.headers["cache-control"] == "no-store"
            if response.status_code >= 400:
                assert response.headers["content-type"] == "application/problem+json"
                assert before is None or spent(server) == before

        for found in schema.get_all_operations():
            with suppress(Unsatisfiable):  # what takes nothing cannot be asked wrongly
                ONCE(given(case=found.ok().as_strategy(generation_mode=mode))(is_met))()
    print(role.value, mode.value, len(tried), "routes", states)
    assert len(tried) >= (12 if mode is MODES[0] else 8)
    assert sum(states.values()) > 40


def test_afterwards_questions_are_answered(server):
    with server.http(server.token("last")) as client:
        assert waited(client, COUNT, "1/2").get("state") in ("done", None), "or nothing is left to spend"
        assert client.get("/me").status_code == 200
