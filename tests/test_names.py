"""One word a thing: the name of a public type is defined once."""

from __future__ import annotations

import ast
from collections import defaultdict

from support.sources import MODULES, SOURCE, parsed

OF_THE_STANDARD = {"DatabaseError", "Date", "Time", "Timestamp"}
"""names that DB-API 2.0 asks for, whatever else is called so"""


def defined(tree: ast.Module) -> set[str]:
    """Return the public types of a module: classes, and aliases, which begin with a capital."""
    found = set()
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return {name for name in found if name[0].isupper() and not name.isupper() and not name.startswith("_")}


def places() -> dict[str, list[str]]:
    found = defaultdict(list)
    for path in MODULES:
        for name in defined(parsed(path)):
            found[name].append(str(path.relative_to(SOURCE)))
    return found


def test_a_public_type_has_a_name_of_its_own():
    assert {
        name: where for name, where in places().items() if len(where) > 1 and name not in OF_THE_STANDARD
    } == {}


def test_a_second_definition_would_be_seen():
    once, again = (
        defined(ast.parse(text)) for text in ("class Plan: ...", "Plan = tuple[int, ...]\nMOST = 3")
    )
    assert once == again == {"Plan"}
