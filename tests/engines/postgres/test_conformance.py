"""PostgreSQL is an instance of the suite that all engines share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack

import pyarrow
import pytest

from engines.conformance import POLICY, Conformance, Make
from recuse.engines.engine import Engine
from recuse.engines.open import open_engine
from recuse.policy import Policy
from support.postgres import Server

pytestmark = pytest.mark.engine


class TestPostgres(Conformance):
    """PostgreSQL keeps every promise."""

    governed = False

    @pytest.fixture
    def make(self, server: Server) -> Iterator[Make]:
        with ExitStack() as opened:

            def make(tables: Mapping[str, pyarrow.Table], policy: Policy = POLICY) -> Engine:
                engine = open_engine(server.uri(server.holding(tables)), policy)
                opened.callback(engine.close)
                return engine

            yield make
