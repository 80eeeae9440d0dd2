"""Assertions of the suite that every engine shares say what they found."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("engines.conformance")
