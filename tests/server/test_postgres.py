"""The PostgreSQL door, with the clients that people use; each is skipped where it is not installed."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import threading
import time
from contextlib import suppress
from datetime import date
from fractions import Fraction

import pytest

from support.serving import COUNT

psycopg = pytest.importorskip("psycopg")


ANALYST = "pg"


def test_psycopg_asks_in_text_and_in_binary(school, client):
    notices = []
    client.add_notice_handler(lambda said: notices.append((said.message_primary, said.message_detail)))
    before = school.spent("pg")
    ((text,),) = client.execute(COUNT).fetchall()
    ((binary,),) = client.execute(COUNT, binary=True).fetchall()
    assert isinstance(text, int)
    assert text == binary, "asked before"
    assert school.spent("pg") - before == Fraction(1, 2)
    assert notices[0][0].startswith("epsilon 0.5 charged, ")
    assert notices[0][1].startswith("n: noise ")
    assert notices[1][0].startswith("asked before: free, ")


def test_parameters_are_literals(school, client):
    sql = "SELECT COUNT(*) AS n FROM pupil WHERE age > %s AND sex = %s AND born < %s"
    cursor = client.execute(sql, (8, "f", date(2020, 1, 1)), prepare=True)
    assert isinstance(cursor.fetchone()[0], int)
    before = school.spent("pg")
    client.execute("SELECT COUNT(*) AS n FROM pupil WHERE age > 8 AND sex = 'f' AND born < DATE '2020-01-01'")
    assert school.spent("pg") == before, "it is the same question"


def test_groups_intervals_and_types(client):
    client.execute("SET recuse.intervals = on")
    cursor = client.execute("SELECT sex, COUNT(*) AS n, AVG(age) AS a FROM pupil GROUP BY sex ORDER BY sex")
    assert [column.name for column in cursor.description] == [
        "sex",
        "n",
        "n_low",
        "n_high",
        "a",
        "a_low",
        "a_high",
    ]
    rows = cursor.fetchall()
    assert [row[0] for row in rows] == ["f", "m"]
    assert [type(value) for value in rows[0][:2]] == [str, int]
    assert cursor.description[4].type_code == psycopg.adapters.types["float8"].oid
    assert isinstance(rows[0][4], float | None), "so few pupils may have no average"


def test_describing_costs_nothing(school, client):
    before = school.spent("pg")
    with client.cursor() as cursor:
        found = client.pgconn.prepare(b"d", b"SELECT COUNT(*) AS n FROM pupil WHERE age > $1")
        assert found.status == psycopg.pq.ExecStatus.COMMAND_OK
        described = client.pgconn.describe_prepared(b"d")
        assert (described.fname(0), described.ftype(0), described.param_type(0)) == (b"n", 20, 20)
        cursor.execute("EXPLAIN SELECT COUNT(*) FROM pupil")
        assert "pupil" in str(cursor.fetchall())
    assert school.spent("pg") == before


def test_a_refusal_has_state_place_detail_and_hint(school, client):
    before = school.spent("pg")
    with pytest.raises(psycopg.errors.UndefinedTable) as found:
        client.execute("SELECT COUNT(*)\nFROM pupils")
    said = found.value.diag
    assert (said.message_primary, said.message_hint) == ("there is no table pupils", "did you mean pupil?")
    assert said.statement_position in ("22", None)
    for sql, state in [
        ("DELETE FROM pupil", "25006"),
        ("SET recuse.epsilon = -1", "22023"),
        ("SET recuse.nothing = 1", "42704"),
        ("SHOW nothing", "42704"),
        ("SELECT COUNT(*) FROM pupil, pg_catalog.pg_class", "0A000"),
        ("/* epsilon = 1000 */ SELECT COUNT(*) FROM friendship", "53400"),
    ]:
        with pytest.raises(psycopg.Error) as found:
            client.execute(sql)
        assert found.value.sqlstate == state, sql
    assert school.spent("pg") == before


def test_without_an_epsilon_nothing_is_asked_but_what_is_free(school, place):
    before = school.spent("pg")
    with psycopg.connect(**place, autocommit=True) as made:
        with pytest.raises(psycopg.errors.InvalidParameterValue, match="what may the answer cost"):
            made.execute(COUNT)
        assert made.execute("SELECT name FROM town ORDER BY name").fetchall() == [("Aa",), ("Bb",)]
        assert made.execute("SELECT 1").fetchall() == [(1,)]
    assert school.spent("pg") == before


def test_settings_are_shown_and_a_limit_is_kept(school, client):
    assert client.execute("SHOW recuse.epsilon").fetchone() == ("0.5",)
    assert Fraction(client.execute("SHOW recuse.remaining").fetchone()[0]) > 0
    client.execute("SET recuse.limit = 0.3")
    before = school.spent("pg")
    with pytest.raises(psycopg.errors.ConfigurationLimitExceeded, match="may not spend"):
        client.execute("SELECT COUNT(*) FROM friendship")
    client.execute("/* epsilon = 0.2 */ SELECT COUNT(*) FROM friendship")
    with pytest.raises(psycopg.errors.ConfigurationLimitExceeded):
        client.execute("/* epsilon = 0.2 */ SELECT COUNT(*) FROM friendship WHERE a > 1")
    assert school.spent("pg") - before == Fraction(1, 5)


def test_tables_of_ours(school, client):
    assert client.execute("SELECT * FROM recuse.budget").fetchone()[0] == "1000"
    history = client.execute("SELECT * FROM recuse.history").fetchall()
    book = school.book()
    assert len(history) == len([charge for charge in book.history() if charge.analyst == "pg"])
    book.close()
    assert dict(client.execute("SELECT * FROM recuse.policy").fetchall())["town"].startswith("public")


def test_transactions_are_accepted_and_charges_stay(school, place):
    notices = []
    with psycopg.connect(**place, options="-c recuse.epsilon=0.25") as made:
        made.add_notice_handler(lambda said: notices.append(said.message_primary))
        before = school.spent("pg")
        made.execute("SELECT COUNT(*) FROM pupil WHERE age > 9")
        made.rollback()
        assert notices[-1] == "charges stay"
        assert school.spent("pg") - before == Fraction(1, 4)
        with pytest.raises(psycopg.errors.UndefinedTable):
            made.execute("SELECT COUNT(*) FROM nothing")
        with pytest.raises(psycopg.errors.InFailedSqlTransaction):
            made.execute(COUNT)
        made.rollback()
        made.execute("SAVEPOINT a")
        made.execute(COUNT)
        made.commit()


def test_one_question_is_copied(client):
    with client.cursor().copy("COPY (SELECT sex, COUNT(*) AS n FROM pupil GROUP BY sex) TO STDOUT") as copy:
        rows = [line.split("\t") for line in b"".join(copy).decode().splitlines()]
    assert {row[0] for row in rows} == {"f", "m"}
    with client.cursor().copy(
        "COPY (SELECT sex, COUNT(*) AS n FROM pupil GROUP BY sex) TO STDOUT (FORMAT binary)"
    ) as copy:
        copy.set_types(["text", "int8"])
        assert sorted((sex, str(n)) for sex, n in copy.rows()) == sorted(map(tuple, rows))
    with pytest.raises(psycopg.Error), client.cursor().copy("COPY pupil TO STDOUT") as copy:
        list(copy)


def test_whoever_cancels_stops_waiting_and_has_paid(school, place):
    """It is cancelled as soon as it is charged; one that was answered before that is followed by another."""
    with psycopg.connect(**place, autocommit=True, options="-c recuse.epsilon=0.125") as made:

        def cancelled(sql, before):
            def once_charged():
                until = time.monotonic() + 60
                while school.spent("pg") == before and time.monotonic() < until:
                    time.sleep(0.01)
                made.cancel_safe(timeout=30)

            thread = threading.Thread(target=once_charged)
            thread.start()
            try:
                made.execute(sql)
            except psycopg.errors.QueryCanceled as error:
                return str(error)
            finally:
                thread.join()
            return ""

        for age in range(10, 40):
            sql, before = f"SELECT COUNT(*) FROM pupil WHERE age > {age}", school.spent("pg")
            if said := cancelled(sql, before):
                break
        assert "a charge stays" in said
        assert school.spent("pg") - before == Fraction(1, 8)
        while True:  # it is on its way until its slot ends, and then it is free
            with suppress(psycopg.errors.TooManyConnections):
                assert made.execute(sql).fetchone() is not None
                break
        assert school.spent("pg") - before == Fraction(1, 8)


@pytest.mark.parametrize("change", [{"password": "rcs_0_0"}, {"user": "nobody"}, {"dbname": "other"}])
def test_who_is_not_known_is_told_one_thing(place, change):
    with pytest.raises(psycopg.OperationalError) as found:
        psycopg.connect(**(place | change))
    assert "who asks is not known" in str(found.value)


def test_a_token_that_is_revoked_ends_an_open_connection_at_its_next_question(school, place):
    token = school.token("left")
    with psycopg.connect(**(place | {"user": "left", "password": token}), autocommit=True) as made:
        made.execute("SET recuse.epsilon = 0.5")
        book = school.book()
        book.tokens().revoke(token.split("_")[1])
        book.close()
        with pytest.raises(psycopg.Error) as found:
            made.execute(COUNT)
        assert found.value.sqlstate == "28P01"
    assert school.spent("left") == 0


def test_asyncpg_asks_with_parameters(school, token):
    asyncpg = pytest.importorskip("asyncpg")

    async def run():
        made = await asyncpg.connect(
            host="127.0.0.1", port=school.ports["postgres"], user="pg", password=token, database="school",
            server_settings={"recuse.epsilon": "0.5"}, ssl=False,
        )  # fmt: skip
        try:
            count = await made.fetchval(COUNT)
            older = await made.fetchval("SELECT COUNT(*) AS n FROM pupil WHERE age > $1", 8)
            rows = await made.fetch("SELECT sex, COUNT(*) AS n FROM pupil GROUP BY sex")
        finally:
            await made.close()
        return count, older, rows

    count, older, rows = asyncio.run(run())
    assert (type(count), type(older), {row["sex"] for row in rows}) == (int, int, {"f", "m"})


def test_psycopg2_asks(place):
    psycopg2 = pytest.importorskip("psycopg2")
    made = psycopg2.connect(**place, options="-c recuse.epsilon=0.5")
    with made.cursor() as cursor:
        cursor.execute("SELECT COUNT(*) AS n FROM pupil WHERE age > %s", (8,))
        assert isinstance(cursor.fetchone()[0], int)
        assert "left" in made.notices[0]
    made.close()


def test_pg8000_asks(school, token):
    pg8000 = pytest.importorskip("pg8000.native")
    made = pg8000.Connection(
        "pg", host="127.0.0.1", port=school.ports["postgres"], password=token, database="school"
    )
    made.run("SET recuse.epsilon = 0.5")
    assert isinstance(made.run(COUNT)[0][0], int)
    assert isinstance(made.run("SELECT COUNT(*) AS n FROM pupil WHERE age > :a", a=8)[0][0], int)
    made.close()


def test_sqlalchemy_and_pandas_ask(school, token):
    sqlalchemy, pandas = pytest.importorskip("sqlalchemy"), pytest.importorskip("pandas")
    url = f"postgresql+psycopg://pg:{token}@127.0.0.1:{school.ports['postgres']}/school"
    engine = sqlalchemy.create_engine(url, connect_args={"options": "-c recuse.epsilon=0.5"})
    with engine.connect() as made:
        asked = sqlalchemy.text("SELECT sex, COUNT(*) AS n FROM pupil WHERE age > :a GROUP BY sex")
        frame = pandas.read_sql_query(asked, made, params={"a": 7})
    engine.dispose()
    assert (list(frame.columns), set(frame["sex"])) == (["sex", "n"], {"f", "m"})


def test_psql_shows_answer_notice_caret_and_hint(school, token):
    psql = shutil.which("psql")
    if psql is None:
        pytest.skip("psql is not installed")

    def run(sql):
        place = f"host=127.0.0.1 port={school.ports['postgres']} user=pg dbname=school"
        found = subprocess.run(
            [psql, "-X", "-A", "-t", f"{place} options='-c recuse.epsilon=0.5'", "-c", sql],
            env={"PGPASSWORD": token, "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        return found.stdout, found.stderr

    out, notice = run(COUNT)
    assert out.strip().lstrip("-").isdigit()
    assert "left" in notice
    assert "DETAIL:  n: noise" in notice
    _, refused = run("SELECT COUNT(*) FROM pupils")
    assert "ERROR:  there is no table pupils" in refused
    assert "HINT:  did you mean pupil?" in refused
    assert refused.splitlines()[2].index("^") == refused.splitlines()[1].index("pupils")
