"""`recuse data check`: what cannot be read is named by file, line and cell; what can be read is not."""

from __future__ import annotations

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recuse
from recuse.errors import DatabaseError
from recuse.policy import Policy
from support.profiles import examples
from support.school import FOUND, POLICY, make_school


@pytest.fixture
def school(tmp_path):
    return make_school(tmp_path)


def test_csv_by_line_and_cell(school):
    assert [str(found) for found in recuse.check(school, school.with_suffix(".toml"))] == FOUND
    assert [str(found) for found in recuse.check(school / "person.csv", Policy.parse(POLICY))] == FOUND
    untyped = [found for found in FOUND if "type" not in found]
    assert [str(found) for found in recuse.check(school)] == untyped


def test_a_database(tmp_path):
    path = tmp_path / "shop.db"
    with duckdb.connect(str(path)) as made:
        made.execute(
            "CREATE TABLE t AS SELECT i AS id, 'a' || i AS s, TIMESTAMP '2020-01-01' AS at FROM range(9) r(i)"
        )
        made.execute("CREATE VIEW v AS SELECT * FROM t")
        made.execute("CREATE TABLE nothing (x DECIMAL(4, 2))")
    assert list(recuse.check(path)) == []
    content = bytearray(path.read_bytes())
    place = content.find(b"a0a1") if b"a0a1" in content else content.rfind(b"a8")
    if place > 0:
        content[place] ^= 255
        path.write_bytes(content)
        assert {found.file for found in recuse.check(path)} <= {"t"}


def test_a_graph(tmp_path):
    (tmp_path / "g.txt").write_text("1 2\n2 3\n")
    assert list(recuse.check(tmp_path / "g.txt")) == []
    (tmp_path / "g.txt").write_text("1 2\n2\n")
    (found,) = recuse.check(tmp_path / "g.txt")
    assert "different numbers of columns" in found.problem
    with pytest.raises(DatabaseError, match="there is no"):
        list(recuse.check(tmp_path / "nowhere"))


GOOD = st.tuples(
    st.integers(0, 99).map(str),
    st.sampled_from(["ann", '"a, b"', '"say ""hi"""', ""]),
    st.integers(0, 9).map(str),
).map(",".join)
BAD = st.sampled_from(['1,"a,2', "1,a", "1,a,b", "1,a,2,3", "x,a,2", '1,"a"b,2'])


@settings(max_examples=examples(40))
@given(st.lists(st.tuples(st.booleans(), GOOD, BAD), max_size=12))
def test_exactly_the_bad_lines_are_named(tmp_path_factory, chosen):
    path = tmp_path_factory.mktemp("check") / "person.csv"
    path.write_text(
        "id,name,salary\n" + "".join((good if fine else bad) + "\n" for fine, good, bad in chosen)
    )
    named = sorted({found.line for found in recuse.check(path, Policy.parse(POLICY))})
    assert named == [number for number, (fine, *_) in enumerate(chosen, start=2) if not fine]
