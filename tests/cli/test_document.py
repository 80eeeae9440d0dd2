"""docs/cli.md: every command's help is in it word for word, and its transcripts are run.

Run as a script, this file brings the help texts in docs/cli.md up to date.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer.main

from recuse.cli.app import app

PAGE = Path(__file__).resolve().parents[2] / "docs" / "cli.md"
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HELP = re.compile(r"^```console\n\$ recuse ([a-z ]*)--help\n(.*?)^```$", re.MULTILINE | re.DOTALL)

SCHOOL = {
    "school/pupil.csv": "id,year\n1,7\n2,7\n3,8\n4,8\n",
    "school.toml": """
[[protect]]
table = "pupil"
key = ["id"]

[columns.pupil]
id = "BIGINT"

[budget]
epsilon = 10
""",
}


def commands(command, *path: str) -> Iterator[tuple[str, ...]]:
    """Yield every command and group of the command line, by its words."""
    yield path
    for name, below in getattr(command, "commands", {}).items():
        yield from commands(below, *path, name)


def help_of(*path: str) -> str:
    """Return the help of a command, as wide as the page has it."""
    os.environ["COLUMNS"] = "80"
    with contextlib.redirect_stdout(io.StringIO()) as out:
        typer.main.get_command(app)([*path, "--help"], prog_name="recuse", standalone_mode=False)
    return out.getvalue().rstrip() + "\n"


ALL = sorted(commands(typer.main.get_command(app)))


@pytest.fixture(scope="module")
def documented() -> dict[tuple[str, ...], str]:
    return {tuple(words.split()): text for words, text in HELP.findall(PAGE.read_text())}


def test_every_command_is_documented(documented):
    assert sorted(documented) == ALL, f"run python {Path(__file__).name}"


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_help_is_what_the_page_shows(recuse, monkeypatch, documented, path):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = recuse(*path, "--help")
    assert code == 0
    assert out.rstrip() + "\n" == documented[path], f"run python {Path(__file__).name}"


@pytest.mark.parametrize("path", [path for path in ALL if path and path[0] != "lab"], ids=" ".join)
def test_every_command_can_print_json(path, documented):
    is_group = "COMMAND [ARGS]" in documented[path]
    assert is_group or "--json" in documented[path]


def masked(text: str) -> str:
    return re.sub(r"\d[\d,.]*", "#", re.sub(r"\S*/(?=school)", "", text))


def test_transcripts_print_what_the_page_shows(tmp_path):
    for name, text in SCHOOL.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    shown = [block for block in BLOCK.findall(PAGE.read_text()) if "--help" not in block]
    steps = [step for block in shown for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    assert len(steps) == 5
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for step in steps:
        command, _, printed = step.partition("\n")
        done = subprocess.run(
            command,
            shell=True,
            cwd=tmp_path,
            env={**os.environ, "PATH": path},
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=True,
        )
        assert masked(done.stdout) == masked(printed), command


if __name__ == "__main__":
    page = PAGE.read_text()
    for words, text in HELP.findall(page):
        old = f"$ recuse {words}--help\n{text}"
        page = page.replace(old, f"$ recuse {words}--help\n{help_of(*words.split())}")
    PAGE.write_text(page)
