"""Error texts: questions and policies that are wrong in every way, about data that is easy to recognise.

A message that quotes a value ("could not convert 'Smith' to INT32") is an answer without noise.
"""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest

from recuse.dbapi import Error
from recuse.dbapi import connect as dbapi_connect
from recuse.engines.duckdb import DuckDB
from recuse.errors import UNANSWERED, DatabaseError, RecuseError
from recuse.policy import Policy
from recuse.session.graph import graph
from recuse.session.session import Session, connect
from support.marked import POLICY, leaked, make_victims

EXPRESSIONS = [
    "CAST(name AS INTEGER)",
    "CAST(note AS INTEGER)",
    "CAST(town AS DATE)",
    "CAST(id AS TINYINT)",
    "id * id * id",
    "1 // (id - id)",
    "sqrt(-note)",
    "ln(note - note)",
    "year(CAST(name AS TIMESTAMP))",
    "name + 1",
    "name || note",
    "note LIKE name",
    "upper(id)",
    "substring(name, id, id)",
    "error(name)",
    "nope",
    "person.nope",
    "name::ENUM('a', 'b')",
    "CASE WHEN name THEN 1 END",
    "list_value(name)[1]",
    "(SELECT name FROM person)",
    "(SELECT max(name) FROM person)",
    "first(name)",
    "name COLLATE nocase",
    "current_setting('x' || name)",
    "getvariable(name)",
    "pow(id, id)",
    "DATE '2020-13-01'",
    "INTERVAL (id) YEAR",
]
FRAMES = [
    "SELECT COUNT(*) FROM person WHERE ({}) = 1",
    "SELECT COUNT(DISTINCT {}), SUM({}) FROM marked",
]
WRONG = [
    "",
    "SELECT",
    "SELECT * FROM person",
    "SELECT name, COUNT(*) FROM person GROUP BY name",
    "SELECT COUNT(*) FROM unmentioned",
    "SELECT COUNT(*) FROM person ASOF JOIN visit ON id >= person",
    "SELECT COUNT(*) FROM person EXCEPT SELECT id FROM person",
    "SELECT COUNT(*) FROM person JOIN visit USING (name)",
    "SELECT year, COUNT(*) FROM person GROUP BY year HAVING name > 1",
    "SELECT COUNT(*) FROM person LIMIT (SELECT id FROM person)",
    "SELECT COUNT(*) FROM read_csv('Xno')",
    "SELECT COUNT(*) FROM person UNION SELECT name FROM person",
    "SELECT COUNT(*) FROM person WHERE id IN (SELECT name FROM person)",
    "SELECT COUNT(*) FROM person WHERE id = ALL (SELECT id FROM person)",
    "SUMMARIZE person",
    "DESCRIBE person",
    "PRAGMA storage_info('person')",
    "EXPLAIN ANALYZE SELECT COUNT(*) FROM person",
    "COPY person TO '/dev/stdout'",
]
QUESTIONS = WRONG + [frame.replace("{}", expression) for frame in FRAMES for expression in EXPRESSIONS]
POLICIES = [
    ("key = [", "key = ['name', "),
    ('key = ["id"]', 'key = ["note"]'),
    ('key = ["id"]', 'key = ["nope"]'),
    ('key = ["id"]', 'key = ["CAST(name AS INTEGER)"]'),
    ('table = "visit"', 'table = "town"'),
    ('column = ["person"]', 'column = ["cost"]'),
    ('column = ["person"]', 'column = ["day"]'),
    ('to = "person"', 'to = "visit"'),
    ('table = "town"', 'table = "marked"'),
    ("values = [2001, 2002]", 'values = ["x"]'),
    ('column = "year"', 'column = "name"'),
    ("epsilon = 1000", 'epsilon = "many"'),
]


def said(session: Session) -> Iterator[str]:
    """Yield everything that is said in refusing questions, and in explaining those that are not refused."""
    for text in QUESTIONS:
        try:
            yield "\n".join(session.explain(text).lines())
        except RecuseError as error:
            yield "".join(traceback.format_exception(error))


def run_statement(self: DuckDB, statements: list[str]) -> list[object]:
    """The broken twin: what the database says of an error is passed on."""
    try:
        return [self.connection.sql(sql.replace("TRY_CAST(", "CAST(")).to_arrow_table() for sql in statements]
    except duckdb.Error as error:
        raise DatabaseError(str(error)) from None


@pytest.fixture(scope="module")
def victims(tmp_path_factory) -> tuple[Path, Path]:
    return make_victims(tmp_path_factory.mktemp("victims"))


def test_refusals_and_explanations_quote_no_value(victims):
    with connect(*victims) as session:
        found = list(said(session))
    assert len(found) == len(QUESTIONS)
    assert leaked("\n".join(found)) == []


def told_by_asking(victims: tuple[Path, Path], epsilon: str) -> str:
    """Return all that errors say when questions that can fail on a row are asked."""
    told = []
    with connect(*victims) as session:
        for text in FAILING:
            with contextlib.suppress(RecuseError):
                session.compile(text)
                try:
                    session.ask(text, epsilon)
                except RecuseError as error:
                    told.append("".join(traceback.format_exception(error)))
    return "\n".join(told)


FAILING = [FRAMES[0].replace("{}", expression) for expression in EXPRESSIONS[:8]]


def test_asking_quotes_no_value(victims):
    assert told_by_asking(victims, "0.01") == "", "and nothing fails on a row at all"


def test_the_twin_that_passes_errors_on_is_caught(victims, monkeypatch):
    monkeypatch.setattr(DuckDB, "run", run_statement)
    assert told_by_asking(victims, "0.03").count(UNANSWERED), "what fails after the charge has one form"
    assert leaked(told_by_asking(victims, "0.04")) == []
    monkeypatch.setattr("recuse.session.spine.after_charge", lambda work, _: work())
    assert leaked(told_by_asking(victims, "0.02"))


def test_policies_that_do_not_fit_quote_no_value(victims):
    """Some of these policies fit after all, and are asked; what they say counts as well."""
    database, _ = victims
    told = []
    for old, new in POLICIES:
        try:
            with connect(database, Policy.parse(POLICY.replace(old, new))) as session:
                told.append("\n".join(session.explain("SELECT COUNT(*) FROM visit, town, person").lines()))
        except RecuseError as error:
            told.append("".join(traceback.format_exception(error)))
    assert sum("Error" in text for text in told) > len(told) / 2
    assert leaked("\n".join(told)) == []


def test_the_interface_for_tools_quotes_no_value(victims):
    told = []
    with dbapi_connect(*victims, epsilon="0.01") as connection:
        for text in WRONG[:10]:
            with pytest.raises(Error) as error:
                connection.cursor().execute(text)
            told.append("".join(traceback.format_exception(error.value)))
    assert leaked("\n".join(told)) == []


def damaged(victims: tuple[Path, Path], damage: Callable[[DuckDB], None]) -> str:
    with connect(*victims) as session:
        damage(session.engine)
        with pytest.raises(RecuseError) as error:
            session.ask("SELECT COUNT(*) FROM person", "0.01")
    return "".join(traceback.format_exception(error.value))


def test_a_database_that_fails_quotes_no_value(victims):
    assert leaked(damaged(victims, lambda engine: engine.connection.close())) == []


GRAPHS = {
    "columns.txt": "1 2\n2 Xmarkedname 3\nXmarkedname\n",
    "number.txt": "7771234 2\n-7771234 5\n",
    "dangling.gml": 'graph [ node [ id 1 label "Xmarkedname" ] edge [ source 1 target 7771234 ] ]',
    "open.gml": "graph [ node [ id Xmarkedname ]",
    "torn.graphml": '<graphml><graph><node id="Xmarkedname"/>',
    "word.mtx": "%%MatrixMarket matrix coordinate real general\n3 3 1\n1 2 Xmarkedname\n",
    "outside.mtx": "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n7771234 1\n",
}


@pytest.mark.parametrize("name", GRAPHS)
def test_files_that_are_no_graphs_quote_no_value(name, tmp_path):
    (tmp_path / name).write_text(GRAPHS[name])
    with pytest.raises(RecuseError) as error:
        graph(tmp_path / name)
    assert leaked("".join(traceback.format_exception(error.value))) == []
