"""The shared engine is closed before the interpreter ends."""

from __future__ import annotations

import pytest

from support.sql.shop import the_engine


@pytest.fixture(autouse=True, scope="session")
def _close_the_engine():
    yield
    the_engine().close()
    the_engine.cache_clear()
