"""How the laws are run: tests/support/profiles.py; and how often garbage is looked for."""

from __future__ import annotations

import gc

from support.profiles import load_profile

load_profile()


def pytest_collection_finish() -> None:
    """Leave what was collected alone: thousands of tests and their modules stay until the end."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000)


def pytest_sessionfinish() -> None:
    """Let the end of the process take away what was left alone."""
    gc.unfreeze()
