"""`%load_ext recuse`: questions in cells of a notebook.

    %recuse shop --policy shop.toml --epsilon 0.5      opens the data; what a question costs unless it says so
    %%recuse --epsilon 1                               asks what the cell says, and shows the answer
    %recuse                                            shows the budget

The answer is the value of the cell: `_` holds it, and `--to NAME` gives it a name.
"""

from __future__ import annotations

import shlex
from argparse import ArgumentError, ArgumentParser, Namespace
from dataclasses import dataclass
from typing import Any, Protocol

from recuse.client import RemoteSession, connect
from recuse.errors import ParameterError
from recuse.session.session import Session

NAME = "recuse"


class Interpreter(Protocol):
    """What is asked of IPython."""

    user_ns: dict[str, Any]

    def register_magic_function(self, func: Any, magic_kind: str, magic_name: str) -> None:
        """Let a function be called by `%name` and `%%name`."""


class MagicWords(ArgumentParser):
    """The words behind %recuse; a mistake in them is a refusal."""

    def error(self, message: str) -> Any:
        """Refuse what is not understood."""
        raise ParameterError(f"%recuse: {message}", hint="%recuse --help")


def words() -> MagicWords:
    """Return how the words are read."""
    found = MagicWords(prog="%recuse", exit_on_error=False, description=__doc__.partition("\n")[0])
    found.add_argument("source", nargs="?", help="a database to open, or the name of a session")
    found.add_argument("--policy", help="the policy of a database")
    found.add_argument("--ledger", help="the ledger, if it does not lie beside the database")
    found.add_argument("--analyst", help="whose limit is charged too")
    found.add_argument("--token", help="the token, if the database is the address of a server")
    found.add_argument("--epsilon", help="what a question may cost, from now on if the database is named too")
    found.add_argument("--delta", help="what finding groups that nobody listed may cost")
    found.add_argument("--explain", action="store_true", help="show what is understood, for nothing")
    found.add_argument("--to", help="the name of a variable for the answer")
    return found


@dataclass(slots=True)
class Magic:
    """The magic: the session that is open, and what a question costs."""

    shell: Interpreter
    session: Session | RemoteSession | None = None
    epsilon: str | None = None

    def __call__(self, line: str, cell: str | None = None) -> Any:
        """Open what the line names; then ask what the cell says, or show the budget."""
        try:
            said = words().parse_args(shlex.split(line))
        except ArgumentError as error:
            raise ParameterError(f"%recuse: {error}", hint="%recuse --help") from None
        except ValueError:
            raise ParameterError("%recuse: a quotation mark is not closed") from None
        except SystemExit:  # --help has printed itself
            return None
        if said.source is not None:
            self._open(said)
        if self.session is None:
            raise ParameterError(
                "%recuse: which database?", hint="%recuse shop --policy shop.toml --epsilon 0.5"
            )
        if cell is None:
            return self.session if said.source is not None else self.session.budget
        return self._ask(self.session, said, cell)

    def _open(self, said: Namespace) -> None:
        known = self.shell.user_ns.get(said.source)
        if isinstance(known, Session | RemoteSession):
            self.session = known
        elif said.token is not None:
            self.session = connect(said.source, token=said.token)
        elif said.policy is None:
            raise ParameterError("%recuse: a database needs a policy", hint="--policy shop.toml")
        else:
            self.session = connect(said.source, said.policy, said.ledger, analyst=said.analyst)
        self.epsilon = said.epsilon or self.epsilon

    def _ask(self, session: Session | RemoteSession, said: Namespace, sql: str) -> Any:
        loss = said.epsilon or self.epsilon
        if said.explain:
            found: Any = session.explain(sql)
        elif loss is None:
            raise ParameterError("what may the answer cost?", hint="%%recuse --epsilon 0.5")
        else:
            found = session.ask(sql, loss, delta=said.delta)
        if said.to is not None:
            self.shell.user_ns[said.to] = found
        return found


def load_ipython_extension(shell: Interpreter) -> None:
    """Give a notebook the magic; IPython calls this for `%load_ext recuse`."""
    shell.register_magic_function(Magic(shell), "line_cell", NAME)
