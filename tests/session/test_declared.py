"""Declared keys are tried when the custodian checks the data; a question neither tries them nor tells."""

from __future__ import annotations

import duckdb
import pytest

import recuse
from recuse.policy import Policy
from recuse.session.declared import FalseKey, false_keys
from recuse.session.session import connect

POLICY = """
[[protect]]
table = "person"
key = ["id"]

[[key]]
table = "person"
column = ["id"]

[[link]]
table = "visit"
column = ["person"]
to = "person"

[[key]]
table = "VISIT"
column = ["Place", "at"]

[columns.person]
id = "BIGINT"
weight = "DOUBLE"

[columns.visit]
person = "BIGINT"
at = "DATE"

[budget]
epsilon = 10
"""
RULES = Policy.parse(POLICY)
PERSON = "id,weight\n1,0.0\n2,-0.0\n3,nan\n4,nan\n"
VISIT = "person,place,at\n1,a,2020-01-01\n2,a,2020-01-02\n3,b,\n4,b,\n"
REPEATED = "person,place,at\n1,a,2020-01-01\n2,a,2020-01-01\n3,b,2020-01-01\n4,b,2020-1-1\n4,b,2020-01-01\n"
FOUND = FalseKey("visit", ("place", "at"), 2, 5)


@pytest.fixture(params=["folder", "database", "Parquet"])
def hospital(request, tmp_path):
    """Return a function that writes a hospital with some visits, and returns where it is."""

    def write(visits: str, people: str = PERSON):
        folder = tmp_path / "hospital"
        folder.mkdir(exist_ok=True)
        (folder / "person.csv").write_text(people)
        (folder / "visit.csv").write_text(visits)
        if request.param == "folder":
            return folder
        place = tmp_path / ("hospital.duckdb" if request.param == "database" else "parquet")
        with duckdb.connect(str(place) if request.param == "database" else ":memory:") as made:
            made.execute(f"CREATE TABLE person AS FROM read_csv('{folder}/person.csv')")
            made.execute(
                f"CREATE TABLE visit AS FROM read_csv('{folder}/visit.csv', types = {{'at': 'DATE'}})"
            )
            if request.param == "Parquet":
                place.mkdir()
                for table in ("person", "visit"):
                    made.execute(f"COPY {table} TO '{place}/{table}.parquet'")
        return place

    return write


def test_keys_that_hold_are_not_named(hospital):
    assert list(recuse.check(hospital(VISIT), RULES)) == []


def test_a_key_that_does_not_hold_is_named_with_its_table_and_columns(hospital):
    (found,) = recuse.check(hospital(REPEATED), RULES)
    assert found == FOUND
    assert str(found) == "visit (place, at): declared unique, but 5 rows share 2 values"


def test_values_are_compared_as_questions_compare_them():
    """One zero and one NaN: what is equal in a question is equal here."""
    connection = duckdb.connect(":memory:")
    connection.execute(
        "CREATE TABLE person AS SELECT * FROM (VALUES (1, 0.0::DOUBLE), (2, -0.0)) t(id, weight)"
    )
    connection.execute("INSERT INTO person VALUES (3, 'nan'), (4, '-nan'::DOUBLE), (5, NULL), (6, NULL)")
    weights = Policy.parse(
        '[[protect]]\ntable = "person"\nkey = ["id"]\n[[key]]\ntable = "person"\ncolumn = ["weight"]'
    )
    assert list(false_keys(connection, weights)) == [FalseKey("person", ("weight",), 2, 4)]


def test_what_is_not_there_is_left_to_the_check_of_the_policy(tmp_path):
    (tmp_path / "other.csv").write_text("id\n1\n1\n")
    assert list(recuse.check(tmp_path, RULES)) == []
    (tmp_path / "person.csv").write_text("name\nann\nann\n")
    assert list(recuse.check(tmp_path, RULES)) == []


def test_a_question_tells_nothing_of_it():
    """What is said before the charge, and the form of what is said after it, are the same."""
    sql = "SELECT place, COUNT(*) FROM visit WHERE place IN ('a', 'b') GROUP BY place"
    told = []
    for twice in (1, 2):
        connection = duckdb.connect(":memory:")
        connection.execute("CREATE TABLE person AS SELECT 1 AS id, 0.0::DOUBLE AS weight")
        connection.execute(
            "CREATE TABLE visit AS SELECT 1 AS person, 'a' AS place, DATE '2020-01-01' AS at"
            f" FROM range({twice})"
        )
        assert len(list(false_keys(connection, RULES))) == twice - 1
        with connect(connection, RULES) as session:
            told.append((str(session.explain(sql)), len(session.ask(sql, 1).rows), session.budget.spent))
    assert told[0] == told[1]
