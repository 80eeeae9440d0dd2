"""How laws are run, and of which cases: tests/support/profiles.py; and how often garbage is looked for."""

from __future__ import annotations

import gc

import pytest

from support.profiles import chosen, load_profile

load_profile()
gc.disable()  # until all is collected: nothing that is loaded before is garbage


def named(item: pytest.Item) -> str:
    """Return the name of a case's test; where none is like another, each is a test by itself."""
    return item.nodeid if item.get_closest_marker("unlike") else item.nodeid.partition("[")[0]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave some of many cases to other runs, where somebody waits; after those that are not asked for."""
    kept = chosen((named(item), item) for item in items)
    if left := set(items) - set(kept):
        config.hook.pytest_deselected(items=sorted(left, key=lambda item: item.nodeid))
        items[:] = kept


def pytest_collection_finish() -> None:
    """Leave what was collected alone: thousands of tests and their modules stay until the end."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000)
    gc.enable()


def pytest_sessionfinish() -> None:
    """Let the end of the process take away what was left alone."""
    gc.unfreeze()
