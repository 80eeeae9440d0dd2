"""Examples in docstrings do what they show."""

from __future__ import annotations

import doctest
import importlib

import pytest

from support.sources import MODULES, SOURCE

SHOWN = [
    ".".join(("recuse", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")
    for path in MODULES
    if ">>> " in path.read_text()
]


@pytest.mark.parametrize("name", SHOWN)
def test_examples_print_what_they_show(name, capsys):
    """What fails is printed by doctest, with its place."""
    done = doctest.testmod(importlib.import_module(name))
    assert done.attempted > 0, "nothing was found"
    assert done.failed == 0


def test_modules_with_examples_are_found():
    assert len(SHOWN) > 40


def test_an_example_that_is_wrong_would_be_noticed(capsys):
    runner = doctest.DocTestRunner()
    (example,) = doctest.DocTestFinder().find(
        type("Wrong", (), {"__doc__": ">>> 1 + 1\n3\n"}), "wrong", globs={}
    )
    assert runner.run(example).failed == 1
