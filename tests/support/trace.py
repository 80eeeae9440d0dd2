"""One `ask`, traced: which functions of the package it calls, how deep, and which of them only forward.

python tests/support/trace.py      prints what the page on the architecture says
"""

from __future__ import annotations

import ast
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import networkx

import recuse
from recuse.demo import POLICY, QUESTIONS, make_database

SOURCE = Path(recuse.__file__).parent
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Trace:
    """The functions that were called, and how deep: a function that calls itself counts once a stack."""

    codes: set[CodeType] = field(default_factory=set)
    depth: int = 0
    """how many frames of the package stand on top of each other at most"""
    distinct_depth: int = 0
    """the same, where frames of one function count as one: recursion over a tree does not make it deeper"""

    def files(self) -> set[str]:
        return {code.co_filename for code in self.codes}

    def __str__(self) -> str:
        depths = f"depth {self.depth}, without recursion {self.distinct_depth}"
        return f"{len(self.codes)} functions in {len(self.files())} files, {depths}"


def traced(work: Callable[[], Any]) -> Trace:
    """Return what is called while some work is done."""
    found, source = Trace(), str(SOURCE)
    seen = dict[int, tuple[CodeType, bool]]()  # by id: to hash code looks at all of it, every time
    stack = list[int]()

    def on_call(frame: FrameType, event: str, _: Any) -> None:
        place = id(frame.f_code)
        if place not in seen:
            code = frame.f_code
            is_ours = code.co_filename.startswith(source) and not code.co_name.startswith("<")
            seen[place] = code, is_ours
        if not seen[place][1]:
            return
        if event == "call":
            stack.append(place)
            found.depth = max(found.depth, len(stack))
            if len(stack) > found.distinct_depth:
                found.distinct_depth = max(found.distinct_depth, len(set(stack)))
        elif event == "return" and stack:
            stack.pop()

    sys.setprofile(on_call)
    try:
        work()
    finally:
        sys.setprofile(None)
    found.codes |= {code for code, is_ours in seen.values() if is_ours}
    return found


@cache
def functions(path: str) -> dict[tuple[str, int], Function]:
    """Return the functions of a file by name and first line, as their code has them."""
    tree = ast.parse(Path(path).read_text())
    return {
        (node.name, min([node.lineno, *(one.lineno for one in node.decorator_list)])): node
        for node in ast.walk(tree)
        if isinstance(node, Function)
    }


def forwarders(trace: Trace) -> Iterator[str]:
    """Yield the functions of a trace that only forward."""
    for code in trace.codes:
        node = functions(code.co_filename).get((code.co_name, code.co_firstlineno))
        if node is not None and only_forwards(node):
            yield f"{Path(code.co_filename).relative_to(SOURCE)}:{code.co_firstlineno} {code.co_name}"


def only_forwards(function: Function) -> bool:
    """Return whether a function's body is one call with its own arguments, each as it came.

    Three kinds are no such functions: a method that asks the same of what it wraps, because a value that
    stands for another at a seam has all of its methods; one without arguments, which says what of; and one
    that hands them to something that it makes, or to another library, which is what adapters are for.
    """
    body = [node for node in function.body if not _is_docstring(node)]
    if len(body) != 1 or not isinstance(body[0], ast.Return | ast.Expr):
        return False
    call = body[0].value
    own = [one.arg for one in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]
    own = [name for name in own if name not in ("self", "cls")]
    if not isinstance(call, ast.Call) or not own:
        return False
    if isinstance(call.func, ast.Attribute) and call.func.attr == function.name:
        return False
    if (
        any(isinstance(node, ast.Call) for node in ast.walk(call.func))
        or _root(call.func) in sys.stdlib_module_names
    ):
        return False
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    return [one.id if isinstance(one, ast.Name) else None for one in given] == own


def _root(callee: ast.expr) -> str:
    """Return the name that a callee begins with."""
    while isinstance(callee, ast.Attribute):
        callee = callee.value
    return callee.id if isinstance(callee, ast.Name) else ""


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def ask_sql(folder: Path) -> Trace:
    """Return the trace of a question in SQL: the demonstration's triangles, from opening to closing."""
    path, policy = folder / "demo.duckdb", recuse.Policy.parse(POLICY)
    make_database(path)

    def work() -> None:
        with recuse.connect(path, policy) as session:
            session.ask(QUESTIONS[0].sql, 1)

    return traced(work)


def ask_graph() -> Trace:
    """Return the trace of a question about a graph: triangles, nodes protected."""

    def work() -> None:
        with recuse.graph(networkx.karate_club_graph(), budget=10) as session:
            session.count("triangle", protect="node", epsilon=1)

    return traced(work)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        print("SQL  ", ask_sql(Path(made)))
    print("graph", ask_graph())
