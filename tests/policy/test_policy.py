"""Policies: what is read from TOML is what a Python object says, and every mistake names its line and fix."""

from __future__ import annotations

import contextlib
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.errors import PolicyError
from recuse.policy import ColumnType, Key, KeyItem, Link, Policy, Protect, Public
from recuse.privacy import Epsilon

SHOP = """
[[protect]]                    # every row of this table is one participant
table = "customer"
key = ["c_custkey"]

[[protect]]
kind = "person"

[[link]]
table = "orders"
column = ["o_custkey"]
to = "customer"

[[link]]
table = "lineitem"
column = ["l_orderkey"]
to = "orders"

[[link]]
table = "gift"
any = [["giver"], ["taker"]]
to = "person"

[[public]]
table = "nation"

[[key]]
table = "orders"
column = ["o_orderkey"]

[columns.orders]
o_orderkey = "BIGINT"
"o date" = "DATE"

[budget]
epsilon = 0.1

[sum]
granularity = 0.01
"""


def test_a_text_is_read_as_the_object_it_describes():
    assert Policy.parse(SHOP) == Policy(
        protect=(Protect.rows("customer", "c_custkey"), Protect.virtual("person")),
        links=(
            Link.all("orders", "o_custkey", to="customer"),
            Link.all("lineitem", "l_orderkey", to="orders"),
            Link.any("gift", ("giver",), ("taker",), to="person"),
        ),
        public=(Public("nation"),),
        keys=(Key("orders", ("o_orderkey",)),),
        columns=(ColumnType("orders", "o_orderkey", "BIGINT"), ColumnType("orders", "o date", "DATE")),
        budget=Epsilon.of("0.1"),
        granularity=Fraction(1, 100),
    )


def test_every_entry_remembers_its_line():
    policy = Policy.parse(SHOP)
    lines = SHOP.splitlines()
    entries = [*policy.protect, *policy.links, *policy.public, *policy.keys]
    assert all(entry.line is not None for entry in entries)
    assert [lines[entry.line - 1].split(" = ")[0] for entry in entries] == ["table", "kind", *["table"] * 5]
    assert [lines[column.line - 1] for column in policy.columns] == [
        'o_orderkey = "BIGINT"',
        '"o date" = "DATE"',
    ]


def test_names_are_looked_up_in_any_case():
    policy = Policy.parse(SHOP)
    assert policy.protected_table("CUSTOMER") is not None
    assert policy.virtual_kind("Person") is not None
    assert policy.is_public("Nation")
    assert policy.links_of("ORDERS")[0].to == "customer"
    assert policy.keys_of("Orders") == (("o_orderkey",),)
    assert policy.types_of("Orders") == {"o_orderkey": "BIGINT", "o date": "DATE"}
    assert [name for name, _ in policy.tables()] == ["customer", "orders", "lineitem", "gift", "nation"]


@pytest.mark.parametrize("text", ["least(src, dst)", " GREATEST( src ,dst ) ", "src", "a column"])
def test_a_key_item_is_a_column_or_a_choice_of_two(text):
    item = KeyItem.of(text)
    assert KeyItem.of(str(item)) == item


PERSON = '[[protect]]\nkind = "person"\n'
MISTAKES = [
    block.split("--\n") for block in (Path(__file__).parent / "mistakes.txt").read_text().split("====\n")
]


@pytest.mark.parametrize(("text", "message"), MISTAKES)
def test_a_mistake_names_its_line_and_the_fix(text, message):
    with pytest.raises(PolicyError) as error:
        Policy.parse(text)
    assert str(error.value) == message.rstrip()


@pytest.mark.parametrize("name", ["absent.toml", "folder", "binary.toml"])
def test_a_file_that_cannot_be_read_is_an_error_of_one_line(tmp_path, name):
    (tmp_path / "folder").mkdir()
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(PolicyError, match=name) as error:
        Policy.read(tmp_path / name)
    assert "\n" not in str(error.value)


@given(st.text(max_size=200) | st.text(alphabet='[]"=\n abcdeklintpruoy{}.,01#', max_size=120))
def test_any_text_is_a_policy_or_a_policy_error(text):
    with contextlib.suppress(PolicyError):
        Policy.parse(text)


@given(st.integers(0, 9), st.sampled_from([1, 2, 5, 25, 125]))
def test_granularities_are_read_exactly(places, digit):
    text = f"{digit / 10**places:.12f}" if places else str(digit)
    granularity = Policy.parse(PERSON + f"[sum]\ngranularity = {text}").granularity
    assert granularity == Fraction(text)
    assert (10**9 / granularity).denominator == 1
