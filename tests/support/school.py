"""A CSV file in which six places cannot be read, its policy, and what is said of them."""

from __future__ import annotations

from pathlib import Path

POLICY = """
[[protect]]
table = "person"
key = ["id"]

[columns.person]
id = "BIGINT"
salary = "INTEGER"

[budget]
epsilon = 10
"""
PERSON = b'id,name,salary\n1,ann,5\n2,"bob,7\n3,cy,x\n4,\xff,6\r\n\n5,a,b,c\n6,d\n7,"x"y,9\n8,"e, f",\n'
FOUND = [
    "person.csv, line 3, name: a quote is not closed in its line",
    "person.csv, line 4, salary: not of type INT",
    "person.csv, line 5, name: not UTF-8",
    "person.csv, line 7: more cells than the header names",
    "person.csv, line 8: fewer cells than the header names",
    "person.csv, line 9, name: something follows a closing quote",
]


def make_school(folder: Path) -> Path:
    """Return a folder with the file; the policy lies beside it."""
    school = folder / "school"
    school.mkdir()
    (school / "person.csv").write_bytes(PERSON)
    school.with_suffix(".toml").write_text(POLICY)
    return school
