"""Engine + plan → the keys that private rows have, and who has them: for finding keys with δ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np
import pyarrow

from recuse.engines.collect import derivations_of
from recuse.engines.engine import Engine
from recuse.krelation.codes import codes_of
from recuse.krelation.encode import Derivations, owner_numbers, row_groups
from recuse.krelation.placed import PlacedRows, encode_placed
from recuse.krelation.relation import Integers, Shape
from recuse.sql.derive import VALUE
from recuse.sql.plan import DerivationQuery, compiled_sql

MOST_PEOPLE = 2**40
"""more than there are people: so many withdrawals take whatever there is"""


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """The keys that rows have, each once in `table`, and those rows: which candidate each of them has."""

    table: pyarrow.Table
    derivations: Sequence[Derivations]
    rows: Sequence[Integers]
    shape: Shape

    @classmethod
    def of(cls, engine: Engine, finding: DerivationQuery) -> Self:
        """Return the candidates of a question. This is where data is looked at."""
        sql = compiled_sql((finding,))
        tables = dict(zip(sql, engine.run(sql), strict=True))
        found = [derivations_of(table, tables) for table in finding.tables]
        columns = [[one.table[name] for name in one.key] for one in found]
        codes = codes_of(columns, [one.table.num_rows for one in found])
        together = np.concatenate(codes)
        _, firsts, places = np.unique(together, return_index=True, return_inverse=True)
        names = [f"group_{n}" for n in range(1, len(columns[0]) + 1)]
        stacked = [
            pyarrow.chunked_array(
                [chunk for one in columns for chunk in one[n].chunks], type=columns[0][n].type
            )
            for n in range(len(names))
        ]
        table = pyarrow.table(stacked, names=names).take(pyarrow.array(firsts))
        ends = np.cumsum([0, *(len(one) for one in codes)])
        rows = [places[start:end] for start, end in pairwise(ends)]
        return cls(table, found, rows, finding.shape)

    def chosen(self, numbers: Sequence[int]) -> pyarrow.Table:
        """Return the keys of some candidates, in the order in which they are named."""
        return self.table.take(pyarrow.array(numbers, pyarrow.int64()))

    def owners(self) -> tuple[Integers, Integers]:
        """Return who has which candidate, where every row has one owner."""
        matrices, _ = owner_numbers(list(self.derivations))
        owned = [(m[:, 0], rows) for m, rows in zip(matrices, self.rows, strict=True) if m.size]
        nobody: Integers = np.empty(0, np.int64)
        return (
            np.concatenate([nobody, *(owners for owners, _ in owned)]),
            np.concatenate([nobody, *(rows for _, rows in owned)]),
        )

    def bounds(self) -> Integers:
        """Return for every candidate how many withdrawals surely take all its rows.

        They are those of all owners in one place, or, of rows with alternatives only, of one owner each.
        """
        count = self.table.num_rows
        total = np.zeros(count)
        for found, rows in zip(row_groups(self.derivations), self.rows, strict=True):
            places = [np.unique(np.stack([rows, owners]), axis=1)[0] for owners in found.owners.T]
            numbers = [np.bincount(place, minlength=count) for place in places]
            numbers = numbers or [np.bincount(rows, found.withdrawals(), minlength=count)]
            total += np.min(numbers, axis=0)
        return np.minimum(total, MOST_PEOPLE).astype(np.int64)

    def placed(self, chosen: Sequence[int]) -> list[PlacedRows]:
        """Return the rows of some candidates."""
        numbers = np.full(self.table.num_rows, len(chosen), np.int64)
        numbers[list(chosen)] = np.arange(len(chosen))
        groups = [numbers[rows] for rows in self.rows]
        return encode_placed(self.derivations, groups, len(chosen), shape=self.shape, value=VALUE)
