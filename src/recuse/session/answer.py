"""Answers with several numbers: one row a group, one cell an aggregate or a formula over aggregates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib.util import find_spec
from typing import Any

import pyarrow

from recuse.errors import ParameterError
from recuse.mechanism.release import Release
from recuse.session.cells import Cell, Combined, Row
from recuse.session.table import arrow_table, charged, html_table, noise_note, text_table

__all__ = ["Answer", "Cell", "Combined", "Row", "stamped"]


@dataclass(frozen=True, slots=True, repr=False)
class Answer:
    """The private answer to a question with groups or several aggregates.

    `key_names` and `names` are the columns; `epsilon` is what the whole answer cost. The other fields are as
    those of a `Release`.
    """

    key_names: tuple[str, ...]
    names: tuple[str, ...]
    rows: tuple[Row, ...]
    epsilon: Fraction
    remaining: Fraction | None = None
    policy: str | None = None
    data_version: int | None = None
    stored: bool = False

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        return "\n".join(self.lines(drawn=False))

    def lines(self, *, drawn: bool) -> Iterator[str]:
        """Yield the table for people, and what its intervals say; `drawn` shows them on a line."""
        yield from text_table(self.key_names, self.names, self.rows, drawn=drawn)
        yield noise_note(self.rows)
        yield charged(self.epsilon, self.remaining, stored=self.stored)

    def __repr__(self) -> str:
        return f"<Answer with {', '.join((*self.key_names, *self.names))}; rows: {len(self)}>\n{self}"

    def _repr_html_(self) -> str:
        """Return the table for a notebook, with the intervals drawn on one scale a column."""
        return html_table(self.key_names, self.names, self.rows)

    def to_arrow(self) -> pyarrow.Table:
        """Return an Arrow table: the keys, then for every column its value, and `_low` and `_high` of it."""
        return arrow_table(self.key_names, self.names, self.rows)

    def to_pandas(self) -> Any:
        """Return a pandas frame with the columns of `to_arrow`; pandas must be installed."""
        if find_spec("pandas") is None:
            raise ParameterError(
                "a frame needs the package pandas", hint="pip install pandas, or use to_arrow()"
            )
        return self.to_arrow().to_pandas()


def stamped(
    answer: Release | Answer, *, remaining: Fraction, policy: str, data_version: int, stored: bool
) -> Release | Answer:
    """Return the answer with what the ledger says of it; in a table, every release says so too."""
    mark: dict[str, Any] = {
        "remaining": remaining,
        "policy": policy,
        "data_version": data_version,
        "stored": stored,
    }
    if isinstance(answer, Release):
        return replace(answer, **mark)
    rows = tuple(
        Row(row.keys, tuple(replace(c, **mark) if isinstance(c, Release) else c for c in row.cells))
        for row in answer.rows
    )
    return replace(answer, rows=rows, **mark)
