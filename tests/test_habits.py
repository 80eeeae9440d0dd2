"""What is promised beside the code is kept: one version, the Pythons that are tested, numbered decisions."""

from __future__ import annotations

import ast
import re
import tomllib
from importlib.metadata import version

import recuse
from support.documents import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_the_version_has_one_source():
    assert "version" in PROJECT["dynamic"]
    assert version("recuse") == recuse.__version__
    assert "\nversion:" not in (ROOT / "CITATION.cff").read_text()


def test_the_changelog_has_a_section_for_this_version():
    heads = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert heads[0] == recuse.__version__
    assert len(set(heads)) == len(heads)


def test_security_says_that_this_version_is_mended():
    minor = ".".join(recuse.__version__.split(".")[:2])
    assert f"| {minor} | yes |" in (ROOT / "SECURITY.md").read_text()


def test_every_python_that_is_promised_is_tested():
    words = (ROOT / ".github" / "workflows" / "test.yml").read_text()
    tested = re.findall(r'"(3\.\d+)"', re.search(r"python: \[(.*)\]", words)[1])
    promised = [line.rpartition(" ")[2] for line in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", line)]
    assert tested == promised
    assert PROJECT["requires-python"] == f">={tested[0]}"
    assert "Typing :: Typed" in PROJECT["classifiers"]


def test_decisions_are_numbered_and_dated():
    page = (ROOT / "docs" / "explanation" / "decisions.md").read_text()
    entries = re.findall(r"^## (\d+)\. .+\n\n\*(\d{4}-\d\d-\d\d)\*", page, re.MULTILINE)
    assert [int(number) for number, _ in entries] == list(range(1, page.count("\n## ") + 1))
    assert [date for _, date in entries] == sorted(date for _, date in entries)


def test_a_long_file_says_why():
    long = [path for path in (ROOT / "src").rglob("*.py") if len(path.read_text().splitlines()) > 300]
    silent = [
        path.name for path in long if "longer" not in (ast.get_docstring(ast.parse(path.read_text())) or "")
    ]
    assert not silent
