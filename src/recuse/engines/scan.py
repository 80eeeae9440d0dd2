"""Rows that are made anew for every scan of DuckDB: a file as it is after its cells were cleaned.

DuckDB asks an Arrow dataset for a scanner of the columns that a query needs. This one makes its batches
itself. (A dataset in Python that overrides `schema` and `scanner` is how Lance is queried from DuckDB.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib import import_module
from typing import Any

import pyarrow

Batches = Callable[[Sequence[str]], Iterator[pyarrow.RecordBatch]]
"""The rows of a file, with the columns that are named."""


def rows(schema: pyarrow.Schema, batches: Batches) -> Any:
    """Return a table that DuckDB can register: its batches are made when it is scanned, and never held."""
    return _kind()(schema, batches)


@cache
def _kind() -> Any:
    """Return the class, made when it is first needed: Arrow's datasets import pandas if it is there."""
    dataset = import_module("pyarrow.dataset")

    class Rows(dataset.Dataset):  # type: ignore[name-defined, misc]
        """A table whose batches are made when it is scanned."""

        def __init__(self, schema: pyarrow.Schema, batches: Batches) -> None:
            self._columns = schema
            self._batches = batches

        @property
        def schema(self) -> pyarrow.Schema:
            """The names and types of all columns."""
            return self._columns

        def scanner(self, columns: Sequence[str] | None = None, filter: Any = None, **_: Any) -> Any:
            """Return a scanner of some columns; a filter may look at others, then all of them are made."""
            names = list(columns) if columns and filter is None else self._columns.names
            made = pyarrow.schema([self._columns.field(name) for name in names])
            return dataset.Scanner.from_batches(
                self._batches(names), schema=made, columns=columns, filter=filter, use_threads=False
            )

    return Rows
