"""Laplace noise calibrated to global sensitivity, as PINQ does: for restricted joins, for comparison only.

McSherry, "Privacy integrated queries" (SIGMOD 2009); Palamidessi and Stronati (2012): the global
sensitivity is derived from the query, so every join must bound in how many result rows one participant can
be. Where the bound is not in the query, as in all subgraph counts but that of edges, there is none and the
query is refused.
"""

from __future__ import annotations

from dataclasses import dataclass

from recuse.errors import ParameterError
from recuse.graphs.protect import Protected
from recuse.lab.comparators.comparator import Privacy
from recuse.lab.comparators.simulate import laplace_release
from recuse.lab.comparators.subgraphs import Kind, Motif
from recuse.mechanism.prepared import Prepared
from recuse.mechanism.release import Release
from recuse.noise import Noise
from recuse.policy import Policy
from recuse.privacy import Epsilon
from recuse.sql.aggregates import COUNT
from recuse.sql.catalogue import Catalogue
from recuse.sql.compile import schema_of
from recuse.sql.ownership import ProtectedTable as ProtectedRows
from recuse.sql.parse import parse
from recuse.sql.query import Scan
from recuse.sql.read import read


@dataclass(frozen=True, slots=True)
class GlobalSensitivity:
    """Count + Lap(rows/ε); `rows` follows from the query, and None means that it is not bounded."""

    epsilon: Epsilon
    rows: int | None

    privacy = Privacy.PURE
    guesses = ()

    def __post_init__(self) -> None:
        if self.rows is None:
            raise ParameterError(
                "the global sensitivity of an unrestricted join is not bounded",
                accepted="counts of the rows of a protected table, such as edges under edge privacy",
                hint="use selective, which needs no bound",
            )

    def scale(self) -> float:
        """Return the scale of the noise: it does not depend on the data."""
        return float((self.rows or 0) / self.epsilon.value)

    def release(self, subject: Prepared, noise: Noise) -> Release:
        """Return the noisy count.

        Guarantee: ε-private: one participant changes at most `rows` result rows.
        """
        truth = float(subject.relation.true_answer())
        return laplace_release(truth, self.scale(), self.epsilon, "global", noise)


def rows_of_subgraph(motif: Motif, protect: Protected) -> int | None:
    """Return in how many occurrences one participant can be, if the pattern alone says so."""
    return 1 if motif.kind is Kind.EDGE and protect is Protected.EDGE else None


def rows_of_query(sql: str, policy: Policy, catalogue: Catalogue) -> int | None:
    """Return in how many rows of a count one participant can be, if query, policy and keys alone say so.

    That is 1 for the rows of a protected table whose key the database enforces, and unknown for all else.
    """
    schema = schema_of(sql, policy, catalogue)
    (measure, *others) = read(parse(sql), schema).measures
    if others or measure.aggregate != COUNT or len(measure.blocks) != 1:
        return None
    (block,) = measure.blocks
    if block.choices or len(block.sources) != 1 or not isinstance(source := block.sources[0], Scan):
        return None
    owned = schema.ownership.of(source.table.name)
    if not isinstance(owned, ProtectedRows):
        return None
    names = {column.lower() for item in owned.key for column in item.columns}
    unique = any({column.lower() for column in key} == names for key in source.table.keys)
    return 1 if unique and all(len(item.columns) == 1 for item in owned.key) else None
