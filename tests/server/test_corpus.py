"""Questions that the library refuses are refused by both doors too: with their words, and for nothing."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from support.serving import COUNT, waited

ANALYST = "tib"
FOLDER = Path(__file__).parents[1] / "sql" / "rewrites"
ODD = [
    "",
    ";",
    "SELECT",
    "SELECT COUNT(*) FROM pupil; DROP TABLE pupil",
    "COPY pupil TO '/tmp/x'",
    "ATTACH 'x'",
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT COUNT(*) FROM pupil, pg_catalog.pg_class",
    "WITH RECURSIVE t AS (SELECT 1 UNION ALL SELECT 1 FROM t) SELECT COUNT(*) FROM t",
    "(" * 400 + "SELECT 1" + ")" * 400,
    "SELECT " + "+".join("1" * 3000) + " FROM pupil",
    "SELECT COUNT(*) FROM pupil WHERE name = '" + "é\u202e\x07" * 500 + "'",
    "PRAGMA database_list",
    "SET memory_limit = '1GB'",
]


def corpus() -> list[str]:
    """Return what the library's own tests know to be refused, or to be hard to read."""
    files = (path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.txt")))
    written = (block.partition("\n  ")[0].strip() for text in files for block in text.split("\n\n"))
    return [*ODD, *list(dict.fromkeys(filter(None, written)))[::7]]


def state_of(client: psycopg.Connection, sql: str) -> str | None:
    """Return SQLSTATE of a statement."""
    try:
        client.execute(sql.encode())
    except psycopg.Error as error:
        return error.sqlstate
    return "00000"


def test_the_corpus_is_there():
    assert len(corpus()) > 30


def test_http_refuses_or_answers_and_never_fails(school, token):
    before = school.spent(ANALYST)
    with school.http(token) as tib:
        for sql in corpus():
            explained = tib.post("/explain", json={"sql": sql})
            assert explained.status_code in (200, 422), (sql, explained.text)
            if explained.status_code == 422:
                response = tib.post("/questions", json={"sql": sql, "epsilon": "0.001"})
                assert response.status_code == 422, (sql, response.text)
        assert school.spent(ANALYST) == before, "a refusal costs nothing"
        assert waited(tib, COUNT, "0.5")["state"] == "done"


def test_postgresql_does_too(school, place):
    before = school.spent(ANALYST)
    with psycopg.connect(**place, autocommit=True, options="-c recuse.epsilon=0.5") as client:
        for sql in corpus():
            if "\x00" not in sql:
                assert state_of(client, f"EXPLAIN {sql}") not in (None, "XX000"), sql
        assert school.spent(ANALYST) == before
        assert client.execute(COUNT).fetchone() is not None, "and goes on"


@pytest.mark.parametrize("sql", ODD[3:9])
def test_what_would_reach_further_is_refused(school, place, sql):
    before = school.spent(ANALYST)
    with psycopg.connect(**place, autocommit=True, options="-c recuse.epsilon=0.5") as client:
        with pytest.raises(psycopg.Error):
            client.execute(sql)
        assert school.spent(ANALYST) == before
