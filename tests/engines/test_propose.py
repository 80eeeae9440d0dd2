"""What a sample of CSV files suggests: types, keys, references by name and by values."""

from __future__ import annotations

from contextlib import closing
from fractions import Fraction

import pytest

from recuse.engines.open import open_engine
from recuse.engines.propose import contained, proposed, type_of, typical_size
from recuse.sql.catalogue import ForeignKey


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", None, "-3"], "BIGINT"),
        (["01", "2"], "VARCHAR"),
        (["1.50", "2"], "DECIMAL(18, 2)"),
        (["1e5", "2.5"], "DOUBLE"),
        (["0.1234567"], "DOUBLE"),
        (["00.1234567"], "VARCHAR"),
        (["2026-02-03"], "DATE"),
        (["2026-02-03 10:00:00"], "TIMESTAMP"),
        (["true", "FALSE"], "BOOLEAN"),
        (["1", "x"], "VARCHAR"),
        ([None], "VARCHAR"),
        ([], "VARCHAR"),
    ],
)
def test_a_type_is_what_all_values_have(values, kind):
    assert type_of(values) == kind


@pytest.mark.parametrize(
    ("values", "size"),
    [
        (["49.90", "60", "7"], 20),
        (["49.90", "60"], 20),
        (["50", "60"], 50),
        (["0.07", "0.3", "0.0"], "0.05"),
        (["1e400", "1e-400", "-3"], 2),
    ],
)
def test_a_typical_size_is_the_middle_one_rounded_down(values, size):
    assert typical_size(values) == Fraction(size)


def test_numbers_without_a_size_have_no_typical_one():
    assert typical_size(["0", None, "1e999999999"]) is None


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "customers.csv").write_text("id,postcode\n1,01234\n2,99999\n3,00001\n")
    (tmp_path / "orders.csv").write_text("id,customer_id,total\n1,1,2.50\n2,1,-1\n3,3,0\n")
    (tmp_path / "friend.csv").write_text("a,b,since\n1,2,2020\n2,3,2021\n1,3,2022\n1,3,2022\n")
    return tmp_path


def test_references_are_found_by_name_and_by_values(folder):
    with closing(open_engine(folder)) as engine:
        found = proposed(engine.catalogue(), folder)
    customers, orders, friend = (found.table(name) for name in ("customers", "orders", "friend"))
    assert customers.keys == orders.keys == (("id",),)
    assert friend.keys == ()
    assert customers.column("postcode").type == "VARCHAR"
    assert [(key.columns, key.target) for key in orders.foreign_keys] == [(("customer_id",), "customers")]
    assert not orders.column("total").nonnegative
    assert friend.column("since").nonnegative
    assert (orders.column("total").typical, friend.column("since").typical) == (1, 2000)
    assert customers.column("postcode").typical is None
    (by_value,) = contained(found, folder, "customers")
    assert by_value.table == "friend"
    assert by_value.keys == tuple(ForeignKey((name,), "customers", ("id",)) for name in "ab")
    assert list(contained(found, folder, "friend")) == []
