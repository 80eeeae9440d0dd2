"""The README is run: its files are written, its commands executed, and what they print compared."""

from __future__ import annotations

import re
import subprocess
import sys
from fractions import Fraction

import pytest

from documents import ROOT, blocks, masked, printed, steps
from recuse.demo import QUESTIONS
from recuse.mechanism.release import Release
from recuse.policy import Policy, Protect

README = (ROOT / "README.md").read_text()


def texts(language: str) -> list[str]:
    return [block.text for block in blocks(README, language)]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "school").mkdir()
    for block in blocks(README, "csv"):
        (tmp_path / "school" / block.name).write_text(block.text)
    for block in blocks(README, "toml"):
        (tmp_path / block.name).write_text(block.text)
    return tmp_path


def test_commands_print_what_the_readme_shows(folder):
    asked = [step for text in texts("console") for step in steps(text)]
    assert len(asked) == 5
    for command, shown in asked:
        told = printed(command, folder)
        assert masked(told, folder) == masked(shown) if shown else told


def test_python_example_runs(folder):
    (example,) = texts("python")
    done = subprocess.run(
        [sys.executable, "-c", example], cwd=folder, text=True, capture_output=True, check=True
    )
    assert re.search(r"\d", done.stdout)


def test_the_first_example_is_in_the_demo():
    (sql,) = texts("sql")
    assert sql.strip() == QUESTIONS[0].sql
    assert "make demo" in README[:1000]
    assert "make test" in README[:1000]


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target


def test_the_policy_page_shows_a_policy():
    (example,) = blocks((ROOT / "docs" / "policy.md").read_text(), "toml")
    policy = Policy.parse(example.text)
    assert [str(link) for link in policy.links] == ["friendship(a) → person", "friendship(b) → person"]
    Policy(protect=(Protect.rows("friendship", "least(a, b)", "greatest(a, b)"),))


def test_an_answer_prints_for_people():
    (example,) = texts("python")
    shown = re.search(r"# (.*left)", example)[1]
    interval = (Fraction(0), Fraction(12))
    release = Release(Fraction(4), interval, Fraction(1), Fraction(1, 2), "selective", remaining=Fraction(8))
    assert str(release) == shown
