"""The tutorial is run from beginning to end, and every page's links lead somewhere.

Run as a script, this file brings what docs/tutorial.md shows up to date.
"""

from __future__ import annotations

import re
import runpy
import tempfile
from pathlib import Path

import pytest

import recuse
from documents import ROOT, blocks, masked, performed, refreshed
from recuse.policy import Policy

TUTORIAL = ROOT / "docs" / "tutorial.md"
PAGES = sorted((ROOT / "docs").glob("*.md"))


def test_the_tutorial_prints_what_it_shows(tmp_path):
    page = TUTORIAL.read_text()
    asked = []
    for command, shown, told in performed(page, tmp_path):
        assert masked(told, tmp_path) == masked(shown), f"{command}: run python {Path(__file__).name}"
        asked.append(command)
    assert len(asked) == page.count("\n$ ") + page.count("```python\n")


def test_every_policy_that_a_page_shows_is_one():
    shown = [block.text for page in PAGES for block in blocks(page.read_text(), "toml")]
    assert len(shown) >= 4
    for text in shown:
        assert Policy.parse(text).protect


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    text = page.read_text()
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, part = target.partition("#")
        if "://" in target:
            continue
        assert (page.parent / path).exists(), target
        if part:
            there = (page.parent / path if path else page).read_text()
            assert part in {_anchor(head) for head in re.findall(r"^#+ (.*)$", there, re.MULTILINE)}, target


def _anchor(head: str) -> str:
    return re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-")


def test_the_interface_is_described_as_its_docstrings_say():
    made = runpy.run_path(str(ROOT / "docs" / "generate_api.py"))
    page = made["PAGE"].read_text()
    assert page == made["page"](), "run python docs/generate_api.py"
    for name in recuse.__all__:
        assert f"### recuse.{name}" in page, name
    assert "\n\n\n" not in page


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        TUTORIAL.write_text(refreshed(TUTORIAL.read_text(), Path(folder).resolve()))
