"""Faults after the charge: whatever fails, the same leaves, byte for byte, and the charge stays."""

from __future__ import annotations

import io
import itertools
import os
import re
import sqlite3
import stat
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import networkx
import numpy
import pytest

from recuse import dbapi
from recuse.cli import app
from recuse.cli.app import main
from recuse.errors import UNANSWERED, RecuseError, UnansweredError
from recuse.ledger import Ledger
from recuse.policy import Policy
from recuse.session import spine
from recuse.session.fingerprint import policy_hash
from recuse.session.graph import GraphSession, graph
from recuse.session.outward import FailureLog
from recuse.session.parts import Parts
from recuse.session.session import Session, connect
from support.fault_injection import (
    SECRET,
    Call,
    Saboteur,
    UnprintableError,
    Watcher,
    calls_of,
    errors,
    form_of,
    left_by,
    watching,
)
from support.noise import Seeded

POLICY_TEXT = """
[[protect]]
table = "person"
key = ["id"]

[[link]]
table = "visit"
column = ["person"]
to = "person"

[[public]]
table = "town"

[budget]
epsilon = 1000
delta = 0.001
"""
POLICY = Policy.parse(POLICY_TEXT)

QUESTIONS = {
    "number": "SELECT COUNT(*) FROM visit",
    "sum": "SELECT SUM(cost - 3) FROM visit JOIN person ON person = id WHERE day < 2",
    "groups": "SELECT town.name, COUNT(*) FROM person JOIN town ON person.town = town.id GROUP BY town.name",
    "formula": "SELECT AVG(cost), 2 * COUNT(*) FROM visit",
    "distinct": "SELECT COUNT(DISTINCT day) FROM visit",
    "or": "SELECT COUNT(*) FROM person p WHERE EXISTS (SELECT 1 FROM visit v WHERE v.day = p.id)"
    " OR p.id IN (SELECT cost FROM visit)",
    "absent": "SELECT COUNT(*) FROM person p WHERE NOT EXISTS (SELECT 1 FROM visit v WHERE v.day = p.id)",
    "threshold": "SELECT COUNT(*) FROM (SELECT day FROM visit GROUP BY day HAVING COUNT(*) > 2)",
    "own": "SELECT COUNT(*) FROM (SELECT cost, LAG(cost) OVER (PARTITION BY person ORDER BY day, cost) AS c"
    " FROM visit) WHERE cost > c",
    "scalar": "SELECT COUNT(*) FROM visit WHERE cost > (SELECT AVG(cost) FROM visit)",
    "median": "SELECT MEDIAN(cost) FROM visit",
    "largest": "SELECT MAX(cost), MIN(cost) FROM visit",
    "largest of groups": "SELECT town.name, MAX(cost) FROM person JOIN town ON person.town = town.id"
    " JOIN visit ON visit.person = person.id GROUP BY town.name",
    "ends": "SELECT cost, COUNT(*) FROM visit GROUP BY cost",
    "found": "SELECT 'cost ' || cost, COUNT(*) FROM visit GROUP BY 1",
    "found together": "SELECT 'cost ' || v.cost, COUNT(*) FROM visit v JOIN visit w ON v.day = w.day"
    " GROUP BY 1",
    "window": "SELECT town.name, RANK() OVER (ORDER BY COUNT(*)) FROM person JOIN town"
    " ON person.town = town.id GROUP BY town.name",
    "vector": "SELECT day, COUNT(*) FROM visit WHERE day IN (0, 1, 2, 3) GROUP BY day",
}
COUNTS: dict[str, Callable[[GraphSession, str], object]] = {
    "triangle": lambda session, loss: session.count("triangle", protect="node", epsilon=loss),
    "star": lambda session, loss: session.count("star(3)", protect="node", epsilon=loss),
    "books": lambda session, loss: session.count("k-triangle(2)", protect="edge", epsilon=loss),
    "transitivity": lambda session, loss: session.transitivity(protect="edge", epsilon=loss),
}
Asking = Callable[[], object]

_losses = (Fraction(number, 10**9) for number in itertools.count(4_000_000))
"""so small that a hundred thousand questions of a session are within its budget"""
_seen: set[Call] = set()
"""calls that have failed for an earlier question: the slow suite lets them fail for each"""


def loss() -> str:
    """Return an ε that no question has had: what is stored for another is not found."""
    return str(next(_losses))


class SameNoise(Seeded):
    """The same noise for every question, so that it takes the same way."""

    def again(self) -> None:
        self.random = Random(7)


NOISE = SameNoise(7)
PARTS = Parts(noise=NOISE)


def made() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(":memory:", config={"threads": 1})
    fill(connection)
    return connection


def fill(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("CREATE TABLE person AS SELECT i AS id, i % 3 AS town FROM range(9) r(i)")
    columns = "i % 9 AS person, i % 4 AS day, i % 5 AS cost"
    connection.execute(f"CREATE TABLE visit AS SELECT {columns} FROM range(30) r(i)")
    connection.execute("CREATE TABLE town AS SELECT i AS id, 'town-' || i AS name FROM range(3) r(i)")


@pytest.fixture(scope="module")
def session():
    with connect(made(), POLICY, parts=PARTS) as opened:
        opened.compile = cache(opened.compile)
        yield opened


@pytest.fixture(scope="module")
def network():
    with graph(networkx.karate_club_graph().subgraph(range(9)), budget=1000, parts=PARTS) as opened:
        yield opened


def asking(session: Session | GraphSession, name: str) -> Asking:
    def ask() -> object:
        NOISE.again()
        if isinstance(session, Session):
            delta = "1e-9" if name.startswith("found") else None
            return session.ask(QUESTIONS[name], loss(), delta=delta)
        return COUNTS[name](session, loss())

    return ask


def forms(
    ask: Asking, session: Session | GraphSession, faults: Iterable[tuple[Call, BaseException]]
) -> set[str]:
    """Return all that leaves when each of the calls fails. Every one is charged, answered or not."""
    found = set()
    for call, fault in faults:
        before = session.budget.spent
        left = left_by(ask, call, fault)
        assert session.budget.spent > before, "the charge stays"
        if left is not None:
            found.add(repr(left))
    return found


def form_of_one_failure(ask: Asking, monkeypatch) -> str:
    with monkeypatch.context() as broken:
        broken.setattr(spine, "Answer", lambda *_, **__: 1 // 0)
        with pytest.raises(UnansweredError) as caught:
            ask()
    assert (str(caught.value), caught.value.__cause__, caught.value.__context__) == (UNANSWERED, None, None)
    return repr(form_of(caught.value))


def in_turn(calls: Iterable[Call]) -> Iterable[tuple[Call, BaseException]]:
    return zip(calls, itertools.cycle(errors()), strict=False)


@pytest.mark.parametrize("name", [*QUESTIONS, *COUNTS])
def test_every_call_after_the_charge_fails_alike(name, session, network, monkeypatch):
    """Calls of ours, and ours of SQLite, each with another error; of the solver's others in every run."""
    asked = session if name in QUESTIONS else network
    ask = asking(asked, name)
    calls = calls_of(ask)
    names = {code.co_name for code, _ in calls}
    assert {"store", "written", "arrange", "execute"} <= names | {
        called.rpartition(".")[2] for _, called in calls
    }
    assert names & {"run", "count_copies", "k_stars", "k_triangles"}
    fresh = [call for call in calls if call not in _seen]
    inside = [call for call in fresh if f"{os.sep}solver{os.sep}" in call[0].co_filename]
    skipped = set(Random().sample(inside, len(inside) * 4 // 5))  # the slow suite has them all
    fresh = [call for call in fresh if call not in skipped]
    _seen.update(calls)
    if fresh:
        assert forms(ask, asked, in_turn(fresh)) == {form_of_one_failure(ask, monkeypatch)}


@pytest.mark.slow
@pytest.mark.parametrize("name", [*QUESTIONS, *COUNTS])
def test_every_call_fails_alike_with_several_errors(name, session, network, monkeypatch):
    """Every call, the solver's too, with three errors; all kinds of errors take turns."""
    asked = session if name in QUESTIONS else network
    ask = asking(asked, name)
    each_thrice = itertools.chain.from_iterable(itertools.repeat(call, 3) for call in calls_of(ask))
    assert forms(ask, asked, in_turn(each_thrice)) == {form_of_one_failure(ask, monkeypatch)}


class Failing:
    """A connection, or what it returns, of which one method fails."""

    def __init__(self, real: Any, method: str, fault: BaseException) -> None:
        self._real, self._method, self._fault = real, method, fault

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._real, name)

        def call(*arguments: Any) -> Any:
            if name == self._method:
                raise self._fault
            return (
                Failing(found(*arguments), self._method, self._fault) if name == "sql" else found(*arguments)
            )

        return call


@pytest.mark.parametrize("method", ["begin", "sql", "to_arrow_table", "rollback"])
def test_an_engine_that_fails_in_any_way(method, session, monkeypatch):
    ask = asking(session, "number")
    expected = form_of_one_failure(ask, monkeypatch)
    engine = session.engine
    for fault in errors():
        broken = Failing(engine.connection, method, fault)
        checked = type(engine)(broken, engine.database, engine.schema, files=engine.files)
        session.compile(QUESTIONS["number"])
        session.engine = checked
        try:
            with pytest.raises(UnansweredError) as caught:
                ask()
        finally:
            session.engine = engine
            with suppress(duckdb.Error):
                engine.connection.rollback()
        assert repr(form_of(caught.value)) == expected


class FailingPart:
    """A source of noise, or a solver, that fails."""

    def __init__(self, fault: BaseException) -> None:
        self.fault = fault

    def __call__(self, *_: object) -> Any:
        raise self.fault

    laplace = bits = __call__


def test_noise_and_solver_that_fail_in_any_way():
    found = set()
    parts = [Parts(noise=FailingPart(fault)) for fault in errors()[:12:2]]
    parts += [Parts(solver=FailingPart(fault)) for fault in errors()[12::2]]
    for part in parts:
        with connect(made(), POLICY, parts=part) as opened:
            with pytest.raises(UnansweredError) as caught:
                opened.ask(QUESTIONS["number"], 1)
            assert opened.budget.spent == 1
            found.add(repr(form_of(caught.value)))
    assert len(found) == 1


# ------------------------------------------------------------------ asking again


def test_a_failed_question_is_charged_again(session, monkeypatch):
    cost, before = loss(), session.budget.spent
    with monkeypatch.context() as broken:
        broken.setattr(spine, "release", lambda *_: 1 // 0)
        for _ in range(2):
            with pytest.raises(UnansweredError):
                session.ask(QUESTIONS["number"], cost)
    assert not session.ask(QUESTIONS["number"], cost).stored
    assert session.budget.spent == before + 3 * Fraction(cost)
    assert session.ask(QUESTIONS["number"], cost).stored


def test_an_answer_that_was_stored_before_the_failure_is_not_drawn_again(session, monkeypatch):
    cost, before = loss(), session.budget.spent
    with monkeypatch.context() as broken:
        broken.setattr(spine, "Answer", lambda *_, **__: 1 // 0)
        with pytest.raises(UnansweredError):
            session.ask(QUESTIONS["number"], cost)
    assert session.ask(QUESTIONS["number"], cost).stored
    assert session.budget.spent == before + Fraction(cost)


def test_a_stored_answer_that_cannot_be_read_fails_alike(session, monkeypatch):
    cost = loss()
    session.ask(QUESTIONS["number"], cost)
    session.ledger._connection.execute(
        "UPDATE charge SET answer = ? WHERE answer IS NOT NULL", (f"[{SECRET}",)
    )
    with pytest.raises(UnansweredError) as caught:
        session.ask(QUESTIONS["number"], cost)
    assert repr(form_of(caught.value)) == form_of_one_failure(asking(session, "number"), monkeypatch)


def test_a_ledger_that_fails_to_store_goes_on(session):
    cost, before = loss(), session.budget.spent
    ask = asking(session, "number")
    (commit,) = {
        call for call in calls_of(ask) if call[1] == "Connection.execute" and "_transaction" in str(call[0])
    }
    assert left_by(lambda: session.ask(QUESTIONS["number"], cost), commit, errors()[8]) is not None
    assert not session.ask(QUESTIONS["number"], cost).stored
    assert session.budget.spent > before + Fraction(cost)


def test_an_interrupt_leaves_as_a_new_one(session, monkeypatch):
    def stop(*_: object) -> None:
        try:
            raise ValueError(SECRET)
        except ValueError:
            raise KeyboardInterrupt(SECRET) from None

    before = session.budget.spent
    monkeypatch.setattr(spine, "release", stop)
    with pytest.raises(KeyboardInterrupt) as caught:
        session.ask(QUESTIONS["number"], loss())
    assert (caught.value.args, caught.value.__cause__, caught.value.__context__) == ((), None, None)
    assert session.budget.spent > before


# ------------------------------------------------------------------ what is printed beside


def test_warnings_are_neither_shown_nor_raised(session, monkeypatch, capfd):
    """pytest makes errors of warnings here; a process may also print what arrays overflow."""
    release = spine.release

    def loud(*arguments: Any) -> Any:
        warnings.warn(SECRET, RuntimeWarning, stacklevel=1)
        numpy.array([1e308]) * 1e308
        return release(*arguments)

    monkeypatch.setattr(spine, "release", loud)
    for mode in ("raise", "print", "warn"):
        with numpy.errstate(all=mode):
            assert session.ask(QUESTIONS["number"], loss())
    assert capfd.readouterr() == ("", "")


# ------------------------------------------------------------------ the custodian's log


def test_details_go_to_a_private_file_that_the_policy_names(tmp_path, monkeypatch, capfd):
    policy, log = tmp_path / "policy.toml", tmp_path / "failures.log"
    text = '[[protect]]\ntable = "person"\nkey = ["id"]\n[budget]\nepsilon = 9\n'
    monkeypatch.setattr(spine, "release", lambda *_: {}[SECRET])
    for named in ("", '[log]\nfailures = "failures.log"\n'):
        policy.write_text(text + named)
        with connect(made(), policy) as opened, pytest.raises(UnansweredError):
            opened.ask("SELECT COUNT(*) FROM person", 1)
        assert log.exists() is bool(named), "nothing is written unless the custodian says so"
    assert SECRET in log.read_text()
    assert "in _answer" in log.read_text()
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("kind", ["folder", "link", "absent", "pipe", "terminal"])
def test_a_log_that_cannot_be_written_changes_nothing(kind, tmp_path, session, monkeypatch, capfd):
    place, seen = tmp_path / "log", tmp_path / "seen"
    if kind == "folder":
        place.mkdir()
    elif kind == "link":
        seen.touch()
        place.symlink_to(seen)
    elif kind == "absent":
        place = tmp_path / "no" / "log"
    elif kind == "pipe":
        os.mkfifo(place)
    else:
        place = Path("/dev/stderr")
    expected = form_of_one_failure(asking(session, "number"), monkeypatch)
    monkeypatch.setattr(session, "failures", FailureLog(place))
    assert form_of_one_failure(asking(session, "number"), monkeypatch) == expected
    assert capfd.readouterr() == ("", "")
    assert not seen.exists() or not seen.read_text()


def test_a_log_that_others_could_read_is_closed_to_them(tmp_path):
    log = tmp_path / "log"
    log.touch(0o644)
    FailureLog(log).note(UnprintableError())
    FailureLog(log).note(ValueError(SECRET))
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert SECRET in log.read_text()


def test_the_log_is_no_part_of_what_a_policy_says():
    named = replace(POLICY, failure_log=Path("x"))
    assert named == POLICY
    assert policy_hash(named) == policy_hash(POLICY)


# ------------------------------------------------------------------ DB-API


def test_every_call_after_the_charge_in_the_interface_for_tools(session, monkeypatch):
    connection = dbapi.Connection(session, None, "selective")

    def ask() -> object:
        NOISE.again()
        return connection.cursor().execute(f"/* epsilon = {loss()} */ {QUESTIONS['groups']}")

    calls = calls_of(ask)
    doors = [call for call in calls if "dbapi" in call[0].co_filename]
    assert {"records", "_fetchable"} <= {code.co_name for code, _ in doors}
    (found,) = forms(ask, session, in_turn([*doors, *calls[::40]]))
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
        monkeypatch.setattr(sys, "stdin", io.StringIO(f"{QUESTIONS['groups']};\n"))
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
    "text": ["ask", "people.duckdb", QUESTIONS["number"], *ASKED[1:]],
    "table": ["ask", "people.duckdb", QUESTIONS["groups"], *ASKED[1:]],
    "json": ["ask", "people.duckdb", QUESTIONS["groups"], *ASKED[1:], "--json"],
    "shell": ["shell", "people.duckdb", *ASKED[1:]],
    "shell --json": ["shell", "people.duckdb", *ASKED[1:], "--json"],
    "graph": ["graph", "edges.txt", "--pattern", "star(3)", "--protect", "node", "--epsilon", "0.5"],
    "ratio": ["graph", "edges.txt", "--transitivity", "--protect", "edge", "--epsilon", "0.5", "--json"],
}
QUICK = {"text", "json", "shell", "graph"}
NEW = r"(WARNING: .*|new ledger .* with a budget of epsilon = \d+)\n"
"""what is said of a ledger that was made for the question, before or after"""


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in COMMANDS]
)
def test_every_call_after_the_charge_at_the_command_line(name, command):
    """Every call of the command itself and some of those below it."""
    watcher = Watcher()
    with watching(watcher):
        code, output, _ = command(COMMANDS[name])
    assert (code or 0, bool(output)) == (0, True)
    calls = list(watcher.calls)
    doors = [call for call in calls if f"{os.sep}cli{os.sep}" in call[0].co_filename]
    assert {code.co_name for code, _ in doors} & {"as_json", "as_text"}
    told = {}
    for call, fault in in_turn([*doors, *calls[5::200]]):
        with watching(Saboteur(call, fault)):
            code, output, said = command(COMMANDS[name])
        told[call] = code or 0, bool(output), re.sub(NEW, "", said)
    answered, failed = (0, True, ""), (3, False, f"recuse: {UNANSWERED}\n")
    after = (3, True, f"recuse: {UNANSWERED}\n")  # a shell reads on when it has shown an answer
    assert {told[call] for call in doors} - ({after} if "shell" in name else set()) == {failed}
    assert set(told.values()) - {after} <= {failed, answered}


def test_nothing_of_the_data_is_printed_by_a_question_that_fails(command):
    """As it was: the type and the place of the error, and another exit code."""
    with pytest.MonkeyPatch.context() as twin:
        twin.setattr(spine, "after_charge", as_it_was)
        twin.setattr(app, "door", lambda work, letting: work())
        twin.setattr(spine, "release", lambda *_: {}[SECRET])
        twin.setattr(sys, "argv", ["recuse", *COMMANDS["text"]])
        with pytest.raises(KeyError):
            main()


# ------------------------------------------------------------------ the broken twins


def as_it_was(work: Callable[[], Any], _: object = None) -> Any:
    """The broken twin: errors leave as they are, as they did before."""
    return work()


def catching_most(work: Callable[[], Any], _: object = None) -> Any:
    """The broken twin: errors that programs expect have one form, and running out of memory another."""
    try:
        return work()
    except (ValueError, ArithmeticError, LookupError, RecuseError, duckdb.Error, sqlite3.Error):
        raise UnansweredError from None


def catching_exceptions(work: Callable[[], Any], _: object = None) -> Any:
    """The broken twin: raised inside of the handler, so that what failed is still attached."""
    try:
        return work()
    except BaseException:
        raise UnansweredError from None


@pytest.mark.parametrize("twin", [as_it_was, catching_most, catching_exceptions])
def test_the_twins_that_let_something_out_are_caught(twin, session, monkeypatch):
    ask = asking(session, "number")
    calls = calls_of(ask)[:40]
    monkeypatch.setattr(spine, "after_charge", twin)
    assert len(forms(ask, session, in_turn(calls))) > 1
