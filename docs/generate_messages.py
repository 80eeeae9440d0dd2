"""Write messages.json and docs/reference/messages.md: `PYTHONPATH=tests python docs/generate_messages.py`.

Messages are read off the sources (tests/support/said.py); examples are the tests' own (tests/messages,
tests/sql/rewrites, the files of mistakes in policies), and each is brought about again here. A test compares
what is written with what would be.
"""

from __future__ import annotations

import json
import re
import runpy
import tomllib
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

from recuse import errors
from recuse.engines.binding import check_plan
from recuse.errors import RecuseError
from recuse.messages import FILE, CataloguedMessage, message_for
from recuse.server import refusals
from recuse.server.postgres.relay import RelayBrokenError
from recuse.server.postgres.states import StateError
from recuse.server.postgres.wire import BrokenProtocolError
from recuse.sql.compile import compile_query
from recuse.sql.reasons import REASONS
from recuse.sql.refuse import CLAUSES

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reference" / "messages.md"
UNMET = ROOT / "tests" / "messages" / "unmet.toml"
"""why nothing in the tests brings a message about, by its code"""
REWRITES = ROOT / "tests" / "sql" / "test_rewrites.py"
MISTAKES = [ROOT / "tests" / part / "mistakes.txt" for part in ("policy", "sql")]
KINDS = {
    kind.__name__: kind.code
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, RecuseError)
}
ONE_TEXT = (
    refusals.SignInError,
    refusals.ForbiddenError,
    refusals.UnavailableError,
    refusals.CrossSiteError,
    RelayBrokenError,
)
"""refusals of a server that say one thing, whatever came"""
SERVED = {one.__name__: one.code for one in (refusals.BusyError, StateError, BrokenProtocolError)}
MAKERS = {
    **KINDS,
    **SERVED,
    "refusal": "query",
    "refuse": "query",
    "Mistyped": "query",
    "CannotOpen": "database",
}
WORDS = 7
HEAD = """# Messages

Every refusal and warning of the library and of a server, by its code; `…` stands for a name or a number.
`recuse explain-error CODE`, or some words in place of the code, shows one of them with an example.
Examples are run by the tests: Python and commands in a folder with a small shop, policies at a bazaar.
A comment says what must be so besides.
Made by `python docs/generate_messages.py`.

| code | says | an example | answered instead |
|---|---|---|---|
"""


def templates() -> list[CataloguedMessage]:
    """Return what the sources say, each once, with a code of its own."""
    from support.said import said

    spoken = dict.fromkeys(said(MAKERS))
    spoken |= dict.fromkeys(("query", problem) for _, problem, _ in (*CLAUSES.values(), *REASONS))
    spoken |= dict.fromkeys((kind.code, kind().problem) for kind in ONE_TEXT)
    found: dict[str, CataloguedMessage] = {}
    for kind, words in sorted(spoken):
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


def with_examples(found: list[CataloguedMessage]) -> list[CataloguedMessage]:
    """Return the messages with the first example that brings each about; or why there is none."""
    shown = {message.code: message for message in found}
    for kind, words, example, whole, instead in (*_rewritten(), *_mistaken(), *_brought()):
        message = message_for(kind, words, found)
        if message is None:
            raise LookupError(f"no message of the catalogue: {kind}: {words}")
        if shown[message.code].example is None:
            shown[message.code] = replace(message, example=example, shown=whole, instead=instead)
    for code, why in tomllib.loads(UNMET.read_text()).items():
        if code not in shown or shown[code].example is not None:
            raise LookupError(f"{code} is no message without an example: take it out of {UNMET.name}")
        shown[code] = replace(shown[code], why=why)
    return list(shown.values())


Brought = tuple[str, str, str, str, str | None]
"""a kind, the words, what brings them about, what is shown then, and what is answered instead"""


def _rewritten() -> Iterator[Brought]:
    """Yield the questions that are refused and rewritten, the shortest first."""
    from support.sql.bazaar import POLICY, catalogue, engine

    written = runpy.run_path(str(REWRITES))["WRITTEN"]
    for question, rewrite in sorted(written.items(), key=lambda pair: (len(pair[0]), pair[0])):
        try:
            check_plan(compile_query(question, POLICY, catalogue()), engine())
        except RecuseError as error:
            yield error.code, error.problem, question, str(error), rewrite


def _mistaken() -> Iterator[Brought]:
    """Yield the policies of the tests that say something wrong."""
    for path in MISTAKES:
        for block in path.read_text().split("====\n"):
            text, _, told = block.partition("--\n")
            words = re.sub(r"^policy line \d+: ", "", told.strip())
            if text.strip():
                problem = re.split(r"; (?:found|accepted|hint): |(?<=\?) hint: ", words)[0]
                yield errors.PolicyError.code, problem, text.strip(), told.strip(), None


def _brought() -> Iterator[Brought]:
    """Yield what snippets are told."""
    from support.brought import World, snippets

    with World() as world:
        for snippet in snippets():
            told = world.told(snippet)
            if told is None:
                raise LookupError(f"nothing is said to this: {snippet}")
            yield told.kind, told.words, snippet, told.whole, None


def page(found: list[CataloguedMessage]) -> str:
    """Return the page."""
    return HEAD + "".join(f"| {' | '.join(map(_cell, _row(message)))} |\n" for message in found)


def _row(message: CataloguedMessage) -> tuple[str, str, str, str]:
    example = _code_of(message.example) if message.why is None else f"none: {message.why}"
    return f"`{message.code}`", message.says, example, _code_of(message.instead)


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
    bare = [one.code for one in made if one.example is None and one.why is None]
    print(f"{len(made)} messages, {sum(one.example is not None for one in made)} with an example")
    print(
        "\n".join(["without an example, and without a reason:", *bare])
        if bare
        else "every other says why not"
    )
