"""What `recuse check` finds: each kind of finding once, and nothing where all is well."""

from __future__ import annotations

import pytest

from recuse.policy import Policy
from recuse.session.findings import findings

POLICY = """
[[protect]]
table = "person"
key = ["id"]
[[key]]
table = "visit"
column = ["id"]
[[link]]
table = "visit"
column = ["person"]
to = "person"
[[public]]
table = "staff"
[columns.person]
id = "BIGINT"
[columns.visit]
id = "BIGINT"
person = "BIGINT"
[budget]
epsilon = 1
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "person.csv").write_text("id\n1\n2\n")
    (tmp_path / "visit.csv").write_text("id,person\n1,1\n2,2\n")
    (tmp_path / "staff.csv").write_text("id,room\n1,r1\n")
    return tmp_path


def found(folder) -> list[str]:
    return sorted(str(one) for one in findings(folder, Policy.parse(POLICY)))


def test_nothing_is_found_where_all_is_well(folder):
    assert found(folder) == []


def test_links_that_dangle_keys_that_repeat_and_tables_that_are_not_mentioned(folder):
    (folder / "visit.csv").write_text("id,person\n1,1\n1,7\n3,\n4,8\n")
    (folder / "diary.csv").write_text("x\n1\n")
    assert found(folder) == [
        "key       visit: (id): declared unique, but 2 rows share 1 values",
        "link      visit: (person) → person: 2 rows name nothing there, and count for nothing",
        "unsaid    diary: the policy does not mention it: no question may touch it",
    ]


def test_public_columns_that_are_called_or_look_like_somebody(folder):
    people = [f"Anna{chr(97 + n)} Berg{chr(97 + n)}" for n in range(24)]
    rows = "".join(f"{name},{n},a{n}@b.org,n{n}\n" for n, name in enumerate(people))
    (folder / "staff.csv").write_text("who,home_phone,contact,room\n" + rows)
    assert found(folder) == [
        "public    staff: contact looks like e-mail addresses",
        "public    staff: home_phone is called as if it were about people",
        "public    staff: who looks like names of people",
    ]
