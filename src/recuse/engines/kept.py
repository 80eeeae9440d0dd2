"""Engine + plan → relations that stay in the engine, where they can and the policy says so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from recuse.engines.engine import Engine, KeepingEngine
from recuse.krelation.relation import Shape
from recuse.solver.kept.relation import KeptRelation
from recuse.solver.kept.warehouse import Warehouse
from recuse.sql.plan import DerivationQuery, Plan
from recuse.sql.sharing import Sharing


@dataclass(frozen=True, slots=True)
class KeptTables:
    """Tables that stayed in an engine: what they are called there, by their statements."""

    warehouse: Warehouse
    names: Mapping[str, str]

    def relation(self, measure: DerivationQuery) -> KeptRelation:
        """Return the relation of a measure."""
        (table,) = measure.tables
        owners = [(owner.kind, owner.columns) for owner in table.owners]
        return KeptRelation.of(self.warehouse, self.names[table.sql], owners, signed=measure.signed)


def kept_tables(engine: Engine, plan: Plan) -> KeptTables | None:
    """Return the tables of a plan, kept; nothing if its rows are read. This is where data is looked at.

    Guarantee: which of the two follows from the plan, and from what the policy says of the machine: never
    from a row.
    """
    if not (isinstance(engine, KeepingEngine) and engine.keeps and all(map(can_stay, plan.measures))):
        return None
    asked = {table.sql: table.loose or table.sql for measure in plan.measures for table in measure.tables}
    warehouse, names = engine.keep(list(asked.values()))
    return KeptTables(warehouse, dict(zip(asked, names, strict=True)))


def can_stay(measure: DerivationQuery) -> bool:
    """Return whether a relation can stay: a sum without groups, of the owner sets of one statement."""
    alone = len(measure.tables) == 1 and measure.sharing is Sharing.SIDE_BY_SIDE
    summed = measure.shape is Shape.CONJUNCTIONS and not measure.aggregate.placed
    return alone and summed and all(table.owners and not table.key for table in measure.tables)
