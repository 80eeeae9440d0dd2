"""What ADBC makes of PostgreSQL's rows → plain Arrow: numerics as decimals, UUIDs as text."""

from __future__ import annotations

import pyarrow

DIGITS = 38
TYPMOD = b"POSTGRESQL:typmod"
KIND = b"POSTGRESQL:type"


def plain_table(table: pyarrow.Table) -> pyarrow.Table:
    """Return the table with columns of types that everybody knows, and nothing said about them."""
    columns = [_plain(column, field) for column, field in zip(table.columns, table.schema, strict=True)]
    return pyarrow.table(columns, names=table.column_names)


def _plain(column: pyarrow.ChunkedArray, field: pyarrow.Field) -> pyarrow.ChunkedArray:
    said = field.metadata or {}
    kind = said.get(KIND, b"").decode()
    if kind == "numeric":
        return _storage(column).cast(pyarrow.decimal128(DIGITS, _scale(int(said.get(TYPMOD, b"-1")))))
    if kind == "uuid":
        return _uuids(_storage(column))
    return column


def _scale(typmod: int) -> int:
    """Return the decimal places that a numeric declares; a sum of granules declares none, and has none."""
    return 0 if typmod < 4 else (typmod - 4) & 0x7FF


def _storage(column: pyarrow.ChunkedArray) -> pyarrow.ChunkedArray:
    kind = column.type
    if not isinstance(kind, pyarrow.BaseExtensionType):
        return column
    return pyarrow.chunked_array([chunk.storage for chunk in column.chunks], kind.storage_type)


def _uuids(column: pyarrow.ChunkedArray) -> pyarrow.ChunkedArray:
    """Return sixteen bytes as the text of a UUID."""
    written = [None if one is None else _uuid(one) for one in column.to_pylist()]
    return pyarrow.chunked_array([pyarrow.array(written, pyarrow.string())])


def _uuid(value: bytes) -> str:
    written = value.hex()
    return "-".join((written[:8], written[8:12], written[12:16], written[16:20], written[20:]))
