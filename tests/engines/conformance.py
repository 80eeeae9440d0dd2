"""What every engine promises. An engine's own tests are one instance: a class with a fixture `make`.

    make(tables, policy=POLICY) → an engine that holds these Arrow tables; the same for the very same tables

Nothing here knows a database: statements are trees, written in the engine's own dialect.
"""

from __future__ import annotations

import contextlib
import datetime
import math
import time
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any

import pyarrow
import pytest
from sqlglot import exp

from recuse.engines.binding import check_plan
from recuse.engines.collect import collect, collect_domain
from recuse.engines.engine import Engine
from recuse.errors import DatabaseError, QueryError
from recuse.krelation.relation import KRelation
from recuse.policy import EngineLimits, Policy
from recuse.scalars.types import Boolean, Date, Float, Number, Text, Timestamp, stored
from recuse.sql.compile import compile_query
from recuse.sql.query import Scan
from recuse.sql.render import table_reference

Make = Callable[..., Engine]

RULES = """
[[protect]]
table = "customer"
key = ["id"]

[[link]]
table = "orders"
column = ["customer"]
to = "customer"

[[public]]
table = "cells"

[columns.customer]
id = "BIGINT"

[columns.orders]
id = "BIGINT"
customer = "BIGINT"
total = "DECIMAL(9, 2)"
part = "DOUBLE"

[columns.cells]
whole = "BIGINT"
exact = "DECIMAL(18, 4)"
float = "DOUBLE"
truth = "BOOLEAN"
day = "DATE"
moment = "TIMESTAMP"

[sum]
granularity = 0.01

[budget]
epsilon = 10
"""
POLICY = Policy.parse(RULES)
NAN = float("nan")
CELLS: dict[str, tuple[pyarrow.DataType, list[Any]]] = {
    "whole": (pyarrow.int64(), [2**63 - 1, -(2**63), 0, None]),
    "exact": (
        pyarrow.decimal128(18, 4),
        [Decimal("99999999999999.9999"), Decimal("-0.0001"), Decimal("0.0000"), None],
    ),
    "float": (pyarrow.float64(), [NAN, -0.0, 5e-324, None]),
    "text": (pyarrow.string(), ["a'b\"c;--", "é𝄞", "x" * 5000, None]),
    "truth": (pyarrow.bool_(), [True, False, True, None]),
    "day": (
        pyarrow.date32(),
        [datetime.date(1, 1, 1), datetime.date(9999, 12, 31), datetime.date(1970, 1, 1), None],
    ),
    "moment": (
        pyarrow.timestamp("us"),
        [
            datetime.datetime(1900, 1, 1, 0, 0, 0, 1),
            datetime.datetime(2262, 5, 1),
            datetime.datetime(1970, 1, 1),
            None,
        ],
    ),
}
TABLES: Mapping[str, pyarrow.Table] = {
    "customer": pyarrow.table({"id": [1, 2, 3], "name": ["ann", "bob", None]}),
    "orders": pyarrow.table(
        {
            "id": [10, 11, 12, 13],
            "customer": [1, 1, 2, 9],
            "total": pyarrow.array(
                [Decimal("1.50"), Decimal("2.25"), Decimal("-1.00"), None], pyarrow.decimal128(9, 2)
            ),
            "part": pyarrow.array([0.0, -0.0, NAN, NAN], pyarrow.float64()),
        }
    ),
    "cells": pyarrow.table({name: pyarrow.array(values, kind) for name, (kind, values) in CELLS.items()}),
}
QUESTIONS = {
    "SELECT COUNT(*) FROM customer": 3,
    "SELECT COUNT(name) FROM customer": 2,
    "SELECT SUM(total) FROM orders": 275,
    "SELECT COUNT(*) FROM orders o JOIN customer c ON o.customer = c.id WHERE c.name = 'ann'": 2,
    "SELECT COUNT(*) FROM orders x JOIN orders y ON x.customer = y.customer AND x.id < y.id": 1,
    "SELECT COUNT(DISTINCT customer) FROM orders": 2,
    "SELECT COUNT(*) FROM customer c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id)": 2,
    "SELECT COUNT(DISTINCT part) FROM orders": 2,  # one zero, one NaN
    "SELECT COUNT(*) FROM orders WHERE part = 0": 2,
    "SELECT COUNT(*) FROM orders WHERE part > 5": 1,  # NaN lies above all numbers, whoever else is there
    "SELECT SUM(whole) FROM cells WHERE whole = 0": 0,
}
"""each with its true answer, in granules: nobody owns the order of customer 9, which is not there"""


def scan(engine: Engine, table: str) -> exp.Table:
    """Return a table by the path that the engine's catalogue gives it."""
    found = engine.catalogue().table(table)
    assert found is not None
    return table_reference(Scan(table, found))


def column(name: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True))


def select(engine: Engine, table: str, *outputs: exp.Expr) -> str:
    """Return a SELECT in the dialect of an engine."""
    tree = exp.Select(expressions=list(outputs))
    tree.set("from_", exp.From(this=scan(engine, table)))
    return engine.dialect.statement(tree)


def count(engine: Engine, table: str) -> str:
    return select(engine, table, exp.alias_(exp.Count(this=exp.Star()), "n"))


def crossed(engine: Engine, table: str, times: int) -> str:
    """Return how many combinations of rows there are: a number that nobody can wait for."""
    tree = exp.Select(expressions=[exp.Count(this=exp.Star())])
    first = scan(engine, table)
    scans = [first.copy() for _ in range(times)]
    for number, found in enumerate(scans):
        found.set("alias", exp.TableAlias(this=exp.to_identifier(f"t{number}")))
    tree.set("from_", exp.From(this=scans[0]))
    tree.set("joins", [exp.Join(this=found, kind="CROSS") for found in scans[1:]])
    return engine.dialect.statement(tree)


def wrong(engine: Engine) -> Iterator[str]:
    """Yield statements that no database binds."""
    yield select(engine, "customer", column("no such column"))
    yield count(engine, "customer").replace("customer", "nowhere")
    yield select(engine, "customer", exp.Sum(this=column("name")), column("id"))
    yield "SELECT FROM WHERE"


def relation_of(engine: Engine, text: str, policy: Policy = POLICY) -> KRelation:
    plan = compile_query(text, policy, engine.catalogue())
    check_plan(plan, engine)
    ((relation,),) = collect(engine, plan)
    return relation


class Conformance:
    """The suite. `governed` says whether the engine's limits are ours to set."""

    def test_the_catalogue_names_tables_columns_and_types_and_nothing_else(self, make: Make) -> None:
        engine = make(TABLES)
        found = {table.name: table for table in engine.catalogue().tables}
        assert {name: [c.name for c in table.columns] for name, table in found.items()} == {
            name: table.column_names for name, table in TABLES.items()
        }
        assert all(table.view is None for table in found.values())
        kinds = {c.name: type(stored(c.type)) for c in found["cells"].columns}
        assert kinds == {
            "whole": Number,
            "exact": Number,
            "float": Float,
            "text": Text,
            "truth": Boolean,
            "day": Date,
            "moment": Timestamp,
        }
        empty = make({name: table.slice(0, 0) for name, table in TABLES.items()})
        assert empty.catalogue() == engine.catalogue(), "it does not depend on rows"
        assert engine.catalogue().dialect == engine.dialect

    def test_binding_says_why_not_in_one_line(self, make: Make) -> None:
        engine = make(TABLES)
        assert engine.bind(count(engine, "orders")) is None
        for sql in wrong(engine):
            reason = engine.bind(sql)
            assert reason, sql
            assert "\n" not in reason

    def test_binding_reads_no_row(self, make: Make) -> None:
        """What it says is the same without rows, and it does not wait for a product of all of them."""
        engine, empty = make(TABLES), make({name: table.slice(0, 0) for name, table in TABLES.items()})
        assert [engine.bind(sql) for sql in wrong(engine)] == [empty.bind(sql) for sql in wrong(empty)]
        start = time.monotonic()
        assert engine.bind(crossed(engine, "orders", 20)) is None
        assert time.monotonic() - start < 5

    def test_what_does_not_bind_is_refused_by_the_engine_s_name(self, make: Make) -> None:
        engine = make(TABLES)
        catalogue = engine.catalogue()
        plan = compile_query("SELECT COUNT(*) FROM orders", POLICY, catalogue)
        other = make({name: table for name, table in TABLES.items() if name != "orders"})
        with pytest.raises(QueryError, match=f"^{engine.dialect.name} refuses the query: ") as error:
            check_plan(plan, other)
        assert error.value.hint

    @pytest.mark.parametrize("text", QUESTIONS)
    def test_questions_have_their_answers(self, make: Make, text: str) -> None:
        assert relation_of(make(TABLES), text).true_answer() == QUESTIONS[text]

    def test_participants_are_named_alike(self, make: Make) -> None:
        relation = relation_of(make(TABLES), "SELECT SUM(total) FROM orders")
        assert set(relation.names) == {("customer", 1), ("customer", 2)}
        assert relation.signed

    def test_groups_are_those_of_the_question(self, make: Make) -> None:
        engine = make(TABLES)
        plan = compile_query(
            "SELECT name, COUNT(*) FROM customer WHERE name IN ('ann', 'eve') GROUP BY name",
            POLICY,
            engine.catalogue(),
        )
        domain = collect_domain(engine, plan.grouping)
        (groups,) = collect(engine, plan, domain)
        assert dict(zip(domain.keys, (found.true_answer() for found in groups), strict=True)) == {
            ("ann",): 1,
            ("eve",): 0,
        }

    @pytest.mark.parametrize("name", CELLS)
    def test_values_come_back_as_they_are(self, make: Make, name: str) -> None:
        engine = make(TABLES)
        (found,) = engine.run([select(engine, "cells", column(name))])
        values = found.column(0).to_pylist()
        assert len(values) == len(CELLS[name][1])
        assert sorted(map(shown, values)) == sorted(map(shown, CELLS[name][1]))

    def test_all_statements_see_one_state(self, make: Make) -> None:
        engine = make(TABLES)
        found = engine.run([count(engine, name) for name in ("customer", "orders", "customer")])
        assert [table.column("n").to_pylist() for table in found] == [[3], [4], [3]]
        assert engine.run([]) == []

    def test_it_only_reads(self, make: Make) -> None:
        engine = make(dict(TABLES))
        before = engine.catalogue(), engine.run([count(engine, "orders")])
        place = engine.dialect.statement(scan(engine, "orders")).partition(" AS ")[0]
        for sql in (
            f"DELETE FROM {place}",
            f"DROP TABLE {place}",
            f"INSERT INTO {place} SELECT * FROM {place}",
        ):
            with contextlib.suppress(DatabaseError):
                engine.run([sql])
        assert (engine.catalogue(), engine.run([count(engine, "orders")])) == before

    def test_no_error_tells_of_rows(self, make: Make) -> None:
        """The statement fails on what a row holds, and would quote it."""
        texts = []
        for secret in ("ann", "bob-7"):
            tables = {**TABLES, "customer": pyarrow.table({"id": [1], "name": [secret]})}
            engine = make(tables)
            failing = exp.Cast(this=column("name"), to=exp.DataType.build("bigint"))
            with pytest.raises(DatabaseError) as error:
                engine.run([select(engine, "customer", failing)])
            assert error.value.__cause__ is None
            assert error.value.__suppress_context__
            assert secret not in str(error.value)
            texts.append(str(error.value))
            assert engine.run([count(engine, "customer")])[0].column("n").to_pylist() == [1], "it goes on"
        assert texts[0] == texts[1]

    governed = True

    def test_its_limits_are_those_of_the_policy(self, make: Make) -> None:
        limited = Policy.parse(RULES + '\n[engine]\nmemory = "1GB"\nthreads = 1')
        engine = make(TABLES, limited)
        assert engine.limits == (limited.engine if self.governed else EngineLimits())
        assert make(TABLES).limits == EngineLimits()

    def test_it_is_closed_once_or_twice(self, make: Make) -> None:
        engine = make(dict(TABLES))
        statement = count(engine, "orders")
        engine.close()
        engine.close()
        with pytest.raises(DatabaseError):
            engine.run([statement])
        with pytest.raises(DatabaseError):
            engine.catalogue()


def shown(value: object) -> str:
    """Return a value so that NULL, NaN and both zeros differ."""
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else value.hex()
    return f"{type(value).__name__} {value}"
