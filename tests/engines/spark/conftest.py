"""One Spark for all tests of it; where there is none they are skipped, and say why."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.spark import Absent, Lab, started


@pytest.fixture(scope="session")
def lab() -> Iterator[Lab]:
    try:
        found = started()
    except Absent as absent:
        pytest.skip(f"no Spark: {absent}")
    yield found
    found.stop()
