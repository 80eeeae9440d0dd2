"""One PostgreSQL server for all tests of it; where there is none they are skipped, and say why."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.postgres import Absent, Server, started


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    try:
        found = started()
    except Absent as absent:
        pytest.skip(f"no PostgreSQL: {absent}")
    yield found
    found.stop()
