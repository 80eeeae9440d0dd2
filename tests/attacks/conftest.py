"""Attacks that need processes of their own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]


@pytest.fixture
def forking() -> Callable[..., list[str]]:
    """Return a function that runs tests/support/forking.py and returns the lines that it prints."""

    def run(*arguments: object) -> list[str]:
        done = subprocess.run(
            [sys.executable, "-m", "support.forking", *map(str, arguments)],
            capture_output=True,
            text=True,
            cwd=TESTS,
            timeout=300,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.splitlines()

    return run
