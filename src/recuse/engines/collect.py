"""Engine + plan → the K-relations of the question, one for every group of every measure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any, Self

import numpy as np
import pyarrow

from recuse.engines.engine import Engine
from recuse.engines.kept import KeptGroups, KeptTables, kept_tables
from recuse.engines.places import group_places
from recuse.errors import QueryError
from recuse.krelation.contributions import Contributions, encode_contributions
from recuse.krelation.encode import BelowTables, Derivations, encode_groups, encode_merged
from recuse.krelation.owned import OwnedRows, encode_owned
from recuse.krelation.placed import PlacedRows, encode_placed
from recuse.krelation.relation import Integers, KRelation, Shape
from recuse.scalars.types import ORDINARY_DATE, ORDINARY_TIMESTAMP
from recuse.solver.kept.grouped import KeptVectors
from recuse.solver.kept.relation import KeptRelation
from recuse.sql.dense import Dense
from recuse.sql.derivation import DerivationTable
from recuse.sql.derive import VALUE
from recuse.sql.grouping import MAX_GROUPS, Grouping, InTable
from recuse.sql.listed import KeyValue
from recuse.sql.native.question import PublicQuery
from recuse.sql.plan import DerivationQuery, Plan, compiled_sql

GroupKeys = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class GroupDomain:
    """All groups that a question asks for: the keys of each, and the tables that some come from.

    There are none while ends of keys have not been released, or keys not been found.
    """

    grouping: Grouping | None
    tables: tuple[pyarrow.Table, ...] = ()
    keys: tuple[GroupKeys, ...] = ()
    sets: tuple[GroupDomain, ...] = ()
    """the groups of each set of keys, where there are several: those above are all of them"""

    @classmethod
    def of(cls, grouping: Grouping, tables: Sequence[pyarrow.Table]) -> Self:
        """Return the groups of a grouping whose tables are known."""
        known = tuple(tables)
        if grouping.sets:
            return cls._of_sets(grouping, known)
        if grouping.is_open or len(known) < len(grouping.tables) + bool(grouping.found):
            return cls(grouping, known)
        if grouping.size([table.num_rows for table in known]) > MAX_GROUPS:
            return cls(grouping, known)
        return cls(grouping, known, tuple(_combinations(grouping, known)))

    @classmethod
    def _of_sets(cls, grouping: Grouping, tables: tuple[pyarrow.Table, ...]) -> Self:
        """Return the groups of several sets of keys, one after the other."""
        sets, left = [], list(tables)
        for one in grouping.sets:
            count = 0 if one.grouping is None else len(one.grouping.tables)
            sets.append(NO_GROUPS if one.grouping is None else cls.of(one.grouping, left[:count]))
            left = left[count:]
        return cls(grouping, tables, tuple(_widened(grouping, sets)), tuple(sets))

    def of_set(self, place: int) -> GroupDomain:
        """Return the groups of one set of keys."""
        return self.sets[place] if self.sets else self

    @property
    def size(self) -> int:
        """How many groups there are, open ends and keys that are not found yet left out."""
        if self.sets:
            return sum(one.size for one in self.sets)
        return 1 if self.grouping is None else self.grouping.size([table.num_rows for table in self.tables])

    @property
    def is_open(self) -> bool:
        """Whether ends of keys have not been released yet."""
        return self.grouping is not None and self.grouping.is_open

    def given(self, released: Callable[[int], Fraction | None]) -> GroupDomain:
        """Return the groups, once the ends of keys are released."""
        if self.grouping is None or not self.grouping.is_open:
            return self
        if self.sets:
            sets = [one.given(released) for one in self.sets]
            return GroupDomain(self.grouping, self.tables, tuple(_widened(self.grouping, sets)), tuple(sets))
        rows = [table.num_rows for table in self.tables]
        return GroupDomain.of(self.grouping.given(released, rows), self.tables)

    def found(self, keys: pyarrow.Table) -> GroupDomain:
        """Return the groups, once keys are found: as many of them, the first, as there is room for.

        Guarantee: post-processing of what is told. Times that no calendar shows are left out.
        """
        if self.grouping is None:
            return self
        room = keys.filter(_on_calendar(keys)).slice(0, MAX_GROUPS // max(1, self.size))
        return GroupDomain.of(
            self.grouping, (*self.tables, room.sort_by([(n, "ascending") for n in room.column_names]))
        )


NO_GROUPS = GroupDomain(None, (), ((),))


def collect_domain(engine: Engine, grouping: Grouping | None) -> GroupDomain:
    """Return the groups of a question. Public tables are read, and nothing else."""
    if grouping is None:
        return NO_GROUPS
    tables = engine.run(list(grouping.tables)) if grouping.tables else []
    for table in tables:
        _refuse_off_calendar(table)
    return GroupDomain.of(grouping, list(map(_ordered, tables)))


def _on_calendar(table: pyarrow.Table) -> pyarrow.Array:
    """Return which rows have no date or time before the year 1 or after 9999, where Python has none."""
    shown = np.ones(table.num_rows, bool)
    for column in table.columns:
        if pyarrow.types.is_timestamp(column.type):
            ends = ORDINARY_TIMESTAMP.low, ORDINARY_TIMESTAMP.high
            moments = column.cast(pyarrow.timestamp("us"), safe=False).cast(pyarrow.int64())
        elif pyarrow.types.is_date32(column.type):
            ends = ORDINARY_DATE.low, ORDINARY_DATE.high
            moments = column.cast(pyarrow.int32()).cast(pyarrow.int64())
        else:
            continue
        numbers = moments.fill_null(0).to_numpy()
        shown &= (numbers >= ends[0]) & (numbers <= ends[1])
    return pyarrow.array(shown)


def _refuse_off_calendar(table: pyarrow.Table) -> None:
    """Refuse public rows with times that no calendar has. They belong to nobody, and nothing is charged."""
    if not _on_calendar(table).to_numpy(zero_copy_only=False).all():
        raise QueryError(
            "a public row has a date or time outside of the years 1 to 9999 (infinity is one)",
            hint="leave such rows out: WHERE d BETWEEN DATE '0001-01-01' AND DATE '9999-12-31'",
        )


def _ordered(table: pyarrow.Table) -> pyarrow.Table:
    return table.sort_by([(name, "ascending") for name in table.column_names])


def _combinations(grouping: Grouping, tables: Sequence[pyarrow.Table]) -> Iterator[GroupKeys]:
    """Yield the keys of every group: listed keys and those between ends change slowest."""
    values = [key.labels() if isinstance(key, Dense) else key for key in _spelled(grouping)]
    rows = [list(zip(*(column.to_pylist() for column in table.columns), strict=True)) for table in tables]
    for chosen in product(*values):
        for found in product(*rows):
            spelled = iter(chosen)
            yield tuple(
                found[key.table][key.column] if isinstance(key, InTable) else next(spelled)
                for key in grouping.keys
            )


def _widened(grouping: Grouping, sets: Sequence[GroupDomain]) -> Iterator[GroupKeys]:
    """Yield the keys of all sets as rows have them: NULL for every key that a set does not have."""
    for one, domain in zip(grouping.sets, sets, strict=True):
        for keys in domain.keys:
            held = dict(zip(one.places, keys, strict=True))
            yield tuple(held.get(place) for place in range(len(grouping.names)))


def _spelled(grouping: Grouping) -> list[tuple[KeyValue, ...] | Dense]:
    return [key for key in grouping.keys if not isinstance(key, InTable)]


def collect_public(engine: Engine, query: PublicQuery) -> list[GroupKeys]:
    """Return the rows of a question about nobody. Public tables are read, and nothing else."""
    (found,) = engine.run([query.sql])
    _refuse_off_calendar(found)
    columns = [[_plain(cell) for cell in column.to_pylist()] for column in found.columns]
    return list(zip(*columns, strict=True)) if columns else []


def _plain(cell: Any) -> Any:
    """Return a value as people know it: a decimal without decimal places is a whole number."""
    whole = isinstance(cell, Decimal) and cell.as_tuple().exponent == 0
    return int(cell) if whole else cell


@dataclass(frozen=True, slots=True, eq=False)
class Collected:
    """The rows of a question, as its statements returned them."""

    domain: GroupDomain
    tables: Mapping[str, pyarrow.Table]
    kept: KeptTables | None = None
    """where rows stayed in the engine; then there are no tables"""

    @classmethod
    def of(cls, engine: Engine, plan: Plan, domain: GroupDomain = NO_GROUPS) -> Self:
        """Return the rows of a plan, or where they stay. This is where data is looked at."""
        counts = [len(domain.of_set(measure.place).keys) for measure in plan.measures]
        if (kept := kept_tables(engine, plan, counts)) is not None:
            return cls(domain, {}, kept)
        sql = compiled_sql(plan.measures)
        return cls(domain, dict(zip(sql, engine.run(sql), strict=True)))

    def domain_of(self, measure: DerivationQuery) -> GroupDomain:
        """Return the groups that a measure is asked for."""
        return self.domain.of_set(measure.place)

    def staying(self, measure: DerivationQuery) -> list[KeptRelation] | None:
        """Return the relation of every group of a measure, if its rows stayed in the engine."""
        return None if self.kept is None else self.kept.relations(measure, self._groups(measure))

    def staying_vectors(self, measure: DerivationQuery) -> KeptVectors | None:
        """Return what `contributions` returns, if the rows stayed in the engine."""
        return None if self.kept is None else self.kept.vectors(measure, self._groups(measure))

    def _groups(self, measure: DerivationQuery) -> KeptGroups:
        domain = self.domain_of(measure)
        return KeptGroups(domain.grouping, domain.tables, len(domain.keys))

    def relations(self, measure: DerivationQuery) -> list[KRelation]:
        """Return the relation of every group of a measure."""
        return _relations(measure, self.domain_of(measure), self.tables)

    def contributions(self, measure: DerivationQuery) -> Contributions:
        """Return who brings how much to which group, for a measure whose rows have one owner."""
        found, groups, count = self._in_groups(measure)
        return encode_contributions(found, groups, count, signed=measure.signed)

    def placed(self, measure: DerivationQuery) -> list[PlacedRows]:
        """Return the rows of every group with their values, for an answer that is one of them."""
        found, groups, count = self._in_groups(measure)
        return encode_placed(found, groups, count, shape=measure.shape, value=VALUE)

    def owned(self, measure: DerivationQuery) -> list[OwnedRows]:
        """Return the same for a measure whose rows have one owner."""
        found, groups, count = self._in_groups(measure)
        return encode_owned(found, groups, count, value=VALUE)

    def _in_groups(self, measure: DerivationQuery) -> tuple[list[Derivations], list[Integers], int]:
        """Return the rows of a measure, which group each is in, and how many groups there are."""
        domain = self.domain_of(measure)
        found = [derivations_of(table, self.tables) for table in measure.tables]
        count = len(domain.keys)
        return found, [group_places(table, domain.grouping, domain.tables, count) for table in found], count


def collect(engine: Engine, plan: Plan, domain: GroupDomain = NO_GROUPS) -> list[list[KRelation]]:
    """Return for every measure the relation of each group, whichever way it will be released."""
    rows = Collected.of(engine, plan, domain)
    return [rows.relations(measure) for measure in plan.measures]


def _relations(
    measure: DerivationQuery,
    domain: GroupDomain,
    tables: Mapping[str, pyarrow.Table],
) -> list[KRelation]:
    signed = measure.signed
    if domain.grouping is None and measure.shape is Shape.CONJUNCTIONS and len(measure.tables) == 1:
        (table,) = measure.tables
        owners = [(owner.kind, owner.columns) for owner in table.owners]
        return [encode_merged(tables[table.sql], owners, shape=measure.shape, signed=signed)]
    derivations = [derivations_of(table, tables) for table in measure.tables]
    groups = [group_places(found, domain.grouping, domain.tables, len(domain.keys)) for found in derivations]
    return encode_groups(derivations, groups, len(domain.keys), shape=measure.shape, signed=signed)


def derivations_of(table: DerivationTable, tables: Mapping[str, pyarrow.Table]) -> Derivations:
    """Return a table of derivations with what the engine returned for it."""
    below = [
        BelowTables(
            [derivations_of(inner, tables) for inner in below.group.tables],
            below.columns,
            _least(below.group.least, tables),
        )
        for below in table.below
    ]
    owners = [(owner.kind, owner.columns) for owner in table.owners]
    return Derivations(tables[table.sql], owners, table.key, below, table.value)


def _least(least: int | str, tables: Mapping[str, pyarrow.Table]) -> int:
    """Return how many are needed: a number, or what a statement over public tables returned."""
    return int(tables[least].column(0)[0].as_py()) if isinstance(least, str) else least
