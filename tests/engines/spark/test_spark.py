"""Spark by address and by session: what is read, what is left out, and what a question sees."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow
import pytest

import recuse
from engines.conformance import POLICY, QUESTIONS, TABLES, count, relation_of
from recuse.engines.open import open_engine
from recuse.engines.spark_catalogue import LEFT_OUT, SparkTable
from recuse.errors import QueryError, UnansweredError
from recuse.krelation.build import without
from support.canonical import as_set
from support.spark import Lab

Py4JNetworkError = pytest.importorskip("py4j.protocol").Py4JNetworkError
Spark = pytest.importorskip("recuse.engines.spark").Spark
pytestmark = pytest.mark.engine
NEIGHBOURS = (
    "SELECT SUM(total) FROM orders",
    "SELECT COUNT(*) FROM orders x JOIN orders y ON x.customer = y.customer AND x.id < y.id",
    "SELECT COUNT(*) FROM customer c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id)",
)


def test_a_session_is_asked_and_charged(lab: Lab):
    with recuse.connect(lab.holding(TABLES), policy=POLICY) as db:
        answer = db.ask("SELECT COUNT(*) FROM orders", epsilon=1)
        assert answer.value == int(answer.value)
        assert db.ledger.balance().spent == 1
        with pytest.raises(QueryError, match="initcap is not asked of Spark"):
            db.ask("SELECT COUNT(*) FROM customer WHERE initcap(name) = 'Ann'", epsilon=1)
        assert db.ledger.balance().spent == 1, "what is refused costs nothing"


def test_what_could_fail_on_a_row_is_left_out(lab: Lab):
    session = lab.holding(TABLES)
    session.sql("CREATE VIEW seen AS SELECT id FROM customer")
    session.sql("CREATE TABLE lines (a INT) USING csv")
    session.sql("CREATE TEMPORARY VIEW mine AS SELECT 1 AS a")
    with open_engine(session, POLICY) as engine:
        catalogue = engine.catalogue()
        assert {table.name for table in catalogue.tables} == set(TABLES)
        assert catalogue.why_not("seen") == LEFT_OUT["view"]
        assert catalogue.why_not("lines") == LEFT_OUT["format"]
        assert catalogue.why_not("mine") is None, "our session does not know it"


def test_a_question_sees_the_files_that_were_there(lab: Lab):
    """Rows that are added while it is answered are seen by the next one."""
    session = lab.holding(TABLES)
    with open_engine(session, POLICY) as engine:
        statement = count(engine, "customer")
        engine._pin([statement], again=True)
        session.sql("INSERT INTO customer VALUES (4, 'new')")
        assert engine._frame(statement).toArrow()["n"].to_pylist() == [3]
        assert engine.run([statement])[0]["n"].to_pylist() == [4]


def test_a_table_with_versions_is_read_in_one(lab: Lab):
    """Delta and Iceberg are not installed here: this is the text that Spark is given."""
    table = SparkTable("orders", (), "`c`.`d`.`orders`", "delta")
    assert table.statement(7) == "SELECT * FROM `c`.`d`.`orders` VERSION AS OF 7"
    assert table.statement(None) == "SELECT * FROM `c`.`d`.`orders`"


def test_a_spark_that_goes_away_after_the_charge_gives_the_one_outward_form(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
):
    def gone(*_: object) -> None:
        raise Py4JNetworkError("ann owes 17")

    run = Spark.run

    def cut_off(self: Spark, statements: Sequence[str]) -> list[pyarrow.Table]:
        monkeypatch.setattr(Spark, "_frame", gone)
        return run(self, statements)

    with recuse.connect(lab.holding(TABLES), policy=POLICY) as db:
        monkeypatch.setattr(Spark, "run", cut_off)
        with pytest.raises(UnansweredError) as error:
            db.ask("SELECT COUNT(*) FROM orders", epsilon=1)
        assert "ann" not in str(error.value)
        assert error.value.__cause__ is None
        assert db.ledger.balance().spent == 1


def test_relations_are_those_of_duckdb(lab: Lab):
    with open_engine(lab.holding(TABLES), POLICY) as spark, open_engine(dict(TABLES), POLICY) as duckdb:
        for text in QUESTIONS:
            assert as_set(relation_of(spark, text)) == as_set(relation_of(duckdb, text)), text


def test_without_a_person_the_relation_is_without_the_person(lab: Lab):
    gone = {**TABLES, "customer": TABLES["customer"].filter(pyarrow.array([False, True, True]))}
    with open_engine(lab.holding(TABLES), POLICY) as whole, open_engine(lab.holding(gone), POLICY) as rest:
        for text in NEIGHBOURS:
            relation = relation_of(whole, text)
            left = without(relation, ("customer", 1))
            assert as_set(relation_of(rest, text)) == as_set(left), text
