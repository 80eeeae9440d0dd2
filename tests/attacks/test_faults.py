"""Faults after the charge: whatever fails, the same leaves, byte for byte, and the charge stays."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pytest

import recuse
from recuse.errors import RecuseError, UnansweredError
from recuse.session import spine
from recuse.session.parts import Parts
from recuse.session.session import connect
from recuse.solver.choices.binomials import Binomials
from support.fault_cases import (
    CASES,
    COUNTS,
    JOINED,
    NUMBER,
    POLICY,
    asking,
    at_first,
    at_first_and_last,
    form_of_one_failure,
    forms,
    loss,
    made,
    opened,
)
from support.fault_injection import SECRET, Fault, Saboteur, calls_of, errors, form_of, watching

SOURCE = Path(recuse.__file__).parent
UNASKED = {
    "framework",  # of the paper, for functions of any kind
    "general",
    "grid",  # a Protocol
    "parameters",  # constants
}

EVERY_WAY = (
    *("triangle", "degrees", "found together", "distribution", "hull"),
    *("median", "tuned", "largest groups", "largest"),
)
"""cases that together run every file of mechanisms, as few as will do"""


@pytest.fixture(scope="module")
def database():
    return made()


@pytest.fixture
def session(database):
    with opened("number", database) as found:
        yield found


def test_every_call_after_the_charge_fails_alike(database):
    """Of the calls of some questions, others in every run, one in eight; the slow suite has all of all."""
    names, seen = (*CASES, *COUNTS), set()
    for name in ("number", *Random().sample(names, len(names) // 8)):
        with opened(name, database) as session:
            ask = asking(session, name)
            ask()  # what is kept is kept
            calls = calls_of(ask)
            made = {code.co_name for code, _ in calls} | {called.rpartition(".")[2] for _, called in calls}
            assert {"store", "stored_text", "arrange", "execute"} <= made
            if fresh := [call for call in calls if call not in seen]:
                faults = at_first(Random().sample(fresh, -(-len(fresh) // 8)))
                assert forms(ask, session, faults) <= {form_of_one_failure(ask)}, name
            seen.update(fresh)


def unasked(names: Iterable[str], database: duckdb.DuckDBPyConnection) -> set[str]:
    """Return the files of mechanisms of which nothing runs when these cases are asked."""
    reached: set[str] = set()
    for name in names:
        with opened(name, database) as session:
            reached |= {code.co_filename for code, _ in calls_of(asking(session, name))}
    folder = SOURCE / "mechanism"
    files = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    return {stem for stem in files if str(folder / f"{stem}.py") not in reached}


def test_a_few_cases_reach_every_way_to_a_release(database):
    """A file of mechanisms that none of them runs is new: it wants a case, and a place among these."""
    assert unasked(EVERY_WAY, database) == UNASKED


def test_a_way_that_is_not_asked_is_missed(database):
    """The twin: without the question of the largest groups nobody comes by their file."""
    assert unasked(["triangle", "degrees"], database) > UNASKED | {"peeled"}


@pytest.mark.slow
def test_every_way_to_a_release_is_asked(database):
    """All of the cases, of which the few above are a part that is chosen by hand."""
    assert set(EVERY_WAY) < {*CASES, *COUNTS}
    assert unasked((*CASES, *COUNTS), database) == UNASKED


@pytest.mark.slow
@pytest.mark.parametrize("name", [*CASES, *COUNTS])
def test_every_call_fails_alike_the_first_time_and_the_last(name, database):
    """Every call, the solver's too, with another error each time."""
    with opened(name, database) as session:
        known = asking(session, name)

        def ask() -> object:
            Binomials.of.cache_clear()  # else the tables of earlier faults would save some calls
            return known()

        ask()  # what is kept is kept
        calls = calls_of(ask)
        faults = list(at_first_and_last(calls))
        assert forms(ask, session, faults) == {form_of_one_failure(ask)}
        print(f"{name}: {len(faults)} faults at {len(calls)} calls")


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
def test_an_engine_that_fails_in_any_way(method, session):
    def ask() -> object:
        return session.reply(question)

    question = session.question(NUMBER, loss())
    expected, engine = form_of_one_failure(ask), session.engine
    asked = session.question(NUMBER, loss())
    for fault in errors():
        broken = Failing(engine.connection, method, fault)
        checked = type(engine)(broken, engine.database, engine.schema, files=engine.files)
        question = replace(asked, engine=checked)  # nothing was stored of those that failed
        try:
            with pytest.raises(UnansweredError) as caught:
                ask()
        finally:
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
                opened.ask(JOINED, 1)  # loads alone do not decide it
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
                session.ask(NUMBER, cost)
    assert not session.ask(NUMBER, cost).stored
    assert session.budget.spent == before + 3 * Fraction(cost)
    assert session.ask(NUMBER, cost).stored


def test_an_answer_that_was_stored_before_the_failure_is_not_drawn_again(session, monkeypatch):
    cost, before = loss(), session.budget.spent
    with monkeypatch.context() as broken:
        broken.setattr(spine, "Answer", lambda *_, **__: 1 // 0)
        with pytest.raises(UnansweredError):
            session.ask(NUMBER, cost)
    assert session.ask(NUMBER, cost).stored
    assert session.budget.spent == before + Fraction(cost)


def test_a_stored_answer_that_cannot_be_read_fails_alike(session):
    cost = loss()
    session.ask(NUMBER, cost)
    session.ledger._connection.execute(
        "UPDATE charge SET answer = ? WHERE answer IS NOT NULL", (f"[{SECRET}",)
    )
    with pytest.raises(UnansweredError) as caught:
        session.ask(NUMBER, cost)
    assert repr(form_of(caught.value)) == form_of_one_failure(lambda: session.ask(NUMBER, loss()))


def test_a_ledger_that_fails_to_store_goes_on(session):
    cost, before = loss(), session.budget.spent
    ask = asking(session, "number")
    (commit,) = {
        call for call in calls_of(ask) if call[1] == "Connection.execute" and call[0].co_name == "transaction"
    }
    full = Saboteur(Fault(commit, 1, errors()[8]))
    with watching(full), pytest.raises(UnansweredError):
        session.ask(NUMBER, cost)
    assert not session.ask(NUMBER, cost).stored
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
        session.ask(NUMBER, loss())
    assert (caught.value.args, caught.value.__cause__, caught.value.__context__) == ((), None, None)
    assert session.budget.spent > before


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
    calls = list(calls_of(ask))[:22]  # one of every kind of error
    monkeypatch.setattr(spine, "after_charge", twin)
    assert len(forms(ask, session, at_first(calls))) > 1
