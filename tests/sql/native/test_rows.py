"""No row makes a query that is lowered raise: extremes of every type go through every function."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from functools import cache

import duckdb
import pytest

from recuse.engines.duckdb import DuckDB
from recuse.errors import QueryError
from recuse.policy import Policy
from recuse.sql.catalogue import Catalogue
from recuse.sql.compile import schema_of
from recuse.sql.met import Met
from recuse.sql.native import frames, spread, sums
from recuse.sql.native.functions import TABLE
from recuse.sql.native.lower import NativeLowering
from recuse.sql.native.read import NativeReader
from recuse.sql.parse import parse
from support.profiles import some
from support.scalars.extremes import STORED, table

POLICY = Policy.parse('[[protect]]\nkind = "person"\n\n[[public]]\ntable = "t"\n')
TEMPLATES = [
    "select count({c}), count(distinct {c}) from t",
    "select {c}, count(*) from t group by {c}",
    "select distinct {c} from t order by {c} desc limit 7",
    "select distinct on ({c}) {c}, rid from t",
    "select min({c}), max({c}), any_value({c}), first({c}), last({c} order by rid), mode({c}) from t",
    "select rid % 3, arg_min({c}, rid), arg_max(rid, {c}), quantile_disc({c}, 0.3) from t group by rid % 3",
    "select bool_and({c} is null), count_if({c} = {c}) from t",
    "select sum({c}) from t",
    "select sum({c}), avg({c}) from (select {c} from t union all select {c} from t) z",
    "select sum(distinct {c}) from t",
    "select sum({c} + {c}), avg({c} * {c}), sum({c} * {c} * {c}) from t",
    "select sum({c}) * sum({c}) + 1, sum({c}) / sum({c}) from t",
    "select median({c}), quantile_cont({c}, 0.1) from t",
    "select percentile_cont(0.9) within group (order by {c} desc) from t",
    "select var_pop({c}), var_samp({c}), stddev({c}), stddev_pop({c}) from t",
    "select covar_pop({c}, rid), corr({c}, {c}), regr_slope({c}, rid), covar_samp(rid, {c}) from t",
    "select sum({c}) over (order by rid rows between 3 preceding and current row) from t",
    "select avg({c}) over (order by rid), sum({c}) over (), median({c}) over (partition by rid % 2) from t",
    "select stddev({c}) over (order by rid rows 5 preceding) from t",
    "select rank() over (order by {c}), row_number() over (order by {c} desc) from t",
    "select ntile(5) over (order by {c}) from t",
    "select lag({c}, 2) over (order by rid), lead({c}) over (partition by {c} order by rid) from t",
    "select first_value({c}) over (order by {c}), last_value({c}) over (order by rid % 3) from t",
    "select nth_value({c}, 3) over (order by rid) from t",
    "select count(*) over (order by {c} range between 2 preceding and 1000000000 following) from t",
    "select count(*) over (order by {c} range between interval 10000 year preceding and current row) from t",
    "select count(*) over (order by {c} range between current row and interval 10000 year following) from t",
    "select {c} in (select {c} from t), {c} < all (select {c} from t), {c} >= any (select {c} from t) from t",
    "select (select {c} from t x where x.{c} = t.{c}) from t",
    "select (select max(x.{c}) from t x where x.rid < t.rid) from t",
    "select {c} from t intersect select {c} from t where rid > 3",
    "select {c}, rid from t order by {c} limit 5 offset 3",
    "select count(*) from t x full join t y on x.{c} = y.{c}",
]


@cache
def catalogue() -> Catalogue:
    con = duckdb.connect()
    table(con, random.Random(0), None, "table")
    return DuckDB.open(con).catalogue()


def lowered(text: str) -> str | None:
    schema = schema_of(text, POLICY, catalogue())
    try:
        return NativeLowering(text=text).query(NativeReader(schema, Met(schema)).query(parse(text)))
    except QueryError:
        return None


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as made:
        made.execute("SET threads = 1")
        table(made, random.Random(7), None, "table")
        yield made


def raised(con: duckdb.DuckDBPyConnection, column: str) -> tuple[int, list[str]]:
    """Return how many of the queries about a column are accepted, and which of them raise."""
    accepted, found = 0, []
    for template in TEMPLATES:
        sql = lowered(template.format(c=column))
        if sql is None:
            continue
        accepted += 1
        try:
            con.execute(sql).fetchall()
        except duckdb.Error as error:
            found.append(f"{template}: {error}")
    return accepted, found


@pytest.mark.parametrize("column", some([*STORED], 0.2))
def test_no_extreme_raises(con: duckdb.DuckDBPyConnection, column: str):
    accepted, found = raised(con, column)
    assert not found
    assert accepted >= (5 if column == "e" else 8), "most of it is refused"


def test_every_function_is_tried():
    written = " ".join(TEMPLATES)
    alone = {"bool_or", "stddev_samp", "dense_rank", "percent_rank", "cume_dist"}  # as their neighbours
    assert {name for name in TABLE if f"{name}(" not in written} - alone == set()


def test_a_twin_that_sums_wide_numbers_as_they_are_is_caught(
    con: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sums, "_narrow", lambda asked, value: asked.engine("sum", (value,), value.type))
    monkeypatch.setattr(sums, "SUMMED", 38)
    assert raised(con, "d38_0")[1]


def test_a_twin_without_bounds_on_variances_is_caught(
    con: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
):
    """A variance that overflows is no number; older versions of DuckDB raise."""
    text = "select var_pop(f64) from t"
    assert con.execute(str(lowered(text))).fetchall() == [(None,)]
    finite = "select var_pop(f64) from t where abs(f64) <= 1e300"
    assert con.execute(str(lowered(finite))).fetchall() == [(None,)]
    monkeypatch.setattr(spread, "LARGEST", 1e308)
    try:
        ((found,),) = con.execute(str(lowered(finite))).fetchall()
    except duckdb.Error:
        return
    assert found is not None
    assert not math.isfinite(found)


def test_a_twin_whose_range_is_not_widened_is_caught(
    con: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(frames, "_widened", lambda kinds, dated: kinds[0])
    assert raised(con, "i64")[1]
