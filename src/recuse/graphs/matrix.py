"""Square matrices → Graph: every stored entry is an edge, explicit zeros too; its value is the weight."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow
from numpy.typing import NDArray

from recuse.graphs.graph import Attribute, Graph, simple_graph
from recuse.graphs.tables import GraphFormatError
from recuse.krelation.relation import Integers

FIELDS = {"real": (3, np.float64), "double": (3, np.float64), "integer": (3, np.int64)}
WIDTHS = {"pattern": 2, "complex": 4, **{name: width for name, (width, _) in FIELDS.items()}}


def matrix_market(content: bytes, *, directed: bool) -> Graph:
    """Return the graph of a sparse matrix in Matrix Market's format; rows are numbered from 1."""
    banner, _, rest = content.partition(b"\n")
    words = banner.decode("ascii", errors="replace").lower().split()
    if len(words) != 5 or words[:3] != ["%%matrixmarket", "matrix", "coordinate"] or words[3] not in WIDTHS:
        raise GraphFormatError("it is no sparse matrix in Matrix Market's format")
    lines = [line for line in rest.split(b"\n") if line.strip() and not line.startswith(b"%")]
    try:
        rows, columns, entries = map(int, lines[0].split())
        table = np.array(b" ".join(lines[1:]).split()).reshape(entries, WIDTHS[words[3]])
        pairs = table[:, :2].astype(np.int64) - 1
        weights = table[:, 2].astype(FIELDS[words[3]][1]) if words[3] in FIELDS else None
    except (ValueError, IndexError, OverflowError):
        raise GraphFormatError("its entries are not as many as it says, or no numbers") from None
    if directed and words[4] != "general":  # only one triangle of a symmetric matrix is stored
        pairs = np.concatenate((pairs, pairs[:, ::-1]))
        weights = None if weights is None else np.concatenate((weights, weights))
    return _square((rows, columns), pairs, weights, first=1, directed=directed)


def sparse_matrix(matrix: Any, *, directed: bool) -> Graph:
    """Return the graph of a SciPy sparse matrix; rows are numbered from 0."""
    entries = matrix.tocoo()
    pairs = np.stack((entries.row, entries.col), axis=1).astype(np.int64)
    return _square(entries.shape, pairs, entries.data, first=0, directed=directed)


def _square(
    shape: tuple[int, int], pairs: Integers, weights: NDArray[Any] | None, *, first: int, directed: bool
) -> Graph:
    count, columns = shape
    if count != columns:
        raise GraphFormatError("an adjacency matrix has as many rows as columns")
    if len(pairs) and not 0 <= pairs.min() <= pairs.max() < count:
        raise GraphFormatError("an entry lies outside the matrix")
    named = weights is not None and weights.dtype.kind in "biuf"
    about = (Attribute("weight", pyarrow.array(weights)),) if named else ()
    return simple_graph(range(first, first + count), pairs, directed=directed, about_rows=about)
