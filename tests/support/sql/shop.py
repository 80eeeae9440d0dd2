"""A small shop and network for the SQL tests: catalogue, policy, and databases that Hypothesis fills."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import duckdb
from hypothesis import strategies as st

from recuse.engines.duckdb import DuckDB
from recuse.policy import Policy
from recuse.sql.catalogue import Catalogue, Column, ForeignKey, Table

PROTECTION = """
[[protect]]
table = "customer"
key = ["c_id"]

[[protect]]
table = "supplier"
key = ["s_id"]

[[protect]]
kind = "person"

[[link]]
table = "orders"
column = ["o_customer"]
to = "customer"

[[link]]
table = "item"
column = ["i_order"]
to = "orders"

[[link]]
table = "item"
column = ["i_supplier"]
to = "supplier"

[[link]]
table = "edges"
column = ["src"]
to = "person"

[[link]]
table = "edges"
column = ["dst"]
to = "person"

[[link]]
table = "gift"
any = [["g_from"], ["g_to"]]
to = "customer"

[[link]]
table = "gift"
column = ["g_order"]
to = "orders"

[[public]]
table = "nation"

[[key]]
table = "orders"
column = ["o_id"]

[sum]
granularity = 0.01
"""
POLICY = Policy.parse(PROTECTION)

TABLES = {
    "customer": {"c_id": "INTEGER", "c_nation": "INTEGER", "c_name": "VARCHAR"},
    "supplier": {"s_id": "VARCHAR", "s_nation": "INTEGER"},
    "orders": {"o_id": "BIGINT", "o_customer": "INTEGER", "o_date": "DATE", "o_total": "DECIMAL(9,2)"},
    "item": {"i_order": "BIGINT", "i_supplier": "VARCHAR", "i_price": "DOUBLE", "i_count": "INTEGER"},
    "edges": {"src": "INTEGER", "dst": "INTEGER"},
    "gift": {"g_from": "INTEGER", "g_to": "INTEGER", "g_order": "BIGINT"},
    "nation": {"n_id": "INTEGER", "n_name": "VARCHAR"},
    "secret": {"x": "INTEGER"},
}

VIEW = Table(
    "big_orders", (Column("o_id", "BIGINT"),), view="CREATE VIEW big_orders AS SELECT o_id FROM orders"
)
CATALOGUE = Catalogue(
    (
        *(Table(name, tuple(Column(*pair) for pair in columns.items())) for name, columns in TABLES.items()),
        VIEW,
    ),
    macros=frozenset({"twice"}),
)

KEYED = Catalogue(
    tuple(
        Table(
            table.name,
            table.columns,
            keys=((table.columns[0].name,),)
            if table.name in ("customer", "supplier", "nation", "orders")
            else (),
        )
        for table in CATALOGUE.tables
        if table.view is None
    )
)
"""the same with the keys that a database would enforce, and without views"""

ENFORCED = Catalogue(
    (
        Table("customer", (Column("c_id", "INTEGER", nullable=False),), keys=(("c_id",),)),
        Table(
            "orders",
            (Column("o_id", "BIGINT", nullable=False), Column("o_customer", "INTEGER")),
            keys=(("o_id",),),
            foreign_keys=(ForeignKey(("o_customer",), "customer", ("c_id",)),),
        ),
    )
)

Rows = list[tuple[object, ...]]


@cache
def the_engine() -> DuckDB:
    """Return an engine over empty tables; opening one for every example would take most of the time."""
    connection = duckdb.connect(":memory:", config={"threads": 1})
    for table, columns in TABLES.items():
        types = ", ".join(f"{name} {kind}" for name, kind in columns.items())
        connection.execute(f"CREATE TABLE {table} ({types})")
    connection.execute(VIEW.view)
    return DuckDB.open(connection)


@cache
def the_catalogue() -> Catalogue:
    """Return the catalogue of that engine, read once: its tables stay as they are."""
    return the_engine().catalogue()


LOADED: dict[str, Rows] = {}
"""what the tables of the engine hold now"""


@dataclass(frozen=True)
class Database:
    """The rows of every table."""

    rows: dict[str, Rows]

    def load(self) -> DuckDB:
        """Return the one engine of the tests, holding these rows now."""
        engine = the_engine()
        for table, columns in TABLES.items():
            if LOADED.get(table) == self.rows.get(table, []):
                continue
            LOADED[table] = self.rows.get(table, [])
            path = f"memory.main.{table}"
            engine.connection.execute(f"DELETE FROM {path}")
            if self.rows.get(table):
                row = "(" + ", ".join("?" for _ in columns) + ")"
                marks = ", ".join(row for _ in self.rows[table])
                values = [value for values in self.rows[table] for value in values]
                engine.connection.execute(f"INSERT INTO {path} VALUES {marks}", values)
        return engine

    def owned(self) -> Database:
        """Return the database without the rows that nobody contributed."""
        rows = dict(self.rows)
        rows["customer"] = [row for row in rows["customer"] if row[0] is not None]
        rows["supplier"] = [row for row in rows["supplier"] if row[0] is not None]
        customers, suppliers = {row[0] for row in rows["customer"]}, {row[0] for row in rows["supplier"]}
        rows["orders"] = [row for row in rows["orders"] if row[1] in customers]
        orders = {row[0] for row in rows["orders"] if row[0] is not None}
        rows["item"] = [row for row in rows["item"] if row[0] in orders and row[1] in suppliers]
        rows["edges"] = [row for row in rows["edges"] if None not in row]
        rows["gift"] = [row for row in rows["gift"] if customers & set(row[:2]) and row[2] in orders]
        return Database(rows)

    def participants(self) -> set[tuple[str, object]]:
        """Return everybody who is in the database, whether or not a query finds them."""
        people = {value for row in self.rows.get("edges", []) for value in row}
        found = {("person", value) for value in people}
        for kind in ("customer", "supplier"):
            found |= {(kind, row[0]) for row in self.rows.get(kind, [])}
        return {name for name in found if name[1] is not None}

    def without(self, name: tuple[str, object]) -> Database:
        """Return the database after a participant has left with everything that is theirs."""
        kind, value = name
        rows = dict(self.rows)
        if kind == "person":
            rows["edges"] = [row for row in rows["edges"] if value not in row]
        elif kind == "customer":
            gone = {row[0] for row in rows["orders"] if row[1] == value}
            rows["customer"] = [row for row in rows["customer"] if row[0] != value]
            rows["orders"] = [row for row in rows["orders"] if row[1] != value]
            rows["item"] = [row for row in rows["item"] if row[0] not in gone]
            rows["gift"] = [row for row in rows["gift"] if row[2] not in gone]
        else:
            rows["supplier"] = [row for row in rows["supplier"] if row[0] != value]
            rows["item"] = [row for row in rows["item"] if row[1] != value]
        return Database(rows)


small = st.none() | st.integers(0, 3)
names = st.none() | st.sampled_from(["a", "b", "A", ""])
dates = st.sampled_from([None, "1996-01-31", "1997-06-15", "1999-12-31"])
totals = st.none() | st.sampled_from(["0.00", "-12.34", "99.99", "0.01", "1000000.00"])
prices = st.none() | st.sampled_from([0.5, -2.25, 1e300, float("nan"), float("inf"), 3.0])


@st.composite
def databases(draw: st.DrawFn) -> Database:
    """Return a small database with NULLs, dangling references and duplicate rows; order keys are unique."""

    def rows(*columns: st.SearchStrategy[object], most: int = 5) -> Rows:
        return draw(st.lists(st.tuples(*columns), max_size=most))

    orders = {row[0]: row for row in rows(small, small, dates, totals)}
    return Database(
        {
            "customer": rows(small, small, names, most=4),
            "supplier": rows(names, small, most=3),
            "orders": list(orders.values()),
            "item": rows(small, names, prices, small, most=6),
            "edges": rows(small, small, most=7),
            "gift": rows(small, small, small, most=4),
            "nation": rows(small, names, most=3),
        }
    )


@st.composite
def full_databases(draw: st.DrawFn) -> Database:
    """Return a database in which most rows have owners: generated queries find something in it."""
    random = draw(st.randoms(use_true_random=False))

    def number() -> object:
        return random.choice([0, 1, 2, 3]) if random.random() < 0.93 else None

    def word() -> object:
        return random.choice(["a", "b", "A"]) if random.random() < 0.93 else None

    def several(most: int, *columns: object) -> Rows:
        return [tuple(column() for column in columns) for _ in range(random.randint(2, most))]  # type: ignore[operator]

    def date() -> object:
        return random.choice([None, "1996-01-31", "1997-06-15", "1999-12-31"])

    def total() -> object:
        return random.choice([None, "0.00", "-12.34", "99.99", "0.01"])

    def price() -> object:
        return random.choice([None, 0.5, -2.25, 0.0, -0.0, float("nan"), 3.0])

    customers = random.sample(range(4), random.randint(2, 4))
    suppliers = random.sample(["a", "b", "A"], random.randint(1, 3))
    return Database(
        {
            "customer": [(key, number(), word()) for key in customers],
            "supplier": [(key, number()) for key in suppliers],
            "orders": [(key, number(), date(), total()) for key in range(random.randint(2, 5))],
            "item": several(6, number, word, price, number),
            "edges": several(6, number, number),
            "gift": several(4, number, number, number),
            "nation": several(3, number, word),
        }
    )
