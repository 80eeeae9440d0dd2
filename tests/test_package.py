"""What is installed: bounds that leave room, an import that costs nothing, a first answer soon."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib

import pytest

from support.documents import ROOT
from support.shop import COUNT, make_shop

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.mark.parametrize("extra", [None, *PROJECT["optional-dependencies"]])
def test_dependencies_are_bounded_and_never_pinned(extra):
    """A pin would clash with somebody else's; constraints.txt says what is tested, and binds nobody."""
    wanted = PROJECT["dependencies"] if extra is None else PROJECT["optional-dependencies"][extra]
    for line in wanted:
        assert re.fullmatch(r"[a-z0-9-]+>=[\d.]+(,<\d+)?", line), line


def takes_less_than(bar: float, *words: object) -> bool:
    """Return whether a Python process takes less processor time; a second one, if the first did not."""
    for _ in range(2):
        before = os.times()
        subprocess.run([sys.executable, *map(str, words)], check=True, capture_output=True)
        after = os.times()
        used = after.children_user - before.children_user + after.children_system - before.children_system
        if used < bar:
            return True
    return False


def test_importing_takes_less_than_a_second():
    assert takes_less_than(1, "-c", "import recuse")


def test_the_first_answer_takes_less_than_three_seconds(tmp_path):
    database, policy = make_shop(tmp_path)
    asked = ("ask", database, COUNT, "--policy", policy, "--epsilon", "0.5")
    assert takes_less_than(3, "-m", "recuse", *asked)
