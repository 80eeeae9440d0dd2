"""What Superset, Metabase, DBeaver, Tableau and Power BI write, as their public sources and logs show it.

Superset itself was tried by hand with the questions that are here; the others were not.
"""

from __future__ import annotations

import psycopg
import pytest

from support.serving import COUNT

ANALYST = "bi"
MONTH = """DATE_TRUNC('month', "public"."pupil"."born")"""
QUESTIONS = {
    "Superset, a number": "SELECT COUNT(*) AS count \nFROM public.pupil \n LIMIT 1000",
    "Superset, a filter by time": "SELECT COUNT(*) AS n FROM public.pupil "
    "WHERE born >= TO_DATE('2014-01-01', 'YYYY-MM-DD') AND born < TO_DATE('2027-01-01', 'YYYY-MM-DD')",
    "Superset, a dataset that is a query": "SELECT SUM(years) AS s FROM (SELECT age AS years FROM pupil\n) "
    "AS virtual_table \n LIMIT 1000",
    "Metabase, a number": "-- Metabase:: userID: 1 queryType: MBQL queryHash: 0\n"
    'SELECT COUNT(*) AS "count" FROM "public"."pupil"',
    "Metabase, by month": f'SELECT {MONTH} AS "born", COUNT(*) AS "count" FROM "public"."pupil" '
    f"""WHERE "public"."pupil"."born" BETWEEN date '2015-01-01' AND date '2015-03-31' """
    f"GROUP BY {MONTH} ORDER BY {MONTH} ASC",
    "Metabase, distinct": 'SELECT COUNT(distinct "public"."friendship"."a") AS "count" '
    'FROM "public"."friendship"',
    "Metabase, a join": 'SELECT COUNT(*) AS "count" FROM "public"."friendship" JOIN "public"."pupil" AS "P" '
    'ON "public"."friendship"."a" = "P"."id"',
    "Metabase, values of a field": 'SELECT "public"."town"."name" AS "name" FROM "public"."town" '
    'GROUP BY "public"."town"."name" ORDER BY "public"."town"."name" ASC LIMIT 1000',
    "Tableau": 'SELECT SUM("pupil"."age") AS "sum:age:ok" FROM "public"."pupil" "pupil" '
    "HAVING (COUNT(1) > 0)",
    "Power BI": 'select count(*) as "a0" from ( select "_"."id" from "public"."pupil" "_" ) "rows"',
}


@pytest.mark.parametrize("sql", QUESTIONS.values(), ids=QUESTIONS)
def test_what_a_tool_writes_is_answered(client, sql):
    assert client.execute(sql).fetchall()


def test_a_schema_is_no_other_question(school, client):
    first, before = client.execute(COUNT).fetchone(), school.spent(ANALYST)
    assert client.execute('SELECT COUNT(*) AS "n" FROM "public"."pupil"').fetchone() == first
    assert school.spent(ANALYST) == before


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM other.pupil",
        'SELECT COUNT(*) FROM "public"."pupil" AS p WHERE "public"."pupil"."age" > 9',
        "SELECT COUNT(*) FROM pupil WHERE born > TO_DATE('2015-13-01', 'YYYY-MM-DD')",
        "SELECT COUNT(*) FROM pupil WHERE born > TO_DATE('01/02/2015', 'MM/DD/YYYY')",
        'SELECT * FROM "public"."pupil" LIMIT 200',
    ],
)
def test_what_means_something_else_is_refused(school, client, sql):
    before = school.spent(ANALYST)
    with pytest.raises(psycopg.Error) as found:
        client.execute(sql)
    assert found.value.sqlstate == "0A000"
    assert school.spent(ANALYST) == before
