"""The README is run: its files are written, its commands executed, and what they print compared."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from recuse.demo import QUESTIONS
from recuse.mechanism.release import Release
from recuse.policy import Policy, Protect

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text()
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[tuple[str, str]]:
    return [(name, text) for kind, name, text in BLOCK.findall(README) if kind == language]


def masked(text: str) -> str:
    """Return the text with every number replaced: answers are random."""
    return re.sub(r"\d[\d,.]*", "#", re.sub(r"\S*/(?=school)", "", text))


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "school").mkdir()
    for name, text in blocks("csv"):
        (tmp_path / "school" / name).write_text(text)
    for name, text in blocks("toml"):
        (tmp_path / name).write_text(text)
    return tmp_path


def environment() -> dict[str, str]:
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


def test_commands_print_what_the_readme_shows(folder):
    transcript = "".join(text for _, text in blocks("console") if text.startswith("$"))
    steps = re.split(r"^\$ ", transcript, flags=re.MULTILINE)[1:]
    assert len(steps) == 5
    for step in steps:
        command, _, shown = step.partition("\n")
        done = subprocess.run(
            command, shell=True, cwd=folder, env=environment(), text=True, capture_output=True, check=True
        )
        if shown:
            assert masked(done.stderr + done.stdout) == masked(shown)
        else:
            assert done.stdout


def test_python_example_runs(folder):
    (example,) = [text for _, text in blocks("python")]
    done = subprocess.run(
        [sys.executable, "-c", example], cwd=folder, text=True, capture_output=True, check=True
    )
    assert re.search(r"\d", done.stdout)


def test_the_first_example_is_in_the_demo():
    (sql,) = [text for _, text in blocks("sql")]
    assert sql.strip() == QUESTIONS[0].sql
    assert "make demo" in README[:1000]
    assert "make test" in README[:1000]


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target


def test_the_policy_page_shows_a_policy():
    (example,) = [
        text for kind, _, text in BLOCK.findall((ROOT / "docs" / "policy.md").read_text()) if kind == "toml"
    ]
    policy = Policy.parse(example)
    assert [str(link) for link in policy.links] == ["friendship(a) → person", "friendship(b) → person"]
    Policy(protect=(Protect.rows("friendship", "least(a, b)", "greatest(a, b)"),))


def test_an_answer_prints_for_people():
    (example,) = [text for _, text in blocks("python")]
    shown = re.search(r"# (.*left)", example)[1]
    interval = (Fraction(0), Fraction(12))
    release = Release(Fraction(4), interval, Fraction(1), Fraction(1, 2), "selective", remaining=Fraction(8))
    assert str(release) == shown
