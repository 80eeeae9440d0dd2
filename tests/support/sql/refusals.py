"""Where refusals are made: every place in the sources, and those that a question has come to.

A place is a call that makes a refusal and brings words of its own: `refusal(…)`, `QueryError(…)`, a function
that returns a `QueryError`, and `Mistyped(…)`, of which whoever knows the text makes a refusal. What only
PostgreSQL refuses is not among them: no server is there when these are tested.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import FrameType

import pytest

import recuse
from recuse.errors import QueryError
from recuse.scalars.function import Mistyped

PACKAGE = Path(recuse.__file__).parent
INSIDE = f"{PACKAGE}/"
ROOMS = ("sql", "scalars")
MADE = ("QueryError", "Mistyped")


@dataclass(frozen=True, slots=True, order=True)
class Site:
    """A call that makes a refusal, and the lines that it takes."""

    module: str
    first: int
    last: int
    words: str

    def is_called(self, known: tuple[str, str]) -> bool:
        """Return whether it is the place of a module that a part of its words names."""
        module, words = known
        return self.module == module and words in self.words

    def __str__(self) -> str:
        return f"{self.module}:{self.first} {self.words}"


ELSEWHERE = {"postgres", "spark"}
"""modules and rooms about the SQL of an engine that these questions are not asked of"""

Lines = frozenset[tuple[str, int]]
"""which lines were being run when an error was made"""


@cache
def sites() -> frozenset[Site]:
    """Return every place in the sources that makes a refusal, but those of other engines' SQL."""
    trees = {
        str(path.relative_to(PACKAGE)): ast.parse(path.read_text())
        for room in ROOMS
        for path in sorted((PACKAGE / room).rglob("*.py"))
        if not ELSEWHERE & set(path.relative_to(PACKAGE).with_suffix("").parts)
    }
    makers = {"refusal", *MADE}.union(*(_returning(tree, MADE) for tree in trees.values()))
    return frozenset(site for module, tree in trees.items() for site in _sites(module, tree, makers))


def _returning(tree: ast.Module, kinds: tuple[str, ...]) -> set[str]:
    return {
        part.name
        for part in ast.walk(tree)
        if isinstance(part, ast.FunctionDef) and part.returns and ast.unparse(part.returns) in kinds
    }


def _sites(module: str, tree: ast.Module, makers: set[str]) -> Iterator[Site]:
    makers = makers - _returning(tree, ("PolicyError",))
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        given = {argument.arg for argument in function.args.args}
        for call in ast.walk(function):
            if isinstance(call, ast.Call) and _name(call.func) in makers and not _forwards(call, given):
                yield Site(module, call.lineno, call.end_lineno or call.lineno, ast.unparse(call)[:90])


def _name(called: ast.expr) -> str:
    return called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")


def _forwards(call: ast.Call, given: set[str]) -> bool:
    """Return whether a call only hands on the words that its function was given, or caught."""
    first = call.args[0] if call.args else None
    if isinstance(first, ast.Attribute) and first.attr == "problem":
        return True
    return isinstance(first, ast.Name) and first.id == "problem" and first.id in given


def sites_at(lines: Lines) -> set[Site]:
    """Return the places that take in one of some lines."""
    of: dict[str, list[int]] = {}
    for module, line in lines:
        of.setdefault(module, []).append(line)
    return {
        site
        for module, numbers in of.items()
        for site in _sites_of().get(module, ())
        if any(site.first <= n <= site.last for n in numbers)
    }


@cache
def _sites_of() -> dict[str, list[Site]]:
    found: dict[str, list[Site]] = {}
    for site in sites():
        found.setdefault(site.module, []).append(site)
    return found


def remember(patch: pytest.MonkeyPatch) -> None:
    """Let every refusal remember which lines were being run when it was made."""
    for made in (QueryError, Mistyped):
        patch.setattr(made, "__init__", _remembering(made.__init__))


def _remembering(plain: Callable[..., None]) -> Callable[..., None]:
    def init(error: Exception, *args: object, **said: object) -> None:
        plain(error, *args, **said)
        error.made_at = _running(sys._getframe(1))  # type: ignore[attr-defined]

    return init


def made_at(error: BaseException | None) -> Lines:
    """Return the lines that were being run when an error was made, or what it was made of."""
    lines: Lines = frozenset()
    while isinstance(error, QueryError | Mistyped):
        lines |= getattr(error, "made_at", frozenset())
        error = error.__context__
    return lines


def _running(frame: FrameType | None) -> Lines:
    found = set()
    while frame is not None:
        path = frame.f_code.co_filename
        if path.startswith(INSIDE):
            found.add((path[len(INSIDE) :], frame.f_lineno))
        frame = frame.f_back
    return frozenset(found)
