"""The package as text: its modules, each parsed once for all tests that walk through syntax trees."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src" / "recuse"
MODULES = tuple(sorted(SOURCE.rglob("*.py")))


@cache
def parsed(path: Path) -> ast.Module:
    """Return the syntax tree of a module; nobody changes it."""
    return ast.parse(path.read_text())
