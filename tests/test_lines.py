"""CSV line by line: no line has an influence on how another is read, whatever the bytes are."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import duckdb
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import recuse
from recuse import blocks, lines
from recuse.blocks import batches, header
from recuse.engines.duckdb import DuckDB
from recuse.errors import DatabaseError
from recuse.lab.experiments.engine import OLD
from recuse.lines import Format, cells
from recuse.policy import Policy
from support.profiles import examples

FORM = Format(",", ("a", "b", "c"))
NARROW = Format("\t", ("a",))
PIECES = st.sampled_from(
    [
        *(b'"', b'""', b",", b"\n", b"\r", b"\r\n", b"1", b"x", b"\xff", b"\xc3\xa9", b"\x00", b" ", b"\t"),
        *(b"\\", b"1,2,3\n", b'"q,r",2,"3"\n', b'"q"r,2,3\n'),
    ]
)
TEXTS = st.lists(PIECES, max_size=25).map(b"".join) | st.binary(max_size=30)
LINES = TEXTS.map(lambda text: text.replace(b"\n", b"").replace(b"\r", b""))
Row = tuple[str | None, ...]


def read(content: bytes, form: Format) -> Counter[Row]:
    """Return the rows of a file with a header, as they are read."""
    found: Counter[Row] = Counter()
    whole = form.delimiter.join(form.names).encode() + b"\n" + content
    for batch in batches(BytesIO(whole), form, form.names):
        found.update(zip(*(column.to_pylist() for column in batch.columns), strict=True))
    return found


def judged(content: bytes, form: Format) -> Counter[Row]:
    """Return the rows of lines by the rule alone, byte by byte."""
    found: Counter[Row] = Counter()
    for line in content.replace(b"\r", b"\n").split(b"\n"):
        row = [_decoded(cell) for cell in _cells(line, ord(form.delimiter))] if line else []
        if 0 < len(row) <= len(form.names):
            found[(*row, *[None] * (len(form.names) - len(row)))] += 1
    return found


def _cells(line: bytes, delimiter: int) -> list[bytes | None]:
    found: list[bytes | None] = []
    place = 0
    while True:
        cell = bytearray()
        if line[place : place + 1] == b'"':
            place += 1
            while True:
                if place == len(line):
                    return [*found, None]
                if line[place] == ord('"'):
                    place += 1
                    if line[place : place + 1] != b'"':
                        break
                cell.append(line[place])
                place += 1
        while place < len(line) and line[place] != delimiter:
            cell.append(line[place])
            place += 1
        found.append(bytes(cell))
        if place == len(line):
            return found
        place += 1


def _decoded(cell: bytes | None) -> str | None:
    try:
        return (cell or b"").decode() or None
    except UnicodeDecodeError:
        return None


@settings(max_examples=examples(400))
@given(TEXTS, st.sampled_from([FORM, NARROW]), st.sampled_from([1, 2, 5, 7, blocks.BLOCK]))
@example(b'\t"1,2,3\n""\n', NARROW, 7)
@example(b'1,2,3\n4,"5\n6,7",8\n', FORM, 1 << 20)
@example(b'1,2,3\n4,5,"6\n', FORM, 1 << 20)
def test_a_file_is_read_by_the_rule(content, form, block):
    kept = blocks.BLOCK
    blocks.BLOCK = block
    try:
        assert read(content, form) == judged(content, form)
    finally:
        blocks.BLOCK = kept


@settings(max_examples=examples(300))
@given(st.lists(LINES, max_size=6), st.lists(LINES, max_size=6))
def test_the_rows_of_two_parts_are_those_of_the_whole(first, second):
    """The neighbour law: a file without somebody's lines has exactly the rows of the others."""
    whole, left, right = (b"".join(line + b"\n" for line in part) for part in (first + second, first, second))
    assert read(whole, FORM) == read(left, FORM) + read(right, FORM)


@pytest.mark.parametrize("length", [lines.MAX_LINE, lines.MAX_LINE + 1, 3 * blocks.BLOCK])
def test_a_line_that_is_too_long_is_no_row(length):
    long = b"1,2," + b"9" * (length - 4)
    expected = {("a", "b", "c"): 1, ("d", "e", "f"): 1}
    found = read(b"a,b,c\n" + long + b"\nd,e,f\n", FORM)
    assert {row: count for row, count in found.items() if len(row[2]) < 9} == expected
    assert found.total() == (3 if length <= lines.MAX_LINE else 2)


def test_what_cannot_be_read_is_named():
    assert cells(b'1,"x"y,z', FORM) == (["1", "xy", "z"], [lines.Unread(1, lines.BEHIND)])
    assert cells(b"1,\xff,z", FORM) == (["1", None, "z"], [lines.Unread(1, lines.NOT_TEXT)])
    assert cells(b"1", FORM) == (["1", None, None], [lines.Unread(None, lines.TOO_FEW)])
    assert cells(b"1,2,3,4", FORM) == (None, [lines.Unread(None, lines.TOO_MANY)])
    assert cells(b"", FORM) == (None, [])


def test_a_header_that_never_ends_is_refused(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"a" * (lines.MAX_LINE + 1))
    with pytest.raises(DatabaseError, match="header"):
        header(tmp_path / "t.csv", ",")


# ------------------------------------------------------------------ through the engine, and the broken twin

POLICY = Policy.parse(
    '[[protect]]\ntable = "t"\nkey = ["id"]\n[columns.t]\nid = "BIGINT"\nx = "INTEGER"\n[engine]\nthreads = 1'
)
SELECTED = (
    "SELECT id, x, s FROM memory.main.t",
    "SELECT count(*) FROM memory.main.t",
    "SELECT count(*) FROM memory.main.t WHERE x IS NOT NULL",
    "SELECT sum(x) FROM memory.main.t WHERE s = 'a'",
)
HEAD = b"id,x,s\n"


def now(folder: Path) -> list[list[Row]]:
    """Return what the statements select from a folder."""
    with DuckDB.open(folder, POLICY) as engine:
        return [_sorted(table.to_pylist()) for table in engine.run(SELECTED)]


def twin(folder: Path) -> list[list[Row]]:
    """Return the same with the options with which DuckDB read CSV files before."""
    with duckdb.connect() as connection:
        connection.execute(
            f"CREATE VIEW t AS SELECT TRY_CAST(id AS BIGINT) AS id, TRY_CAST(x AS INTEGER) AS x, s FROM "
            f"read_csv('{folder / 't.csv'}', delim = ',', "
            f"columns = {{'id': 'VARCHAR', 'x': 'VARCHAR', 's': 'VARCHAR'}}, {OLD})"
        )
        return [_sorted(connection.sql(sql).to_arrow_table().to_pylist()) for sql in SELECTED]


def _sorted(rows: Sequence[dict[str, object]]) -> list[Row]:
    return sorted((tuple(row.values()) for row in rows), key=str)


def rows_of(reader, content: bytes) -> list[Row]:
    """Return the rows of a file, and insist that all statements agree on them."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "t.csv").write_bytes(HEAD + content)
        rows, ((count,),), ((known,),), ((total,),) = reader(Path(folder))
    assert count == len(rows)
    assert known == sum(x is not None for _, x, _ in rows)
    assert (total or 0) == sum(x for _, x, s in rows if s == "a" and x is not None)
    return rows


def lawful(reader, before: bytes, line: bytes, after: bytes) -> bool:
    """Return whether one person's line leaves all others as they are without it."""
    try:
        whole, rest = rows_of(reader, before + line + b"\n" + after), rows_of(reader, before + after)
    except (AssertionError, duckdb.Error):
        return False
    return not Counter(rest) - Counter(whole) and len(whole) - len(rest) <= 1


@settings(max_examples=examples(60))
@given(LINES)
@example(b'7,"1')
@example(b"x,1,a")
@example(b"7,1,\xff")
@example(b'7,1,"a')
def test_one_line_changes_no_other(line):
    assert lawful(now, b"1,1,a\n2,x,a\n", line, b'3,5,"a"\n4,7,b\n')


def test_a_question_is_answered(tmp_path):
    """Row B3 of the issue, through `ask`: with ε this large there is no noise to speak of."""
    lines_of = [f"{i},{i % 7},a\n".encode() for i in range(200)]
    policy = Policy.parse(
        '[[protect]]\ntable = "t"\nkey = ["id"]\n[budget]\nepsilon = 1000\n[columns.t]\nid = "INT"'
    )
    for name, line in {"good": b"", "bad": b'7,"1\n'}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "t.csv").write_bytes(HEAD + b"".join([*lines_of[:9], line, *lines_of[9:]]))
        with recuse.connect(tmp_path / name, policy) as session:
            assert abs(session.ask("SELECT COUNT(*) FROM t", 100).value - 200) <= 1


def test_the_law_catches_the_twin():
    """With DuckDB's reader an unclosed quote swallows all that follows, and a bad cell its row."""
    assert not lawful(twin, b"1,1,a\n", b'7,1,"a', b'3,5,"a"\n4,7,b\n')
    assert not lawful(twin, b"1,1,a\n", b"2,x,a", b"3,5,a\n")
    assert not lawful(twin, b"1,1,a\n", b"7,1,\xff", b"3,5,a\n")
