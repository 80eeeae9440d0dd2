"""Hints that work: what is refused, what its hint says to write, and that this is answered.

`rewrites/*.txt` hold a question that is refused and, below it, the question that the hint leads to. Every
place in the sources that makes a refusal is met by one of them, or `UNMET` says why none can meet it.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import duckdb
import pytest

from recuse.engines.binding import check_plan
from recuse.errors import QueryError
from recuse.session.session import Session, connect
from recuse.sql import met
from recuse.sql.compile import compile_query
from recuse.sql.reasons import REASONS
from recuse.sql.refuse import CLAUSES
from support.profiles import examples
from support.sql.bazaar import POLICY, SCHEMA, catalogue, engine
from support.sql.refusals import Site, made_at, remember, sites, sites_at

HERE = Path(__file__).parent
WRITTEN = {
    question: rewrite
    for path in sorted((HERE / "rewrites").glob("*.txt"))
    for question, rewrite in (text.strip("\n").split("\n  ") for text in path.read_text().split("\n\n"))
}
LONG = "SELECT COUNT(*) FROM orders WHERE {}".format
MADE = {  # too long to be written down
    "": "SELECT COUNT(*) FROM orders",
    LONG("o_id IN (" + "1, " * 40_000 + "1)"): LONG("o_id IN (1, 2, 3)"),
    LONG("'\ud800' = 'x'"): LONG("'x' = 'x'"),
    LONG("(" * 21 + "o_id" + ")" * 21 + " = 1"): LONG("o_id = 1"),
    LONG("o_id" + " + 1" * 120 + " = 1"): LONG("(o_id + 1) + (1 + 1) = 1"),
    LONG("strftime(o_date, '" + "%Y" * 120 + "') = ''"): LONG("strftime(o_date, '%Y') = '1997'"),
    LONG("regexp_matches(CAST(o_id AS VARCHAR), '" + "a" * 1200 + "')"): LONG(
        "regexp_matches(CAST(o_id AS VARCHAR), 'a')"
    ),
    LONG("regexp_matches(CAST(o_id AS VARCHAR), '" + "a{100}" * 20 + "')"): LONG(
        "regexp_matches(CAST(o_id AS VARCHAR), 'a{100}')"
    ),
    LONG("regexp_matches(CAST(o_id AS VARCHAR), '" + "(" * 25 + "a" + ")" * 25 + "')"): LONG(
        "regexp_matches(CAST(o_id AS VARCHAR), '(a)')"
    ),
    "SELECT COUNT(*) FROM "
    + ", ".join(f"orders o{n}" for n in range(70)): "SELECT COUNT(*) FROM orders o1, orders o2",
    "SELECT a.a FROM " + ", ".join(f"t a{n}" for n in range(70)) + ", t a": "SELECT a.a FROM t b, t a",
    "SELECT COUNT(*) FROM ("
    + " UNION ALL ".join(["SELECT o_id FROM orders"] * 70)
    + ") d": "SELECT COUNT(*) FROM (SELECT o_id FROM orders UNION ALL SELECT o_id FROM orders) d",
}
REWRITES = {**WRITTEN, **MADE}
REFUSED = [
    text.strip("\n").split("\n")[0] for text in (HERE / "golden" / "refused.txt").read_text().split("\n\n")
]


PLACELESS = {"", *(text for text in MADE if len(text) > 100_000)}
"""what has no place: nothing is written, or too much"""
OVERLOAD = "a later form of a function: the words of its first form are shown"
GUARD = "sqlglot makes no such tree; if it ever does, it is refused"
BEFORE = "what is run as it is has been tried before, and refuses it in its own words"
UNMET = {
    ("scalars/growth.py", "and text is needed"): OVERLOAD,
    ("scalars/moving.py", "a whole number of units"): "the reader of INTERVAL refuses it before",
    ("scalars/numbers.py", "a whole number is needed"): OVERLOAD,
    ("sql/compile.py", "nested too deeply"): "depth is bounded when a text is parsed",
    ("sql/compile.py", "QueryError(problem"): GUARD,
    ("sql/elaborate.py", "takes another number of arguments"): GUARD,
    ("sql/elaborate.py", "this form of LIKE"): GUARD,
    ("sql/elaborate.py", "ESCAPE belongs to LIKE"): GUARD,
    ("sql/elaborate.py", "a value is made of one SELECT"): GUARD,
    ("sql/items.py", "refers to itself"): "DuckDB lets no view refer to itself",
    ("sql/met.py", "is not read"): "tables of PostgreSQL with rules of their own",
    ("sql/met.py", "reads too many tables"): "five hundred tables take long to read: below, with fewer",
    ("sql/named.py", "its definition cannot be read"): "DuckDB writes CREATE VIEW … AS",
    ("sql/native/asked.py", "an argument is missing"): GUARD,
    ("sql/native/calls.py", "has no window here"): GUARD,
    ("sql/native/calls.py", "takes other arguments"): GUARD,
    ("sql/native/lower.py", "is not written for"): "PostgreSQL alone",
    ("sql/native/read.py", "only a SELECT is understood"): GUARD,
    ("sql/native/read.py", "refers to itself"): "DuckDB lets no view refer to itself",
    ("sql/native/read.py", "error.hint"): "a view is read as rows first, and refused there",
    ("sql/native/read.py", "is older than its tables"): "a view is read as rows first, and refused there",
    ("sql/parse.py", "the query is not understood"): GUARD,
    ("sql/keys.py", "refusal(problem"): "a policy that grants δ: tests/sql/test_rollup.py asks it",
    ("sql/read.py", "not_answered"): "an aggregate is read before",
    ("sql/relations.py", "clause_span(group, 'GROUP BY'"): "groups are read in another way before",
    ("sql/relations.py", "'compare with a number'"): "every question can release",
    ("sql/scalar_subquery.py", "return one column"): BEFORE,
    ("sql/scalar_subquery.py", "a value is made of one SELECT"): BEFORE,
    ("sql/scalar_subquery.py", "compare with one MIN"): BEFORE,
    ("sql/scalar_subquery.py", "DECIMAL(18, 3)"): BEFORE,
    ("sql/scope.py", "this form of *"): BEFORE,
}
TABLED_UNMET = {
    "a subquery stands for a value inside an expression",
}
"""what is read wherever people write it, or has been refused in other words before"""


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    connection = duckdb.connect(":memory:", config={"threads": 1})
    connection.execute(SCHEMA)
    with connect(connection, POLICY) as found:
        yield found


@cache
def refused(text: str) -> QueryError:
    with pytest.MonkeyPatch.context() as patch:
        remember(patch)
        with pytest.raises(QueryError) as caught:
            compile_query(text, POLICY, catalogue())
    return caught.value


def met_by(text: str) -> set[Site]:
    """Return the places in the sources that made the refusal of a question."""
    return sites_at(made_at(refused(text)))


def test_what_is_refused_has_a_place_a_reason_and_a_hint():
    for text in REWRITES:
        error = refused(text)
        assert error.problem
        assert error.hint, text
        if error.line is None:
            assert text in PLACELESS
            continue
        written = text.splitlines()[error.line - 1][error.column - 1 :]
        assert written.startswith((error.found or "").split("\n")[0]) or not text.isascii(), text


def bound(text: str) -> None:
    check_plan(compile_query(text, POLICY, catalogue()), engine())


def test_a_rewrite_is_accepted_and_its_statements_are_bound():
    rewrites = sorted({*REWRITES.values()})
    for text in random.sample(rewrites, min(len(rewrites), examples(240))):
        bound(text)


@pytest.mark.slow  # every rewrite, one by one; the queries of TPC-H are timed in any run
def test_what_is_accepted_is_compiled_in_half_a_second():
    for text in sorted({*REWRITES.values()}):
        begun = time.process_time()
        compile_query(text, POLICY, catalogue())
        assert time.process_time() - begun < 0.5, text


@pytest.mark.slow  # every rewrite, where the one before takes some: what is bound is answered
@pytest.mark.parametrize("text", sorted({*REWRITES.values()}), ids=lambda text: text[:80])
def test_a_rewrite_is_asked_and_answered(text, session):
    assert session.ask(text, epsilon="0.5").rows


def test_a_hint_that_is_a_whole_query_is_answered_as_it_stands():
    hints = {refused(text).hint or "" for text in {*REFUSED, *REWRITES}}
    for hint in hints:
        if re.match(r"SELECT\b", hint):
            bound(hint)


def test_every_place_that_makes_a_refusal_is_met_by_a_question():
    met = {site for text in REWRITES for site in met_by(text)}
    unmet = {site for site in sites() - met if not any(site.is_called(known) for known in UNMET)}
    assert not unmet, "\n".join(map(str, sorted(unmet)))


def test_what_is_said_to_be_unmet_is_there_and_unmet():
    met = {site for text in REWRITES for site in met_by(text)}
    for known in UNMET:
        found = [site for site in sites() if site.is_called(known)]
        assert found, known
        assert not met & set(found), known


def test_a_query_reads_no_more_tables_than_are_read_in_time(monkeypatch, session):
    monkeypatch.setattr(met, "MAX_READ", 5)
    nation = "WITH n AS (SELECT n_id FROM nation) SELECT COUNT(*) FROM customer WHERE {}"
    often = " AND ".join(["c_nation IN (SELECT n_id FROM n)"] * 6)
    with pytest.raises(QueryError, match=r"reads too many tables.*use every CTE and view fewer times"):
        session.ask(nation.format(often), epsilon="0.5")
    assert session.ask(nation.format("c_nation IN (SELECT n_id FROM n)"), epsilon="0.5").rows


def test_every_clause_and_every_kind_of_expression_that_is_refused_is_met():
    said = {refused(text).problem for text in REWRITES}
    assert {problem for _, problem, _ in (*CLAUSES.values(), *REASONS)} - said == TABLED_UNMET


def test_whoever_lists_individuals_is_told_what_can_be_asked(session):
    for text in (
        "SELECT * FROM customer",
        "SELECT c_name FROM customer WHERE c_nation = 3 ORDER BY 1 LIMIT 5",
    ):
        error = refused(text)
        assert "would list individuals" in error.problem
        assert session.ask(error.hint, epsilon="0.5").rows
    for text in (
        "SELECT c_id, COUNT(*) FROM customer GROUP BY c_id",
        "SELECT COUNT(*) FROM item GROUP BY i_supplier",
    ):
        assert refused(text).problem == "every group would be an individual"


def test_every_refusal_says_what_to_do():
    for text in REFUSED:
        error = refused(text)
        assert error.hint or error.accepted, text
