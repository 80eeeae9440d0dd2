"""The count of accepted questions: what aggregates, what lists rows, and why a question is refused."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from recuse.engines.bare import bare
from recuse.lab.experiments.acceptance import Form, form_of, questions, reasons, table, verdicts

SCHEMA = "CREATE TABLE person (id INTEGER PRIMARY KEY, age INTEGER, town VARCHAR);"
POLICY = '[[protect]]\ntable = "person"\nkey = ["id"]\n'
TEXTS = {
    "SELECT COUNT(*) FROM person": Form.AGGREGATE,
    "SELECT COUNT(*) FILTER (WHERE age > 3) / COUNT(*) FROM person": Form.AGGREGATE,
    "SELECT town, COUNT(*) FROM person GROUP BY town": Form.AGGREGATE,
    "SELECT AVG(n) FROM (SELECT town, COUNT(*) AS n FROM person GROUP BY town) t": Form.AGGREGATE,
    "SELECT * FROM (SELECT COUNT(*) FROM person) a, (SELECT SUM(age) FROM person) b": Form.AGGREGATE,
    "WITH t AS (SELECT town, COUNT(*) AS n FROM person GROUP BY town) SELECT n FROM t": Form.AGGREGATE,
    "SELECT COUNT(*) FROM person UNION ALL SELECT SUM(age) FROM person": Form.AGGREGATE,
    "SELECT (SELECT COUNT(*) FROM person) - (SELECT SUM(age) FROM person)": Form.AGGREGATE,
    "SELECT age FROM person WHERE age > (SELECT AVG(age) FROM person)": Form.ROWS,
    "SELECT town FROM person GROUP BY town": Form.ROWS,
    "SELECT COUNT(*) OVER () FROM person": Form.ROWS,
    "SELECT COUNT(*) FROM nobody": Form.FOREIGN,
    "SELECT COUNT(*) FROM person WHERE": Form.FOREIGN,
}


@pytest.mark.parametrize("text", TEXTS)
def test_what_a_question_asks_for(text):
    with closing(bare()) as made:
        made.execute(SCHEMA)
        assert form_of(text, made) is TEXTS[text]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for place in ("one", "two"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "schema.sql").write_text(SCHEMA)
        (tmp_path / place / "policy.toml").write_text(POLICY)
        (tmp_path / place / "queries.sql").write_text(
            "-- A a title\nSELECT COUNT(*)\nFROM person;\n-- B\nSELECT random() + COUNT(*) FROM person\n"
            "-- C\nSELECT id FROM person\n-- D\nSELECT COUNT(*) FROM nobody\n"
        )
    return tmp_path


def test_a_file_of_questions_is_read_by_their_titles():
    assert list(questions("-- A\nSELECT 1\n-- B2 and more\nSELECT\n2\n")) == [
        ("A", "SELECT 1"),
        ("B2", "SELECT\n2"),
    ]


def test_folders_are_counted_together_and_refusals_by_reason(folder):
    every = list(verdicts(folder))
    assert [verdict.name for verdict in every] == ["A", "B", "C", "D"] * 2
    assert [verdict.refusal is None for verdict in every[:3]] == [True, False, False]
    _, _, row = table([("both", every)])
    assert row == "| both | 8 | 6 | 2 | 4 | 2 | 50 % |"
    _, _, reason = reasons(every)
    assert reason.endswith("| 2 | one B |")
