"""SQLAlchemy's dialect: addresses, text and Core, inspection, what is free and what is refused."""

from __future__ import annotations

import datetime
from decimal import Decimal
from importlib.metadata import entry_points

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sqlalchemy as sa
from sqlalchemy.dialects import registry
from sqlalchemy.exc import ArgumentError, NoSuchTableError, ProgrammingError

from recuse.dbapi import ProgrammingError as DriversError
from recuse.dbapi import literal
from recuse.dbapi.dialect import RecuseDialect, column_type
from recuse.privacy import Epsilon
from support.shop import COUNT, POLICY, make_shop

registry.register("recuse", "recuse.dbapi.dialect", "RecuseDialect")  # as the installed entry point does

VIEW = "CREATE VIEW dear AS SELECT * FROM orders WHERE price > 3"


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    database, policy = make_shop(tmp_path_factory.mktemp("shop"))
    policy.write_text(POLICY.replace("epsilon = 2", "epsilon = 100"))
    with duckdb.connect(str(database)) as connection:
        connection.execute(VIEW)
        connection.execute(
            "CREATE TABLE note (customer INTEGER UNIQUE REFERENCES customer (id), t TIMESTAMP)"
        )
    return f"recuse:///{database}?policy={policy}"


@pytest.fixture(scope="module")
def engine(address):
    found = sa.create_engine(f"{address}&epsilon=0.5")
    yield found
    found.dispose()


@pytest.fixture(scope="module")
def tables(engine):
    found = sa.MetaData()
    found.reflect(engine)
    return found.tables


def spent(connection):
    return connection.connection.dbapi_connection.session.budget.spent


def test_the_entry_point_names_the_dialect():
    (found,) = [e for e in entry_points(group="sqlalchemy.dialects") if e.name == "recuse"]
    assert found.value == "recuse.dbapi.dialect:RecuseDialect"


def test_text_with_parameters(engine):
    with engine.connect() as connection:
        before = spent(connection)
        found = connection.execute(
            sa.text("SELECT COUNT(*) FROM orders WHERE price > :p"), {"p": Decimal("2.5")}
        )
        assert abs(found.scalar_one() - 571) < 300
        assert spent(connection) == before + Epsilon.of("0.5").value


def test_core_with_groups_order_and_limit(engine, tables):
    orders, customer, nation = tables["orders"], tables["customer"], tables["nation"]
    joined = orders.join(customer, orders.c.customer == customer.c.id).join(
        nation, customer.c.nation == nation.c.id
    )
    question = (
        sa.select(nation.c.name, sa.func.count().label("n"), sa.func.sum(orders.c.price).label("worth"))
        .select_from(joined)
        .group_by(nation.c.name)
        .order_by(nation.c.name)
        .limit(3)
    )
    with engine.connect() as connection:
        rows = connection.execute(question).all()
    assert [row.name for row in rows] == ["nation-0", "nation-1", "nation-2"]
    assert all(isinstance(row.n, int) and isinstance(row.worth, Decimal) for row in rows)


def test_options_say_what_a_question_costs(engine):
    with engine.connect() as connection:
        before = spent(connection)
        text = sa.text("SELECT COUNT(*) FROM customer WHERE nation = 1")
        connection.execute(text, execution_options={"recuse_epsilon": np.float64(0.25)})
        assert spent(connection) == before + Epsilon.of("0.25").value


def test_options_of_delta_reach_the_question(engine):
    text = sa.text("SELECT name, COUNT(*) FROM customer GROUP BY name")
    options = {"recuse_epsilon": "1", "recuse_delta": "1e-6"}
    with engine.connect() as connection, pytest.raises(ProgrammingError, match="delta"):
        connection.execute(text, execution_options=options)  # the policy grants none


def test_without_an_epsilon_it_is_asked_for(address):
    with sa.create_engine(address).connect() as connection, pytest.raises(ProgrammingError, match="cost"):
        connection.execute(sa.text(COUNT))


def test_a_connection_and_its_inspection_are_free(engine):
    with engine.connect() as connection:
        before = spent(connection)
        sa.MetaData().reflect(connection)
        connection.rollback()
        connection.commit()
        assert spent(connection) == before
    with sa.create_engine(engine.url, pool_pre_ping=True).connect() as connection:
        assert spent(connection) == before


def test_inspection(engine):
    found = sa.inspect(engine)
    assert found.get_schema_names() == ["main"]
    assert found.default_schema_name == "main"
    assert set(found.get_table_names()) == {"customer", "nation", "note", "orders", "secret"}
    assert found.get_table_names("elsewhere") == []
    assert found.get_view_names() == ["dear"]
    assert "price" in found.get_view_definition("dear")
    assert [str(c["type"]) for c in found.get_columns("orders")] == ["BIGINT", "BIGINT", "NUMERIC(9, 2)"]
    assert found.get_pk_constraint("customer")["constrained_columns"] == ["id"]
    assert found.get_pk_constraint("note")["constrained_columns"] == []
    assert found.get_unique_constraints("note")[0]["column_names"] == ["customer"]
    assert found.get_foreign_keys("note")[0]["referred_table"] == "customer"
    assert found.get_indexes("note") == []
    assert found.has_table("ORDERS")
    assert not found.has_table("orders", schema="elsewhere")
    for ask in (found.get_columns, found.get_view_definition):
        with pytest.raises(NoSuchTableError):
            ask("nowhere")
    with pytest.raises(NoSuchTableError):
        found.get_view_definition("orders")


def test_pandas_and_polars(engine, address):
    assert pd.read_sql(COUNT + " AS o", engine).shape == (1, 1)
    with sa.create_engine(f"{address}&epsilon=0.5&intervals=true").connect() as connection:
        frame = pl.read_database("SELECT COUNT(*) AS n FROM orders", connection)
    assert frame.columns == ["n", "n_low", "n_high"]
    low, value, high = frame["n_low"][0], frame["n"][0], frame["n_high"][0]
    assert low < value < high


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("INSERT INTO nation VALUES (9, 'x')", "only a SELECT"),
        ("CREATE TABLE x (a INTEGER)", "only a SELECT"),
        ("SELECT * FROM orders", "individuals"),
    ],
)
def test_what_is_refused_costs_nothing(engine, written, why):
    with engine.connect() as connection:
        before = spent(connection)
        with pytest.raises(ProgrammingError, match=why):
            connection.execute(sa.text(written))
        assert spent(connection) == before


@pytest.mark.parametrize(
    "address",
    [
        "recuse:///shop.duckdb",
        "recuse://host/shop.duckdb?policy=p.toml",
        "recuse://?policy=p.toml",
        "recuse:///shop.duckdb?policy=p.toml&epsilom=1",
        "recuse:///shop.duckdb?policy=p.toml&intervals=yes",
    ],
)
def test_an_address_that_says_too_little_or_too_much(address):
    with pytest.raises(ArgumentError):
        RecuseDialect().create_connect_args(sa.make_url(address))


def test_types_that_sqlalchemy_has_no_name_for():
    assert isinstance(column_type("INTEGER[]"), sa.types.NullType)
    assert isinstance(column_type("UUID"), sa.Uuid)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.int64(-3), "(-3)"),
        (np.float32(0.5), "0.5"),
        (np.bool_(True), "TRUE"),
        (np.str_("it's"), "'it''s'"),
        (np.datetime64("2020-02-29"), "DATE '2020-02-29'"),
        (np.datetime64("2020-02-29T01:02:03.000004", "ns"), "TIMESTAMP '2020-02-29 01:02:03.000004'"),
        (np.datetime64("NaT"), "NULL"),
        (datetime.time(1, 2), "TIME '01:02:00'"),
        (pd.Timestamp("2020-01-01"), "TIMESTAMP '2020-01-01 00:00:00'"),
    ],
)
def test_values_of_other_libraries_as_parameters(value, text):
    assert literal(value) == text


def test_a_moment_finer_than_microseconds_is_not_rounded():
    with pytest.raises(DriversError, match="cannot be written"):
        literal(np.datetime64("2020-02-29T01:02:03.000000004", "ns"))


@pytest.mark.parametrize("number", [np.float64(0.1), np.float32(0.1), Decimal("0.1"), "0.1"])
def test_numbers_of_other_libraries_as_epsilon(number):
    assert Epsilon.of(number) == Epsilon.of("1/10")
