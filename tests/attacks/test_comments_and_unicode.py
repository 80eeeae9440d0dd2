"""Comments and Unicode: text that one parser reads as nothing and another runs.

Whatever is answered must mean to DuckDB, word for word, what it means to us; all else must be refused. And
the text itself must never reach the database.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

import duckdb
import pytest

from recuse.engines.binding import check_plan
from recuse.engines.collect import collect
from recuse.engines.duckdb import DuckDB
from recuse.errors import RecuseError
from recuse.sql.catalogue import Catalogue
from recuse.sql.compile import compile_query
from recuse.sql.plan import compiled_sql
from support.policies import about_people
from support.profiles import some

POLICY = about_people(("t", "who"))

ALL = "SELECT COUNT(*) FROM t"
TRICKS = [
    f"{ALL} -- WHERE who = 1",
    f"{ALL} --\n, secret",
    f"{ALL} /* a /* b */ , secret */",
    f"{ALL} /* a /* b */ */, secret",
    f"{ALL} WHERE s = 'a--b' OR s = 's1'",
    f"{ALL} WHERE s <> '/*' AND who < 3 AND s <> '*/'",
    f"{ALL} WHERE s = '''--' OR who = 1",
    f"{ALL} WHERE who = 1--1",
    f"{ALL} WHERE who =/**/1",
    f"{ALL} WHERE s = 'x\\' OR who = 2 OR s = '\\'",
    f"{ALL} WHERE s = E'\\'' OR who = 1",
    f"{ALL} WHERE s = $$x$$ OR who = 1",
    f"{ALL} WHERE s = $a$ ' $a$ OR who = 1",
    f"{ALL} WHERE s = 'a' 'b'",
    f"{ALL} WHERE s = 's1\x00' OR s = 's2'",
    f"{ALL} WHERE s = 's1\u200b' OR s = 's2'",
    f"{ALL} WHERE s = 'ſ1' OR s = 's2'",
    f"{ALL} WHERE lower(s) = lower('S\u0131')",
    f"{ALL}\x00, secret",
    f"{ALL}\x1a; DROP TABLE t",
    f"{ALL}\u200b",
    f"{ALL}\u2028, secret",
    f"{ALL}\u2028-- x\n",
    f"{ALL}\r-- x",
    f"{ALL}\u0085",
    f"{ALL}\ufeff",
    f"\ufeff{ALL}",
    f"{ALL} \u202e, t\u202c",
    f"{ALL}; {ALL}",
    f"{ALL}; -- {ALL}",
    f"{ALL};;",
    f"/* {ALL} */ SELECT COUNT(*) FROM secret",
    f"/*+ x */ {ALL}",
    f"/* epsilon = 0.5 */ {ALL}",
    f"{{# x #}} {ALL}",
    f"{ALL} {{{{ secret }}}}",
    "SELECT COUNT(*)\u00a0FROM\u3000t",
    "SELECT COUNT(*) FROM \uff54",
    "SELECT COUNT(*) FROM ｔ, secret",
    "SELECT COUNT(*) FROM `t`",
    "SELECT COUNT(*) FROM [t]",
    'SELECT COUNT(*) FROM "T" WHERE "WHO" = 1 AND who = "Who"',
    'SELECT COUNT("odd ""name") FROM t',
    'SELECT COUNT("ODD ""NAME") FROM t AS "secret"',
    'SELECT COUNT(*) FROM "t\x00"',
    'SELECT COUNT(*) FROM "t"" , secret --"',
    'SELECT COUNT(*) FROM t AS "a"" JOIN secret --"',
    'SELECT COUNT(*) FROM t AS "\'; DROP TABLE t; --"',
    "SELECT COUNT(*) FROM t WHERE who IN (1, 2) -- )",
    "SELECT COUNT(*) FROM t WHERE who = ١",
    "SELECT COUNT(*) FROM t WHERE who = 1_0 OR who = 1e0",
    "SELECT COUNT(*) FROM t WHERE who = 0x1",
    "ＳＥＬＥＣＴ COUNT(*) FROM t",
    "SELECT COUNT(*) FROM t WHERE s LIKE 's\\%' OR s LIKE 's_'",
    "SELECT COUNT(*) FROM t WHERE s = U&'\\0073\\0031'",
    "SELECT COUNT(*) FROM t WHERE s = x'7331' OR s = b'1'",
    "FROM t SELECT COUNT(*)",
    "EXPLAIN SELECT COUNT(*) FROM t",
    "SELECT COUNT(*) FROM t; COMMIT",
]


@pytest.fixture(scope="module")
def engine():
    made = duckdb.connect()
    made.execute('CREATE TABLE t AS SELECT i AS who, \'s\' || i AS s, i AS "odd ""name" FROM range(12) r(i)')
    made.execute("CREATE TABLE secret AS SELECT i AS x FROM range(1000) r(i)")
    with DuckDB.open(made) as opened:
        yield opened
    made.close()


@cache
def catalogue(engine: DuckDB) -> Catalogue:
    return engine.catalogue()


def recuses(engine: DuckDB, text: str) -> int | None:
    """Return the number that would be answered without noise, or None if the text is refused."""
    try:
        plan = compile_query(text, POLICY, catalogue(engine))
        check_plan(plan, engine)
    except RecuseError:
        return None
    ((relation,),) = collect(engine, plan)
    return relation.true_answer()


def duckdbs(engine: DuckDB, text: str) -> int | None:
    """Return what DuckDB itself answers to the text, or None if it does not read it as one SELECT."""
    connection = engine.connection.cursor()
    connection.execute("SET search_path = 'memory.main'")
    try:
        (statement,) = connection.extract_statements(text)
        return connection.sql(statement.query).fetchall()[0][0]
    except (duckdb.Error, ValueError, AttributeError, TypeError):
        return None


def stripping_comments(engine: DuckDB, text: str) -> int | None:
    """The broken twin: comments are cut out by patterns, and what is left is believed."""
    bare = re.sub(r"/\*.*?\*/|--[^\n]*", "", text, flags=re.DOTALL)
    return recuses(engine, bare.partition(";")[0].replace("\u200b", "").replace("\x00", ""))


def misread(reading: Callable[[DuckDB, str], int | None], engine: DuckDB, text: str) -> bool:
    """Return whether a text is answered that means something else to DuckDB."""
    found, meant = reading(engine, text), duckdbs(engine, text)
    return found is not None and meant is not None and found != meant


@pytest.mark.parametrize("text", some([*TRICKS], 0.5))
def test_a_text_means_what_duckdb_takes_it_to_mean_or_is_refused(engine, text):
    assert not misread(recuses, engine, text)


def test_the_twin_that_strips_comments_is_caught(engine):
    assert sum(misread(stripping_comments, engine, text) for text in TRICKS) >= 2


def test_names_that_are_texts_of_sql_stay_names(engine):
    """What runs is generated: the words of a question are in it as quoted names and literals only."""
    for text in TRICKS:
        try:
            plan = compile_query(text, POLICY, catalogue(engine))
        except RecuseError:
            continue
        for sql in compiled_sql(plan.measures):
            bare = re.sub(r"""'(?:[^']|'')*'|"(?:[^"]|"")*\"""", "", sql)
            assert not re.search(r"secret|DROP|--|/\*|;|\x00", bare), text
