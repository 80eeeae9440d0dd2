"""Engine + plan → the K-relations of the question, one for every group of every measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from typing import Any, Self

import numpy as np
import pyarrow

from recuse.engines.engine import Engine
from recuse.krelation.contributions import Contributions, encode_contributions
from recuse.krelation.encode import BelowTables, Derivations, codes_of, encode_groups, encode_merged, integers
from recuse.krelation.placed import PlacedRows, encode_placed
from recuse.krelation.relation import Integers, KRelation, Shape
from recuse.sql.compile import DerivationQuery, Grouping, Plan, compiled_sql
from recuse.sql.derive import VALUE, DerivationTable
from recuse.sql.native.question import PublicQuery

GroupKeys = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class GroupDomain:
    """All groups that a question asks for: the keys of each, and the table of the public ones."""

    keys: tuple[GroupKeys, ...]
    public: pyarrow.Table | None


NO_GROUPS = GroupDomain(((),), None)


def collect_domain(engine: Engine, grouping: Grouping | None) -> GroupDomain:
    """Return the groups of a question. Public tables are read, and nothing else."""
    if grouping is None:
        return NO_GROUPS
    rows: list[GroupKeys] = [()]
    public = None
    if grouping.public is not None:
        (public,) = engine.run([grouping.public])
        names = public.column_names
        public = public.sort_by([(name, "ascending") for name in names])
        rows = list(zip(*(public[name].to_pylist() for name in names), strict=True))
    listed = product(*(values for values in grouping.listed if values is not None))
    keys = tuple(_interleaved(grouping, chosen, row) for chosen in listed for row in rows)
    return GroupDomain(keys, public)


def collect_public(engine: Engine, query: PublicQuery) -> list[GroupKeys]:
    """Return the rows of a question about nobody. Public tables are read, and nothing else."""
    (found,) = engine.run([query.sql])
    columns = [[_plain(cell) for cell in column.to_pylist()] for column in found.columns]
    return list(zip(*columns, strict=True)) if columns else []


def _plain(cell: Any) -> Any:
    """Return a value as people know it: a decimal without decimal places is a whole number."""
    whole = isinstance(cell, Decimal) and cell.as_tuple().exponent == 0
    return int(cell) if whole else cell


def _interleaved(grouping: Grouping, chosen: GroupKeys, row: GroupKeys) -> GroupKeys:
    """Return the keys in the order of GROUP BY."""
    listed, public = iter(chosen), iter(row)
    return tuple(next(public) if values is None else next(listed) for values in grouping.listed)


@dataclass(frozen=True, slots=True, eq=False)
class Collected:
    """The rows of a question, as its statements returned them."""

    grouping: Grouping | None
    domain: GroupDomain
    tables: Mapping[str, pyarrow.Table]

    @classmethod
    def of(cls, engine: Engine, plan: Plan, domain: GroupDomain = NO_GROUPS) -> Self:
        """Return the rows of a plan. This is where data is looked at."""
        sql = compiled_sql(plan.measures)
        return cls(plan.grouping, domain, dict(zip(sql, engine.run(sql), strict=True)))

    def relations(self, measure: DerivationQuery) -> list[KRelation]:
        """Return the relation of every group of a measure."""
        return _relations(measure, self.grouping, self.domain, self.tables)

    def contributions(self, measure: DerivationQuery) -> Contributions:
        """Return who brings how much to which group, for a measure whose rows have one owner."""
        found = [_derivations(table, self.tables) for table in measure.tables]
        groups = [_groups(table, self.grouping, self.domain) for table in found]
        return encode_contributions(found, groups, len(self.domain.keys), signed=measure.signed)

    def placed(self, measure: DerivationQuery) -> list[PlacedRows]:
        """Return the rows of every group with their values, for an answer that is one of them."""
        found = [_derivations(table, self.tables) for table in measure.tables]
        groups = [_groups(table, self.grouping, self.domain) for table in found]
        return encode_placed(found, groups, len(self.domain.keys), shape=measure.shape, value=VALUE)


def collect(engine: Engine, plan: Plan, domain: GroupDomain = NO_GROUPS) -> list[list[KRelation]]:
    """Return for every measure the relation of each group, whichever way it will be released."""
    rows = Collected.of(engine, plan, domain)
    return [rows.relations(measure) for measure in plan.measures]


def _relations(
    measure: DerivationQuery,
    grouping: Grouping | None,
    domain: GroupDomain,
    tables: Mapping[str, pyarrow.Table],
) -> list[KRelation]:
    signed = measure.signed
    if grouping is None and measure.shape is Shape.CONJUNCTIONS and len(measure.tables) == 1:
        (table,) = measure.tables
        owners = [(owner.kind, owner.columns) for owner in table.owners]
        return [encode_merged(tables[table.sql], owners, shape=measure.shape, signed=signed)]
    derivations = [_derivations(table, tables) for table in measure.tables]
    groups = [_groups(found, grouping, domain) for found in derivations]
    return encode_groups(derivations, groups, len(domain.keys), shape=measure.shape, signed=signed)


def _derivations(table: DerivationTable, tables: Mapping[str, pyarrow.Table]) -> Derivations:
    below = [
        BelowTables(
            [_derivations(inner, tables) for inner in below.group.tables], below.columns, below.group.least
        )
        for below in table.below
    ]
    owners = [(owner.kind, owner.columns) for owner in table.owners]
    return Derivations(tables[table.sql], owners, table.key, below, table.value)


def _groups(found: Derivations, grouping: Grouping | None, domain: GroupDomain) -> Integers:
    """Return the group of every row, a number beyond all groups where its keys are in none."""
    rows = found.table.num_rows
    if grouping is None:
        return np.zeros(rows, np.int64)
    position = np.zeros(rows, np.int64)
    public: list[str] = []
    for name, values in zip(found.key, grouping.listed, strict=True):
        if values is None:
            public.append(name)
        else:
            position = position * len(values) + integers(found.table[name])
    if domain.public is None:
        return position
    place = _places(found.table, public, domain.public)
    inside = position * domain.public.num_rows + np.minimum(place, domain.public.num_rows - 1)
    return np.where(place < domain.public.num_rows, inside, len(domain.keys))


def _places(table: pyarrow.Table, names: Sequence[str], public: pyarrow.Table) -> Integers:
    """Return for every row of a table where its keys stand in the public table."""
    columns = [[table[name] for name in names], [public[name] for name in public.column_names]]
    mine, theirs = codes_of(columns, [table.num_rows, public.num_rows])
    place = np.full(
        max((int(codes.max()) + 1 for codes in (mine, theirs) if len(codes)), default=0), public.num_rows
    )
    place[theirs] = np.arange(public.num_rows)
    return place[mine]
