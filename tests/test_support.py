"""What judges the tests: profiles that never repeat themselves, mutants of lines that are there, coverage."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hypothesis import settings

from support.coverage import ROOT, critical, unreached
from support.mutate import MUTANTS
from support.profiles import EXAMPLES, PROFILE, chosen, examples, some


@pytest.mark.parametrize("profile", EXAMPLES)
def test_every_profile_has_fresh_examples_and_no_deadline(profile):
    found = settings.get_profile(profile)
    assert (found.derandomize, found.deadline, found.max_examples) == (False, None, EXAMPLES[profile])
    assert found.database is not None


def test_the_profile_that_is_named_is_the_one_that_runs():
    assert settings().max_examples == EXAMPLES[PROFILE]


def test_in_ci_too():
    """Hypothesis has a profile of its own for CI, which repeats its examples and keeps none."""
    code = (
        "from support.profiles import load_profile; load_profile()\n"
        "from hypothesis import settings; s = settings()\n"
        "print(s.max_examples, s.derandomize, s.database is not None)"
    )
    told = {}
    for profile in ("ci", "weekly"):
        env = {**os.environ, "CI": "true", "HYPOTHESIS_PROFILE": profile}
        told[profile] = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT / "tests", env=env, capture_output=True, text=True
        )
    assert told["ci"].stdout == "100 False True\n", told["ci"].stderr
    assert "accepted are quick, whole, ci, nightly" in told["weekly"].stderr


def test_examples_grow_with_the_profile():
    assert [examples(40, profile) for profile in EXAMPLES] == [4, 6, 40, 400]
    assert [examples(3, profile) for profile in EXAMPLES] == [2, 2, 3, 30]
    assert [examples(8, profile) for profile in EXAMPLES] == [2, 2, 8, 80]


def test_a_quick_run_has_half_of_many_cases_and_all_of_few():
    tests = [(name, (name, place)) for name, size in {"few": 4, "many": 20}.items() for place in range(size)]
    runs = [chosen(tests, "quick", run) for run in ("one", "another")]
    for found in runs:
        assert sorted(name for name, _ in found) == ["few"] * 4 + ["many"] * 10
        assert found == sorted(found), "in their order"
    assert runs[0] != runs[1]
    assert runs[0] == chosen(tests, "quick", "one"), "every worker of a run has the same"
    everything = [case for _, case in tests]
    assert chosen(tests, "whole", "one") == chosen(tests, "quick", "") == everything


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutants_line_and_its_tests_are_there(mutant):
    """`make mutate` runs them; here only that none has become something else unseen."""
    text = (ROOT / "src" / "recuse" / mutant.file).read_text()
    assert text.count(mutant.line) == 1
    compile(text.replace(mutant.line, mutant.broken), mutant.file, "exec")
    for test in mutant.tests:
        assert (ROOT / test).is_file()


def test_lines_and_branches_that_no_test_reaches_are_named():
    files = {
        "src/a.py": {"missing_lines": [3], "missing_branches": [[3, 4], [7, 9], [8, -1]]},
        "src/b.py": {"missing_lines": [], "missing_branches": []},
    }
    assert unreached(files, ["src/a.py", "src/b.py"]) == [
        "src/a.py:3 is not reached",
        "src/a.py:7 never leads to 9",
        "src/a.py:8 never leads to the end",
    ]


def test_a_critical_module_that_is_not_measured_is_an_error():
    assert critical(["src/a.py", "src/b/c.py"], ["src/b/*.py"]) == ["src/b/c.py"]
    with pytest.raises(ValueError, match="no measured file"):
        critical(["src/a.py"], ["src/b/*.py"])


def test_a_quick_run_takes_a_fresh_share_of_cases_that_are_alike_and_others_take_all():
    cases = list(range(40))
    first, again, other = (some(cases, 0.3, "quick", run) for run in ("one", "one", "another"))
    assert first == again != other, "workers of one run collect the same tests"
    assert len(first) == 12
    assert first == sorted(set(first))
    assert some(cases, 0.3, "ci", "one") == some(cases, 0.3, "quick", "") == cases
