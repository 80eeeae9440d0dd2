"""One PostgreSQL server for all tests of it; where there is none they are skipped, and say why."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from recuse.engines.engine import Engine
from recuse.engines.open import open_engine
from support.postgres import Absent, Server, started


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    try:
        found = started()
    except Absent as absent:
        pytest.skip(f"no PostgreSQL: {absent}")
    yield found
    found.stop()


@pytest.fixture(scope="module")
def name(server: Server, request: pytest.FixtureRequest) -> str:
    """The database that a module's `MADE` makes."""
    return server.database(*request.module.MADE)


@pytest.fixture(scope="module")
def engine(server: Server, name: str, request: pytest.FixtureRequest) -> Iterator[Engine]:
    """The same under the module's `POLICY`."""
    with open_engine(server.uri(name), request.module.POLICY) as found:
        yield found
