"""`recuse shell`: a prompt with history. Everything it does `recuse ask`, `explain` and `budget` do too."""

from __future__ import annotations

import atexit
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import typer

from recuse.cli.options import announce
from recuse.cli.progress import working
from recuse.cli.refusal import refused
from recuse.cli.show import amounts, tell
from recuse.errors import RecuseError, UnansweredError
from recuse.numerals import nearest
from recuse.privacy import Delta, Epsilon
from recuse.session.answer import Answer
from recuse.session.outward import door
from recuse.session.session import Session

HISTORY = Path("~/.recuse_history")
MOST_HISTORY = 1_000
PROMPT, MORE = "recuse> ", "   ...> "
HELP = """\
SELECT … ;            ask a question; it ends with a semicolon or an empty line
:epsilon 0.5          what a question may cost from now on
:delta 1e-6           what finding groups that nobody listed may cost; :delta off
:explain SELECT …     show what is understood of a question: free
:tables               show the tables, their columns, and which rows are whose
:budget               show what is granted, spent and left
:help                 show this
:quit                 leave; so does the end of input"""


@dataclass(slots=True)
class Shell:
    """A conversation: the session, and what a question may cost by now."""

    session: Session
    epsilon: Epsilon | None
    mechanism: str
    as_json: bool
    delta: Delta | None = None
    announced: bool = False
    answered: bool = True
    """whether every question that was charged has been answered"""

    def obey(self, line: str) -> bool:
        """Return whether to go on after one line. A refusal is one line, and the talk goes on."""
        word, _, rest = line.strip().partition(" ")
        if word in (":quit", ":q", ":exit"):
            return False
        try:
            door(lambda: self._answer(word, rest.strip(), line.strip()), letting=(KeyboardInterrupt,))
        except RecuseError as error:
            self.answered = self.answered and not isinstance(error, UnansweredError)
            typer.echo(refused(error), err=True)
        return True

    def _answer(self, word: str, rest: str, line: str) -> None:
        match word:
            case "":
                return
            case ":help":
                typer.echo(HELP)
            case ":delta":
                if rest:
                    self.delta = None if rest == "off" else Delta.of(rest)
                chance = None if self.delta is None else nearest(self.delta.value)
                self._say(f"delta     {self.delta or 'off'}", {"delta": chance})
            case ":epsilon":
                if rest:
                    self.epsilon = Epsilon.of(rest)
                loss = None if self.epsilon is None else nearest(self.epsilon.value)
                self._say(f"epsilon   {self.epsilon or 'not set'}", {"epsilon": loss})
            case ":budget":
                balance = self.session.budget
                self._announce()
                self._say(str(balance), amounts(balance))
            case ":tables":
                tables = self.session.tables()
                self._say("\n".join(map(str, tables)), {"tables": [asdict(table) for table in tables]})
            case ":explain":
                found = self.session.explain(rest)
                self._say(str(found), asdict(found))
            case _ if word.startswith(":"):
                typer.echo(f"recuse: there is no {word}; hint: :help lists what there is", err=True)
            case _:
                self._ask(line)

    def _ask(self, sql: str) -> None:
        if self.epsilon is None:
            typer.echo("recuse: what may it cost? hint: :epsilon 0.5", err=True)
            return
        with working():
            found = self._asked(sql, str(self.epsilon))
        self._announce()
        tell(found, as_object=self.as_json)

    def _asked(self, sql: str, epsilon: str) -> Answer:
        """Return the answer; δ is paid only where groups are found by it."""
        finds = self.delta is not None and self.session.compile(sql).finding is not None
        delta = str(self.delta) if finds else None
        return self.session.ask(sql, epsilon, delta=delta, mechanism=self.mechanism)

    def _say(self, text: str, told: dict[str, Any]) -> None:
        typer.echo(json.dumps(told) if self.as_json else text)

    def _announce(self) -> None:
        if not self.announced:
            announce(self.session)
            self.announced = True


def lines(read: Callable[[str], str]) -> Iterator[str]:
    """Yield commands and questions: a question that is begun goes on until a semicolon or an empty line."""
    parts: list[str] = []
    while True:
        try:
            line = read(MORE if parts else PROMPT)
        except EOFError:
            break
        if not parts and line.lstrip().startswith(":"):
            yield line
            continue
        parts.append(line)
        text = "\n".join(parts)
        if line.rstrip().endswith(";") or not line.strip():
            parts = []
            yield text
    if any(part.strip() for part in parts):
        yield "\n".join(parts)


def from_terminal() -> Callable[[str], str]:
    """Return how a terminal is read: with editing and a history, where the platform has readline."""
    with suppress(ImportError):
        readline = import_module("readline")
        history = HISTORY.expanduser()
        with suppress(OSError):
            readline.read_history_file(history)
        readline.set_history_length(MOST_HISTORY)
        atexit.register(_keep, readline.write_history_file, history)
    return input


def _keep(write: Callable[[Path], None], history: Path) -> None:
    with suppress(OSError):
        write(history)


def from_pipe() -> Callable[[str], str]:
    """Return how a pipe is read: without a prompt."""

    def read(_: str) -> str:
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        return line.rstrip("\n")

    return read


def talk(shell: Shell) -> bool:
    """Read and answer until the end; return whether every question that was charged has been answered."""
    terminal = sys.stdin.isatty()
    if terminal:
        typer.echo("Questions end with a semicolon; :help lists the rest.", err=True)
    for line in lines(from_terminal() if terminal else from_pipe()):
        if not shell.obey(line):
            break
    return shell.answered
