"""A database of the same schema, made up from statistics that the user states: for estimates only.

Only the catalogue and the policy are looked at. Keys and links follow the statistics; every other column
holds values that mean nothing, so a condition on such a column selects what it happens to select: the
estimate says which these are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from sqlglot import exp

from recuse.engines.bare import Bare, BareError, bare, fill
from recuse.engines.literals import name_literal
from recuse.errors import ParameterError, StatisticsError
from recuse.fold import same
from recuse.policy import Policy
from recuse.policy.terms import LinkChoice
from recuse.scalars.types import Boolean, Date, Float, Number, Text, Timestamp, stored
from recuse.sql.catalogue import Catalogue, Column, Table
from recuse.sql.compile import Plan
from recuse.sql.native.looked import scalars_below, scans_of
from recuse.sql.ownership import Linked, Ownership, ProtectedTable, own

MOST_ROWS = 10_000_000
SEED = 2013
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Statistics:
    """What the user states of a database: rows of each table (or kind), and the largest fan-out of its links.

    `largest["orders"]` is how many orders the customer with the most has; the others have fewer and fewer,
    in harmonic proportion. Where nothing is stated, rows are spread evenly.
    """

    rows: Mapping[str, int]
    largest: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for numbers in (self.rows, self.largest):
            for name, number in numbers.items():
                if not 0 < number <= MOST_ROWS:
                    raise ParameterError(
                        f"the statistic of {name} is out of range",
                        found=str(number),
                        accepted=f"1 to {MOST_ROWS:,}",
                    )

    def rows_of(self, name: str) -> int:
        """Return the rows of a table or the participants of a kind, which must be stated."""
        found = _of(self.rows, name)
        if found is None:
            raise StatisticsError(f"how many rows has {name}?", hint=f"state it: rows={{'{name}': 1000}}")
        return found


def _of(numbers: Mapping[str, int], name: str) -> int | None:
    return next((number for given, number in numbers.items() if same(given, name)), None)


def fan_out(rows: int, targets: int, largest: int | None) -> Numbers:
    """Return for every row the target that it links to: evenly, or so that the first target has `largest`.

    >>> np.bincount(fan_out(10, 5, 4)).tolist()
    [4, 2, 2, 1, 1]
    """
    if largest is None:
        return np.arange(rows) % targets
    ranks = 1 / np.arange(1, targets + 1)
    even = (rows - largest * ranks.sum()) / max(targets - ranks.sum(), 1e-9)
    wanted = np.maximum(even + (largest - even) * ranks, 0)
    ends = np.minimum(np.rint(np.cumsum(wanted)), rows).astype(np.int64)
    found = np.repeat(np.arange(targets), np.diff(ends, prepend=0))
    return np.concatenate([found, np.arange(rows - len(found)) % targets])


@dataclass(frozen=True, slots=True)
class Made:
    """A database in memory, filled as statistics say, and what of a question they say nothing of."""

    database: Bare
    meaningless: tuple[str, ...]

    @property
    def cautions(self) -> tuple[str, ...]:
        """What to know of an estimate from it."""
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
        return Made(maker.database(), tuple(maker.meaningless(plan)))
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
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(SEED))

    def columns(self, name: str) -> dict[str, Numbers]:
        """Return the columns of a table, and make them if need be."""
        table = self.catalogue.table(name)
        if table is None:
            raise ParameterError(f"the database has no table {name}")
        if table.name not in self.made:
            rows = self.statistics.rows_of(table.name)
            known = dict.fromkeys(self._naming(table), np.arange(rows)) | dict(self._links(table, rows))
            self.made[table.name] = {
                column.name: known[column.name]
                if column.name in known
                else self.random.integers(0, 100, rows)
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
        for hop in owned.hops if isinstance(owned, Linked) else ():
            there = {} if hop.table is None else self.columns(hop.table)
            targets = self.statistics.rows_of(hop.target)
            for columns in hop.alternatives:
                named = fan_out(rows, targets, _of(self.statistics.largest, table.name))
                self.random.shuffle(named)
                for place, column in enumerate(columns):
                    key = hop.key[place].columns[0] if hop.key else None
                    yield column, named if key is None else there[key][named]

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
                values = ", ".join(_value(f"c{i}", column) for i, column in enumerate(table.columns))
                # a row whose key is taken is left out: two links may name the same pair twice
                insert = "INSERT OR IGNORE" if self._keys(table) else "INSERT"
                fill(
                    connection,
                    f"{insert} INTO {name_literal(table.name)} SELECT {values} FROM made",
                    {f"c{i}": found for i, found in enumerate(numbers)},
                )
        return connection


def _value(name: str, column: Column) -> str:
    """Return the SQL that turns a number into a value of a column's type, equal numbers into equal values."""
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
