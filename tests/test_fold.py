"""Names are folded as DuckDB folds them: it is asked, for tables, columns, aliases and CTEs."""

from __future__ import annotations

import ast

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.fold import fold, same
from support.profiles import some
from support.sources import MODULES, SOURCE, parsed

ALIKE = ["kK\u212a", "sS\u017f", "iI\u0130\u0131", "åÅ\u212b", "äÄ", "ßẞ", "σςΣ", "ω\u2126Ω", "µμ", "ﬀ"]
"""letters that some rule of Unicode takes for one"""
PAIRS = [(one, other) for group in ALIKE for one in group for other in group]
QUESTIONS = [
    "SELECT 1 FROM {quoted} WHERE FALSE",
    "SELECT 1 FROM {plain} WHERE FALSE",
    "SELECT {quoted} FROM named",
    "SELECT {plain} FROM named",
    'SELECT {quoted}.x FROM (SELECT 1 AS x) AS "{one}"',
    'SELECT {plain}.x FROM (SELECT 1 AS x) AS "{one}"',
    'WITH "{one}" AS (SELECT 1) SELECT * FROM {quoted}',
    'SELECT {quoted} FROM (SELECT 1 AS "{one}") t',
    'SELECT * FROM (SELECT 1 AS "{one}") a JOIN (SELECT 1 AS {quoted}) b USING ({quoted})',
]


@pytest.mark.parametrize(("one", "other"), some([*PAIRS], 0.4))
def test_two_names_are_one_exactly_if_they_are_to_duckdb(one, other):
    with duckdb.connect(":memory:") as connection:
        connection.execute(f'CREATE TABLE "{one}" (x INTEGER); CREATE TABLE named ("{one}" INTEGER)')
        for question in QUESTIONS:
            try:
                connection.execute(question.format(one=one, quoted=f'"{other}"', plain=other))
                found = True
            except duckdb.Error:
                found = False
            assert found is same(one, other), question


@given(st.text())
def test_a_folded_name_is_as_long_and_stays_as_it_is(name):
    assert len(fold(name)) == len(name)
    assert fold(fold(name)) == fold(name)
    assert fold(name).encode() == name.encode().lower(), "bytes know ASCII only"


OTHER_WORDS = {
    "cli": "file names",
    "lab": "names of mechanisms",
    "dbapi/text.py": "a truth value",
    "engines/check.py": "file names",
    "engines/duckdb.py": "file names and messages",
    "engines/duckdb_catalogue.py": "words of a definition",
    "engines/files.py": "file names",
    "engines/postgres_catalogue.py": "types",
    "engines/propose.py": "file names",
    "engines/spark_catalogue.py": "types",
    "engines/spark_place.py": "the scheme of an address",
    "engines/postgres_place.py": "the scheme of an address",
    "graphs/graphml.py": "truth values",
    "graphs/matrix.py": "words of a header",
    "graphs/read.py": "file names",
    "messages.py": "words of a message",
    "policy/terms.py": "least and greatest",
    "policy/toml.py": "the first letter of a message",
    "policy/engine.py": "units",
    "privacy.py": "digits",
    "scalars/logic.py": "operators and truth values, in SQL",
    "scalars/literals.py": "truth values and exponents",
    "scalars/moving.py": "units",
    "scalars/integers.py": "types",
    "scalars/postgres/spelling.py": "types",
    "scalars/regular.py": "letters of a pattern",
    "scalars/spark/spelling.py": "types",
    "scalars/types.py": "types",
    "scalars/units.py": "units",
    "server/http/guard.py": "the type of a body",
    "server/postgres": "keywords, settings and truth values of the protocol",
    "session/check.py": "file names",
    "session/domain.py": "truth values",
    "session/findings.py": "types",
    "session/place.py": "file names",
    "session/plot.py": "file names",
    "sql/columns.py": "units",
    "sql/dense.py": "units",
    "sql/reasons.py": "functions",
    "sql/narrow.py": "keywords",
    "sql/postgres.py": "functions and exponents",
    "sql/parse.py": "letters that look like others",
    "sql/position.py": "keywords",
    "sql/read.py": "keywords",
    "sql/native/frames.py": "keywords",
    "sql/native/picks.py": "the name of a function, for a message",
    "sql/refuse.py": "keywords",
    "sql/sets.py": "keywords",
    "sql/spoken.py": "names of functions",
}
"""where Unicode may fold, and what"""


def test_nothing_else_folds_names():
    found = set()
    for path in MODULES:
        for node in ast.walk(parsed(path)):
            called = node.func if isinstance(node, ast.Call) and not node.args else None
            if isinstance(called, ast.Attribute) and called.attr in ("lower", "upper", "casefold"):
                found.add(path.relative_to(SOURCE).as_posix())
    allowed = tuple(OTHER_WORDS)
    assert [name for name in sorted(found) if not name.startswith(allowed)] == []
