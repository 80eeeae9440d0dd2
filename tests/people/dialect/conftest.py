"""SQLAlchemy's own suite for dialects: tests/people/test_dialect_suite.py runs it in a process of its own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from sqlalchemy.dialects import registry

sys.path.insert(0, str(Path(__file__).parent))
registry.register("recuse.written", "written", "WrittenDialect")
pytest.register_assert_rewrite("sqlalchemy.testing.assertions")

from sqlalchemy.testing.plugin.pytestplugin import *  # noqa: E402, F403 - the suite's own form
