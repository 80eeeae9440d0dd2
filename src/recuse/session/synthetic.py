"""A database of the same schema, made up from statistics that the user states: for estimates only.

Only the catalogue and the policy are looked at. Keys and links follow the statistics; every other column
holds values that mean nothing, so a condition on such a column selects what it happens to select: the
estimate says which these are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from sqlglot import exp

from recuse.engines.bare import Bare, BareError, bare, fill
from recuse.engines.literals import name_literal, text_literal
from recuse.errors import ParameterError, StatisticsError
from recuse.fold import fold, same
from recuse.policy import Policy
from recuse.policy.terms import LinkChoice, Typical
from recuse.privacy import decimal_text, exact
from recuse.scalars.types import Boolean, Date, Float, Number, Text, Timestamp, stored
from recuse.session.fanout import TAIL, Numbers, assumed_largest, fan_out
from recuse.session.statistics import Statistics, stated_of
from recuse.sql.catalogue import Catalogue, Column, Table
from recuse.sql.native.looked import scalars_below, scans_of
from recuse.sql.ownership import Linked, Ownership, ProtectedTable, own
from recuse.sql.plan import Plan

SEED = 2013
MADE_UP, MOST_MADE_UP = 100, 10**15
"""values of which nobody says how large they are lie below the first; none reaches the second"""


@dataclass(frozen=True, slots=True)
class Made:
    """A database in memory, filled as statistics say, and what of a question they say nothing of."""

    database: Bare
    meaningless: tuple[str, ...]
    assumed: Mapping[str, int]

    @property
    def cautions(self) -> tuple[str, ...]:
        """What to know of an estimate from it."""
        return (*self._tails(), *self._values())

    def _tails(self) -> Iterator[str]:
        for table, most in self.assumed.items():
            yield (
                f"nobody said how many rows of {table} link to one row at most: {most:,} are assumed, "
                f"{TAIL} times the mean; the error grows with it, so state the largest of {table}"
            )

    def _values(self) -> tuple[str, ...]:
        if not self.meaningless:
            return ()
        named = ", ".join(self.meaningless)
        return (
            f"made-up values stand for {named}, so a sum of them, or what a condition on them selects, "
            "may be far from yours: an estimate like public data that has them is nearer",
        )


def make(catalogue: Catalogue, policy: Policy, plan: Plan, statistics: Statistics) -> Made:
    """Return a database with the tables that a question needs, filled as the statistics say."""
    maker = Maker(catalogue, policy, own(policy, catalogue), statistics)
    for note in plan.explanation.tables:
        maker.columns(note.table)
    try:
        return Made(maker.database(), tuple(maker.meaningless(plan)), maker.assumed)
    except BareError:
        raise ParameterError(
            "data of this schema cannot be made up", hint="estimate with like= a public database"
        ) from None


@dataclass(frozen=True, slots=True)
class Maker:
    """Makes up tables as numbers: those that links lead to first, so that links can name their rows."""

    catalogue: Catalogue
    policy: Policy
    ownership: Ownership
    statistics: Statistics
    made: dict[str, dict[str, Numbers]] = field(default_factory=dict)
    stated: set[tuple[str, str]] = field(default_factory=set)
    """the columns that keys and links give a meaning, by table"""
    assumed: dict[str, int] = field(default_factory=dict)
    """the most rows that link to one, by table, where nobody stated it"""
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(SEED))

    def columns(self, name: str) -> dict[str, Numbers]:
        """Return the columns of a table, and make them if need be."""
        table = self.catalogue.table(name)
        if table is None:
            raise ParameterError(f"the database has no table {name}")
        if table.name not in self.made:
            rows = self.statistics.rows_of(table.name)
            known = dict.fromkeys(self._naming(table), np.arange(rows)) | dict(self._references(table, rows))
            known |= dict(self._spread(table, rows)) | dict(self._listed(table, rows))
            links = dict(self._links(table, rows))
            known |= links
            self.made[table.name] = {
                column.name: known[column.name]
                if column.name in known
                else self._within(table, column, links, self._values(table, column, rows))
                for column in table.columns
            }
            self.stated.update((table.name, name) for name in known)
        return self.made[table.name]

    def meaningless(self, plan: Plan) -> Iterator[str]:
        """Yield the columns that the question looks at and that neither a key nor a link gives a meaning."""
        used: dict[tuple[str, str], None] = {}
        for measure in plan.asked:
            tables = {alias: scan.table.name for alias, scan in scans_of(measure).items()}
            for part in (c for scalar in scalars_below(measure) for c in scalar.find_all(exp.Column)):
                if part.table in tables:
                    used[tables[part.table], part.name] = None
        yield from (f"{table}.{name}" for table, name in used if (table, name) not in self.stated)

    def _links(self, table: Table, rows: int) -> Iterator[tuple[str, Numbers]]:
        """Yield the columns by which rows link to others, with the values that they name."""
        owned = self.ownership.of(table.name)
        hops = owned.hops if isinstance(owned, Linked) else ()
        ends = [(hop, columns) for hop in hops for columns in hop.alternatives]
        for target in dict.fromkeys(hop.target for hop, _ in ends):
            mine = [(hop, columns) for hop, columns in ends if hop.target == target]
            targets, links = self.statistics.rows_of(target), len(mine)
            every = {name for _, columns in mine for name in columns}
            named = fan_out(links * rows, targets, self._largest(table, every, links * rows, targets))
            self.random.shuffle(named)
            for (hop, columns), part in zip(mine, np.split(named, links), strict=True):
                there = {} if hop.table is None else self.columns(hop.table)
                for place, column in enumerate(columns):
                    key = hop.key[place].columns[0] if hop.key else None
                    yield column, part if key is None else there[key][part]

    def _references(self, table: Table, rows: int) -> Iterator[tuple[str, Numbers]]:
        """Yield the columns of enforced references, their rows spread evenly; links know better."""
        for key in table.foreign_keys:
            if same(key.target, table.name) or stated_of(self.statistics.rows, key.target) is None:
                continue
            there = self.columns(key.target)
            named = self.random.integers(0, self.statistics.rows_of(key.target), rows)
            for column, target in zip(key.columns, key.target_columns, strict=True):
                yield column, there[target][named]

    def _spread(self, table: Table, rows: int) -> Iterator[tuple[str, Numbers]]:
        """Yield the columns of which it is stated how many rows share one value (`visit.doctor`).

        How many values there are is stated likewise, or is how many rows the table has that they name.
        """
        named = {
            key.columns[0]: stated_of(self.statistics.rows, key.target)
            for key in table.foreign_keys
            if len(key.columns) == 1
        }
        for column in table.columns:
            place = f"{table.name}.{column.name}"
            values = stated_of(self.statistics.rows, place) or named.get(column.name)
            largest = stated_of(self.statistics.largest, place)
            if stated_of(self.statistics.rows, place) is None and (largest is None or _is_amount(column)):
                continue
            if values is None:
                raise StatisticsError(
                    f"how many values has {place}?", hint=f"state it: rows={{'{place}': 100}}"
                )
            found = fan_out(rows, values, largest or assumed_largest(rows, values))
            self.random.shuffle(found)
            yield column.name, found

    def _values(self, table: Table, column: Column, rows: int) -> Numbers:
        """Return made-up values: about as large as is stated or the policy says, else below 100."""
        stated = stated_of(self.statistics.typical, f"{table.name}.{column.name}")
        said = next((one.value for one in self.policy.typical if _says(one, table, column)), None)
        size = said if stated is None else exact(stated, name=column.name)
        most = MADE_UP if size is None else min(max(2, round(2 * size)), MOST_MADE_UP)
        return self.random.integers(0, most, rows)

    def _within(self, table: Table, column: Column, links: Mapping[str, Numbers], values: Numbers) -> Numbers:
        """Return made-up amounts of which whoever has most has what is stated: `largest["visit.cost"]`."""
        most = stated_of(self.statistics.largest, f"{table.name}.{column.name}")
        if most is None or not _is_amount(column) or not links:
            return values
        _, whose = np.unique(next(iter(links.values())), return_inverse=True)
        totals = np.bincount(whose, values)
        allowed = np.where(totals == totals.max(), most, np.minimum(totals, most))
        share = allowed / np.maximum(totals, 1)
        return np.floor(values * share[whose]).astype(np.int64)

    def _listed(self, table: Table, rows: int) -> Iterator[tuple[str, Numbers]]:
        """Yield the columns whose values the policy lists: each as likely."""
        for column in table.columns:
            values = self.domains.get((fold(table.name), fold(column.name)))
            if values:
                yield column.name, self.random.integers(0, len(values), rows)

    @property
    def domains(self) -> Mapping[tuple[str, str], tuple[str | int | Fraction, ...]]:
        """The values that the policy lists, by table and column."""
        stated = self.policy.domain_values().items()
        return {place: values for place, values in stated if isinstance(values, tuple)}

    def _largest(self, table: Table, columns: set[str], rows: int, targets: int) -> int:
        """Return the most rows that link to one: as a key says, as is stated, else as is assumed."""
        if any({*key} == columns for key in self._keys(table)) and rows <= targets:
            return 1
        found = stated_of(self.statistics.largest, table.name)
        if found is None:
            found = self.assumed[table.name] = assumed_largest(rows, targets)
        return found

    def _naming(self, table: Table) -> set[str]:
        """Return the columns that number the rows of a table: those of its keys."""
        owned = self.ownership.of(table.name)
        naming = {name for key in self._keys(table) for name in key}
        if isinstance(owned, ProtectedTable):
            if any(item.choice is not LinkChoice.ITSELF for item in owned.key):
                raise ParameterError(
                    f"participants of {table.name} are named by an expression: such data cannot be made up",
                    hint="estimate with like= a public database",
                )
            naming |= {name for item in owned.key for name in item.columns}
        return naming

    def _keys(self, table: Table) -> tuple[tuple[str, ...], ...]:
        declared = self.policy.keys_of(table.name)
        return (*table.keys, *(key for key in declared if key not in table.keys))

    def database(self) -> Bare:
        """Return a database with all tables of the catalogue, of which those made hold rows."""
        connection = bare()
        for table in self.catalogue.tables:
            if table.view is not None:
                continue
            parts = [f"{name_literal(column.name)} {column.type}" for column in table.columns]
            parts += [f"UNIQUE ({', '.join(map(name_literal, key))})" for key in self._keys(table)]
            connection.execute(f"CREATE TABLE {name_literal(table.name)} ({', '.join(parts)})")
            if table.name in self.made:
                numbers = self.made[table.name].values()
                values = ", ".join(
                    _value(f"c{i}", column, self.domains.get((fold(table.name), fold(column.name))))
                    for i, column in enumerate(table.columns)
                )
                # a row whose key is taken is left out: two links may name the same pair twice
                insert = "INSERT OR IGNORE" if self._keys(table) else "INSERT"
                fill(
                    connection,
                    f"{insert} INTO {name_literal(table.name)} SELECT {values} FROM made",
                    {f"c{i}": found for i, found in enumerate(numbers)},
                )
        return connection


def _says(said: Typical, table: Table, column: Column) -> bool:
    return same(said.table, table.name) and any(same(name, column.name) for name in said.columns)


def _is_amount(column: Column) -> bool:
    """Return whether a column holds numbers with decimal places: what is added up, and by which none join."""
    kind = stored(column.type)
    return isinstance(kind, Float) or (isinstance(kind, Number) and kind.scale > 0)


def _value(name: str, column: Column, listed: Sequence[str | int | Fraction] | None) -> str:
    """Return the SQL that turns a number into a value of a column's type, equal numbers into equal values."""
    if listed:
        texts = ", ".join(
            text_literal(v if isinstance(v, str) else decimal_text(Fraction(v))) for v in listed
        )
        return f"TRY_CAST([{texts}][{name} + 1] AS {column.type})"
    match stored(column.type):
        case Text():
            return f"'v' || {name}"
        case Number() | Float():
            return f"TRY_CAST({name} AS {column.type})"
        case Boolean():
            return f"{name} % 2 = 0"
        case Date():
            return f"DATE '1990-01-01' + CAST({name} AS INTEGER)"
        case Timestamp():
            return f"TIMESTAMP '1990-01-01' + to_days(CAST({name} AS INTEGER))"
        case _:
            return "NULL"
