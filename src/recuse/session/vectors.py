"""Rows with one owner → what everybody brings to every group, wherever the rows are."""

from __future__ import annotations

from recuse.engines.collect import Collected
from recuse.mechanism.clipped import Clipped, clipped, clipped_kept
from recuse.solver.programs import Solver
from recuse.sql.plan import DerivationQuery


def vectors(measure: DerivationQuery, rows: Collected, solver: Solver) -> Clipped:
    """Return what participants bring to the groups of a measure whose rows have one owner."""
    kept = rows.staying_vectors(measure)
    return clipped(rows.contributions(measure), solver) if kept is None else clipped_kept(kept)
