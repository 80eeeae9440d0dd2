"""A measure whose answer is one of its rows' values → how its groups are released."""

from __future__ import annotations

from recuse.engines.collect import Collected
from recuse.krelation.owned import everybody
from recuse.mechanism.axis import DAYS, NUMBERS, SECONDS
from recuse.mechanism.clipped import load_programs
from recuse.mechanism.ordered import AtRank, Largest, MostFrequent, Ordered, Picker
from recuse.mechanism.owned import OwnedGroup
from recuse.mechanism.valued import PlacedGroup
from recuse.session.shares import shared
from recuse.solver.programs import Solver
from recuse.sql.ends import KeyEnd
from recuse.sql.mode import MostFrequentValue
from recuse.sql.ordered import OrderedValue, Unit
from recuse.sql.plan import DerivationQuery
from recuse.sql.sharing import Sharing, has_one_owner

AXES = {Unit.GRANULE: NUMBERS, Unit.WHOLE: NUMBERS, Unit.DAY: DAYS, Unit.SECOND: SECONDS}
PickedValue = OrderedValue | KeyEnd | MostFrequentValue


def picked(measure: DerivationQuery, asked: PickedValue, rows: Collected, solver: Solver) -> Ordered:
    """Return the groups of a measure: those of rows with one owner that share people choose one τ."""
    picker, sign = _picker(asked)
    if not has_one_owner(measure.tables):
        placed = [PlacedGroup(group, solver) for group in rows.placed(measure)]
        return Ordered(placed, picker, sign, shared(measure, rows.domain))
    owned = rows.owned(measure)
    groups = [OwnedGroup(group, solver) for group in owned]
    if measure.sharing is not Sharing.ONE_OWNER:
        return Ordered(groups, picker, sign)
    return Ordered(groups, picker, sign, everybody=(load_programs(everybody(owned), solver),))


def _picker(asked: PickedValue) -> tuple[Picker, int]:
    """Return how a value is picked, and the sign that values are taken with."""
    if isinstance(asked, MostFrequentValue):
        return MostFrequent(asked.count), 1
    if isinstance(asked, KeyEnd):
        return Largest(DAYS if asked.timed else NUMBERS), asked.sign
    axis = AXES[asked.unit]
    return Largest(axis) if asked.rank is None else AtRank(asked.rank, axis), asked.sign
