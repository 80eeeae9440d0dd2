"""The tutorial is run from beginning to end, and what a page links to, cites or proves is there.

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


# ------------------------------------------------------------------ what is cited


def cited(page: str) -> list[str]:
    """Return what a page sets in backticks, word by word, blocks of code left out."""
    text = re.sub(r"^```.*?^```", "", page, flags=re.MULTILINE | re.DOTALL)
    return [word for span in re.findall(r"`([^`\n]+)`", text) for word in span.split()]


def names_by_file() -> dict[str, set[str]]:
    """Return for every file of tests the names of its tests."""
    found = {}
    for path in sorted((ROOT / "tests").rglob("*.py")):
        found[str(path.relative_to(ROOT))] = set(
            re.findall(r"^def (test_\w+)", path.read_text(), re.MULTILINE)
        )
    return found


def missing_tests(page: str) -> list[str]:
    """Return the tests that a page cites and that do not exist: paths, files, and functions by name."""
    known = names_by_file()
    files, names = {Path(path).name for path in known}, set().union(*known.values())
    missing = []
    for word in cited(page):
        path, _, name = word.partition("::")
        if path.startswith("tests/"):
            there = (ROOT / path).exists() and (not name or name in known.get(path, ()))
        elif re.fullmatch(r"test_\w+\.py", path):
            there = path in files
        elif re.fullmatch(r"test_\w+", word):
            there = word in names
        else:
            there = True
        if not there:
            missing.append(word)
    return missing


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_test_that_a_page_cites_exists(page):
    assert missing_tests(page.read_text()) == []


def test_a_test_that_does_not_exist_would_be_missed():
    there = ["tests/solver", "test_noise.py", "tests/test_docs.py::test_links_lead_somewhere"]
    absent = ["tests/mechanism/test_deficit.py", "tests/test_docs.py::test_no", "test_never"]
    assert missing_tests("".join(f"`{word}`" for word in there + absent)) == absent


def test_every_module_that_a_page_cites_exists():
    known = [str(path.relative_to(ROOT)) for path in (ROOT / "src").rglob("*.py")]
    for page in PAGES:
        for word in cited(page.read_text()):
            if re.fullmatch(r"\w+/\w+\.py", word) and not word.startswith(("docs/", "tests/")):
                assert any(path.endswith("/" + word) for path in known), f"{page.name}: {word}"


def test_every_theorem_that_a_docstring_names_is_proved():
    """`Guarantee:` names where the proof is; the label stands in bold in docs/proofs.md."""
    page = (ROOT / "docs" / "proofs.md").read_text()
    proved = set(re.findall(r"\*\*(?:Theorem |Lemma |Contract )?([A-Z]?\d*'?)(?: \([^*]*\))?\.\*\*", page))
    named: set[str] = set()
    for path in (ROOT / "src").rglob("*.py"):
        for text in re.findall(r"docs/proofs\.md, ([^:;]*?)(?:\)\.|\):|\);|\), )", path.read_text()):
            named |= set(re.findall(r"(?<![\w'])([A-Z]\d?|[12]')(?![\w'])", text))
    assert {"R5", "2'", "G2", "D"} <= named
    assert named <= proved, sorted(named - proved)


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
