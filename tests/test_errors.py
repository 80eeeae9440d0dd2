"""Errors: one code a class, which stays; no option of a command is named outside the command line."""

from __future__ import annotations

import ast
import pickle
import re
from pathlib import Path

import pytest

import recuse
from recuse import errors
from recuse.errors import MAX_LINE, QueryError, pointed
from support.sources import MODULES, SOURCE, parsed

CODES = {
    "RecuseError": "refused",
    "ParameterError": "parameter",
    "StatisticsError": "parameter.statistics",
    "PolicyError": "policy",
    "QueryError": "query",
    "NoTableError": "query.table",
    "NoColumnError": "query.column",
    "ClosedTableError": "query.closed",
    "DatabaseError": "database",
    "LayoutError": "database.layout",
    "LedgerError": "ledger",
    "AnalystError": "ledger.analyst",
    "BudgetError": "budget",
    "UnansweredError": "unanswered",
}
"""What programs rely on: a code may be added, none may change."""

SPEAK_OPTIONS = ("cli", "lab", "magic.py")
OPTION = re.compile(r"(?<![\w-])--[a-z]")


def tree(root: type[errors.RecuseError]) -> list[type[errors.RecuseError]]:
    """Return a class of errors and all below it."""
    return [root, *(found for child in root.__subclasses__() for found in tree(child))]


ALL = [kind for kind in tree(errors.RecuseError) if kind.__module__ == errors.__name__]


def test_codes_are_stable_and_unique():
    assert {kind.__name__: kind.code for kind in ALL} == CODES
    assert len(set(CODES.values())) == len(ALL)


def test_what_only_a_server_refuses_has_codes_of_its_own():
    heads = [node for path in MODULES for node in ast.walk(parsed(path)) if isinstance(node, ast.ClassDef)]
    codes = [ast.literal_eval(word.value) for head in heads for word in head.keywords if word.arg == "code"]
    assert set(CODES.values()) - {errors.RecuseError.code} < set(codes)
    assert len(set(codes)) == len(codes)


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_a_code_belongs_to_the_class_alone(kind):
    """So it cannot depend on data, nor on anything else that an error was made from."""
    assert "code" in vars(kind)
    made = kind() if kind is errors.UnansweredError else kind("a problem", found="this", hint="that")
    assert "code" not in vars(made)
    again = pickle.loads(pickle.dumps(made))
    assert (again.code, str(again)) == (kind.code, str(made))


def test_no_code_is_set_on_an_error():
    for path in MODULES:
        for node in ast.walk(parsed(path)):
            set_here = isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
            set_here &= not (set_here and ast.unparse(node.value) == "cls")  # a class has one, from its head
            assert not (set_here and node.attr == "code"), path


def test_errors_are_public_and_in_the_tree_that_is_drawn():
    for name, code in CODES.items():
        assert getattr(recuse, name) is getattr(errors, name)
        assert re.search(rf"{name} +{re.escape(code)}\b", errors.__doc__), name


def sentences(path: Path) -> list[str]:
    """Return the string constants of a module that are no docstrings."""
    module = parsed(path)
    said = {node.value for node in ast.walk(module) if isinstance(node, ast.Expr)}
    constants = (node for node in ast.walk(module) if isinstance(node, ast.Constant) and node not in said)
    return [node.value for node in constants if isinstance(node.value, str)]


def test_only_the_command_line_names_its_options():
    modules = [path for path in MODULES if path.relative_to(SOURCE).parts[0] not in SPEAK_OPTIONS]
    assert len(modules) > 100
    for path in modules:
        named = [text for text in sentences(path) if OPTION.search(text)]
        assert not named, f"{path}: the library has words and parameters, the command line adds its options"


def test_the_search_for_options_finds_them():
    assert any(OPTION.search(text) for text in sentences(SOURCE / "cli" / "refusal.py"))


def test_a_long_line_is_shown_near_the_place():
    text = "SELECT 1\nSELECT " + "a + " * 60 + "b"
    shown, caret = pointed(text, 2, 100)
    assert len(shown) <= MAX_LINE + 6
    assert shown[len(caret) - 1] == text.splitlines()[1][99]
    assert pointed(text, 3, 1) == pointed(text, 1, 99) == []


def test_a_notebook_shows_the_query_with_a_caret():
    error = QueryError("no such column", line=1, column=8)
    assert error._render_traceback_() == ["QueryError: line 1, column 8: no such column"]
    error.text = "SELECT a FROM t"
    assert error._render_traceback_()[1:] == ["    SELECT a FROM t", "           ^"]
