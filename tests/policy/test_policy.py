"""Policies: what is read from TOML is what a Python object says, and every mistake names its line and fix."""

from __future__ import annotations

from fractions import Fraction

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
CUSTOMER = '[[protect]]\ntable = "customer"\nkey = ["id"]\n'
SECTIONS = "[[protect]], [[link]], [[public]], [[key]], [columns], [budget], [sum]"

MISTAKES = {
    "": 'the policy protects nobody; hint: begin with [[protect]], then table = "person" and key = ["id"]',
    '[[public]]\ntable = "nation"': 'the policy protects nobody; hint: begin with [[protect]], then table = "person" '
    'and key = ["id"]',
    "[[protect]\n": "policy line 1: not TOML: expected ']]' at the end of an array declaration",
    '[[protekt]]\ntable = "a"': f"policy line 1: unknown section [protekt]; accepted: {SECTIONS}; "
    "hint: did you mean 'protect'?",
    "epsilon = 1": f"policy line 1: unknown section [epsilon]; accepted: {SECTIONS}",
    '[protect]\ntable = "a"': "policy line 1: protect is a list of sections; hint: write [[protect]] in double brackets",
    PERSON
    + "[[budget]]\nepsilon = 1": "policy line 3: budget is one section; hint: write [budget] in single brackets",
    '[[protect]]\ntable = "a"': "policy line 1: [protect] needs 'key'; accepted: a list of columns; "
    'hint: key = ["column"]',
    '[[protect]]\ntable = "a"\nkey = []': "policy line 2: protected table a has no key; "
    'hint: say which columns name a participant: key = ["id"]',
    '[[protect]]\ntable = "a"\nkey = "id"': "policy line 3: 'key' of [protect] is of the wrong type; found: id; "
    'accepted: a list of columns; hint: key = ["column"]',
    '[[protect]]\ntable = "a"\nkey = ["id", "id"]': "policy line 2: the key of a repeats a column; found: a(id, id)",
    '[[protect]]\ntable = "a"\nkey = ["max(x, y)"]': "policy line 2: a key is made of columns; found: max(x, y); "
    'accepted: "column", "least(a, b)", "greatest(a, b)"',
    '[[protect]]\ntable = "a"\nkind = "b"\nkey = ["id"]': "policy line 3: [[protect]] has both a kind and a table; "
    "hint: a protected table's kind is its name: leave kind out; a kind alone needs no table",
    '[[protect]]\nkind = "b"\nkey = ["id"]': "policy line 3: [protect] has no field 'key'; accepted: kind",
    "[[protect]]\nkind = 3": "policy line 2: 'kind' of [protect] is of the wrong type; found: 3; "
    'accepted: a name in quotes; hint: kind = "name"',
    PERSON + PERSON: "policy line 4: person is protected twice; hint: keep one of the two",
    CUSTOMER
    + '[[public]]\ntable = "CUSTOMER"': "policy line 5: table CUSTOMER is both public and about participants; "
    "hint: remove [[public]], or its [[protect]] and [[link]] entries",
    CUSTOMER
    + PERSON
    + '[[link]]\ntable = "customer"\ncolumn = ["x"]\nto = "person"': "policy line 7: table customer is "
    "protected and has a link; hint: choose one: its rows are participants ([[protect]]), or belong to some ([[link]])",
    PERSON
    + '[[public]]\ntable = "person"': "policy line 4: person is a table and a virtual kind; hint: protect the "
    'table itself (table = "person" and its key), or rename the kind',
    PERSON
    + '[[link]]\ntable = "e"\ncolumn = ["x"]\nto = "persons"': "policy line 4: e links to persons, which is "
    "neither protected nor linked; hint: did you mean 'person'?",
    PERSON
    + '[[link]]\ntable = "a"\ncolumn = ["x"]\nto = "b"\n[[link]]\ntable = "b"\ncolumn = ["x"]\nto = "a"': "policy "
    "line 4: the links go round in a circle; found: a → b → a; hint: a chain of links must end at a protected table: "
    "remove one of them",
    PERSON
    + '[[link]]\ntable = "a"\ncolumn = ["x"]\nto = "a"': "policy line 4: the links go round in a circle; "
    "found: a → a; hint: a chain of links must end at a protected table: remove one of them",
    PERSON
    + '[[link]]\ntable = "a"\ncolumn = ["x"]\nany = [["y"]]\nto = "person"': "policy line 6: [[link]] has both "
    "column and any; hint: column: the row needs this owner; any: one of several owners is enough",
    PERSON
    + '[[link]]\ntable = "a"\nany = ["x"]\nto = "person"': "policy line 5: 'any' of [link] is of the wrong type; "
    'found: [\'x\']; accepted: a list of lists of columns; hint: any = [["a"], ["b"]]',
    PERSON
    + '[[link]]\ntable = "a"\nany = [["x"], ["y", "z"]]\nto = "person"': "policy line 4: the alternatives of the "
    "link a → person have different numbers of columns; found: a(x) or a(y, z) → person; "
    'hint: give each alternative the columns of one key: any = [["a"], ["b"]]',
    CUSTOMER
    + '[[link]]\ntable = "a"\ncolumn = ["x", "y"]\nto = "customer"': "policy line 5: the link a → customer has 2 "
    "columns, the key there has 1; hint: name one column for each column of the key, in its order",
    PERSON
    + '[[public]]\ntable = "n"\n[[public]]\ntable = "n"': "policy line 6: the same entry stands twice; "
    "found: n; hint: keep one",
    PERSON + "[sum]\ngranularity = 0.03": "policy line 4: the granularity cannot be used; found: 3/100; "
    "accepted: a positive decimal that divides a power of ten, such as 0.01, 0.5, 1 or 1000",
    PERSON + "[sum]\ngranularity = -1": "policy line 4: the granularity cannot be used; found: -1; "
    "accepted: a positive decimal that divides a power of ten, such as 0.01, 0.5, 1 or 1000",
    PERSON
    + "[sum]\ngranularity = inf": "policy line 4: 'granularity' of [sum] is of the wrong type; found: Infinity; "
    "accepted: a number; hint: granularity = 0.01",
    PERSON
    + "[sum]\ngranularity = true": "policy line 4: 'granularity' of [sum] is of the wrong type; found: True; "
    "accepted: a number; hint: granularity = 0.01",
    PERSON
    + "[budget]\nepsilon = 0": "policy line 4: the budget is out of range; found: 0; accepted: 0.000001 to 1000",
    PERSON
    + '[columns]\norders = "BIGINT"': "policy line 4: [columns] holds one section a table; found: orders; "
    'hint: write [columns.TABLE], then column = "SQL TYPE"',
    PERSON
    + "[columns.orders]\nid = 3": "policy line 4: 'id' of [columns.orders] is of the wrong type; found: 3; "
    'accepted: a name in quotes; hint: id = "name"',
}


@pytest.mark.parametrize(("text", "message"), MISTAKES.items(), ids=range(len(MISTAKES)))
def test_a_mistake_names_its_line_and_the_fix(text, message):
    with pytest.raises(PolicyError) as error:
        Policy.parse(text)
    assert str(error.value) == message


def test_a_file_that_cannot_be_read_is_an_error_of_one_line(tmp_path):
    for make in (lambda path: None, lambda path: path.mkdir(), lambda path: path.write_bytes(b"\xff\xfe")):
        path = tmp_path / f"policy{len(list(tmp_path.iterdir()))}.toml"
        make(path)
        with pytest.raises(PolicyError) as error:
            Policy.read(path)
        assert "\n" not in str(error.value)


@given(st.text(max_size=200) | st.text(alphabet='[]"=\n abcdeklintpruoy{}.,01#', max_size=120))
def test_any_text_is_a_policy_or_a_policy_error(text):
    try:
        Policy.parse(text)
    except PolicyError as error:
        assert "\n" not in str(error)


@given(st.integers(0, 9), st.sampled_from([1, 2, 5, 25, 125]))
def test_granularities_are_read_exactly(places, digit):
    text = f"{digit / 10**places:.12f}" if places else str(digit)
    granularity = Policy.parse(PERSON + f"[sum]\ngranularity = {text}").granularity
    assert granularity == Fraction(text)
    assert (10**9 / granularity).denominator == 1
