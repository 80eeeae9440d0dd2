"""The suite, but for what a private database has not."""

from __future__ import annotations

import pytest
from sqlalchemy.testing.suite import *  # noqa: F403
from sqlalchemy.testing.suite import ComponentReflectionTestExtra as _ComponentReflectionTestExtra
from sqlalchemy.testing.suite import CTETest as _CTETest

WRITE = (
    "IdentityAutoincrementTest",
    "InsertBehaviorTest",
    "LongNameBlowoutTest",  # of constraints and indexes, which have no names here
    "ReturningGuardsTest",
    "TableViaSelectTest",
)
for name in WRITE:
    del globals()[name]


class CTETest(_CTETest):
    run_inserts = "once"
    run_deletes = None  # DuckDB cannot delete a row that another of the same table refers to

    def test_select_recursive_round_trip(self) -> None:
        pytest.skip("a recursive CTE is not answered")

    def test_insert_from_select_round_trip(self) -> None:
        pytest.skip("it writes")


class ComponentReflectionTestExtra(_ComponentReflectionTestExtra):
    def test_string_length_reflection(self) -> None:
        pytest.skip("DuckDB's text has no length")
