"""Questions about nobody are run as they are: TPC-H, all of it, and through a session."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import duckdb
import pytest

import recuse
from recuse.engines.duckdb import DuckDB
from recuse.errors import QueryError
from recuse.policy import Policy
from recuse.sql.compile import compile_query, schema_of
from recuse.sql.met import Met
from recuse.sql.native.question import public_query
from recuse.sql.parse import parse
from support.profiles import some
from support.sql.native import bag

TPCH = Path(__file__).parents[1] / "tpch"
TEXTS = dict(re.findall(r"-- (Q\d+)\n(.*)\n", (TPCH / "queries.sql").read_text()))
TABLES = ("region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem")
NOBODYS = [name for name in TABLES if name not in ("customer", "orders", "lineitem")]
EVERYBODY = "".join(f'[[public]]\ntable = "{name}"\n' for name in TABLES)
POLICY = Policy.parse('[[protect]]\nkind = "person"\n' + EVERYBODY)
CUSTOMERS = Policy.parse(
    """
[[protect]]
table = "customer"
key = ["c_custkey"]

[[link]]
table = "orders"
column = ["o_custkey"]
to = "customer"

[[link]]
table = "lineitem"
column = ["l_orderkey"]
to = "orders"
"""
    + "".join(f'[[public]]\ntable = "{name}"\n' for name in NOBODYS)
)
COMMENTS = ["", "Customer x Complaints"]
NATIONS = ["FRANCE", "GERMANY", "BRAZIL", "SAUDI ARABIA", "CANADA", "CHINA"]
REGIONS = ["EUROPE", "EUROPE", "AMERICA", "ASIA", "AMERICA", "ASIA"]


def _filled(con: duckdb.DuckDBPyConnection, seed: int) -> None:
    """Fill the tables with few rows of many of the values that the queries look for."""
    rng = random.Random(seed)
    names = sorted(set(REGIONS))
    con.executemany("INSERT INTO region VALUES (?, ?, '')", [[n, name] for n, name in enumerate(names)])
    nations = [[n, name, names.index(REGIONS[n])] for n, name in enumerate(NATIONS)]
    con.executemany("INSERT INTO nation VALUES (?, ?, ?, '')", nations)
    con.executemany("INSERT INTO supplier VALUES (?, ?, 'here', ?, '11', ?, ?)", [
        [n, f"Supplier#{n}", rng.randrange(6), rng.randrange(-99, 999), rng.choice(COMMENTS)]
        for n in range(8)
    ])  # fmt: skip
    con.executemany("INSERT INTO customer VALUES (?, ?, 'there', ?, ?, ?, ?, '')", [
        [n, f"Customer#{n}", rng.randrange(6), f"{rng.choice([13, 31, 23, 99])}-1", rng.randrange(-99, 999),
         rng.choice(["BUILDING", "MACHINERY"])]
        for n in range(15)
    ])  # fmt: skip
    con.executemany("INSERT INTO part VALUES (?, ?, 'm', ?, ?, ?, ?, 9.5, '')", [
        [n, rng.choice(["green x", "forest y"]), rng.choice(["Brand#23", "Brand#12", "Brand#45"]),
         rng.choice(["LARGE BRASS", "ECONOMY ANODIZED STEEL", "PROMO X"]), rng.choice([15, 1, 5, 49]),
         rng.choice(["MED BOX", "SM CASE", "LG PACK"])]
        for n in range(10)
    ])  # fmt: skip
    pairs = [(part, supplier) for part in range(10) for supplier in rng.sample(range(8), 3)]
    con.executemany("INSERT INTO partsupp VALUES (?, ?, ?, ?, '')", [
        [*pair, rng.randrange(1, 200), Decimal(rng.randrange(100, 999)) / 100] for pair in pairs
    ])  # fmt: skip

    def day(first: int = 1993, last: int = 1996) -> str:
        return f"{rng.randint(first, last)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"

    con.executemany("INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?, 'clerk', 0, ?)", [
        [n, rng.randrange(15), rng.choice("FO"), rng.randrange(100, 9999), day(),
         rng.choice(["1-URGENT", "2-HIGH", "5-LOW"]), rng.choice(["", "special requests"])]
        for n in range(60)
    ])  # fmt: skip
    lines = []
    for order in range(60):
        for number in range(rng.randint(1, 5)):
            part, supplier = rng.choice(pairs)
            lines.append([
                order, part, supplier, number, rng.randint(1, 320), Decimal(rng.randrange(100, 99999)) / 100,
                Decimal(rng.randint(0, 10)) / 100, Decimal(rng.randint(0, 8)) / 100, rng.choice("RAN"),
                rng.choice("FO"), day(), day(), day(), rng.choice(["DELIVER IN PERSON", "NONE"]),
                rng.choice(["MAIL", "SHIP", "AIR"]),
            ])  # fmt: skip
    con.executemany(f"INSERT INTO lineitem VALUES ({', '.join('?' * 15)}, '')", lines)


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as made:
        made.execute("SET threads = 1")
        made.execute((TPCH / "schema.sql").read_text())
        _filled(made, 5)
        yield made


@pytest.mark.parametrize("name", some([*TEXTS], 0.3))
def test_tpch_is_answered_as_duckdb_does(name: str, con: duckdb.DuckDBPyConnection):
    text = TEXTS[name]
    schema = schema_of(text, POLICY, DuckDB.open(con).catalogue())
    query = public_query(parse(text), schema, Met(schema))
    assert query is not None
    assert bag(con.execute(query.sql).fetchall()) == bag(con.execute(text).fetchall())


def test_with_customers_protected_some_are_about_nobody(con: duckdb.DuckDBPyConnection):
    session = recuse.connect(con, CUSTOMERS)
    answer = session.ask(TEXTS["Q2"], epsilon=1)
    assert answer.epsilon == Fraction(0)
    assert bag([row.keys for row in answer.rows]) == bag(con.execute(TEXTS["Q2"]).fetchall())
    assert len(answer.rows) > 0
    assert answer.to_arrow().num_rows == len(answer.rows)
    assert "nobody" in str(session.explain(TEXTS["Q2"]))


def test_sums_about_nobody_are_free_too(con: duckdb.DuckDBPyConnection):
    """Groups are run as they are: those that have rows, and the values that DuckDB says."""
    answer = recuse.connect(con, CUSTOMERS).ask(TEXTS["Q11"], epsilon=1)
    assert answer.epsilon == Fraction(0)
    assert bag([row.keys for row in answer.rows]) == bag(con.execute(TEXTS["Q11"]).fetchall())


def test_groups_about_nobody_without_rows_are_not_shown(con: duckdb.DuckDBPyConnection):
    text = "SELECT n_regionkey, n_name, COUNT(*) AS n FROM nation WHERE n_nationkey IN (1, 2) GROUP BY 1, 2"
    answer = recuse.connect(con, CUSTOMERS).ask(text, epsilon=1)
    assert answer.epsilon == Fraction(0)
    assert bag([row.keys for row in answer.rows]) == bag(con.execute(text).fetchall())


@pytest.mark.parametrize("name", ["Q3", "Q10", "Q17", "Q18", "Q20"])
def test_what_is_about_somebody_is_not(name: str, con: duckdb.DuckDBPyConnection):
    catalogue = DuckDB.open(con).catalogue()
    schema = schema_of(TEXTS[name], CUSTOMERS, catalogue)
    assert public_query(parse(TEXTS[name]), schema, Met(schema)) is None
    with pytest.raises(QueryError):
        compile_query(TEXTS[name], CUSTOMERS, catalogue)


def test_rows_of_any_type_come_back(con: duckdb.DuckDBPyConnection):
    session = recuse.connect(con, CUSTOMERS)
    text = """
        SELECT n_name, row_number() OVER (ORDER BY n_name) AS place, DATE '2020-01-01' AS day
        FROM nation ORDER BY n_name LIMIT 2"""
    answer = session.ask(text, epsilon=1)
    assert [row.keys[:2] for row in answer.rows] == [("BRAZIL", 1), ("CANADA", 2)]
    assert "BRAZIL" in str(answer)
