"""A market for the laws of layers: schema and policy in several forms, small databases, who owns which row.

    Form       what the database enforces: nothing, primary keys, or references too
    Market     a form together with the kinds of participants that are protected
    Contents   the rows of every table; `present(S)` is what is left of them if exactly S take part

Ownership is worked out here once more, in plain Python and from the links alone: the judge shares nothing
with what it judges.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache

import duckdb

from recuse.engines.duckdb import DuckDB
from recuse.policy import Policy
from recuse.sql.catalogue import Catalogue

Name = tuple[str, object]
Row = tuple[object, ...]

COLUMNS = {
    "nation": {"n_id": "INTEGER", "n_name": "VARCHAR"},
    "product": {"p_id": "INTEGER", "p_kind": "VARCHAR", "p_price": "INTEGER"},
    "customer": {"c_id": "INTEGER", "c_nation": "INTEGER", "c_name": "VARCHAR", "c_balance": "DECIMAL(9,2)"},
    "supplier": {"s_id": "VARCHAR", "s_nation": "INTEGER"},
    "orders": {"o_id": "INTEGER", "o_customer": "INTEGER", "o_date": "DATE", "o_total": "DECIMAL(9,2)"},
    "item": {"i_order": "INTEGER", "i_supplier": "VARCHAR", "i_product": "INTEGER", "i_count": "INTEGER"},
    "gift": {"g_from": "INTEGER", "g_to": "INTEGER", "g_product": "INTEGER"},
    "meeting": {"m_one": "INTEGER", "m_two": "INTEGER", "m_date": "DATE"},
}
PRIMARY = {"nation": "n_id", "product": "p_id", "customer": "c_id", "supplier": "s_id", "orders": "o_id"}
LINKS: dict[str, tuple[tuple[tuple[str, ...], str], ...]] = {
    "orders": ((("o_customer",), "customer"),),
    "item": ((("i_order",), "orders"), (("i_supplier",), "supplier")),
    "gift": ((("g_from", "g_to"), "customer"),),
    "meeting": ((("m_one",), "person"), (("m_two",), "person")),
}
"""of each table: the columns of which any must name a present row (or participant) of the target"""
PROTECTED = {"customer": "c_id", "supplier": "s_id"}


class Form(Enum):
    """What the database enforces."""

    BARE = "bare"
    """nothing; the policy vouches for the keys of orders"""
    KEYED = "keyed"
    """primary keys"""
    LINKED = "linked"
    """primary keys, and references where a column names one row"""


@dataclass(frozen=True)
class Market:
    """The form of the database, and the kinds that are protected: suppliers and persons need not be."""

    form: Form
    kinds: tuple[str, ...]

    @property
    def policy(self) -> Policy:
        return _policy(self.form, self.kinds)

    def links(self, table: str) -> tuple[tuple[tuple[str, ...], str], ...]:
        """Return the links of a table that lead to somebody who is protected."""
        return tuple(link for link in LINKS.get(table, ()) if self.is_private(link[1]))

    def is_private(self, table: str) -> bool:
        """Whether rows of the table, or participants of the kind, can be withdrawn."""
        return table in self.kinds or bool(self.links(table))

    def allows(self, table: str, row: Row, kept: Mapping[str, tuple[Row, ...]]) -> bool:
        """Whether the database takes the row beside what is kept: every row that it references is there."""
        return self.form is not Form.LINKED or all(
            row[list(COLUMNS[table]).index(column)] in (None, *(other[0] for other in kept[target]))
            for (column, *others), target in LINKS.get(table, ())
            if not others and target in PRIMARY
        )

    def engine(self) -> DuckDB:
        """Return the one engine over tables of this form."""
        return _engine(self.form)

    def catalogue(self) -> Catalogue:
        """Return the catalogue of that engine."""
        return _catalogue(self.form)


MARKETS = tuple(
    Market(form, kinds)
    for form in Form
    for kinds in (("customer",), ("customer", "supplier"), ("customer", "supplier", "person"))
)


@cache
def _policy(form: Form, kinds: tuple[str, ...]) -> Policy:
    market = Market(form, kinds)
    text = ["[sum]\ngranularity = 0.01"]
    for kind in kinds:
        key = f'table = "{kind}"\nkey = ["{PROTECTED[kind]}"]' if kind in PROTECTED else f'kind = "{kind}"'
        text.append(f"[[protect]]\n{key}")
    for table in COLUMNS:
        if not market.is_private(table):
            text.append(f'[[public]]\ntable = "{table}"')
        for columns, target in market.links(table):
            names = ", ".join(f'["{column}"]' for column in columns)
            how = f"any = [{names}]" if len(columns) > 1 else f'column = ["{columns[0]}"]'
            text.append(f'[[link]]\ntable = "{table}"\n{how}\nto = "{target}"')
    text.append('[[domain]]\ntable = "customer"\ncolumn = "c_name"\nvalues = ["a", "b"]')
    text.append('[[domain]]\ntable = "item"\ncolumn = "i_product"\nvalues = [0, 1, 2]')
    if form is Form.BARE:
        text.append('[[key]]\ntable = "orders"\ncolumn = ["o_id"]')
    return Policy.parse("\n\n".join(text))


def definitions(form: Form) -> list[str]:
    """Return the statements that make the tables."""
    found = []
    for table, columns in COLUMNS.items():
        parts = [f"{name} {kind}" for name, kind in columns.items()]
        if form is not Form.BARE and table in PRIMARY:
            parts.append(f"PRIMARY KEY ({PRIMARY[table]})")
        if form is not Form.BARE and table == "item":
            parts.append("CHECK (i_count >= 0)")
        if form is Form.LINKED:
            for (column, *others), target in LINKS.get(table, ()):
                if not others and target in PRIMARY:
                    parts.append(f"FOREIGN KEY ({column}) REFERENCES {target} ({PRIMARY[target]})")
        found.append(f"CREATE TABLE {table} ({', '.join(parts)})")
    return found


@cache
def _engine(form: Form) -> DuckDB:
    connection = duckdb.connect(":memory:", config={"threads": 1})
    for statement in definitions(form):
        connection.execute(statement)
    return DuckDB.open(connection)


@cache
def _catalogue(form: Form) -> Catalogue:
    return _engine(form).catalogue()


def close_engines() -> None:
    """Close what was opened: before the interpreter ends."""
    for form in Form:
        _engine(form).close()
    _engine.cache_clear()
    LOADED.clear()


LOADED: dict[Form, Contents] = {}
"""what the tables of each engine hold now"""


@dataclass(frozen=True)
class Contents:
    """The rows of every table."""

    rows: Mapping[str, tuple[Row, ...]]

    def participants(self, market: Market) -> list[Name]:
        """Return everybody who is in the database, whether or not a query finds them."""
        found: dict[Name, None] = {}
        for kind in market.kinds:
            if kind in PROTECTED:
                values: Iterable[object] = (row[0] for row in self.rows[kind])
            else:
                values = (value for row in self.rows["meeting"] for value in row[:2])
            found |= {(kind, value): None for value in values if value is not None}
        return list(found)

    def present(self, market: Market, there: frozenset[Name]) -> Contents:
        """Return the database if exactly these participants take part: rows of nobody are in none."""
        kept: dict[str, tuple[Row, ...]] = {}
        alive = {kind: {value for k, value in there if k == kind} for kind in market.kinds}
        for table, rows in self.rows.items():  # targets come before what links to them
            if table in market.kinds:
                kept[table] = tuple(row for row in rows if row[0] in alive[table])
                continue
            places = [
                ([list(COLUMNS[table]).index(column) for column in columns], target)
                for columns, target in market.links(table)
            ]
            kept[table] = tuple(
                row
                for row in rows
                if all(any(row[n] in alive[target] for n in columns) for columns, target in places)
            )
            alive[table] = {row[0] for row in kept[table] if row[0] is not None}
        return Contents(kept)

    def without(self, market: Market, name: Name) -> Contents:
        """Return the database that the participant never was in; rows of nobody stay nobody's."""
        everybody = frozenset(self.participants(market))
        gone = self.present(market, everybody - {name})
        owned = self.present(market, everybody)
        kept: dict[str, tuple[Row, ...]] = {}
        for table, rows in self.rows.items():
            kept[table] = tuple(
                row
                for row in rows
                if row in gone.rows[table]
                or (row not in owned.rows[table] and market.allows(table, row, kept))
            )
        return Contents(kept)

    def load(self, market: Market) -> DuckDB:
        """Return the engine of the market, holding these rows now."""
        engine, before = market.engine(), LOADED.get(market.form)
        LOADED[market.form] = self
        stale = self.differing(before) if before else list(COLUMNS)
        for table in reversed(stale):
            engine.connection.execute(f"DELETE FROM memory.main.{table}")
        for table in stale:
            fill(engine.connection, f"memory.main.{table}", self.rows[table])
        return engine

    def differing(self, other: Contents) -> list[str]:
        """Return the tables whose rows are not those of another database, and what may reference these."""
        found: list[str] = []
        for table in COLUMNS:  # targets come before what links to them
            linked = any(target in found for _, target in LINKS.get(table, ()))
            if linked or self.rows[table] != other.rows[table]:
                found.append(table)
        return found

    def drop(self, table: str, place: int) -> Contents:
        """Return the database without one row: for finding a small one on which a law fails."""
        rows = self.rows[table]
        return Contents({**self.rows, table: rows[:place] + rows[place + 1 :]})


def fill(connection: duckdb.DuckDBPyConnection, path: str, rows: Iterable[Row]) -> None:
    """Insert the rows into an empty table."""
    values = ", ".join("(" + ", ".join(map(literal, row)) + ")" for row in rows)
    if values:
        connection.execute(f"INSERT INTO {path} VALUES {values}")


def literal(value: object) -> str:
    """Return a value as DuckDB reads it."""
    return "NULL" if value is None else f"'{value}'" if isinstance(value, str) else str(value)


# ------------------------------------------------------------------ made contents


@dataclass(frozen=True)
class Maker:
    """Fills tables at random: few values, so that rows meet; NULLs and dangling references where allowed."""

    chance: random.Random
    market: Market

    def rare(self, one_in: int = 12) -> bool:
        return self.chance.randrange(one_in) == 0

    def number(self) -> int | None:
        return None if self.rare() else self.chance.randrange(3)

    def money(self) -> str | None:
        return None if self.rare() else self.chance.choice(["0.00", "0.25", "0.50", "12.50", "-3.75"])

    def date(self) -> str | None:
        return None if self.rare() else self.chance.choice(["1997-01-31", "1997-02-01", "1998-02-01"])

    def word(self, *words: str) -> str | None:
        return None if self.rare() else self.chance.choice(words)

    def reference(self, keys: list[object], stranger: object) -> object:
        """Return one of the keys, mostly; NULL, or somebody who is not there, where nothing forbids it."""
        if self.rare() or not keys:
            return None
        if self.market.form is not Form.LINKED and self.rare(12):
            return stranger
        return self.chance.choice(keys)

    def several(self, most: int) -> range:
        return range(0 if self.rare(10) else self.chance.randint(most // 2, most))

    def contents(self) -> Contents:
        """Return a database with at most seven participants."""
        room = 7
        customers = list(range(self.chance.choice([0, 1, 2, 2, 3, 3, 3, 4, 4, 5])))
        room -= len(customers)
        suppliers = ["x", "y", "z", "X", "yy"][: min(self.chance.choice([0, 1, 1, 2, 2, 2, 3]), room)]
        room -= len(suppliers) if "supplier" in self.market.kinds else 0
        persons = list(range(min(self.chance.choice([1, 2, 2, 3, 4]), max(room, 1))))
        orders = list(range(self.chance.choice([0, 3, 4, 5, 6, 7, 8])))
        customer = [(key, self.number(), self.word("a", "b", "c"), self.money()) for key in customers]
        if self.market.form is Form.BARE and customer and self.rare(4):  # a participant with two rows
            customer.append((customer[0][0], self.number(), self.word("a", "b", "c"), self.money()))
        if self.market.form is Form.BARE and self.rare(4):
            customer.append((None, self.number(), self.word("a", "b", "c"), self.money()))  # type: ignore[arg-type]
        people: list[object] = list(customers)
        item = [
            (
                self.reference(list(orders), 99),
                self.reference(list(suppliers), "nobody"),
                self.number(),
                None if self.rare() else self.chance.randrange(4),
            )
            for _ in self.several(10)
        ]
        if item and self.rare(3):
            item.append(item[0])
        rows: dict[str, list[Row]] = {
            "nation": [(key, self.word("p", "q", "r")) for key in self.several(4)],
            "product": [(key, self.word("k", "l"), self.chance.randrange(4)) for key in self.several(4)],
            "customer": list(customer),
            "supplier": [(key, self.number()) for key in suppliers],
            "orders": [(key, self.reference(people, 99), self.date(), self.money()) for key in orders],
            "item": list(item),
            "gift": [
                (self.reference(people, 99), self.reference(people, 98), self.number())
                for _ in self.several(5)
            ],
            "meeting": [
                (self.reference(list(persons), None), self.reference(list(persons), None), self.date())
                for _ in self.several(5)
            ],
        }
        return Contents({table: tuple(found) for table, found in rows.items()})
