"""`Grouping`: the groups of a question, as far as they are known before any private row is read.

Groups are all combinations: of listed keys, of keys between two ends, and of the rows of tables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

from sqlglot import exp

from recuse.policy import Policy
from recuse.sql.dense import Dense
from recuse.sql.disjoint import groups_are_disjoint
from recuse.sql.groups import GroupKey, Joined, Queried, Referenced
from recuse.sql.listed import KeyValue, Listed
from recuse.sql.lower import Lowering
from recuse.sql.measure import Measure
from recuse.sql.query import Block, Scan, column
from recuse.sql.reading import Reading
from recuse.sql.render import union
from recuse.sql.schema import Schema
from recuse.sql.traced import public_part, traced
from recuse.sql.walk import type_lookup


@dataclass(frozen=True, slots=True)
class InTable:
    """A key that is a column of a table: of a public one, by its place, or of the keys that are found."""

    table: int
    column: int


MAX_GROUPS = 10_000


Held = tuple[KeyValue, ...] | Dense | InTable
"""what the groups of one key are"""


@dataclass(frozen=True, slots=True)
class Grouping:
    """The keys of GROUP BY by name, what the groups of each are, and the statements of public tables.

    `found` are the keys that are found among private rows, which make one more table. `disjoint` says that no
    participant can contribute to two groups.
    """

    names: tuple[str, ...]
    keys: tuple[Held, ...]
    tables: tuple[str, ...]
    disjoint: bool
    sets: tuple[KeySet, ...] = ()
    """where ROLLUP and the like ask for several: each has its own groups, and there are no others"""

    @property
    def found(self) -> tuple[int, ...]:
        """The places of the keys that are found among private rows."""
        last = len(self.tables)
        return tuple(
            place for place, key in enumerate(self.keys) if isinstance(key, InTable) and key.table == last
        )

    @property
    def is_open(self) -> bool:
        """Whether an end of a key has not been released yet."""
        inside = (one.grouping for one in self.sets)
        return any(isinstance(key, Dense) and key.size is None for key in self.keys) or any(
            one is not None and one.is_open for one in inside
        )

    def size(self, rows: Sequence[int]) -> int:
        """Return how many groups there are for tables of so many rows, open ends left out."""
        found = 1
        for key in self.keys:
            if isinstance(key, tuple):
                found *= len(key)
            elif isinstance(key, Dense) and key.size is not None:
                found *= key.size
        for count in rows:
            found *= count
        return found

    def stated(self) -> list[tuple[KeyValue | None, ...]] | None:
        """Return the keys of all groups, if no table and no release is needed to know them."""
        if self.sets or self.is_open or self.tables or self.found or self.size(()) > MAX_GROUPS:
            return None
        listed = [key.labels() if isinstance(key, Dense) else key for key in self.keys]
        return list(product(*(one for one in listed if not isinstance(one, InTable))))

    def given(self, released: Callable[[int], Fraction | None], rows: Sequence[int]) -> Grouping:
        """Return the grouping with its ends known, so that there are no more groups than are answered.

        Guarantee: a function of what was released and of public things.
        """
        ends = [key for key in self.keys if isinstance(key, Dense) and key.size is None]
        room = MAX_GROUPS // max(1, self.size(rows))
        most = max(1, _root(room, len(ends) + bool(self.found)))
        return replace(
            self,
            keys=tuple(
                key.given(released, most) if isinstance(key, Dense) and key.size is None else key
                for key in self.keys
            ),
        )


@dataclass(frozen=True, slots=True)
class KeySet:
    """One set of a GROUP BY with several: the places of its keys among all of them, and its groups."""

    places: tuple[int, ...]
    grouping: Grouping | None
    """None: all rows are one group"""


def _root(number: int, degree: int) -> int:
    """Return the largest whole number whose power is at most a number.

    >>> _root(10_000, 2), _root(9_999, 2), _root(10_000, 1)
    (100, 99, 10000)
    """
    found = 1
    while (found + 1) ** max(1, degree) <= number:
        found += 1
    return found


def grouping_of(
    question: Reading, measures: Sequence[Measure], schema: Schema, policy: Policy
) -> Grouping | None:
    """Return the groups of a question, those of every set of keys; None if all rows are one group."""
    if not question.sets:
        return _one_grouping(question, measures, schema, policy) if question.keys else None
    found = []
    for number, places in enumerate(question.sets):
        mine = [one for place, one in zip(question.places(), measures, strict=True) if place == number]
        asked = replace(question, keys=question.keys_of(number), sets=())
        found.append(KeySet(places, grouping_of(asked, mine, schema, policy)))
    tables = [sql for one in found if one.grouping is not None for sql in one.grouping.tables]
    return Grouping(tuple(key.name for key in question.keys), (), tuple(tables), False, tuple(found))


def _one_grouping(question: Reading, measures: Sequence[Measure], schema: Schema, policy: Policy) -> Grouping:
    """Return the groups of all keys: what each key's are, and the statements of public tables."""
    tables: list[str] = []
    held: list[Held] = []
    public = [key for key in question.keys if key.origin is Joined.PUBLIC]
    if public:
        tables.append(_public_keys(public, question, schema))
    for key in question.keys:
        match key.origin:
            case Listed(values=values):
                held.append(values)
            case Dense():
                held.append(key.origin)
            case Joined.PUBLIC:
                held.append(InTable(0, public.index(key)))
            case Referenced() | Queried():
                tables.append(_table_of(key.origin, schema))
                held.append(InTable(len(tables) - 1, 0))
            case Joined.FOUND:
                held.append(InTable(-1, 0))
    found = iter(range(len(held)))
    return Grouping(
        names=tuple(key.name for key in question.keys),
        keys=tuple(InTable(len(tables), next(found)) if key == InTable(-1, 0) else key for key in held),
        tables=tuple(tables),
        disjoint=all(groups_are_disjoint(measure, policy) for measure in measures),
    )


def _public_keys(keys: list[GroupKey], question: Reading, schema: Schema) -> str:
    """Return the SQL of the keys that public tables give: their distinct combinations, without NULL."""
    lowering = Lowering(question.measures[0].lookup(), schema.text, schema.catalogue.dialect)
    parts = []
    for place, block in enumerate(question.frames):
        values = [traced(block, key.values[place]) for key in keys]
        public = public_part(schema, block, values)
        filled = [exp.Not(this=exp.Is(this=exp.paren(v), expression=exp.Null())) for v in values]
        names = [f"group_{n}" for n in range(1, len(keys) + 1)]
        outputs = [exp.alias_(v.copy(), n) for v, n in zip(values, names, strict=True)]
        parts.append(lowering.rows(public.narrowed(filled), outputs))
    return schema.catalogue.dialect.statement(union(parts, distinct=True))


def _table_of(origin: Referenced | Queried, schema: Schema) -> str:
    """Return the SQL of a key whose values a public table or a query of the policy has, without NULL."""
    if isinstance(origin, Queried):
        name = schema.catalogue.dialect.identifier(origin.column)
        return f"SELECT DISTINCT {name} AS group_1 FROM ({origin.sql}) AS stated WHERE {name} IS NOT NULL"
    scan = Scan("referenced", origin.table)
    value = column(scan.alias, origin.column)
    filled = exp.Not(this=exp.Is(this=value.copy(), expression=exp.Null()))
    block = Block(sources=(scan,), conditions=(filled,))
    lowering = Lowering(type_lookup([scan]), schema.text, schema.catalogue.dialect)
    statement = lowering.rows(block, [exp.alias_(value, "group_1")])
    return schema.catalogue.dialect.statement(union([statement], distinct=True))
