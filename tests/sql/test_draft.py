"""`recuse init`: a policy drafted from the catalogue alone, which fits the database it was drafted from."""

from __future__ import annotations

import contextlib

import duckdb
import pytest

from recuse.engines.duckdb import DuckDB
from recuse.errors import PolicyError
from recuse.policy import Policy
from recuse.sql.draft import draft
from recuse.sql.ownership import Linked, ProtectedTable, PublicTable, own

SCHEMA = """
CREATE TABLE nation (id INTEGER PRIMARY KEY);
CREATE TABLE customer (id INTEGER PRIMARY KEY, nation INTEGER REFERENCES nation (id));
CREATE TABLE shop (city INTEGER, number INTEGER, PRIMARY KEY (city, number));
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER REFERENCES customer (id), city INTEGER,
    number INTEGER, FOREIGN KEY (city, number) REFERENCES shop (city, number));
CREATE TABLE line (id INTEGER PRIMARY KEY, "order" INTEGER REFERENCES orders (id));
CREATE TABLE friend (a INTEGER REFERENCES customer (id), b INTEGER REFERENCES customer (id));
CREATE TABLE "odd ""name" (x INTEGER);
CREATE VIEW v AS SELECT * FROM orders;
"""


@pytest.fixture
def engine():
    made = duckdb.connect(":memory:")
    made.execute(SCHEMA)
    with contextlib.closing(made), contextlib.closing(DuckDB.open(made)) as opened:
        yield opened


def decided(text: str) -> Policy:
    """Return the draft with every undecided table made public."""
    return Policy.parse(text.replace("# [[public]]\n# table", "[[public]]\ntable"))


def test_a_draft_follows_references_and_asks_about_the_rest(engine):
    text = "\n".join(draft(engine.catalogue(), ["customer"]))
    assert "# Is nation about nobody?" in text
    assert text.rstrip().endswith("epsilon = 10")
    as_is = own(Policy.parse(text), engine.catalogue())
    assert isinstance(as_is.of("customer"), ProtectedTable)
    assert as_is.of("nation") is None, "an undecided table is never silently public"
    full = own(decided(text), engine.catalogue())
    assert isinstance(full.of("nation"), PublicTable)
    assert isinstance(full.of('odd "name'), PublicTable)
    orders, friend, line = full.of("orders"), full.of("friend"), full.of("line")
    assert isinstance(orders, Linked)
    assert isinstance(friend, Linked)
    assert isinstance(line, Linked)
    assert [hop.target for hop in orders.hops] == ["customer"]
    assert [hop.alternatives for hop in friend.hops] == [(("a",),), (("b",),)]
    assert [hop.target for hop in line.hops] == ["orders"]
    assert Policy.parse(text).budget is not None


def test_several_kinds_composite_keys_and_named_keys(engine):
    both = own(decided("\n".join(draft(engine.catalogue(), ["customer", "shop"]))), engine.catalogue())
    orders, shop = both.of("orders"), both.of("shop")
    assert isinstance(orders, Linked)
    assert isinstance(shop, ProtectedTable)
    assert {hop.target for hop in orders.hops} == {"customer", "shop"}
    assert len(shop.key) == 2
    named = own(decided("\n".join(draft(engine.catalogue(), ["friend.a,b"]))), engine.catalogue())
    friend = named.of("friend")
    assert isinstance(friend, ProtectedTable)
    assert [str(item) for item in friend.key] == ["a", "b"]


@pytest.mark.parametrize("wish", ["costumer", "friend", "customer.name", "v", ""])
def test_what_cannot_be_protected_is_refused(engine, wish):
    with pytest.raises(PolicyError) as error:
        list(draft(engine.catalogue(), [wish]))
    assert error.value.hint or error.value.accepted


def test_the_template_of_a_link_needs_its_marks_removed_and_a_column(tmp_path):
    (tmp_path / "pupil.csv").write_text("id,school\n1,2\n")
    (tmp_path / "mark.csv").write_text("pupil,points\n1,2\n")
    with DuckDB.open(tmp_path) as engine:
        text = "\n".join(draft(engine.catalogue(), ["pupil.id"], typed=engine.untyped))
        assert own(Policy.parse(text), engine.catalogue()).of("mark") is None
        before, _, template = text.partition("# [[link]]\n")
        lines = [line.removeprefix("# ") for line in template.splitlines()]
        edited = Policy.parse("\n".join([before, "[[link]]", *lines]))
        mark = own(edited, engine.catalogue()).of("mark")
    assert isinstance(mark, Linked)
    assert [(hop.alternatives, hop.target) for hop in mark.hops] == [((("pupil",),), "pupil")]


def test_a_file_gets_its_column_types_to_edit(tmp_path):
    (tmp_path / "pupil.csv").write_text("id,year of birth\n1,2000\n")
    with DuckDB.open(tmp_path) as engine:
        text = "\n".join(draft(engine.catalogue(), ["pupil.id"], typed=engine.untyped))
        policy = Policy.parse(text)
    assert policy.types_of("pupil") == {"id": "VARCHAR", "year of birth": "VARCHAR"}
    with DuckDB.open(tmp_path, policy) as engine:
        own(policy, engine.catalogue())
