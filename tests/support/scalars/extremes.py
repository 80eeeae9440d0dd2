"""A table whose rows hold every extreme of every stored type, as DuckDB and as Python see it."""

from __future__ import annotations

import math
import random
import warnings
from collections.abc import Callable, Mapping, Sequence
from decimal import Context, Decimal
from pathlib import Path
from typing import Any

import duckdb

from recuse.scalars import types
from recuse.scalars.expression import Value, Variable
from recuse.scalars.spelling import decimal_digits, quoted, spelled

ROWS = 48


def _ends(bits: int, *, signed: bool) -> list[str]:
    low, high = (-(2**bits), 2**bits - 1) if signed else (0, 2**bits - 1)
    inside = [n for n in (-100, -7, -2, -1, 0, 1, 2, 3, 7, 10, 90, 100, 127) if low <= n <= high]
    return [str(n) for n in (low, low + 1, high, high - 1, high // 2, *inside)]


def _decimals(digits: int, scale: int) -> list[str]:
    most = 10**digits - 1
    found = [most, -most, most - 1, 0, 1, -1, 5, -5, 15, -15, 25, 49, 50, -50, 51, 99, 100, 125, most // 2]
    return [decimal_digits(n, scale) for n in found if abs(n) <= most]


WIDE = Context(prec=60, Emax=999, Emin=-999)

FLOATS = [
    "NaN", "-NaN", "inf", "-inf", "0.0", "-0.0", "1", "-1", "0.5", "-0.5", "1.5", "2.5", "-2.5", "0.1",
    "3.7", "1e-3", "5e-324", "-5e-324", "2.2250738585072014e-308", "1.7976931348623157e308",
    "-1.7976931348623157e308", "1e38", "-1e38", "9.9e37", "1.7014118346046923e38", "-1.7014118346046923e38",
    "1e300", "1e15", "4503599627370497.5", "9007199254740993", "9.223372036854775807e18", "2147483647.5",
    "1e10", "100", "-123.456", "3.141592653589793", "0.0001", "127.5", "128.5", "-128.5", "1e-300",
    "32767.49999999999", "709.8", "-745.2",
]  # fmt: skip
SINGLES = [
    "NaN", "-NaN", "inf", "-inf", "0.0", "-0.0", "1", "-1.5", "0.1", "3.4028234663852886e38", "1e-45",
    "16777217", "-2.5",
]  # fmt: skip
TEXTS = [
    "", " ", "a", "A", "abc", "ABC abc", " 12 ", "12", "-12", "+7", "1e5", "1e400", "-1e400", "nan", "NaN",
    "-0", "0", "inf", "infinity", "-Infinity", "0x1F", "1_000", "12.5", "12.4999999", ".5", "5.", "-0.5",
    "999999999999999999999", "99999999999999999999999999999999999999",
    "170141183460469231731687303715884105727", "1e38", "true", "f", "no", "T", "2020-02-29", "2021-02-29",
    "2020-13-01", "0000-01-01", "9999-12-31", "10000-01-01", "294247-01-10", "5881580-07-11",
    "2020-01-01 (BC)", "2020-02-29 12:34:56.789", "2020-02-29T23:59:60", "2020-02-29 24:00:00", "epoch",
    "24:00:00", "12:34:56.123456789", "25:00", "12:60:00", "2020-1-2",
    "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "6BA7B8109DAD11D180B400C04FD430C8",
    "{6ba7b810-9dad-11d1-80b4-00c04fd430c8}", "ä", "ß", "ÄÖ straße", "İi", "ǆ ǅ ǈ", "日本語 テキスト",
    "👩‍👩‍👧 x",
    "e\u0301a\u0301", "\u00a0nbsp\u00a0", "\u2003x\t", "tab\there", "line\nbreak", "it's", '"q"', "a%b_c",
    "a\\b", "$.*+?[](){}", "x" * 300, "ab" * 2060, "a,b,c", "a,,c,", ",", "hello world_foo-bar", "ﬁ ﬂ",
    "Ω ω ς Σ", "K k \u212a", "\u0345", "\U00010400 \U00010428", "0123456789", "aaa", "ababab", "A1 b2C d",
    "\ufeff12", "１２", "-", "+", "e", "1e", "1e-400", "0.00000000000000000000000000000000000001",
    "-99999999999999999999999999999999999999.5", "12\u00a0",
]  # fmt: skip
DATES = [
    "infinity", "-infinity", "5881580-07-10", "5877642-06-25 (BC)", "0001-01-01", "0001-01-01 (BC)",
    "0001-12-31 (BC)", "0001-01-02", "9999-12-31", "9999-12-30", "10000-01-01", "1970-01-01", "1969-12-31",
    "2000-02-29", "1900-02-28", "2020-02-29", "2021-01-01", "2020-12-31", "2016-01-03", "2015-12-31",
    "1582-10-15", "2024-01-31", "2024-03-31", "1999-12-31", "2001-01-01", "0999-12-31", "0100-01-01",
    "0101-12-31", "0009-06-05",
]  # fmt: skip
MOMENTS = [
    "infinity", "-infinity", "294247-01-10 04:00:54.775806", "290309-12-22 (BC) 00:00:00",
    "0001-01-01 00:00:00", "0001-12-31 (BC) 23:59:59.999999", "9999-12-31 23:59:59.999999",
    "10000-01-01 00:00:00", "1970-01-01 00:00:00", "1969-12-31 23:59:59.999999",
    "2000-02-29 12:34:56.789012", "2020-12-31 23:59:59.5", "2021-01-01 00:00:00",
    "2024-03-31 01:00:00.000001", "1999-12-31 23:59:59", "2016-01-03 06:07:08.1", "1900-01-01 10:00:00",
    "0003-05-06 01:02:03",
]  # fmt: skip
SECONDS = ["infinity", "-infinity", *(m for m in MOMENTS[2:] if "." not in m)]
NANOS = [
    "infinity", "-infinity", "1677-09-21 00:12:44", "2262-04-11 23:47:16.854775806",
    "1970-01-01 00:00:00.000000001", "1969-12-31 23:59:59.999999999", "2000-02-29 12:34:56.789012345",
    "2020-12-31 23:59:59.9999999",
]  # fmt: skip
TIMES = ["00:00:00", "24:00:00", "23:59:59.999999", "12:34:56.789", "00:00:00.000001", "06:00:00", "23:59:59"]
UUIDS = [
    "00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff",
    "80000000-0000-0000-0000-000000000000", "7fffffff-ffff-ffff-ffff-ffffffffffff",
    "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
]  # fmt: skip
LABELS = ["small", "A", "it''s", "", "medium size", "ä", "12", "2020-02-29"]

STORED: dict[str, tuple[str, Sequence[str]]] = {
    "i8": ("TINYINT", _ends(7, signed=True)),
    "i16": ("SMALLINT", _ends(15, signed=True)),
    "i32": ("INTEGER", _ends(31, signed=True)),
    "i64": ("BIGINT", _ends(63, signed=True)),
    "k64": ("BIGINT", [str(n) for n in (0, 1, 2, 3, 5, -1, 12, 40, 2020, 4096, 9999)]),
    "i128": ("HUGEINT", [
        *_ends(127, signed=True), str(10**38), str(10**38 - 1), str(-(10**38)), str(1 - 10**38),
    ]),
    "u8": ("UTINYINT", _ends(8, signed=False)),
    "u16": ("USMALLINT", _ends(16, signed=False)),
    "u32": ("UINTEGER", _ends(32, signed=False)),
    "u64": ("UBIGINT", _ends(64, signed=False)),
    "d1": ("DECIMAL(1,0)", _decimals(1, 0)),
    "d1_1": ("DECIMAL(1,1)", _decimals(1, 1)),
    "d4_2": ("DECIMAL(4,2)", _decimals(4, 2)),
    "d9_0": ("DECIMAL(9,0)", _decimals(9, 0)),
    "d9_9": ("DECIMAL(9,9)", _decimals(9, 9)),
    "d15_2": ("DECIMAL(15,2)", _decimals(15, 2)),
    "d18_3": ("DECIMAL(18,3)", _decimals(18, 3)),
    "d19_4": ("DECIMAL(19,4)", _decimals(19, 4)),
    "d38_0": ("DECIMAL(38,0)", _decimals(38, 0)),
    "d38_10": ("DECIMAL(38,10)", _decimals(38, 10)),
    "d38_20": ("DECIMAL(38,20)", _decimals(38, 20)),
    "d38_30": ("DECIMAL(38,30)", _decimals(38, 30)),
    "d38_38": ("DECIMAL(38,38)", _decimals(38, 38)),
    "f64": ("DOUBLE", FLOATS),
    "g64": ("DOUBLE", [*FLOATS[4:20], "0.25", "7", "-3"]),
    "f32": ("FLOAT", SINGLES),
    "s": ("VARCHAR", TEXTS),
    "w": ("VARCHAR", [text for text in TEXTS if len(text) < 12]),
    "e": ("ENUM('" + "', '".join(LABELS) + "')", [label.replace("''", "'") for label in LABELS]),
    "b": ("BOOLEAN", ["true", "false"]),
    "day": ("DATE", DATES),
    "day2": ("DATE", DATES[4:]),
    "ts": ("TIMESTAMP", MOMENTS),
    "ts2": ("TIMESTAMP", MOMENTS[4:]),
    "ts_s": ("TIMESTAMP_S", SECONDS),
    "ts_ms": ("TIMESTAMP_MS", [*SECONDS, "2020-12-31 23:59:59.5"]),
    "ts_ns": ("TIMESTAMP_NS", NANOS),
    "tm": ("TIME", TIMES),
    "u": ("UUID", UUIDS),
}  # fmt: skip
COLUMNS = {name: Variable("t", name, types.stored(kind), kind) for name, (kind, _) in STORED.items()}
OPAQUE = Variable("t", "blob", types.stored("BLOB"), "BLOB")


def _cells(name: str, rng: random.Random) -> list[str]:
    """Return one SQL expression a row: every extreme and NULL, in random order."""
    kind, values = STORED[name]
    cells = ["NULL", *(f"CAST({quoted(value)} AS {kind})" for value in values)]
    rng.shuffle(cells)
    return [cells[place % len(cells)] for place in range(ROWS)]


def table(con: duckdb.DuckDBPyConnection, rng: random.Random, folder: Path | None, form: str) -> None:
    """Make the table or view `t`: stored, in a Parquet file, or read from a CSV file into a table."""
    cells = {name: _cells(name, rng) for name in STORED}
    listed = ", ".join(f'"{name}" {kind}' for name, (kind, _) in STORED.items())
    con.execute(f"CREATE TABLE made (rid INTEGER, {listed}, blob BLOB)")
    rows = ", ".join(
        f"({row}, {', '.join(cells[name][row] for name in STORED)}, NULL)" for row in range(ROWS)
    )
    con.execute(f"INSERT INTO made VALUES {rows}")
    con.execute("CREATE TABLE made_one AS SELECT 1 AS one")
    if form == "table" or folder is None:
        con.execute("ALTER TABLE made RENAME TO t")
    elif form == "parquet":
        path = folder / "t.parquet"
        # COPY writes HUGEINT as DOUBLE: it comes from the table
        con.execute(f"COPY (SELECT * EXCLUDE (i128) FROM made) TO '{path}' (ROW_GROUP_SIZE 2048)")
        con.execute(
            f"CREATE VIEW t AS SELECT p.*, m.i128 FROM '{path}' p"
            " JOIN (SELECT rid AS r, i128 FROM made) m ON p.rid = r"
        )
    else:
        path = folder / "t.csv"
        con.execute(f"COPY made TO '{path}' (HEADER, QUOTE '\"', FORCE_QUOTE *, NULLSTR 'N/A')")
        kinds = ", ".join(f"'{name}': 'VARCHAR'" for name in ("rid", *STORED, "blob"))
        casts = ", ".join(f'TRY_CAST("{name}" AS {kind}) AS "{name}"' for name, (kind, _) in STORED.items())
        con.execute(
            f"CREATE TABLE raw AS FROM read_csv('{path}', header = true, quote = '\"', nullstr = 'N/A',"
            f" columns = {{{kinds}}}, strict_mode = false)"
        )
        con.execute(
            f"CREATE TABLE t AS SELECT CAST(rid AS INTEGER) AS rid, {casts}, NULL::BLOB AS blob FROM raw"
        )


def plain(values: Any, kind: types.Type) -> list[Value]:
    """Return a column of an Arrow table as the language's values."""
    column = values.combine_chunks()
    match kind:
        case types.Date():
            return list(column.cast("int32").to_pylist())
        case types.Timestamp() | types.Time():
            return list(column.cast("int64").to_pylist())
        case types.Number(scale=scale):
            return [
                None if cell is None else int(Decimal(cell).scaleb(scale, WIDE))
                for cell in column.to_pylist()
            ]
        case types.Uuid():
            return [None if cell is None else str(cell) for cell in column.to_pylist()]
    return list(column.to_pylist())


def arrow(con: duckdb.DuckDBPyConnection, sql: str) -> tuple[list[str], Any]:
    """Return the DuckDB types of a query's columns, and its rows as an Arrow table."""
    if not hasattr(con, "to_arrow_table"):  # before 2.0 a cursor does not say the types
        relation = con.sql(sql)
        return [str(kind) for kind in relation.types], relation.fetch_arrow_table()
    found = con.execute(sql)
    kinds = [str(column[1]) for column in found.description]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # it copies
        return kinds, found.to_arrow_table()


def values(con: duckdb.DuckDBPyConnection, sql: str, kinds: Sequence[types.Type]) -> list[tuple[Value, ...]]:
    """Return the rows of a query whose columns have these types."""
    _, found = arrow(con, sql)
    columns = [plain(found.column(place), kind) for place, kind in enumerate(kinds)]
    return list(zip(*columns, strict=True))


def rows(con: duckdb.DuckDBPyConnection) -> list[Mapping[str, Value]]:
    """Return the rows of `t` as the language sees them: one NaN, one zero."""
    listed = [f'TRY_CAST("{name}" AS {spelled(column.type)})' for name, column in COLUMNS.items()]
    found = values(con, f"SELECT {', '.join(listed)} FROM t ORDER BY rid", [c.type for c in COLUMNS.values()])
    return [
        {"blob": None} | {name: _one(cell) for name, cell in zip(COLUMNS, row, strict=True)} for row in found
    ]


def _one(cell: Value) -> Value:
    return (math.nan if math.isnan(cell) else cell + 0.0) if isinstance(cell, float) else cell


def reading() -> Callable[[Value, str, str], Value]:
    """Return the oracle that says what DuckDB makes of one value, on a connection of its own."""
    con = duckdb.connect()
    con.execute("SET threads = 1")
    known: dict[tuple[Value, str, str], Value] = {}

    def read(value: Value, source: str, target: str) -> Value:
        key = (repr(value), source, target)
        if key not in known:
            known[key] = _ask(con, value, source, target)
        return known[key]

    return read


def _ask(con: duckdb.DuckDBPyConnection, value: Value, source: str, target: str) -> Value:
    import pyarrow as pa

    if source in ("DATE", "TIMESTAMP"):
        whole, kind = (pa.int32(), pa.date32()) if source == "DATE" else (pa.int64(), pa.timestamp("us"))
        cell = pa.table({"x": pa.array([value], whole).cast(kind)})  # noqa: F841 - DuckDB finds it by name
        found = con.execute(f"SELECT TRY_CAST(x AS {target}) FROM cell").fetchall()
    elif target in ("DATE", "TIMESTAMP", "TIME"):
        kind_ = types.stored(target)
        return values(con, f"SELECT TRY_CAST({quoted(str(value))} AS {target})", [kind_])[0][0]
    else:
        found = con.execute(f"SELECT TRY_CAST(CAST(? AS {source}) AS {target})", [value]).fetchall()
    result: Any = found[0][0]
    if result is None or isinstance(result, bool | str | float):
        return result
    kind = types.stored(target)
    if isinstance(kind, types.Number):
        return int(Decimal(result).scaleb(kind.scale, WIDE))
    return str(result)
