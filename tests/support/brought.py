"""What brings a message about: snippets of Python, commands, policies and questions, run in a small shop.

A snippet may begin with a comment that names the `SITUATIONS` it needs: what no line of a user's can make so.
"""

from __future__ import annotations

import io
import re
import shlex
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self
from unittest.mock import MagicMock, Mock, patch

import duckdb
import typer
from sqlglot.errors import SqlglotError

import recuse
from recuse.cli.app import app
from recuse.cli.refusal import refusal
from recuse.engines.binding import check_plan
from recuse.errors import RecuseError
from recuse.magic import Magic
from recuse.policy import Policy
from recuse.sql.compile import compile_query
from recuse.sql.ownership import own
from recuse.sql.postgres import POSTGRES
from recuse.sql.spark import SPARK_SQL
from support.documents import ROOT
from support.sql.bazaar import POLICY, catalogue, engine

ASKED_THERE = {"-- of PostgreSQL\n": POSTGRES, "-- of Spark\n": SPARK_SQL}
"""how a question begins that is asked of tables there"""
PROMPT = "=> "
"""how a line begins that is typed into psql, at a server"""
CHANCE = "# chance has a say"
"""in a snippet whose numbers are others every time, and which is run until something is said"""
TRIES = 60
FILES = ROOT / "tests" / "messages"
SHOP = """[[protect]]
table = "customer"
key = ["id"]

[[key]]
table = "customer"
column = ["id"]

[[link]]
table = "orders"
column = ["customer"]
to = "customer"

[[public]]
table = "city"

[columns.city]
id = "BIGINT"
name = "VARCHAR"

[columns.customer]
id = "BIGINT"
city = "BIGINT"

[columns.orders]
customer = "BIGINT"
day = "DATE"
price = "DECIMAL(9, 2)"
kind = "VARCHAR"

[budget]
epsilon = 50
delta = 0.001
"""
DATA = {
    "shop/city.csv": "id,name\n1,here\n2,there\n",
    "shop/customer.csv": "id,city\n" + "".join(f"{n},{1 + n % 2}\n" for n in range(60)),
    "shop/orders.csv": "customer,day,price,kind\n"
    + "".join(f"{n % 60},2026-01-{1 + n % 28:02},{n}.50,food\n" for n in range(150)),
    "shop.toml": SHOP,
    "friends.csv": "a,b\n" + "".join(f"{n},{n * n % 23 + 23}\n" for n in range(23)),
}
"""what lies in the folder where a snippet is run, file by file"""


@contextmanager
def _absent(package: str) -> Iterator[None]:
    """Let a package not be installed, for modules of this program that are imported anew."""
    ours = [name for name in sys.modules if name.startswith("recuse.")]
    with patch.dict(sys.modules):
        for name in ours:
            if name.startswith("recuse.server") or any(
                getattr(part, "__name__", "").split(".")[0] == package for part in _parts(name)
            ):
                del sys.modules[name]
        for name in {package, *(name for name in sys.modules if name.startswith(f"{package}."))}:
            sys.modules[name] = None  # type: ignore[assignment]
        yield


def _parts(name: str) -> list[object]:
    return list(vars(sys.modules[name]).values())


@contextmanager
def _full() -> Iterator[None]:
    """Let no file be made."""
    with patch("os.open", side_effect=OSError(28, "No space left on device")):
        yield


@contextmanager
def _offline() -> Iterator[None]:
    """Let nobody answer."""
    with patch("socket.socket.connect", side_effect=OSError(101, "Network is unreachable")):
        yield


@contextmanager
def _terse() -> Iterator[None]:
    """Let a server refuse without a reason."""
    answer = Mock(status=500, **{"read.return_value": b"[]"})
    with (
        patch("http.client.HTTPConnection.request"),
        patch("http.client.HTTPConnection.getresponse", return_value=answer),
    ):
        yield


@contextmanager
def _unbound() -> Iterator[None]:
    """Let DuckDB refuse every statement: only a mistake of ours brings this about."""
    with patch("recuse.engines.duckdb.DuckDB.bind", return_value="Binder Error: no such thing"):
        yield


@contextmanager
def _tripping() -> Iterator[None]:
    """Let the parser fail over a text."""
    with patch("sqlglot.parser.Parser.parse", side_effect=IndexError):
        yield


@contextmanager
def _unwritable() -> Iterator[None]:
    """Let a tree have no text."""
    with patch("recuse.sql.compile._plan_of", side_effect=SqlglotError):
        yield


@contextmanager
def _served(version: str, encoding: str, casts: str) -> Iterator[None]:
    """Let a PostgreSQL server say this of itself."""
    with (
        patch("recuse.engines.postgres._connected", return_value=(MagicMock(), ("public",), int(version))),
        patch(
            "recuse.engines.postgres._fetched", return_value=[(int(version) * 10_000, encoding, int(casts))]
        ),
    ):
        yield


@contextmanager
def _crammed() -> Iterator[None]:
    """Let DuckDB have no memory to start with, or to hold a table."""
    with patch("duckdb.connect", side_effect=duckdb.OutOfMemoryException):
        yield


SITUATIONS = {
    r"the package (\w+) is not installed": _absent,
    r"the disk is full": _full,
    r"there is no network": _offline,
    r"the server says nothing but 500": _terse,
    r"DuckDB refuses what is written for it": _unbound,
    r"the parser trips": _tripping,
    r"a statement cannot be written": _unwritable,
    r"there is no memory left": _crammed,
    r"the server is PostgreSQL (\d+) in (\w+) with (\d+) casts of its own": _served,
}
"""by what the comment says"""


@dataclass(frozen=True, slots=True)
class Told:
    """What somebody was told: under which kind, the words, and the whole of it."""

    kind: str
    words: str
    whole: str


@dataclass(frozen=True)
class Shell:
    """A notebook in which nothing has been named."""

    user_ns: dict[str, object] = field(default_factory=dict)

    def register_magic_function(self, *_: object, **__: object) -> None: ...


@dataclass
class World:
    """A folder for every snippet, and the sessions that several of them ask."""

    stack: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stack.close()

    @cached_property
    def home(self) -> Path:
        return self.folder()

    def folder(self) -> Path:
        """Return a new folder with the shop in it."""
        made = Path(self.stack.enter_context(tempfile.TemporaryDirectory())).resolve()
        (made / "shop").mkdir()
        for name, text in DATA.items():
            (made / name).write_text(text)
        return made

    @cached_property
    def db(self) -> recuse.Session:
        return self.stack.enter_context(recuse.connect(self.home / "shop", self.home / "shop.toml"))

    @cached_property
    def server(self) -> Any:
        """A server; its packages are not those of the quick tests."""
        from support.doors import Doors

        return self.stack.enter_context(Doors())

    @cached_property
    def friends(self) -> recuse.GraphSession:
        return self.stack.enter_context(recuse.graph(self.home / "friends.csv"))

    def told(self, snippet: str) -> Told | None:
        """Return what a snippet is refused with, or the last warning; None if nothing is said."""
        tries = TRIES if CHANCE in snippet else 1
        return next((told for told in (self._told(snippet) for _ in range(tries)) if told is not None), None)

    def _told(self, snippet: str) -> Told | None:
        folder = self.folder()
        with ExitStack() as stack:
            caught = stack.enter_context(warnings.catch_warnings(record=True))
            warnings.simplefilter("always", UserWarning)
            stack.enter_context(chdir(folder))
            for comment in re.findall(r"^# (.*)", snippet, re.MULTILINE):
                for form, situation in SITUATIONS.items():
                    if match := re.fullmatch(form, comment):
                        stack.enter_context(situation(*match.groups()))
            said = stack.enter_context(redirect_stdout(io.StringIO()))
            stack.enter_context(redirect_stderr(said))
            try:
                shown = self._run(snippet)
            except RecuseError as error:
                whole = refusal(error) if "$ recuse" in snippet else str(error)
                return Told(
                    error.code, error.problem, whole.replace(f"{folder}/", "").replace(str(folder), ".")
                )
        if cautions := re.findall(r"^caution +((?:.|\n {10})*)", f"{shown}\n{said.getvalue()}", re.MULTILINE):
            words = re.sub(r"\s+", " ", cautions[0])
            return Told("caution", words, words)
        ours = [one for one in caught if one.category.__module__.startswith("recuse.")]
        heard = [str(one.message).replace(f"{folder}/", "") for one in ours]
        return Told("warning", heard[-1], heard[-1]) if heard else None

    def _run(self, snippet: str) -> object:
        """Run a snippet; return what its last line is worth, if it is Python."""
        code = "\n".join(line for line in snippet.splitlines() if not line.startswith("# "))
        if code.startswith("$ "):
            for line in code.splitlines():
                _, *words = shlex.split(line.removeprefix("$ "))
                typer.main.get_command(app)(words, prog_name="recuse", standalone_mode=False)
        elif code.startswith(PROMPT):
            self.server.psql(*(line.removeprefix(PROMPT) for line in code.splitlines()))
        elif code.startswith("%"):
            line, _, cell = code.lstrip("%").partition("\n")
            Magic(Shell())(line.removeprefix("recuse"), cell or None)
        elif code.startswith("["):
            own(Policy.parse(code), catalogue())
        elif re.match(r"SELECT|WITH|--", code):
            there = next((d for first, d in ASKED_THERE.items() if code.startswith(first)), None)
            found = catalogue() if there is None else replace(catalogue(), dialect=there)
            asked = code if there is None else code.partition("\n")[2]
            plan = compile_query(asked, POLICY, found)
            check_plan(plan, engine())
        else:
            names: dict[str, object] = {"recuse": recuse, "Path": Path}
            if re.search(r"\bdb\b(?! =)", code):
                names["db"] = self.db
            if needs_server(code):
                names["server"] = self.server
            if re.search(r"\bfriends\.", code):
                names["friends"] = self.friends
            *before, last = code.splitlines()
            try:
                shown = compile(last, "<example>", "eval")
            except SyntaxError:
                return exec(code, names)
            exec("\n".join(before), names)
            return eval(shown, names)
        return None


def needs_server(snippet: str) -> bool:
    """Return whether a snippet is said to a server."""
    return re.search(r"^=> |^\$ recuse serve|(?<!recuse\.)\bserver\.", snippet, re.MULTILINE) is not None


def snippets() -> list[str]:
    """Return all snippets, file by file."""
    return [
        block.strip("\n")
        for path in sorted(FILES.glob("*.txt"))
        for block in re.split(r"\n\n+", path.read_text())
        if block.strip()
    ]
