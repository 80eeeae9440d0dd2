"""Conversions, literals, sizes: what fails is NULL, what is written wrongly is refused."""

from __future__ import annotations

import time
from fractions import Fraction

import duckdb
import pytest

from recuse.scalars import build, literals, types
from recuse.scalars.duckdb import MOST_NESTED, Compiler
from recuse.scalars.expression import Constant, Variable
from recuse.scalars.function import Mistyped

CON = duckdb.connect()


def cast(value: str, stored: str, target: types.Type) -> object:
    """Return what a stored value becomes, as DuckDB writes it."""
    column = build.bring(Variable("t", "x", types.stored(stored), stored), target)
    source = f"(SELECT CAST('{value}' AS {stored}) AS x) t"
    return CON.execute(f"SELECT CAST({Compiler().sql(column)} AS VARCHAR) FROM {source}").fetchall()[0][0]


@pytest.mark.parametrize(
    ("value", "stored", "target", "wanted"),
    [
        ("12.5", "VARCHAR", types.BIGINT, "13"),
        (" 12 ", "VARCHAR", types.BIGINT, "12"),
        ("twelve", "VARCHAR", types.BIGINT, None),
        ("300", "BIGINT", types.TINYINT, None),
        ("300", "BIGINT", types.whole(0, 255), None),
        ("2.5", "DOUBLE", types.BIGINT, "2"),
        ("NaN", "DOUBLE", types.BIGINT, None),
        ("1e400", "VARCHAR", types.Float(), "inf"),
        ("nan", "VARCHAR", types.Float(), None),
        ("2.345", "DECIMAL(4,3)", types.decimal(3, 2), "2.35"),
        ("0.5", "DECIMAL(1,1)", types.Text(), "0.5"),
        ("-0.0", "DOUBLE", types.Text(), "0.0"),
        ("2021-02-29", "VARCHAR", types.Date(), None),
        ("2020-02-29", "VARCHAR", types.Date(), "2020-02-29"),
        ("infinity", "DATE", types.Timestamp(), None),
        ("2020-02-29 12:00:00", "TIMESTAMP", types.Time(), "12:00:00"),
        ("2", "BIGINT", types.Boolean(), "true"),
        ("true", "BOOLEAN", types.BIGINT, "1"),
        ("12345", "BIGINT", types.Text(3), "123"),
        ("x", "VARCHAR", types.Uuid(), None),
    ],
)
def test_a_cast(value, stored, target, wanted):
    assert cast(value, stored, target) == wanted


def test_what_cannot_be_converted_is_refused():
    with pytest.raises(Mistyped, match="a date cannot become a whole number"):
        build.bring(Variable("t", "d", types.Date()), types.BIGINT)
    with pytest.raises(Mistyped, match="this constant is no DATE"):
        build.bring(literals.text("tomorrow"), types.Date())


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("12", Constant(12, types.whole(12, 12))),
        ("0.50", Constant(50, types.Number(2, 50, 50))),
        ("1e3", Constant(1000.0, types.Float())),
        (".5", Constant(5, types.Number(1, 5, 5))),
    ],
)
def test_a_number_that_is_written_down(written, wanted):
    assert literals.number(written) == wanted


def test_a_number_of_39_digits_is_refused():
    with pytest.raises(Mistyped, match="too many digits"):
        literals.number("1" * 39)


@pytest.mark.parametrize(
    ("written", "kind", "wanted"),
    [
        ("1970-01-02", types.Date(), 1),
        ("1970-01-01 00:00:01", types.Timestamp(), 1_000_000),
        ("24:00:00", types.Time(), types.MICROSECONDS),
        ("yes", types.Boolean(), True),
        ("-Infinity", types.Float(), float("-inf")),
    ],
)
def test_text_that_is_written_beside_a_type(written, kind, wanted):
    assert literals.literal(written, kind).value == wanted


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        ("2021-02-29", types.Date()),
        ("24:00:01", types.Time()),
        ("maybe", types.Boolean()),
        ("x", types.Uuid()),
    ],
)
def test_text_that_means_nothing_is_refused(written, kind):
    with pytest.raises(Mistyped, match="this constant is no"):
        literals.literal(written, kind)


def test_values_of_a_policy():
    assert literals.of_python(Fraction(1, 4)) == Constant(25, types.Number(2, 25, 25))
    assert literals.of_python(Fraction(1, 3)) is None
    assert literals.of_python(True) == Constant(True, types.Boolean())


CHAINS = {
    "sum": (types.BIGINT, lambda e: build.apply("+", e, literals.number("1"))),
    "quotient": (types.BIGINT, lambda e: build.apply("//", literals.number("7"), e)),
    "root": (types.Float(nan=True), lambda e: build.apply("sqrt", e)),
    "floats": (types.Float(nan=True), lambda e: build.apply("+", e, literals.number("1e3"))),
    "days": (types.Date(), lambda e: build.apply("+", e, literals.number("1"))),
    "letters": (types.Text(), lambda e: build.apply("upper", e)),
    "words": (types.Text(), lambda e: build.apply("initcap", e)),
    "nullif": (types.Text(), lambda e: build.apply("nullif", e, literals.text("a"))),
    "members": (types.Boolean(), lambda e: build.apply("in", e, Variable("t", "x", types.Boolean()))),
    "between": (types.Boolean(), lambda e: build.apply("between", e, e, Variable("t", "x", types.Boolean()))),
    "not": (types.Boolean(), lambda e: build.apply("not", e)),
}


@pytest.mark.parametrize("name", CHAINS)
def test_what_is_nested_deeply_is_refused_soon_and_the_largest_accepted_is_bound_soon(name):
    kind, step = CHAINS[name]
    column = Variable("t", "x", kind)
    accepted, found = "", step(column)
    for _ in range(MOST_NESTED + 50):
        begun = time.process_time()
        try:
            accepted = Compiler().sql(found)
        except Mistyped as mistake:
            assert mistake.problem == "this expression is nested too deeply"  # noqa: PT017
            assert time.process_time() - begun < 0.5
            break
        found = step(found)
    else:
        pytest.fail("nothing was refused")
    stored = {types.Float: "DOUBLE", types.Date: "DATE", types.Text: "VARCHAR", types.Boolean: "BOOLEAN"}
    begun = time.process_time()
    CON.execute(f"SELECT {accepted} FROM (SELECT CAST(NULL AS {stored.get(type(kind), 'BIGINT')}) AS x) t")
    assert time.process_time() - begun < 1


def test_an_expression_that_is_used_again_and_again_is_refused_soon():
    found = Variable("t", "x", types.Float(nan=True))
    for _ in range(60):
        found = build.apply("*", found, found)
    begun = time.process_time()
    with pytest.raises(Mistyped, match="nested too deeply"):
        Compiler().sql(found)
    assert time.process_time() - begun < 0.5
