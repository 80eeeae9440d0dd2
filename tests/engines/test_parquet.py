"""Parquet: a cell that cannot be read is NULL, affects no other, and nothing raises."""

from __future__ import annotations

import random
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import recuse
from recuse.engines.duckdb import DuckDB
from recuse.engines.parquet import readable
from recuse.policy import Policy
from recuse.session.check import check
from support.profiles import some


def raw(kind: pa.DataType, values: list[int], stored: type) -> pa.Array:
    """Return an array with any bits in it."""
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(np.array(values, stored))])


def text(*values: bytes) -> pa.Array:
    ends = np.cumsum([0, *map(len, values)]).astype(np.int32)
    return pa.Array.from_buffers(
        pa.string(), len(values), [None, pa.py_buffer(ends), pa.py_buffer(b"".join(values))]
    )


def decimals(digits: int, *values: int) -> pa.Array:
    stored = b"".join(value.to_bytes(16, "little", signed=True) for value in values)
    return pa.Array.from_buffers(pa.decimal128(digits, 2), len(values), [None, pa.py_buffer(stored)])


DAY = 86_400_000_000
LAST = 2**63 - 1
CELLS = {
    "text": (text(b"a", b"\xff\xfe", b"c"), "not UTF-8"),
    "time": (raw(pa.time64("us"), [1, DAY + 1, DAY], np.int64), "a time beyond its day"),
    "time in milliseconds": (raw(pa.time32("ms"), [1, -5, 7], np.int32), "a time beyond its day"),
    "timestamp in milliseconds": (
        raw(pa.timestamp("ms"), [1, 2**62, -1], np.int64),
        "a timestamp out of range",
    ),
    "timestamp": (raw(pa.timestamp("us"), [1, -(2**63), LAST], np.int64), "a timestamp out of range"),
    "decimal": (decimals(4, 1, 12_345_678, -9_999), "a number with more digits than its type"),
    "wide decimal": (decimals(9, 1, -(10**9), 10**9 - 1), "a number with more digits than its type"),
}
POLICY = Policy.parse('[[protect]]\ntable = "t"\nkey = ["id"]\n[budget]\nepsilon = 1000')
NULLS = "SELECT id FROM memory.main.t WHERE x IS NULL"
KNOWN = "SELECT id, CAST(x AS VARCHAR) FROM memory.main.t WHERE x IS NOT NULL"


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32()])
@pytest.mark.parametrize("condition", ["x = 0", "x > 5", "x <> 0", "x BETWEEN 0 AND 1", "NOT x < 1"])
def test_what_holds_of_nan_does_not_depend_on_other_rows(kind, condition, tmp_path):
    """The statistics of a file leave NaN out, and DuckDB trusts them: without a gate all NaN = 0 in a
    file of zeros, until somebody with a 6 joins."""
    told = []
    for others in ([0.0, -0.0], [0.0, 6.0]):
        folder = tmp_path / str(len(told))
        folder.mkdir()
        column = pa.array([float("nan"), *others], kind)
        pq.write_table(pa.table({"id": [1, 2, 3], "x": column}), folder / "t.parquet")
        with DuckDB.open(folder, POLICY) as engine:
            (found,) = engine.run([f"SELECT id FROM memory.main.t WHERE id = 1 AND {condition}"])
            told.append(found.num_rows)
    assert told[0] == told[1] == (condition in ("x > 5", "x <> 0", "NOT x < 1"))


def written(folder: Path, column: pa.Array) -> Path:
    table = pa.table({"id": [1, 2, 3], "x": column})
    pq.write_table(table, folder / "t.parquet", store_decimal_as_integer=True)
    return folder


@pytest.mark.parametrize("name", CELLS)
def test_a_cell_that_cannot_be_read_is_null_and_is_named(name, tmp_path):
    column, problem = CELLS[name]
    with DuckDB.open(written(tmp_path, column)) as engine:
        for _ in range(2):
            nulls, known = engine.run([NULLS, KNOWN])
            assert nulls["id"].to_pylist() == [2]
            assert known["id"].to_pylist() == [1, 3]
    assert [str(found) for found in check(tmp_path)] == [f"t.parquet, row 2, x: {problem}"]


@pytest.mark.parametrize("name", CELLS)
def test_the_rows_of_others_are_the_same_without_it(name, tmp_path):
    """The neighbour law: what is selected of a file is what is selected of its rows by themselves."""
    column, _ = CELLS[name]
    with DuckDB.open(written(tmp_path, column)) as engine:
        (whole,) = engine.run([KNOWN])
    pq.write_table(pa.table({"id": [1, 3], "x": column.take([0, 2])}), tmp_path / "t.parquet")
    with DuckDB.open(tmp_path) as engine:
        (rest,) = engine.run([KNOWN])
        assert engine.parquet is not None
        assert not engine.parquet.tables[0].replaced, "a file without such a cell is left to DuckDB"
    assert whole.to_pylist() == rest.to_pylist()


@pytest.mark.parametrize("name", CELLS)
def test_a_question_is_answered(name, tmp_path):
    """Rows B2 and B3 of the issue, through `ask`."""
    with recuse.connect(written(tmp_path, CELLS[name][0]), POLICY) as session:
        for sql in ("SELECT COUNT(*) FROM t WHERE x IS NOT NULL", "SELECT COUNT(*) FROM t WHERE x = x"):
            assert session.ask(sql, 1).epsilon == 1


def test_both_ways_of_reading_give_the_same_table(tmp_path):
    """A file that DuckDB can read, and without NaN, is the same table when it is read cell by cell."""
    with duckdb.connect() as made:
        made.execute(f"""COPY (SELECT 1::TINYINT a, 2::SMALLINT b, 3::INT c, 4::BIGINT d, 5::UTINYINT e,
            7::UINTEGER g, 8::UBIGINT h, 1.5::FLOAT i, 5.5::DOUBLE j, true k, 'x' l, 'y'::BLOB m,
            DATE '2020-01-01' n, TIME '24:00:00' o, TIMESTAMP '2020-01-01 01:00:00' p,
            TIMESTAMP_NS '2020-01-01 01:00:00' r, TIMESTAMP_MS '2020-01-01' s, uuid() u,
            1.25::DECIMAL(4, 2) v, 1.25::DECIMAL(38, 2) w, [1, 2] y, {{'a': 'z'}} z
            UNION ALL BY NAME SELECT -2::TINYINT a, 'infinity'::DOUBLE j, '-infinity'::TIMESTAMP p,
            'infinity'::DATE n, '' l UNION ALL BY NAME SELECT 3::TINYINT a)
            TO '{tmp_path / "t.parquet"}'""")
    asked = [
        "SELECT CAST(COLUMNS(*) AS VARCHAR) FROM memory.main.t",
        *(f"SELECT a FROM memory.main.t WHERE j {test}" for test in ("> 5", "<= 5", "= 5.5")),
        "SELECT a FROM memory.main.t WHERE l = 'x' AND i < 3",
    ]
    with DuckDB.open(tmp_path) as engine:
        quick = [table.to_pylist() for table in engine.run(asked)]
        assert engine.parquet is not None
        assert engine.parquet.replace_all()
        assert [table.to_pylist() for table in engine.run(asked)] == quick
        assert not engine.parquet.replace_all()


def damaged(content: bytes, chance: random.Random) -> bytes:
    """Return a file with some bytes of its data pages changed."""
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    found = bytearray(content)
    for _ in range(chance.choice([1, 3, 50])):
        found[chance.randrange(4, footer)] = chance.randrange(256)
    return bytes(found)


@pytest.mark.parametrize("compression", some(["snappy", "uncompressed", "zstd"], 0.3))
def test_damaged_pages_raise_nothing_and_take_no_row(compression, tmp_path):
    path, chance = tmp_path / "t.parquet", random.Random(15)
    with duckdb.connect() as made:
        made.execute(f"""COPY (SELECT i AS id, 'name ' || i AS name, TIME '00:00:01' + to_seconds(i) AS t,
            i * 1.5 AS x, CAST(mod(i, 100) AS DECIMAL(9, 2)) AS d,
            TIMESTAMP '2020-01-01' + to_seconds(i) AS ts
            FROM range(3000) r(i)) TO '{path}' (ROW_GROUP_SIZE 2048, COMPRESSION {compression})""")
    content = path.read_bytes()
    asked = "SELECT count(*) AS n, " + ", ".join(
        f"bit_xor(hash({c}))" for c in ("id", "name", "t", "x", "d", "ts")
    )
    replaced = named = 0
    for _ in range(25):
        path.write_bytes(damaged(content, chance))
        with DuckDB.open(tmp_path) as engine:
            first, second = (engine.run([f"{asked} FROM memory.main.t"])[0] for _ in range(2))
            assert engine.parquet is not None
            bad = engine.parquet.tables[0].replaced
        assert first["n"].to_pylist() == [3000]
        assert first.to_pylist() == second.to_pylist()
        replaced += bad
        named += any(check(tmp_path))
    assert replaced > 3, "some damage must show"
    assert named >= replaced


def test_a_file_without_its_end_is_named(tmp_path):
    (tmp_path / "t.parquet").write_bytes(b"PAR1 and then nothing")
    assert [str(found) for found in check(tmp_path)] == ["t.parquet: no complete Parquet file"]


def test_a_frame_with_a_cell_that_cannot_be_read_is_opened():
    for column, _ in CELLS.values():
        with DuckDB.open({"t": pa.table({"id": [1, 2, 3], "x": column})}) as engine:
            (nulls,) = engine.run(["SELECT id FROM temp.main.t WHERE x IS NULL"])
            assert nulls["id"].to_pylist() == [2]
        assert readable(column).null_count == 1
