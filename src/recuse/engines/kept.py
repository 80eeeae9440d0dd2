"""Engine + plan → relations that stay in the engine, where they can and the policy says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow

from recuse.engines.engine import Engine, KeepingEngine
from recuse.engines.places import group_places
from recuse.krelation.encode import Derivations, Owners
from recuse.krelation.relation import Shape
from recuse.solver import limits
from recuse.solver.kept.grouped import PLACE, KeptVectors
from recuse.solver.kept.relation import KeptRelation
from recuse.solver.kept.warehouse import Warehouse
from recuse.sql.derivation import DerivationTable
from recuse.sql.grouping import Grouping
from recuse.sql.plan import DerivationQuery, Plan
from recuse.sql.sharing import Sharing


@dataclass(frozen=True, slots=True)
class KeptGroups:
    """The groups of a measure: of so many, and where their keys come from; None where it has none."""

    grouping: Grouping | None
    tables: Sequence[pyarrow.Table]
    count: int


@dataclass(frozen=True, slots=True)
class KeptTables:
    """Tables that stayed in an engine: what they are called there, by their statements."""

    warehouse: Warehouse
    names: Mapping[str, str]

    def relations(self, measure: DerivationQuery, groups: KeptGroups) -> list[KeptRelation]:
        """Return the relation of every group of a measure."""
        (table,) = measure.tables
        if groups.grouping is None:
            return [
                KeptRelation.of(self.warehouse, self.names[table.sql], _owners(table), signed=measure.signed)
            ]
        placed = self._placed(table, groups)
        return KeptRelation.groups(
            self.warehouse, placed, _owners(table), groups.count, signed=measure.signed
        )

    def vectors(self, measure: DerivationQuery, groups: KeptGroups) -> KeptVectors:
        """Return who brings how much to which group, for a measure whose rows have one owner."""
        (table,) = measure.tables
        placed = self._placed(table, groups)
        return KeptVectors.of(self.warehouse, placed, _owners(table), groups.count, signed=measure.signed)

    def _placed(self, table: DerivationTable, groups: KeptGroups) -> str:
        """Return the rows that are in a group, and in which: every key leaves the engine once."""
        rows, keys = self.names[table.sql], [_quoted(name) for name in table.key]
        listed = ", ".join(keys)
        distinct = self.warehouse.keep(
            f"SELECT ROW_NUMBER() OVER (ORDER BY {listed}) AS number, {listed} "
            f"FROM (SELECT DISTINCT {listed} FROM {rows} AS r) AS d"
        )
        found = self.warehouse.read(f"SELECT * FROM {distinct} AS d")
        places = group_places(Derivations(found, (), table.key), groups.grouping, groups.tables, groups.count)
        inside = np.flatnonzero((places >= 0) & (places < groups.count))
        numbers = found["number"].to_numpy().astype(np.int64)
        lent = self.warehouse.lend({"number": numbers[inside], PLACE: places[inside].astype(np.int64)})
        alike = " AND ".join(
            f"r.{key} {'IS NOT DISTINCT FROM' if found[name].null_count else '='} d.{key}"
            for key, name in zip(keys, table.key, strict=True)
        )
        return (
            f"(SELECT r.*, l.{PLACE} FROM {rows} AS r JOIN {distinct} AS d ON {alike} "
            f"JOIN {lent} AS l ON d.number = l.number)"
        )


def kept_tables(engine: Engine, plan: Plan, counts: Sequence[int]) -> KeptTables | None:
    """Return the tables of a plan, kept; nothing if its rows are read. This is where data is looked at.

    `counts` says how many groups each measure has.

    Guarantee: which of the two follows from the plan, from how many groups there are, which is known before,
    and from what the policy says of the machine: never from a row.
    """
    if not (isinstance(engine, KeepingEngine) and engine.keeps):
        return None
    if not all(can_stay(measure, count) for measure, count in zip(plan.measures, counts, strict=True)):
        return None
    asked = {table.sql: table.loose or table.sql for measure in plan.measures for table in measure.tables}
    warehouse, names = engine.keep(list(asked.values()))
    return KeptTables(warehouse, dict(zip(asked, names, strict=True)))


def can_stay(measure: DerivationQuery, count: int) -> bool:
    """Return whether relations can stay: counts or sums, of the owner sets of one statement.

    Of groups that nobody can touch two of, each is asked by itself: only so many stay.
    """
    (table, *others) = measure.tables
    summed = measure.shape is Shape.CONJUNCTIONS and not measure.aggregate.placed
    if others or not summed or not table.owners:
        return False
    if measure.sharing is Sharing.ONE_OWNER:
        return True
    return measure.sharing is Sharing.SIDE_BY_SIDE and (not table.key or count <= limits.MOST_KEPT_GROUPS)


def _owners(table: DerivationTable) -> Owners:
    return [(owner.kind, owner.columns) for owner in table.owners]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
