"""Tools that ask through us, each really used: pandas, Polars, Streamlit, JupySQL, marimo and Ibis."""

from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sqlalchemy as sa
from sqlalchemy.dialects import registry

import recuse
import recuse.dbapi

registry.register("recuse", "recuse.dbapi.dialect", "RecuseDialect")  # as the installed entry point does
COUNT = "SELECT kind, COUNT(*) AS n FROM orders GROUP BY kind ORDER BY kind"
APP = """
import streamlit as st
from sqlalchemy.dialects import registry

registry.register("recuse", "recuse.dbapi.dialect", "RecuseDialect")
found = st.connection("shop", type="sql", url="recuse:///shop?policy=shop.toml&epsilon=1").query({count!r})
st.dataframe(found)
import recuse

with recuse.connect("shop", "shop.toml") as session:
    answer = session.ask({count!r}, 1)
    st.html(answer)
    st.write(answer)
    st.write(answer, unsafe_allow_html=True)
    st.html(session.budget)
"""


@pytest.fixture(autouse=True)
def in_the_shop(shop, monkeypatch):
    monkeypatch.chdir(shop)


@pytest.fixture
def engine():
    made = sa.create_engine("recuse:///shop?policy=shop.toml&epsilon=1")
    yield made
    made.dispose()


def expected() -> list[tuple[str, int]]:
    """Return the answer as Python gives it; who asks again is given the same."""
    with recuse.connect("shop", "shop.toml") as session:
        return [(row.keys[0], int(row.cells[0].value)) for row in session.ask(COUNT, 1)]


def test_pandas_and_polars_read_what_python_answers(engine):
    wanted = expected()
    frame = pd.read_sql(sa.text(COUNT), engine)
    assert list(frame.itertuples(index=False, name=None)) == wanted
    with engine.connect() as connection:
        assert pl.read_database(COUNT, connection).rows() == wanted


def test_columns_for_intervals_are_there_if_they_are_asked_for():
    made = sa.create_engine("recuse:///shop?policy=shop.toml&epsilon=1&intervals=true")
    frame = pd.read_sql(sa.text(COUNT), made)
    made.dispose()
    assert list(frame.columns) == ["kind", "n", "n_low", "n_high"]
    assert (frame.n_low <= frame.n).all()
    assert (frame.n <= frame.n_high).all()


@pytest.mark.parametrize(
    "epsilon", [1, 1.0, "1", Decimal(1), np.int64(1), np.float64(1.0), np.float32(1.0)], ids=repr
)
def test_every_kind_of_number_is_an_epsilon(epsilon):
    with recuse.dbapi.connect("shop", "shop.toml", epsilon=epsilon) as connection:
        assert connection.cursor().execute(COUNT).answer.epsilon == 1


@pytest.mark.parametrize(
    ("mark", "value", "written"),
    [
        ("DATE '2026-01-02'", datetime.date(2026, 1, 2), "DATE '2026-01-02'"),
        ("TIMESTAMP '2026-01-02'", datetime.datetime(2026, 1, 2, 3), "TIMESTAMP '2026-01-02 03:00:00'"),
        ("TIMESTAMP '2026-01-02'", np.datetime64("2026-01-02T03:00"), "TIMESTAMP '2026-01-02 03:00:00'"),
        ("1.50", Decimal("1.50"), "1.50"),
        ("1", np.int32(1), "1"),
        ("1.5", np.float64(1.5), "1.5"),
    ],
)
def test_a_parameter_is_the_literal_that_it_says(mark, value, written):
    with recuse.dbapi.connect("shop", "shop.toml", epsilon="0.1") as connection:
        asked = "SELECT COUNT(*) FROM orders WHERE {} <= {}"
        first = connection.cursor().execute(asked.format(mark, "?"), [value]).answer
        again = connection.cursor().execute(asked.format(mark, written)).answer
    assert again.stored
    assert again.rows == first.rows


def test_streamlit_asks_and_shows_the_same():
    testing = pytest.importorskip("streamlit.testing.v1", reason="streamlit is not installed")
    wanted = expected()
    app = testing.AppTest.from_string(APP.format(count=COUNT), default_timeout=60).run()
    assert not app.exception
    assert list(app.dataframe[0].value.itertuples(index=False, name=None)) == wanted
    written = app.dataframe[1].value
    assert list(written.columns) == ["kind", "n", "n_low", "n_high"]
    assert list(written[["kind", "n"]].itertuples(index=False, name=None)) == wanted
    first, again, budget = (shown.proto.body for shown in app.get("html"))
    assert first == again
    assert first.count("<svg") == 2
    assert "charged" in first
    assert "remaining" in budget


def test_marimo_shows_the_same():
    marimo = pytest.importorskip("marimo", reason="marimo is not installed")
    with recuse.connect("shop", "shop.toml") as session:
        for shown in (session.ask(COUNT, 1), session.budget, session.explain(COUNT), session):
            assert marimo.as_html(shown).text == shown._repr_html_()


def test_ibis_writes_questions():
    ibis = pytest.importorskip("ibis", reason="ibis-framework is not installed")
    orders = ibis.table({"customer": "int64", "kind": "string"}, name="orders")
    customer = ibis.table({"id": "int64"}, name="customer")
    kinds = orders.group_by("kind").agg(n=orders.count()).order_by("kind")
    joined = orders.join(customer, orders.customer == customer.id)
    few = joined.filter(joined.id < 100).agg(n=lambda rows: rows.count())
    with recuse.connect("shop", "shop.toml") as session:
        answer = session.ask(ibis.to_sql(kinds), 1)
        assert [(row.keys[0], int(row.cells[0].value)) for row in answer] == expected()
        assert answer.stored
        assert session.ask(ibis.to_sql(few), 1).is_number


@pytest.mark.filterwarnings("ignore")  # of a package that is not ours
def test_jupysql_asks_the_same():
    pytest.importorskip("sql.magic", reason="jupysql is not installed")
    testing = pytest.importorskip("IPython.testing.globalipapp", reason="IPython is not installed")
    shell = testing.start_ipython() or testing.get_ipython()
    shell.run_line_magic("load_ext", "sql")
    address = "recuse:///shop?epsilon=1&policy=shop.toml"  # as it is called when it is closed
    shell.run_line_magic("sql", address)
    found = [tuple(row) for row in shell.run_cell_magic("sql", "", COUNT)]
    shell.run_line_magic("sql", f"--close {address}")
    assert found == expected()
