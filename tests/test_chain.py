"""Imports go down the chain only: the folder tree is the architecture."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

from support import sources
from support.sources import SOURCE, parsed

CHAIN = [
    ["messages"],
    ["errors"],
    ["extras"],
    ["deferred"],
    ["refusal"],
    ["fold"],
    ["html"],
    ["arrow"],
    ["privacy"],
    ["numerals"],
    ["exponential"],
    ["lines"],
    ["blocks"],
    ["policy"],
    ["annotation"],
    ["primes"],
    ["sensitivity"],
    ["krelation"],
    ["solver"],
    ["algebra"],
    ["scalars"],
    ["sql"],
    ["engines"],
    ["graphs"],
    ["discrete_laplace"],
    ["noise"],
    ["mechanism"],
    ["ledger"],
    ["session"],
    ["dbapi", "demo", "client", "examples"],
    ["server", "magic"],
    ["cli"],
    ["lab", "__main__"],
]
"""nothing imports the lab, which is not private: `cli` names it, and loads it when it is asked for"""
STAGE = {name: i for i, group in enumerate(CHAIN) for name in group}
MODULES = [path for path in sources.MODULES if path != SOURCE / "__init__.py"]


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


def wrong_imports(path: Path) -> list[str]:
    """Return what is wrong with the imports of a module."""
    own, found = stage_of(path), []
    for name, line in imports(parsed(path)):
        place = f"{path.relative_to(SOURCE)}:{line}"
        if name.startswith("."):
            found.append(f"{place}: relative import")
        if name == "recuse":
            found.append(f"{place}: imports the package root")
        other = name.split(".")[1] if name.startswith("recuse.") else own
        if other != own and STAGE[other] >= STAGE[own]:
            found.append(f"{place}: {own} may not import {other}")
    return found


def test_modules_import_downwards_only():
    assert not {stage_of(path) for path in MODULES} - set(STAGE), "these have no place in the chain"
    assert not [wrong for path in MODULES for wrong in wrong_imports(path)]


def test_only_the_engines_know_a_database():
    """A database is reached through `engines`: its packages are imported nowhere else."""
    drivers = {"duckdb", "_duckdb", "psycopg", "pyspark", "adbc_driver_manager"}
    known = [
        f"{path.relative_to(SOURCE)}:{line}: imports {name}"
        for path in MODULES
        for name, line in imports(parsed(path))
        if name.partition(".")[0] in drivers and stage_of(path) != "engines"
    ]
    assert not known


def test_no_import_hides_in_a_function():
    hidden = []
    for path in MODULES:
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                inside = [n for n in ast.walk(node) if isinstance(n, ast.Import | ast.ImportFrom)]
                hidden += [f"{path.relative_to(SOURCE)}:{n.lineno}: in {node.name}" for n in inside]
    assert not hidden


def test_importing_the_package_loads_nothing_heavy():
    code = (
        "import sys, recuse; print(*{'duckdb', 'highspy', 'opendp', 'pyarrow', 'scipy'} & set(sys.modules))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == ""


def test_only_who_serves_loads_the_server():
    code = (
        "import sys, recuse.cli.app, recuse.client;"
        "print(*{'fastapi', 'uvicorn', 'prometheus_client', 'recuse.server'} & set(sys.modules))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == ""


def test_no_module_imports_itself_by_way_of_others():
    assert cycles({name_of(path): imported(path) for path in MODULES}) == []


def test_a_cycle_would_be_found():
    assert cycles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == ["a", "b", "c"]


def name_of(path: Path) -> str:
    parts = ("recuse", *path.relative_to(SOURCE).with_suffix("").parts)
    return ".".join(parts).removesuffix(".__init__")


def imported(path: Path) -> set[str]:
    """Return the modules that one imports when it is loaded: not those whose names only types use."""
    loaded = [node for node in parsed(path).body if not isinstance(node, ast.If)]
    found = {name for node in loaded for name, _ in imports(node)}
    for node in loaded:
        if isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def cycles(graph: dict[str, set[str]]) -> list[str]:
    """Return the modules on cycles, and between them: others are taken away from either end."""
    left = {name: {other for other in others if other in graph} for name, others in graph.items()}
    while True:
        used = {other for others in left.values() for other in others}
        gone = {name for name, others in left.items() if not others or name not in used}
        if not gone:
            return sorted(left)
        left = {name: others - gone for name, others in left.items() if name not in gone}
