"""Frames and arrays → Arrow, for whoever takes data from people or hands it to an engine."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow
from numpy.typing import NDArray


def arrow_numbers(numbers: NDArray[np.int64]) -> pyarrow.Array:
    """Return integers as an Arrow array; `pyarrow.array` would import pandas first, which takes long."""
    buffer = pyarrow.py_buffer(np.ascontiguousarray(numbers, np.int64))
    return pyarrow.Array.from_buffers(pyarrow.int64(), len(numbers), [None, buffer])


def is_pandas(frame: Any) -> bool:
    """Return whether a frame is one of pandas, which is not imported for this."""
    return type(frame).__module__.partition(".")[0] == "pandas"


def frame_table(frame: Any) -> pyarrow.Table:
    """Return a pandas, Polars or Arrow frame as an Arrow table that every version of DuckDB can filter."""
    table = (
        pyarrow.Table.from_pandas(frame, preserve_index=False) if is_pandas(frame) else pyarrow.table(frame)
    )
    plain = {pyarrow.string_view(): pyarrow.large_string(), pyarrow.binary_view(): pyarrow.large_binary()}
    return table.cast(
        pyarrow.schema([field.with_type(plain.get(field.type, field.type)) for field in table.schema])
    )
