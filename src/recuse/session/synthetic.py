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
import numpy.typing as npt
import scipy  # its rooms are loaded when they are entered: commands that need none start sooner
from sqlglot import exp

from recuse.engines.bare import Bare, BareError, bare, fill
from recuse.engines.literals import name_literal, text_literal
from recuse.errors import ParameterError
from recuse.fold import fold, same
from recuse.krelation.relation import Floats
from recuse.policy import Policy
from recuse.policy.terms import LinkChoice
from recuse.privacy import decimal_text
from recuse.scalars.types import Boolean, Date, Float, Number, Text, Timestamp, stored
from recuse.session.statistics import Statistics, stated_of
from recuse.sql.catalogue import Catalogue, Column, Table
from recuse.sql.native.looked import scalars_below, scans_of
from recuse.sql.ownership import Linked, Ownership, ProtectedTable, own
from recuse.sql.plan import Plan

TAIL = 10
COMPANY = 4
"""how flat a heavy tail is at its top"""
LIGHT = 5
"""up to so many times the mean the largest is the end of a bell, beyond that of a heavy tail"""
SEED = 2013
Numbers = npt.NDArray[np.int64]


def assumed_largest(rows: int, targets: int) -> int:
    """Return the most rows of one target where nobody states it: ten times the mean, a heavy tail."""
    return min(rows, -(-TAIL * rows // targets))


def fan_out(rows: int, targets: int, largest: int) -> Numbers:
    """Return for every row the target that it links to, all rows, the first with `largest` of them.

    >>> np.bincount(fan_out(10, 5, 4)).tolist(), np.bincount(fan_out(20, 10, 12)).tolist()
    ([4, 3, 2, 1], [12, 4, 2, 1, 0, 1])
    """
    shape = _bell if largest * targets <= LIGHT * rows else _power
    low, high = 0.0, 64.0
    for _ in range(60):  # the steeper, the fewer
        middle = (low + high) / 2
        low, high = (middle, high) if shape(targets, largest, middle).sum() > rows else (low, middle)
    ends = np.minimum(np.rint(np.cumsum(shape(targets, largest, high))), rows).astype(np.int64)
    found = np.repeat(np.arange(targets), np.diff(ends, prepend=0))
    return np.concatenate([found, np.arange(rows - len(found)) % targets])


def _power(targets: int, largest: int, steep: float) -> Floats:
    """Return Zipf's law as Mandelbrot has it, for the largest is seldom alone: largest·((i+4)/5)^-s."""
    ranks = (np.arange(1, targets + 1) + COMPANY) / (1 + COMPANY)
    found: Floats = largest * ranks**-steep
    return found


def _bell(targets: int, largest: int, steep: float) -> Floats:
    """Return the quantiles of a normal distribution from the largest down, none below 0."""
    quantiles = scipy.special.ndtri(1 - (np.arange(targets) + 0.5) / targets)
    found: Floats = np.maximum(largest - steep * largest / 8 * (quantiles[0] - quantiles), 0)
    return found


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
            known |= dict(self._links(table, rows)) | dict(self._listed(table, rows))
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
