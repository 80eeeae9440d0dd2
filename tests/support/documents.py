"""Pages of documentation, run: files are written, commands and programs executed, what they print compared.

    ```toml shop.toml       a block with a name is a file
    ```console              lines that begin with `$ ` are commands, the others what they print
    ```python               a program of its own; a following ```text block is what it prints

Answers are random and paths are the reader's: numbers, the folder and the width of columns are not compared.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

from recuse.cli.app import main

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
_BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_STEP = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its language, the file it is (or nothing), its text."""

    language: str
    name: str
    text: str


def blocks(page: str, language: str | None = None) -> list[Block]:
    """Return the blocks of a page, all or those in one language."""
    found = [Block(*parts) for parts in _BLOCK.findall(page)]
    return [block for block in found if language in (None, block.language)]


def steps(transcript: str) -> list[tuple[str, str]]:
    """Return the commands of a transcript, each with what it prints."""
    return _STEP.findall(transcript)


def masked(text: str, folder: Path | None = None) -> str:
    """Return a text without what differs from run to run."""
    bare = text.replace(f"{folder}/", "") if folder else text
    bare = re.sub(r"(?m)^caution +(the noise is large|large noise).*\n?", "", bare)  # in some runs it is
    numbers = re.sub(r"-?\d[\d,.]*", "#", bare)
    numbers = re.sub(r"(unbounded|#) to (unbounded|#)|unbounded", "# to #", numbers)  # as the noise has it
    return re.sub(r" +", " ", numbers)


def printed(command: str, folder: Path) -> str:
    """Return what a command prints on both streams, `recuse` itself without a process of its own.

    It must end as the pages say: with 0, or with 2 if it is refused.
    """
    if command.startswith("recuse "):
        return _inside(folder, partial(_recuse, shlex.split(command)))
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env={**os.environ, "PATH": path},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=300,
        check=True,
    )
    return done.stdout


def _recuse(words: list[str]) -> None:
    arguments, hook = sys.argv, sys.excepthook
    sys.argv = words
    try:
        main()
    except SystemExit as end:
        if end.code not in (None, 0, 2):
            raise
    finally:
        sys.argv, sys.excepthook = arguments, hook


def _inside(folder: Path, work: Callable[[], object]) -> str:
    out = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        work()
    return out.getvalue()


def write_files(page: str, folder: Path) -> None:
    """Write the files that a page shows."""
    for block in blocks(page):
        if block.name:
            _write(block, folder)


def _write(block: Block, folder: Path) -> None:
    (folder / block.name).parent.mkdir(parents=True, exist_ok=True)
    (folder / block.name).write_text(block.text)


def performed(page: str, folder: Path) -> Iterator[tuple[str, str, str]]:
    """Yield each command or program of a page with what the page shows and what it prints, in order."""
    found = [*blocks(page), Block("", "", "")]
    for block, following in pairwise(found):
        if block.name:
            _write(block, folder)
        elif block.language == "console":
            for command, shown in steps(block.text):
                yield command, shown, printed(command, folder)
        elif block.language == "python":
            shown = following.text if following.language == "text" else ""
            yield block.text, shown, _inside(folder, partial(_perform, block.text))


def _perform(program: str) -> None:
    exec(compile(program, "page", "exec"), {"__name__": "page"})


def refreshed(page: str, folder: Path) -> str:
    """Return the page with what its commands and programs print now."""
    end = 0
    for asked, shown, told in performed(page, folder):
        is_program = f"```python\n{asked}```" in page
        before = f"```python\n{asked}```\n\n```text\n" if is_program else f"$ {asked}\n"
        start = page.find(before + shown, end)
        if start >= 0:
            end = start + len(before)
            page = page[:end] + told.replace(f"{folder}/", "") + page[end + len(shown) :]
    return page
