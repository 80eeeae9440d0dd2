"""Keys of GROUP BY that are found among private rows: which form of finding them a question has."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from recuse.engines.candidates import Candidates
from recuse.mechanism.found import KeyFinder, MostCovered, OneKeyEach, OwnersKeys
from recuse.mechanism.valued import PlacedGroup
from recuse.solver.programs import Solver
from recuse.sql.sharing import Sharing


def finder_of(found: Candidates, sharing: Sharing, solver: Solver) -> KeyFinder:
    """Return how keys are found: it follows from query and policy."""
    if sharing is Sharing.ONE_OWNER:
        return OwnersKeys(*found.owners(), found.table.num_rows)

    def covers(chosen: Sequence[int]) -> list[Fraction]:
        groups = [PlacedGroup(rows, solver) for rows in found.placed(chosen)] if chosen else []
        return [Fraction(group.covers().solve(None).high) for group in groups]

    if sharing is Sharing.SIDE_BY_SIDE:
        return OneKeyEach(found.bounds(), covers)
    return MostCovered(found.bounds(), covers)
