"""Spark is an instance of the suite that all engines share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from functools import cache

import pyarrow
import pytest

from engines.conformance import POLICY, TABLES, Conformance, Make
from recuse.engines.engine import Engine
from recuse.engines.open import open_engine
from recuse.policy import Policy
from support.spark import Lab

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def opened(lab: Lab) -> Iterator[Make]:
    with ExitStack() as engines:

        def make(tables: Mapping[str, pyarrow.Table], policy: Policy = POLICY) -> Engine:
            engine = open_engine(lab.holding(tables), policy)
            engines.callback(engine.close)
            return engine

        usual = cache(lambda: make(TABLES))

        def once(tables: Mapping[str, pyarrow.Table], policy: Policy = POLICY) -> Engine:
            return usual() if tables is TABLES and policy is POLICY else make(tables, policy)

        yield once


class TestSpark(Conformance):
    """Spark keeps every promise."""

    governed = False

    @pytest.fixture
    def make(self, opened: Make) -> Make:
        return opened
