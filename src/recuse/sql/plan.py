"""`Plan`: a compiled question, all that is known of it before a private row is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from recuse.krelation.relation import Shape
from recuse.sql.derivation import DerivationTable
from recuse.sql.dialect import DUCKDB, Dialect
from recuse.sql.explain import Explanation
from recuse.sql.finish import Shown
from recuse.sql.formula import FinishingStep, Term, largest_rows
from recuse.sql.grouping import Grouping
from recuse.sql.measure import Aggregate, Measure
from recuse.sql.native.question import PublicQuery
from recuse.sql.placeholder import PlaceType, filled
from recuse.sql.sharing import Sharing, sharing_words
from recuse.sql.touch import Touch

MANY_GROUPS = 1_000
"""from so many groups on, rows with one owner are read as they are (measured: docs/results/groups.md)"""


@dataclass(frozen=True, slots=True)
class DerivationQuery:
    """One aggregate: the tables whose rows are its derivations, and the form of their annotations."""

    tables: tuple[DerivationTable, ...]
    shape: Shape
    aggregate: Aggregate
    granularity: Fraction
    sharing: Sharing
    signed: bool
    """whether rows may weigh less than nothing: follows from the query"""
    touches: tuple[Touch, ...] = ()
    """what every kind of owner decides of the keys"""
    bound: int | None = None
    """the most rows that a participant can own, where query and catalogue say so"""
    typical: Fraction = Fraction(1)
    """about how large the value of a row is"""
    sized: bool = False
    """whether the policy says how large"""
    single: bool = False
    """whether it counts, and every participant is one row to which none links"""
    place: int = 0
    """of which set of keys it is, where ROLLUP and the like ask for several"""

    @property
    def is_owned(self) -> bool:
        """Whether a participant owns any row that it looks at."""
        return any(table.is_owned for table in self.tables)

    def in_groups(self, count: int) -> DerivationQuery:
        """Return the measure as it is read for so many groups, which are public: with many, row by row.

        Of one owner's rows hardly two are in one of many groups, so to sum them is work for nothing. Theorem
        E0 holds for either.
        """
        listed = [table.listed for table in self.tables if table.listed is not None]
        if count < MANY_GROUPS or self.sharing is not Sharing.ONE_OWNER or len(listed) < len(self.tables):
            return self
        tables = (replace(table, sql=sql) for table, sql in zip(self.tables, listed, strict=True))
        return replace(self, tables=tuple(tables))


@dataclass(frozen=True, slots=True)
class Plan:
    """What an engine runs for a question, and how its columns are made of the measures."""

    measures: tuple[DerivationQuery, ...]
    columns: tuple[Shown, ...]
    grouping: Grouping | None
    steps: tuple[FinishingStep, ...]
    """what is done with the rows once they are released"""
    firsts: tuple[FirstPlan, ...]
    """the numbers that are released before anything else; statements have places for them"""
    first_share: Fraction
    """the part of ε for all of them together, if people's rows are asked for after"""
    explanation: Explanation = field(compare=False, repr=False)
    asked: tuple[Measure, ...] = field(compare=False, repr=False)
    """the measures as they were read, for saying what is wrong with them"""
    text: str = field(compare=False, repr=False)
    dialect: Dialect = DUCKDB
    """in which its statements are written"""
    public: PublicQuery | None = None
    """a question about nobody that is run as it is; it has no measures then"""
    finding: DerivationQuery | None = None
    """the rows among which keys are found, with δ"""

    @property
    def is_number(self) -> bool:
        """Whether the question asks for one aggregate without groups."""
        return self.grouping is None and [type(shown.what) for shown in self.columns] == [Term]

    @property
    def largest(self) -> int | None:
        """How many groups are looked at, if they are those of the largest number: ORDER BY it DESC LIMIT k.

        Only where groups share people and all move the same way; elsewhere all of them are answered.
        """
        return largest_groups(self.measures, self.steps)

    @property
    def is_public(self) -> bool:
        """Whether no participant owns any row that the question looks at.

        Guarantee: the answer is then the same whoever withdraws. It costs nothing, and needs no noise.
        """
        return all(plan.looks_at_nobody for plan in (self, *(first.plan for first in self.firsts)))

    @property
    def looks_at_nobody(self) -> bool:
        """Whether no participant owns any row that its own statements look at, scalars aside."""
        return not any(measure.is_owned for measure in self.measures)

    def filled(self, values: Sequence[Fraction | None]) -> Plan:
        """Return the plan with numbers in its places: those of the first so many scalars."""
        kinds = [first.type for first in self.firsts]

        def fill(measure: DerivationQuery) -> DerivationQuery:
            tables = (_filled(table, values, kinds, self.dialect) for table in measure.tables)
            return replace(measure, tables=tuple(tables))

        return replace(
            self,
            measures=tuple(map(fill, self.measures)),
            finding=None if self.finding is None else fill(self.finding),
        )

    def in_groups(self, count: Callable[[int], int]) -> Plan:
        """Return the plan as it is read, given how many groups each set of keys has."""
        measures = tuple(measure.in_groups(count(measure.place)) for measure in self.measures)
        return replace(self, measures=measures)

    @property
    def each(self) -> int:
        """How many measures each set of keys has: formulas number these."""
        sets = () if self.grouping is None else self.grouping.sets
        return len(self.measures) // max(1, len(sets))

    @property
    def statements(self) -> tuple[str, ...]:
        """What is run over private rows, each once."""
        found = () if self.finding is None else (self.finding,)
        return compiled_sql((*self.measures, *found))

    @property
    def single(self) -> DerivationQuery:
        """The only measure of a question that asks for one number."""
        (measure,) = self.measures
        return measure


def largest_groups(measures: Sequence[DerivationQuery], steps: tuple[FinishingStep, ...]) -> int | None:
    """Return how many of the largest groups of the only measure are wanted, if such groups are drawn."""
    count = largest_rows(steps)
    if count is None or len(measures) != 1:
        return None
    (measure,) = measures
    alike = measure.sharing is Sharing.TOGETHER and not measure.signed and not measure.aggregate.placed
    return count if alike else None


@dataclass(frozen=True, slots=True)
class FirstPlan:
    """A number that is released first: its plan, its type, and how the question writes it."""

    plan: Plan
    type: PlaceType
    text: str = field(compare=False)
    end: bool = False
    """whether it is an end of a key of GROUP BY, and does not stand in the question"""


def _filled(
    table: DerivationTable,
    values: Sequence[Fraction | None],
    kinds: Sequence[PlaceType],
    dialect: Dialect,
) -> DerivationTable:
    below = tuple(
        replace(
            group,
            group=replace(
                group.group,
                tables=tuple(_filled(inner, values, kinds, dialect) for inner in group.group.tables),
            ),
        )
        for group in table.below
    )
    sql, listed, loose = (
        None if text is None else filled(text, values, kinds, dialect)
        for text in (table.sql, table.listed, table.loose)
    )
    return replace(table, sql=sql or "", below=below, listed=listed, loose=loose)


def compiled_sql(measures: tuple[DerivationQuery, ...]) -> tuple[str, ...]:
    """Return the statements of all tables, each once, in the order in which they are run."""
    return tuple(dict.fromkeys(sql for measure in measures for sql in statements(measure.tables)))


def statements(tables: tuple[DerivationTable, ...]) -> list[str]:
    """Return the statements of tables and of the groups below them, parents first."""
    found = []
    for table in tables:
        found.append(table.sql)
        for below in table.below:
            found += [below.group.least] if isinstance(below.group.least, str) else []
            found += statements(below.group.tables)
    return found


def shared_words(
    compiled: Iterable[DerivationQuery], grouping: Grouping | None, largest: int | None
) -> Iterator[str]:
    """Yield how the groups of every measure share ε, where it has some."""
    for one in compiled:
        sets = () if grouping is None else grouping.sets
        groups = sets[one.place].grouping if sets else grouping
        if groups is not None:
            yield _sharing_words(one, groups, largest)


def _sharing_words(measure: DerivationQuery, grouping: Grouping, largest: int | None) -> str:
    """Return how the groups of a measure share ε."""
    apart = measure.aggregate.placed
    said = sharing_words(measure.sharing, measure.touches, grouping.names, grouping.stated(), apart=apart)
    if largest is None:
        return said
    return f"{said}; but where groups are many, the largest {largest} are drawn, and have a number each"
