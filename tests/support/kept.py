"""Relations that are handed to DuckDB, so that they stay there."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from itertools import pairwise

import duckdb
import numpy as np
import pyarrow

from recuse.engines.duckdb_kept import DuckDBWarehouse
from recuse.krelation.relation import KRelation
from recuse.solver.kept.tuples import KeptTuples, kept_signs

CONNECTION = duckdb.connect(":memory:", config={"threads": 1})
"""one for all tests: to open one takes longer than a question"""
Name = Callable[[int], Hashable]


def owner_rows(relation: KRelation) -> np.ndarray:
    """The owners of every conjunction, the last of them again where it has fewer than others."""
    spans = [(part, *span) for part in relation.signs for span in pairwise(part.clauses.tolist())]
    sets = [part.members[start:end].tolist() for part, start, end in spans]
    width = max(map(len, sets), default=1)
    return np.array([[*found, *[found[-1]] * (width - len(found))] for found in sets], int).reshape(-1, width)


def kept_rows(
    rows: np.ndarray, weights: Sequence[int], *, name: Name = int, kinds: str | None = None
) -> tuple[KeptTuples, KeptTuples]:
    """The signs of rows with an owner in every column: of one kind each, or all of one."""
    columns = {f"owner_{j}": [name(int(owner)) for owner in rows[:, j]] for j in range(rows.shape[1])}
    whole = pyarrow.array([int(weight) for weight in weights], pyarrow.decimal128(38, 0))
    kind = pyarrow.int64() if name is int else pyarrow.string()
    typed = {key: pyarrow.array(found, kind) for key, found in columns.items()}
    CONNECTION.register("derivations", pyarrow.table({**typed, "weight": whole}))
    warehouse = DuckDBWarehouse(CONNECTION)
    listed = ", ".join(columns)
    kept = warehouse.keep(f"SELECT {listed}, CAST(weight AS HUGEINT) AS weight FROM derivations")
    CONNECTION.unregister("derivations")
    owners = [(kind, [column]) for kind, column in zip(kinds or "a" * len(columns), columns, strict=True)]
    positive, negative = kept_signs(warehouse, kept, owners, signed=True)
    return positive, negative


def kept_relation(relation: KRelation, seed: int = 0) -> tuple[KeptTuples, KeptTuples]:
    """The signs of conjunctions: rows, and owners in a row, in any order."""
    random = np.random.default_rng(seed)
    rows = owner_rows(relation)
    weights = [*relation.positive.weights.tolist(), *(-relation.negative.weights).tolist()]
    order = random.permutation(len(rows))
    return kept_rows(random.permuted(rows, axis=1)[order], [weights[place] for place in order])
