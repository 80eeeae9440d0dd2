"""Guides are run from beginning to end, and what a page links to, cites or proves is there.

Run as a script, this file brings what guides show up to date: all of them, or those that are named.
"""

from __future__ import annotations

import importlib
import re
import runpy
import sys
import tempfile
from functools import cache
from pathlib import Path

import pytest

import recuse
from recuse.policy import Policy
from recuse.server.postgres.conversation import OURS, TABLES
from support.documents import ROOT, blocks, masked, performed, refreshed

DOCS = ROOT / "docs"
PERFORMED = sorted(page for room in ("tutorial", "how-to") for page in (DOCS / room).glob("*.md"))
PAGES = sorted([*DOCS.rglob("*.md"), *ROOT.glob("*.md"), *(ROOT / ".github").rglob("*.md")])
SENTENCES = [page for page in PAGES if page.name not in ("api.md", "accuracy.md", "messages.md")]
"""Pages that people write, a sentence a line; the others are made by programs."""

SETTINGS = {f"recuse.{name}" for name in (*OURS, *TABLES, "remaining", "nothing")}
"""what clients of a server say, or say by mistake; they are no modules"""


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.people
@pytest.mark.parametrize("page", PERFORMED, ids=named)
def test_a_guide_prints_what_it_shows(page, tmp_path):
    text = page.read_text()
    asked = []
    for command, shown, told in performed(text, tmp_path):
        assert masked(told, tmp_path) == masked(shown), f"{command}: run python tests/test_docs.py"
        asked.append(command)
    assert len(asked) == text.count("\n$ ") + text.count("```python\n")


def test_guides_show_commands():
    shown = [page.name for page in PERFORMED if blocks(page.read_text(), "console")]
    assert len(shown) >= 3


def test_every_policy_that_a_page_shows_is_one():
    shown = [block.text for page in PAGES for block in blocks(page.read_text(), "toml")]
    assert len(shown) >= 4
    for text in shown:
        assert Policy.parse(text).protect


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_lead_somewhere(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
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


def test_the_site_has_every_page():
    nav = (ROOT / "mkdocs.yml").read_text().partition("\nnav:\n")[2]
    listed = re.findall(r"[\w/-]+\.md", nav)
    assert sorted(listed) == sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md"))


def test_a_block_that_is_a_file_is_a_block_on_the_site(caplog):
    """Readers saw the text of fences that name a file: MkDocs takes such a line for prose."""
    site = runpy.run_path(str(DOCS / "site.py"))
    assert site["on_page_markdown"]("```toml shop.toml\n[budget]\n```\n").startswith(
        '```toml title="shop.toml"\n'
    )
    assert site["on_page_markdown"]("```text\na\n```\n") == "```text\na\n```\n"
    site["on_page_content"]("<p>```toml shop.toml [budget]</p>", page="shop.md")
    assert "shop.md: a block of code is shown as text" in caplog.text
    assert "docs/site.py" in (ROOT / "mkdocs.yml").read_text()


# ------------------------------------------------------------------ one sentence a line


def crowded(page: str) -> list[str]:
    """Return the lines of prose in which one sentence ends and another begins."""
    text = re.sub(r"^```.*?^```", "", page, flags=re.MULTILINE | re.DOTALL)
    bare = re.sub(r"`[^`\n]*`|\([^()\n]*\)", "x", text)
    prose = [line for line in bare.splitlines() if not re.match(r"\s*(\||#|    )", line)]
    return [line for line in prose if re.search(r"(?!et al)(?<=[a-z]{2})[.?!] [A-Z][a-z]+ [a-z]", line)]


@pytest.mark.parametrize("page", SENTENCES, ids=named)
def test_a_line_holds_one_sentence(page):
    assert crowded(page.read_text()) == []


def test_a_crowded_line_would_be_found():
    assert crowded("It is so. That is why.\n") == ["It is so. That is why."]
    assert crowded("It is so.\nThat is why.\n\n| So. That is why. |\n") == []


def torn(page: str) -> list[str]:
    """Return the lines of prose that a sentence's end tore apart: bold that stays open, a number alone."""
    text = re.sub(r"^```.*?^```", "", page, flags=re.MULTILINE | re.DOTALL)
    bare = [re.sub(r"`[^`\n]*`", "x", line) for line in text.splitlines() if not line.startswith("    ")]
    return [line for line in bare if line.count("**") % 2 or re.fullmatch(r"\W*\d+\.", line.rstrip())]


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_no_line_is_torn_apart(page):
    assert torn(page.read_text()) == []


def test_a_torn_line_would_be_found():
    assert torn("**1.\nInstall.**\n\n2.\nAsk **whom** you like.\n") == ["**1.", "Install.**", "2."]


LONGEST = 42
"""words of a sentence; the model, privacy-promise.md, has 31 at most"""
READ = [
    page
    for page in SENTENCES
    if page.name not in ("proofs.md", "decisions.md", "CHANGELOG.md") and page.parent.name != "notes"
]
"""Pages that people read from beginning to end: no proofs, no lists of choices or changes, no notes."""


def winding(page: str) -> list[str]:
    """Return the sentences of prose that are too long to be read in one breath; what is quoted is a word."""
    text = re.sub(r"^```.*?^```", "", page, flags=re.MULTILINE | re.DOTALL)
    prose = [line for line in text.splitlines() if not re.match(r"\s*(\||#|    )", line)]
    bare = [re.sub(r"`[^`\n]*`|\$[^$\n]*\$", "x", re.sub(r"\]\([^)]*\)", "]", line)) for line in prose]
    return [
        line for line, words in zip(prose, bare, strict=True) if len(re.findall(r"[\w'’-]+", words)) > LONGEST
    ]


@pytest.mark.parametrize("page", READ, ids=named)
def test_sentences_are_short(page):
    assert winding(page.read_text()) == []


def test_a_winding_sentence_would_be_found():
    long = " ".join(["word"] * (LONGEST + 1)) + ".\n"
    assert winding(f"It is so.\n{long}") == [long.strip()]
    assert winding(f"| {long.strip()} |\n`{long.strip()}`\n") == []


# ------------------------------------------------------------------ what is cited


def cited(page: str) -> list[str]:
    """Return what a page sets in backticks, word by word, blocks of code left out."""
    text = re.sub(r"^```.*?^```", "", page, flags=re.MULTILINE | re.DOTALL)
    return [word for span in re.findall(r"`([^`\n]+)`", text) for word in span.split()]


@cache
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


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_test_that_a_page_cites_exists(page):
    assert missing_tests(page.read_text()) == []


def test_a_test_that_does_not_exist_would_be_missed():
    there = ["tests/solver", "test_noise.py", "tests/test_docs.py::test_links_lead_somewhere"]
    absent = ["tests/mechanism/test_deficit.py", "tests/test_docs.py::test_no", "test_never"]
    assert missing_tests("".join(f"`{word}`" for word in there + absent)) == absent


FILES = [str(path.relative_to(ROOT)) for room in ("src", "tests") for path in (ROOT / room).rglob("*.py")]


def missing_paths(page: str) -> list[str]:
    """Return the paths and modules that a page cites and that do not exist.

    `src/…`, `tests/…`, `docs/…` and `.github/…` are seen from the root, `solver/x.py` from wherever it
    may lie, and `recuse.x.y` is a module or a name in one.
    """
    missing = []
    for word in cited(page):
        path = word.partition("::")[0].rstrip(".,;:/")
        if re.match(r"(src|tests|docs|\.github)/[\w./-]+$", path):
            there = (ROOT / path).exists()
        elif re.fullmatch(r"[\w-]+(/[\w-]+)*\.py", path):
            there = any(f"/{known}".endswith(f"/{path}") for known in FILES)
        elif re.fullmatch(r"recuse(\.[a-z_]\w*)+", path) and path not in SETTINGS:
            there = _importable(path)
        else:
            there = True
        if not there:
            missing.append(word)
    return missing


def _importable(path: str) -> bool:
    module, _, name = path.rpartition(".")
    for candidate in (path, module):
        try:
            found = importlib.import_module(candidate)
        except ModuleNotFoundError:
            continue
        return candidate == path or hasattr(found, name)
    return False


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_path_that_a_page_cites_exists(page):
    made = {block.name for block in blocks(page.read_text())}  # files that the page itself makes
    assert [path for path in missing_paths(page.read_text()) if path not in made] == []


def test_a_path_that_does_not_exist_would_be_missed():
    there = [
        "src/recuse",
        "docs/explanation/proofs.md",
        "tests/support/documents.py",
        "recuse.policy",
        "recuse.connect",
    ]
    absent = [
        "src/recuse/no.py",
        "docs/nowhere.md",
        "nowhere/module.py",
        "recuse.nowhere.module",
        "recuse.policy.no",
    ]
    assert missing_paths("".join(f"`{word}` " for word in there + absent)) == absent


def test_every_page_that_a_docstring_names_exists():
    """In docstrings a page goes by its name alone, in what users see by its path."""
    names = {page.name for page in PAGES}
    for path in [*(ROOT / "src").rglob("*.py"), ROOT / "Makefile", ROOT / "pyproject.toml"]:
        for found in re.findall(r"(?<![\w/.-])((?:[\w-]+/)*[a-z-]+\.md)\b", path.read_text()):
            there = found in names or found in ("bench.md", "site/index.md") or (ROOT / found).exists()
            assert there, f"{path.relative_to(ROOT)}: {found}"


def test_every_theorem_that_a_docstring_names_is_proved():
    """`Guarantee:` names where the proof is; the label stands in bold in proofs.md."""
    page = (DOCS / "explanation" / "proofs.md").read_text()
    proved = set(re.findall(r"\*\*(?:Theorem |Lemma |Contract )?([A-Z]?\d*'?)(?: \([^*]*\))?\.\*\*", page))
    named: set[str] = set()
    for path in (ROOT / "src").rglob("*.py"):
        for text in re.findall(r"\bproofs\.md, ([^:;]*?)(?:\)\.|\):|\);|\), )", path.read_text()):
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
    for guide in [Path(name).resolve() for name in sys.argv[1:]] or PERFORMED:
        with tempfile.TemporaryDirectory() as folder:
            guide.write_text(refreshed(guide.read_text(), Path(folder).resolve()))
