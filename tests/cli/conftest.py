"""The command line, run in this process."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from recuse.cli.app import main
from support.shop import make_shop


@pytest.fixture
def recuse(monkeypatch, capsys):
    """Return a function that runs the command line in this process: exit code, output, errors."""

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["recuse", *map(str, arguments)])
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = stop.code or 0
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def shop(tmp_path: Path) -> tuple[Path, Path]:
    """Return a small database and its policy."""
    return make_shop(tmp_path)
