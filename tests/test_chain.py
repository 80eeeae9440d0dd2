"""Imports go down the chain only: the folder tree is the architecture."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src" / "recuse"

CHAIN = [
    ["errors"],
    ["fold"],
    ["privacy"],
    ["exponential"],
    ["lines"],
    ["policy"],
    ["annotation"],
    ["sensitivity"],
    ["krelation"],
    ["algebra"],
    ["scalars"],
    ["sql"],
    ["graphs"],
    ["engines"],
    ["solver"],
    ["noise"],
    ["mechanism"],
    ["ledger"],
    ["session"],
    ["dbapi", "demo", "comparators"],
    ["experiments"],
    ["cli"],
    ["__main__"],
]
STAGE = {name: i for i, group in enumerate(CHAIN) for name in group}
MODULES = sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")


def stage_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports(tree: ast.AST) -> list[tuple[str, int]]:
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            found.append(("." * node.level + (node.module or ""), node.lineno))
        elif isinstance(node, ast.Import):
            found += [(alias.name, node.lineno) for alias in node.names]
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_module_imports_downwards_only(path):
    own = stage_of(path)
    assert own in STAGE, f"{own} has no place in the chain"
    for name, line in imports(ast.parse(path.read_text())):
        assert not name.startswith("."), f"line {line}: relative import"
        assert name != "recuse", f"line {line}: imports the package root"
        if name.startswith("recuse."):
            other = name.split(".")[1]
            lower = STAGE[other] < STAGE[own]
            assert other == own or lower, f"line {line}: {own} may not import {other}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_import_hides_in_a_function(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            inside = [n.lineno for n in ast.walk(node) if isinstance(n, ast.Import | ast.ImportFrom)]
            assert not inside, f"line {inside[0]}: import inside {node.name}"


def test_importing_the_package_loads_nothing_heavy():
    code = (
        "import sys, recuse; print(*{'duckdb', 'highspy', 'opendp', 'pyarrow', 'scipy'} & set(sys.modules))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == ""
