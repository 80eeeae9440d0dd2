"""Write docs/reference/api.md from the docstrings: `python docs/generate_api.py`. A test compares the two."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import recuse
import recuse.dbapi
import recuse.ledger
from recuse.session.cells import Combined, Row
from recuse.session.estimate import Estimate

PAGE = Path(__file__).parent / "reference" / "api.md"
HEAD = """# Python interface

Made from the docstrings by `python docs/generate_api.py`.
What is not on this page may change without notice.
Examples are in [the tutorial](../tutorial/index.md) and the [how-to guides](../how-to/index.md).
The command line is in [cli.md](cli.md), what SQL is accepted in [sql.md](sql.md).
"""

PARTS: dict[str, list[Any]] = {
    "Asking in SQL": [recuse.connect, recuse.Session, recuse.RemoteSession, recuse.histogram, recuse.cdf],
    "Checking data": [recuse.check, recuse.Unreadable, recuse.FalseKey],
    "Counting in graphs": [recuse.graph, recuse.GraphSession],
    "Answers": [recuse.Release, recuse.Answer, Row, Combined],
    "Estimates": [recuse.Statistics, Estimate],
    "Policies and budgets": [recuse.Policy, recuse.Epsilon, recuse.ledger.Ledger, recuse.ledger.Balance],
    "DB-API 2.0": [recuse.dbapi.connect, recuse.dbapi.Connection, recuse.dbapi.Cursor],
    "Errors": [
        recuse.RecuseError,
        recuse.ParameterError,
        recuse.StatisticsError,
        recuse.PolicyError,
        recuse.QueryError,
        recuse.NoTableError,
        recuse.NoColumnError,
        recuse.ClosedTableError,
        recuse.DatabaseError,
        recuse.UnansweredError,
        recuse.LayoutError,
        recuse.LedgerError,
        recuse.AnalystError,
        recuse.BudgetError,
    ],
}


def page() -> str:
    """Return the whole page."""
    lines = [HEAD]
    for title, things in PARTS.items():
        lines.append(f"## {title}\n")
        if title == "Errors":
            lines += codes(things)
        for thing in things:
            lines += described(thing)
    return "\n".join(lines)


def codes(errors: list[Any]) -> Iterator[str]:
    """Yield a table of errors and their codes."""
    yield "Every error has a `code`, by which programs may tell errors apart: it stays when words change.\n"
    yield "| code | error | also an error of |\n|---|---|---|"
    for kind in errors:
        above = "" if kind is recuse.RecuseError else f"`{shown_name(kind.__base__)}`"
        yield f"| `{kind.code}` | `{shown_name(kind)}` | {above} |"
    yield "\nIn DB-API the code of a refusal is that of its cause, `error.__cause__.code`.\n"


def described(thing: Any) -> Iterator[str]:
    """Yield what is said of a function, or of a class with its fields, properties and methods."""
    name = shown_name(thing)
    called = name if inspect.isclass(thing) and not field_names(thing) else signature(name, thing)
    yield f"### {name}\n"
    if not (inspect.isclass(thing) and issubclass(thing, Exception)):
        yield f"```text\n{called}\n```\n"
    yield prose(thing)
    if not inspect.isclass(thing):
        return
    notes = field_notes(thing)
    if any(notes.values()):
        yield "".join(f"- `{field}`: {note}\n" for field, note in notes.items() if note)
    for member, value in vars(thing).items():
        plain = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        if member.startswith("_") or not (inspect.isfunction(plain) or isinstance(plain, property)):
            continue
        is_property = isinstance(plain, property)
        label = f"`.{member}`" if is_property else f"`{signature('.' + member, plain)}`"
        yield textwrap.indent(f"{label}\n{prose(plain)}", "    ").replace("    ", "-   ", 1)


def shown_name(thing: Any) -> str:
    """Return the name by which a reader reaches a thing."""
    if thing.__module__.partition(".")[2].startswith("dbapi"):
        return f"recuse.dbapi.{thing.__name__}"
    if thing.__module__.startswith("recuse.ledger"):
        return f"recuse.ledger.{thing.__name__}"
    return f"recuse.{thing.__name__}" if thing.__name__ in recuse.__all__ else thing.__name__


def signature(name: str, thing: Any) -> str:
    """Return a call as it is written, without `self` and without modules before the names of types."""
    found = inspect.signature(thing)
    parameters = [
        parameter.replace(annotation=Bare(parameter.annotation))
        for parameter in found.parameters.values()
        if parameter.name not in ("self", "cls")
    ]
    result = Bare(found.return_annotation) if inspect.isfunction(thing) else inspect.Signature.empty
    text = str(found.replace(parameters=parameters, return_annotation=result))
    return name + re.sub(r"\b(?:\w+\.)+(?=[A-Z])", "", text)


class Bare(str):
    """An annotation that shows itself without quotes."""

    def __repr__(self) -> str:
        return str(self)


def prose(thing: Any) -> str:
    """Return a docstring as Markdown: its examples become blocks."""
    text = inspect.getdoc(thing) or ""
    example = re.compile(r"^>>> .*\n(?:.+\n)*", re.MULTILINE)
    return example.sub(lambda found: f"```pycon\n{found[0]}```\n", text + "\n")


def field_names(thing: Any) -> tuple[str, ...]:
    """Return the fields of a frozen type; of one, too, that does not say that it is a dataclass."""
    return tuple(vars(thing).get("__match_args__", ()))


def field_notes(thing: type) -> dict[str, str]:
    """Return the fields of a frozen type, each with the text below it."""
    notes = dict.fromkeys(field_names(thing), "")
    body = ast.parse(textwrap.dedent(inspect.getsource(thing))).body[0]
    previous = None
    for node in getattr(body, "body", []):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and previous in notes:
            notes[previous] = inspect.cleandoc(str(node.value.value)).replace("\n", " ")
        previous = node.target.id if isinstance(node, ast.AnnAssign) else None
    return notes


if __name__ == "__main__":
    PAGE.write_text(page())
