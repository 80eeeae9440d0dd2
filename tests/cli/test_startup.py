"""What a command does not need is not imported: experiments, comparators and libraries of tests and plots."""

from __future__ import annotations

import subprocess
import sys

import pytest

from support.profiles import some
from support.shop import COUNT, make_shop

RUN = """
import sys
from recuse.cli.app import main
try:
    main()
finally:
    print("LOADED", *sorted(sys.modules), file=sys.stderr)
"""
NEVER = (
    *("recuse.lab.experiments", "recuse.lab.comparators", "recuse.lab.command"),
    *("matplotlib", "pandas", "networkx", "igraph", "polars", "rich", "hypothesis", "pytest"),
    *("scipy.optimize", "scipy.special", "scipy.stats", "scipy.linalg", "pyarrow.parquet"),
)
SELDOM = ("scipy", "highspy", "opendp", "pyarrow.compute", "http.client", "asyncio", "recuse.solver.fast")
"""what a count that loads decide is answered without: `recuse.deferred`"""


def loaded(*arguments: object) -> set[str]:
    """Return the modules that a command has loaded when it is done."""
    words = [sys.executable, "-c", RUN, *map(str, arguments)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return set(done.stderr.splitlines()[-1].split())


@pytest.fixture
def graph(tmp_path):
    path = tmp_path / "friends.txt"
    path.write_text("".join(f"{i} {j}\n" for i in range(9) for j in range(i)))
    return path


def test_asking_loads_what_answers_need(tmp_path):
    database, policy = make_shop(tmp_path)
    found = loaded("ask", database, COUNT, "--policy", policy, "--epsilon", 1)
    assert found.isdisjoint((*NEVER, *SELDOM))
    assert "duckdb" in found


@pytest.mark.parametrize("protect", some(["node", "edge"], 0.5))
def test_counting_loads_what_counts_need(graph, protect):
    asked = ("--pattern", "triangle", "--protect", protect, "--epsilon", 1)
    assert loaded("graph", graph, *asked).isdisjoint(NEVER)


def test_help_loads_no_experiment():
    assert loaded("--help").isdisjoint(NEVER)
    assert "recuse.lab.command" in loaded("lab", "--help"), "this one does"
