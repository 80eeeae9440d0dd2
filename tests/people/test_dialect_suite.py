"""SQLAlchemy's own suite for dialects, as far as it writes nothing: tests/people/dialect runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

import recuse

SUITE = Path(__file__).parent / "dialect"
QUICK = "FetchLimitOffset or OrderByLabel or JoinTest or CTETest or TrueDiv or NumericTest or HasTable"


@pytest.mark.parametrize(
    ("chosen", "least"),
    [pytest.param(QUICK, 60, id="some"), pytest.param("", 500, id="all", marks=pytest.mark.slow)],
)
def test_the_suite_of_sqlalchemy_is_passed_where_it_writes_nothing(chosen, least, tmp_path):
    """In a process of its own: its plugin takes pytest over."""
    report = tmp_path / "suite.xml"
    words = ["-c", "setup.cfg", "--rootdir", ".", "-p", "no:cacheprovider", "-q", f"--junitxml={report}"]
    source = str(Path(recuse.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words, "-k", chosen, "test_suite.py"],
        cwd=SUITE,
        env=os.environ | {"PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    outcomes = Counter(
        next((part.tag for part in case if part.tag in ("skipped", "failure", "error")), "passed")
        for case in ElementTree.parse(report).iter("testcase")
    )
    print(outcomes)
    assert set(outcomes) == {"passed", "skipped"}
    assert outcomes["passed"] >= least
