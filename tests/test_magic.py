"""The magic of notebooks without one: what its words open, ask and refuse (the real thing: tests/people)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pyarrow
import pytest

import recuse
from recuse.magic import Magic

RULES = recuse.Policy.parse('[[protect]]\ntable = "t"\nkey = ["id"]\n[budget]\nepsilon = 3')


@dataclass
class Interpreter:
    user_ns: dict[str, Any] = field(default_factory=dict)
    magics: dict[str, Any] = field(default_factory=dict)

    def register_magic_function(self, func: Any, magic_kind: str, magic_name: str) -> None:
        self.magics[magic_name] = (func, magic_kind)


@pytest.fixture
def magic():
    shell = Interpreter({"db": recuse.connect({"t": pyarrow.table({"id": [1, 2, 3]})}, RULES)})
    recuse.load_ipython_extension(shell)
    found, kind = shell.magics["recuse"]
    assert kind == "line_cell"
    yield found
    shell.user_ns["db"].close()


def test_a_cell_is_asked_for_what_the_line_says_or_said(magic):
    assert magic("db --epsilon 1") is magic.shell.user_ns["db"]
    assert magic("", "SELECT COUNT(*) FROM t").epsilon == 1
    assert magic("--epsilon 0.5 --to n", "SELECT COUNT(*) FROM t") is magic.shell.user_ns["n"]
    assert magic("").remaining == 3 - 1 - 0.5


def test_an_explanation_costs_nothing(magic):
    assert "how many rows" in str(magic("db --explain", "SELECT COUNT(*) FROM t"))
    assert magic("").spent == 0


@pytest.mark.parametrize(
    ("line", "cell", "said"),
    [
        ("", "SELECT 1", "which database"),
        ("shop", None, "needs a policy"),
        ("db", "SELECT COUNT(*) FROM t", "what may the answer cost"),
        ("db --policy", None, "expected one argument"),
        ("db --nonsense", None, "unrecognized arguments"),
        ("'db", None, "quotation mark"),
    ],
)
def test_mistakes_are_refusals(magic: Magic, line, cell, said):
    with pytest.raises(recuse.ParameterError, match=said) as found:
        magic(line, cell)
    assert found.value._render_traceback_()[0].startswith("ParameterError: ")


def test_help_is_printed_and_nothing_is_opened(magic, capsys):
    assert magic("--help") is None
    assert "%recuse" in capsys.readouterr().out
    assert magic.session is None
