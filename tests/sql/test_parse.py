"""The text comes first: whatever it is, the answer is a tree or one line of refusal, quickly."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot.dialects.dialect import Dialect as Grammar

from recuse.errors import QueryError
from recuse.sql.arguments import refuse_dropped
from recuse.sql.compile import compile_query
from recuse.sql.parse import MAX_LENGTH, parse
from support.profiles import examples
from support.sql.shop import CATALOGUE, POLICY

SELECT = "SELECT COUNT(*) FROM orders"


def refused(text: str) -> QueryError:
    with pytest.raises(QueryError) as error:
        compile_query(text, POLICY, CATALOGUE)
    assert "\n" not in str(error.value)
    return error.value


@pytest.mark.parametrize("text", ["", " ", "\n\t", ";", "--", "/*", "'", '"', "\x00", "$$", "€", "(" * 50])
def test_texts_that_say_nothing(text):
    refused(text)


def test_ten_megabytes_are_refused_at_once():
    start = time.process_time()
    error = refused(SELECT + " WHERE o_id = 1" + " OR o_id = 2" * 900_000)
    assert time.process_time() - start < 1
    assert "too long" in error.problem


@pytest.mark.parametrize(
    "text",
    [
        SELECT + " WHERE " + "(" * 40_000 + "1" + ")" * 40_000,
        SELECT + " WHERE " + "(" * 30 + "o_id = 1" + ")" * 30,
        SELECT + " WHERE " + "NOT " * 20_000 + "TRUE",
        SELECT + " WHERE " + "- " * 20_000 + "1 = 1",
        SELECT + " WHERE o_id" + " + 1" * 20_000 + " = 1",
        SELECT + " WHERE " + "CASE WHEN " * 4_000 + "TRUE" + " THEN 1 END" * 4_000 + " = 1",
        SELECT + " WHERE " + "abs(" * 10_000 + "o_id" + ")" * 10_000 + " = 1",
        SELECT + " WHERE o_id" + "::BIGINT" * 10_000 + " = 1",
        SELECT + " WHERE " + "[" * 20_000 + "]" * 20_000 + " = 1",
        "SELECT COUNT(*) FROM " + "(SELECT * FROM " * 5_000 + "orders" + ")" * 5_000,
        SELECT + " UNION ALL " + " UNION ALL ".join([SELECT] * 2_000),
        "SELECT COUNT(*) FROM " + ", ".join(f"orders o{i}" for i in range(5_000)),
    ],
    ids=range(12),
)
def test_deep_and_wide_queries_are_refused(text):
    assert len(text) <= MAX_LENGTH
    refused(text)


def test_long_conditions_and_lists_are_fine():
    for condition in (
        " OR ".join(f"o_id = {i}" for i in range(2_000)),
        f"o_id IN ({', '.join(map(str, range(2_000)))})",
    ):
        compile_query(f"{SELECT} WHERE {condition}", POLICY, CATALOGUE)


def test_positions_are_counted_from_one_line_by_line():
    error = refused("SELECT COUNT(*)\nFROM orders\n  WHERE nobody = 1")
    assert (error.line, error.column, error.found) == (3, 9, "nobody")


WORDS = """
SELECT COUNT ( * ) SUM FROM WHERE orders item edges customer o_id o_total a b . , ; = < > + - / % AND OR NOT
IN EXISTS JOIN ON LEFT GROUP BY LIMIT UNION ALL CASE WHEN THEN END CAST AS BIGINT :: [ ] { } ? $1 ' " -- /* */
NULL TRUE 1 0.5 1e9 INTERVAL DAY DATE '1997-01-01' WITH RECURSIVE OVER PARTITION DISTINCT PIVOT UNNEST LATERAL
USING
"""
words = st.sampled_from(WORDS.split())


@settings(max_examples=examples(300))
@given(st.lists(words, max_size=25).map(" ".join) | st.text(max_size=60))
def test_any_text_is_a_query_or_a_refusal(text):
    try:
        compile_query(text, POLICY, CATALOGUE)
    except QueryError as error:
        message = str(error)
        if "\n" in message:
            raise AssertionError(message) from error


@settings(max_examples=examples(300))
@given(st.data())
def test_a_mutated_query_is_a_query_or_a_refusal(data):
    base = data.draw(
        st.sampled_from(
            [
                "SELECT COUNT(*) FROM edges a JOIN edges b ON a.dst = b.src WHERE a.src < b.dst",
                "SELECT SUM(CASE WHEN o_total > 0 THEN 2 * o_id END) FROM orders o, customer WHERE 1 = c_id",
            ]
        )
    )
    start = data.draw(st.integers(0, len(base)))
    end = data.draw(st.integers(start, min(len(base), start + 12)))
    insert = data.draw(words | st.text(max_size=3))
    try:
        compile_query(base[:start] + insert + base[end:], POLICY, CATALOGUE)
    except QueryError as error:
        message = str(error)
        if "\n" in message:
            raise AssertionError(message) from error


def test_what_sqlglot_warns_of_is_refused_and_nothing_is_printed():
    """A fresh process: pytest itself catches what is logged."""
    program = (
        "from recuse.sql.parse import parse\n"
        "try: parse('WITH x AS (SET a FROM orders) SELECT COUNT(*) FROM x')\n"
        "except Exception as error: print(type(error).__name__)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (ran.stdout.strip(), ran.stderr) == ("QueryError", "")


def test_parse_returns_the_tree():
    assert parse(SELECT).sql() == SELECT


def test_half_of_a_character_is_refused_before_a_ledger_sees_it():
    error = refused(f"{SELECT} WHERE o_id = '\ud800'")
    assert (error.line, error.column, error.found) == (1, len(SELECT) + 16, "'\\ud800'")
    str(error).encode()


def test_a_remark_changes_nothing():
    plain = (
        "SELECT year(o_date), COUNT(*) FROM orders WHERE o_id > 1 GROUP BY year(o_date) ORDER BY year(o_date)"
    )
    remarked = (
        "SELECT year(o_date) /* which */, COUNT(*) FROM orders -- all\n"
        "WHERE o_id /* one */ > 1 GROUP BY year(o_date /* day */) ORDER BY year(o_date) /* early first */"
    )
    assert compile_query(plain, POLICY, CATALOGUE) == compile_query(remarked, POLICY, CATALOGUE)


@pytest.mark.parametrize(
    ("call", "most"),
    [("quantile_cont(b, 0.5, 3)", 2), ("MOD(a, b, 3)", 2), ("lpad(s, 3, 'x', 'y')", 3), ("uuid(1)", 0)],
)
def test_an_argument_that_the_parser_drops_is_refused(call, most):
    with pytest.raises(QueryError, match=f"takes other arguments.*with {most} argument"):
        parse(f"SELECT {call} FROM t")


@pytest.mark.parametrize("grammar", ["duckdb", "postgres"])
def test_calls_that_engines_have_keep_their_arguments(grammar):
    written = [
        "date_trunc('month', d)", "date_diff('day', d, d)", "lpad(s, 3, 'x')", "coalesce(a, b, 3)",
        "regexp_replace(s, 'a', 'b', 'g')", "EXTRACT(YEAR FROM d)", "CAST(a AS DECIMAL(3, 2))",
        "string_agg(s, ',' ORDER BY a, b)", "a IN (1, 2, 3)", "COUNT(DISTINCT (a, b))", "substring(s, 1, 2)",
        "lag(a, 1, 0) OVER (PARTITION BY a, b)", "greatest(a, b, 3, 4)", "TRIM(BOTH 'x' FROM s)",
        "arg_max(a, b)", "quantile_cont(b, 0.5)", "quantile_cont(b, [0.25, 0.5, 0.75])", "round(a, 2)",
    ]  # fmt: skip
    for call in written:
        refuse_dropped(call, Grammar.get_or_raise(grammar).tokenize(call), grammar)
