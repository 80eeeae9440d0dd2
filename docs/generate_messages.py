"""Write messages.json and docs/reference/messages.md: `PYTHONPATH=tests python docs/generate_messages.py`.

Messages are read off the sources; examples are the tests' own (tests/sql/rewrites, the files of mistakes in
policies), and each is brought about again here. A test compares what is written with what would be.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import recuse
from recuse import errors
from recuse.engines.binding import check_plan
from recuse.errors import RecuseError
from recuse.messages import FILE, GAP, CataloguedMessage, message_of
from recuse.sql.compile import compile_query
from recuse.sql.reasons import REASONS
from recuse.sql.refuse import CLAUSES

ROOT = Path(__file__).parents[1]
PACKAGE = Path(recuse.__file__).parent
PAGE = ROOT / "docs" / "reference" / "messages.md"
KINDS = {
    kind.__name__: kind.code
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, RecuseError)
}
WARNINGS = {"JoinGrowthWarning": "warning", "SecondBudgetWarning": "warning"}
MAKERS = {**KINDS, **WARNINGS, "refusal": "query", "Mistyped": "query", "CannotOpen": "database"}
OUTSIDE = ("lab", "server")
WORDS = 7
HEAD = """# Messages

Every refusal and warning of the library, by its code; `…` stands for a name or a number.
`recuse explain-error CODE`, or some words in place of the code, shows one of them with an example.
Made by `python docs/generate_messages.py`.

| code | says | an example | answered instead |
|---|---|---|---|
"""


def templates() -> list[CataloguedMessage]:
    """Return what the sources say, each once, with a code of its own."""
    said: dict[tuple[str, str], None] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.relative_to(PACKAGE).parts[0] not in OUTSIDE:
            said |= dict.fromkeys(_said(ast.parse(path.read_text())))
    said |= dict.fromkeys(("query", problem) for _, problem, _ in (*CLAUSES.values(), *REASONS))
    found: dict[str, CataloguedMessage] = {}
    for kind, words in sorted(said, key=lambda pair: (pair[0], pair[1])):
        code = _code(kind, words, found)
        found[code] = CataloguedMessage(code, words)
    return list(found.values())


def _code(kind: str, words: str, taken: dict[str, CataloguedMessage]) -> str:
    plain = re.findall(r"[a-z0-9]+", words.lower().replace("'", ""))
    for many in range(min(WORDS, len(plain)), len(plain) + 1):
        code = f"{kind}.{'-'.join(plain[:many])}"
        if code not in taken:
            return code
    return next(code for n in range(2, 99) if (code := f"{kind}.{'-'.join(plain)}-{n}") not in taken)


def _said(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the kind and the words of every message that a module makes."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            named = _named(function)
            for call in ast.walk(function):
                name = (
                    getattr(call.func, "attr", getattr(call.func, "id", ""))
                    if isinstance(call, ast.Call)
                    else ""
                )
                if name in MAKERS:
                    for argument in call.args:
                        words = [text for text in _words(argument, named) if len(text.replace(GAP, "")) > 3]
                        if words:
                            yield from ((MAKERS[name], text) for text in words)
                            break


def _named(function: ast.FunctionDef) -> dict[str, ast.expr]:
    """Return what the names of a function stand for, where it is text."""
    return {
        target.id: node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _words(part: ast.expr, named: dict[str, ast.expr], depth: int = 0) -> list[str]:
    """Return the texts that an expression may be, with gaps for what it puts in."""
    match part:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.JoinedStr(values=values):
            return ["".join(v.value if isinstance(v, ast.Constant) else GAP for v in values)]
        case ast.IfExp(body=one, orelse=other):
            return [*_words(one, named, depth), *_words(other, named, depth)]
        case ast.Name(id=name) if name in named and depth < 3:
            return _words(named[name], named, depth + 1)
    return []


def with_examples(found: list[CataloguedMessage]) -> list[CataloguedMessage]:
    """Return the messages with the first, and so the shortest, example that brings each about."""
    from sql.test_rewrites import WRITTEN
    from support.sql.bazaar import POLICY, catalogue, engine

    shown = {message.code: message for message in found}

    def met(error: RecuseError, example: str, instead: str | None) -> None:
        message = message_of(error, found)
        if message is not None and shown[message.code].example is None:
            shown[message.code] = replace(message, example=example, shown=str(error), instead=instead)

    for question, rewrite in sorted(WRITTEN.items(), key=lambda pair: (len(pair[0]), pair[0])):
        try:
            check_plan(compile_query(question, POLICY, catalogue()), engine())
        except RecuseError as error:
            met(error, question, rewrite)
    for path in (ROOT / "tests" / "policy" / "mistakes.txt", ROOT / "tests" / "sql" / "mistakes.txt"):
        for block in path.read_text().split("====\n"):
            text, _, told = block.partition("--\n")
            words = re.sub(r"^policy line \d+: ", "", told.strip())
            said = words.partition("; ")[0].removesuffix("?")
            met(errors.PolicyError(said), text.strip(), None)
            code = message_of(errors.PolicyError(said), found)
            if code is not None and shown[code.code].example == text.strip():
                shown[code.code] = replace(shown[code.code], shown=told.strip())
    return list(shown.values())


def page(found: list[CataloguedMessage]) -> str:
    """Return the page."""
    return HEAD + "".join(f"| {' | '.join(map(_cell, _row(message)))} |\n" for message in found)


def _row(message: CataloguedMessage) -> tuple[str, str, str, str]:
    return f"`{message.code}`", message.says, _code_of(message.example), _code_of(message.instead)


def _code_of(text: str | None) -> str:
    flat = " ".join((text or "").split())
    return f"`{flat[:120]}{'…' if len(flat) > 120 else ''}`" if flat and "`" not in flat else ""


def _cell(text: str) -> str:
    return text.replace("|", r"\|").replace("\n", " ")


def written(found: list[CataloguedMessage]) -> str:
    """Return the catalogue as the package reads it."""
    entries = [{name: value for name, value in asdict(one).items() if value is not None} for one in found]
    return "[\n" + ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries) + "\n]\n"


if __name__ == "__main__":
    made = with_examples(templates())
    FILE.write_text(written(made))
    PAGE.write_text(page(made))
    print(f"{len(made)} messages, {sum(one.example is not None for one in made)} with an example")
