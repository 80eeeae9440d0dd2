"""Faults after the charge, at the doors: the interface for tools and the command line."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Sequence
from fractions import Fraction
from random import Random

import duckdb
import networkx
import pytest

from recuse import dbapi
from recuse.cli import app
from recuse.cli.app import main
from recuse.errors import UNANSWERED
from recuse.ledger import Ledger
from recuse.session import spine
from support.fault_cases import GROUPS, NOISE, NUMBER, POLICY_TEXT, at_first, fill, forms, loss, made, opened
from support.fault_injection import SECRET, Saboteur, Watcher, calls_of, form_of, watching
from support.profiles import some


def test_every_call_after_the_charge_in_the_interface_for_tools(monkeypatch):
    session = opened("groups", made())
    connection = dbapi.Connection(session, None, "selective")

    def ask() -> object:
        NOISE.again()
        return connection.cursor().execute(f"/* epsilon = {loss()} */ {GROUPS}")

    calls = calls_of(ask)
    doors = [call for call in calls if "dbapi" in call[0].co_filename]
    assert {"records", "fetchable"} <= {code.co_name for code, _ in doors}
    (found,) = forms(ask, session, at_first([*doors, *list(calls)[::40]]))
    monkeypatch.setattr(spine, "Answer", lambda *_, **__: 1 // 0)
    with pytest.raises(dbapi.InternalError) as caught:
        ask()
    assert (caught.value.args, caught.value.__cause__, caught.value.__context__) == (
        (UNANSWERED,),
        None,
        None,
    )
    assert repr(form_of(caught.value)) == found


# ------------------------------------------------------------------ the command line


@pytest.fixture
def command(tmp_path, monkeypatch, capfd):
    """Return a function that runs the command line in this process: exit code, output, errors.

    It makes its ledger anew, so that the charge that it holds is the one of this run.
    """
    database, network = tmp_path / "people.duckdb", tmp_path / "edges.txt"
    (tmp_path / "policy.toml").write_text(POLICY_TEXT)
    with duckdb.connect(str(database)) as connection:
        fill(connection)
    networkx.write_edgelist(networkx.karate_club_graph().subgraph(range(9)), network, data=False)
    monkeypatch.chdir(tmp_path)

    def run(arguments: Sequence[str]) -> tuple[object, str, str]:
        for ledger in tmp_path.glob("*.ledger*"):
            ledger.unlink()
        monkeypatch.setattr(sys, "argv", ["recuse", *arguments])
        monkeypatch.setattr(sys, "stdin", io.StringIO(f"{GROUPS};\n"))
        with pytest.raises(SystemExit) as end:
            main()
        sys.setprofile(None)
        spent = {
            charge.epsilon for path in tmp_path.glob("*.ledger") for charge in Ledger.open(path).history()
        }
        assert spent == {Fraction(1, 2)}, "the charge stays"
        return end.value.code, *capfd.readouterr()

    return run


ASKED = [".", "--policy", "policy.toml", "--epsilon", "0.5"]
COMMANDS = {
    "text": ["ask", "people.duckdb", NUMBER, *ASKED[1:]],
    "table": ["ask", "people.duckdb", GROUPS, *ASKED[1:]],
    "json": ["ask", "people.duckdb", GROUPS, *ASKED[1:], "--json"],
    "shell": ["shell", "people.duckdb", *ASKED[1:]],
    "shell --json": ["shell", "people.duckdb", *ASKED[1:], "--json"],
    "graph": ["graph", "edges.txt", "--pattern", "star(3)", "--protect", "node", "--epsilon", "0.5"],
    "ratio": ["graph", "edges.txt", "--transitivity", "--protect", "edge", "--epsilon", "0.5", "--json"],
}
QUICK = set(some(["text", "json", "shell", "graph"], 0.5))
NEW = r"(WARNING: .*|new ledger .* with a budget of epsilon = \d+)\n"
"""what is said of a ledger that was made for the question, before or after"""


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in COMMANDS]
)
def test_calls_after_the_charge_at_the_command_line(name, command):
    """A quarter of the calls of the command itself, others in every run, and some of those below it."""
    watcher = Watcher()
    with watching(watcher):
        code, output, _ = command(COMMANDS[name])
    assert (code or 0, bool(output)) == (0, True)
    calls = list(watcher.calls)
    doors = [call for call in calls if f"{os.sep}cli{os.sep}" in call[0].co_filename]
    assert {code.co_name for code, _ in doors} & {"as_json", "as_text"}
    told = {}
    tried = Random().sample(doors, -(-len(doors) // 4))
    for fault in at_first([*tried, *calls[5::200]]):
        with watching(Saboteur(fault)):
            code, output, said = command(COMMANDS[name])
        told[fault.call] = code or 0, bool(output), re.sub(NEW, "", said)
    answered, failed = (0, True, ""), (3, False, f"recuse: {UNANSWERED}\n")
    after = (3, True, f"recuse: {UNANSWERED}\n")  # a shell reads on when it has shown an answer
    assert {told[call] for call in tried} - ({after} if "shell" in name else set()) == {failed}
    assert set(told.values()) - {after} <= {failed, answered}


def test_nothing_of_the_data_is_printed_by_a_question_that_fails(command):
    """As it was: the type and the place of the error, and another exit code."""
    with pytest.MonkeyPatch.context() as twin:
        twin.setattr(spine, "after_charge", lambda work, _: work())
        twin.setattr(app, "door", lambda work, letting: work())
        twin.setattr(spine, "release", lambda *_: {}[SECRET])
        twin.setattr(sys, "argv", ["recuse", *COMMANDS["text"]])
        with pytest.raises(KeyError):
            main()
