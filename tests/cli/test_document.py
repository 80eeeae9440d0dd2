"""docs/reference/cli.md: every command's help is in it word for word, and its transcripts are run.

Run as a script, this file brings the help texts in docs/reference/cli.md up to date.
"""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Iterator

import pytest
import typer.main

from recuse.cli.app import app
from support.documents import README, ROOT, blocks, masked, printed, steps, write_files

PAGE = ROOT / "docs" / "reference" / "cli.md"
HELP = " --help"
UPDATE = "run PYTHONPATH=tests python tests/cli/test_document.py"


def commands(command, *path: str) -> Iterator[tuple[str, ...]]:
    """Yield every command and group of the command line, by its words."""
    yield path
    context = typer.Context(command)
    for name in getattr(command, "list_commands", lambda _: ())(context):
        yield from commands(command.get_command(context, name), *path, name)


def help_of(*path: str) -> str:
    """Return the help of a command, as wide as the page has it."""
    os.environ["COLUMNS"] = "80"
    with contextlib.redirect_stdout(io.StringIO()) as out:
        typer.main.get_command(app)([*path, "--help"], prog_name="recuse", standalone_mode=False)
    return out.getvalue().rstrip() + "\n"


def shown() -> list[tuple[str, str]]:
    """Return the commands of the page, each with what it prints."""
    return [step for block in blocks(PAGE.read_text(), "console") for step in steps(block.text)]


ALL = sorted(commands(typer.main.get_command(app)))
DOCUMENTED = {tuple(asked.split()[1:-1]): text for asked, text in shown() if asked.endswith(HELP)}


def test_every_command_is_documented():
    assert sorted(DOCUMENTED) == ALL, UPDATE


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_help_is_what_the_page_shows(recuse, monkeypatch, path):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = recuse(*path, "--help")
    assert code == 0
    assert out.rstrip() + "\n" == DOCUMENTED[path], UPDATE


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_every_command_can_print_json(path):
    is_group = "COMMAND [ARGS]" in DOCUMENTED[path]
    assert is_group or "--json" in DOCUMENTED[path]


def test_transcripts_print_what_the_page_shows(tmp_path):
    """The school of the page is README's."""
    write_files(README.read_text(), tmp_path)
    transcripts = [(asked, text) for asked, text in shown() if not asked.endswith(HELP)]
    assert len(transcripts) == 5
    for asked, text in transcripts:
        assert masked(printed(asked, tmp_path), tmp_path) == masked(text), asked


if __name__ == "__main__":
    page = PAGE.read_text()
    for path, text in DOCUMENTED.items():
        asked = " ".join(["$ recuse", *path, "--help"])
        page = page.replace(f"{asked}\n{text}", f"{asked}\n{help_of(*path)}")
    PAGE.write_text(page)
