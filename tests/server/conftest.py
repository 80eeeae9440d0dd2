"""The server's tests are a suite of their own: `make test-server`. They need its clients' packages."""

from __future__ import annotations

import signal
from importlib.util import find_spec
from pathlib import Path

import pytest

HERE = Path(__file__).parent
collect_ignore_glob = ["test_*.py"] if find_spec("httpx") is None else []


def pytest_collection_modifyitems(items):
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.server)


@pytest.fixture(scope="session")
def school(tmp_path_factory):
    """A server of one dataset with short slots."""
    from support.serving import CANARY, gone, serving

    server = serving(tmp_path_factory.mktemp("school"), "http", "postgres", "metrics", workers=2)
    yield server
    workers = server.workers()
    server.kill(signal.SIGTERM)
    assert server.process.returncode == 0
    assert gone(workers), "a stopped server leaves nothing behind"
    printed = (server.folder / "stderr").read_text() + "\n".join(server.said)
    for secret in (CANARY, "SELECT", "rcs_", "Traceback"):
        assert secret not in printed


@pytest.fixture(scope="session")
def ada(school):
    """A client of an analyst."""
    with school.http(school.token("ada")) as client:
        yield client


@pytest.fixture(scope="session")
def cy(school):
    """A client of a custodian."""
    from recuse.ledger import Role

    with school.http(school.token("cy", Role.CUSTODIAN)) as client:
        yield client


@pytest.fixture(scope="module")
def token(school, request):
    """A token of the module's `ANALYST`."""
    return school.token(request.module.ANALYST)


@pytest.fixture
def place(school, token, request):
    """Where PostgreSQL's clients find the server, and who they are."""
    return {
        "host": "127.0.0.1",
        "port": school.ports["postgres"],
        "user": request.module.ANALYST,
        "password": token,
        "dbname": "school",
    }


@pytest.fixture
def client(place):
    """A psycopg client that may spend half an epsilon a question."""
    import psycopg

    with psycopg.connect(**place, autocommit=True, options="-c recuse.epsilon=0.5") as made:
        yield made
