"""The judge of layers: what SQL means on every sub-database, against the annotations of one relation.

    derive(market, text)          a question made ready: compiled once, or refused (`QueryError`)
    … (contents)                  the relations of its groups on a database
    check(...)                    compares them with DuckDB's own answer to the very text, for every set of
                                  participants, and with the relation of the database that each has left

`derive` is a parameter: the twins of the tests hand in one that is wrong, and `check` must raise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache

import duckdb
import numpy as np
from numpy.typing import NDArray

from recuse.annotation import And, Annotation, Or, Participant, Threshold
from recuse.engines.binding import check_plan
from recuse.engines.collect import collect, collect_domain
from recuse.errors import QueryError
from recuse.krelation.build import expressions, without
from recuse.krelation.relation import KRelation
from recuse.sql.compile import compile_query
from support.sql.market import COLUMNS, Contents, Market, Name, fill
from support.sql.syntactic import syntactic_rows

Bits = NDArray[np.bool_]
Keys = tuple[object, ...]
Relations = Mapping[Keys, Sequence[tuple[KRelation, Fraction]]]
"""of each group: a relation and its granularity for every aggregate"""
Derived = Callable[[Contents], Relations]
Derive = Callable[[Market, str], Derived]


class LawError(AssertionError):
    """A law does not hold: of which text, on which database, and how."""

    def __init__(self, what: str, market: Market, text: str, contents: Contents) -> None:
        self.what, self.market, self.text, self.contents = what, market, text, contents
        rows = "\n".join(f"  {table} {list(found)}" for table, found in contents.rows.items() if found)
        super().__init__(f"{what}\n  {market.form.value}, {', '.join(market.kinds)}\n  {text}\n{rows}")


def derive(market: Market, text: str) -> Derived:
    """Return the question as Recuse compiles it, or raise its refusal."""
    engine = market.engine()
    plan = compile_query(text, market.policy, market.catalogue())
    check_plan(plan, engine)
    if plan.firsts:
        raise QueryError("numbers are released first: what is meant then is no function of the rows")

    def relations(contents: Contents) -> Relations:
        loaded = contents.load(market)
        domain = collect_domain(loaded, plan.grouping)
        measures = collect(loaded, plan, domain)
        return {
            keys: [(groups[n], m.granularity) for groups, m in zip(measures, plan.measures, strict=True)]
            for n, keys in enumerate(domain.keys)
        }

    return relations


# ------------------------------------------------------------------ truth of annotations, all sets at once


def sets_of(names: Sequence[Name]) -> Iterator[frozenset[Name]]:
    """Yield every set of participants; the number of a set has bit n iff the n-th is in it."""
    for number in range(1 << len(names)):
        yield frozenset(name for n, name in enumerate(names) if number >> n & 1)


def truth(k: Annotation, bits: Mapping[object, Bits], size: int) -> Bits:
    """Return for every set of participants whether the annotation holds."""
    match k:
        case Participant(name):
            return bits.get(name, np.zeros(size, bool))
        case And(children):
            return np.logical_and.reduce([np.ones(size, bool), *(truth(c, bits, size) for c in children)])
        case Or(children):
            return np.logical_or.reduce([np.zeros(size, bool), *(truth(c, bits, size) for c in children)])
        case Threshold(children, weights, least):
            there = [
                u * truth(c, bits, size).astype(np.int64) for c, u in zip(children, weights, strict=True)
            ]
            return np.add.reduce(there) >= least


def answers(relation: KRelation, names: Sequence[Name]) -> list[int]:
    """Return Σ ± weight · [annotation holds] for every set of participants."""
    size = 1 << len(names)
    places = np.arange(size)
    bits: dict[object, Bits] = {name: (places >> n & 1).astype(bool) for n, name in enumerate(names)}
    total = np.zeros(size, object)
    for k, weight in expressions(relation):
        total += np.where(truth(k, bits, size), weight, 0).astype(object)
    return [int(value) for value in total]


# ------------------------------------------------------------------ the plain answers


@cache
def _judge() -> duckdb.DuckDBPyConnection:
    """Return a connection of its own, where a variable says which sub-database its tables are.

    A row is written down once, with a bit for every set of participants.
    """
    connection = duckdb.connect(":memory:", config={"threads": 1})
    for table, columns in COLUMNS.items():
        types = ", ".join(f"{name} {kind}" for name, kind in columns.items())
        connection.execute(f"CREATE TABLE every_{table} (present BIT, {types})")
        connection.execute(
            f"CREATE VIEW {table} AS SELECT {', '.join(columns)} FROM every_{table} "
            "WHERE get_bit(present, getvariable('subset')) = 1"
        )
    return connection


def close_judge() -> None:
    """Close the judge's connection."""
    _judge().close()
    _judge.cache_clear()


Answer = list[tuple[object, ...]]


@dataclass(frozen=True)
class Judge:
    """DuckDB over all sub-databases of one database."""

    market: Market
    contents: Contents
    names: Sequence[Name]
    there: Mapping[str, Sequence[str]]
    """of each table, for every set of participants: a bit a row, whether it is there"""
    answers: dict[tuple[object, ...], Answer] = field(default_factory=dict)
    """by text, and by what is in the tables that it names: the same rows have the same answer"""

    @classmethod
    def of(cls, market: Market, contents: Contents) -> Judge:
        """Return the judge, loaded: there is one database at a time."""
        names = contents.participants(market)
        every = [contents.present(market, there).rows for there in sets_of(names)]
        there = {
            table: ["".join("01"[row in found[table]] for row in rows) for found in every]
            for table, rows in contents.rows.items()
        }
        connection = _judge()
        for table in COLUMNS:
            connection.execute(f"DELETE FROM every_{table}")
            rows = zip(zip(*there[table], strict=True), contents.rows[table], strict=True)
            fill(connection, f"every_{table}", [("".join(bits), *row) for bits, row in rows])
        return cls(market, contents, names, there)

    def rows(self, text: str) -> Iterator[Answer]:
        """Yield the answer to a text on the sub-database of every set of participants."""
        for number in range(1 << len(self.names)):
            yield self.rows_of(text, number)

    def rows_of(self, text: str, number: int) -> Answer:
        """Return the answer to a text on the sub-database of one set of participants."""
        seen = text, *(there[number] for table, there in self.there.items() if table in text.lower())
        if seen not in self.answers:
            _judge().execute(f"SET VARIABLE subset = {number}")
            self.answers[seen] = _judge().execute(text).fetchall()
        return self.answers[seen]

    def finds(self, text: str) -> bool:
        """Whether the answer is anything but 0 if everybody takes part."""
        return any(row[-1] for row in self.rows_of(text, (1 << len(self.names)) - 1))


# ------------------------------------------------------------------ the laws


@dataclass
class Tally:
    """What was compared and what was refused, by layer."""

    compared: Counter[str] = field(default_factory=Counter)
    filled: Counter[str] = field(default_factory=Counter)
    """the comparisons in which DuckDB's answer was not 0"""
    withdrawn: Counter[str] = field(default_factory=Counter)
    accepted: Counter[str] = field(default_factory=Counter)
    refused: dict[str, Counter[str]] = field(default_factory=dict)

    def refuse(self, layer: str, reason: str) -> None:
        self.refused.setdefault(layer, Counter())[reason] += 1

    def __str__(self) -> str:
        lines = []
        for layer in sorted({*self.accepted, *self.refused}):
            reasons = self.refused.get(layer, Counter())
            lines.append(
                f"{layer}: {self.compared[layer]} comparisons ({self.filled[layer]} not of 0), "
                f"{self.withdrawn[layer]} withdrawals; "
                f"{self.accepted[layer]} questions answered, {reasons.total()} refused"
            )
            lines += [f"    {count:5} {reason}" for reason, count in reasons.most_common(8)]
        return "\n".join(lines)


@dataclass(frozen=True)
class Checked:
    """How many answers were compared, in how many of them DuckDB's was not 0, and withdrawals likewise."""

    compared: int
    filled: int
    withdrawn: int


def check(judge: Judge, questions: Mapping[str, Derived]) -> dict[str, Checked]:
    """Return what was compared of each question; raise `LawError` if anything differs."""
    market, contents = judge.market, judge.contents
    found = {text: derived(contents) for text, derived in questions.items()}
    checked = {text: _compare_answers(judge, text, relations) for text, relations in found.items()}
    for name in judge.names:
        smaller = contents.without(market, name)
        for text, derived in questions.items():
            _compare_withdrawal(judge, text, found[text], derived(smaller), name)
    return checked


def _compare_withdrawal(judge: Judge, text: str, found: Relations, left: Relations, name: Name) -> None:
    for keys, relations in found.items():
        for (mine, _), (theirs, _) in zip(relations, left[keys], strict=True):
            if syntactic_rows(without(mine, name)) != syntactic_rows(theirs):
                what = f"the relation without {name} is not that of the database without them"
                raise LawError(what, judge.market, text, judge.contents)


def _compare_answers(judge: Judge, text: str, found: Relations) -> Checked:
    width = {len(relations) for relations in found.values()}
    expected = {
        keys: [
            [value * granularity for value in answers(relation, judge.names)]
            for relation, granularity in relations
        ]
        for keys, relations in found.items()
    }
    compared = filled = 0
    for number, rows in enumerate(judge.rows(text)):
        given: dict[Keys, tuple[object, ...]] = {}
        for row in rows:
            (values,) = width or {len(row)}
            given[row[: len(row) - values]] = row[len(row) - values :]
        for keys, columns in expected.items():
            plain = given.get(keys, (0,) * len(columns))
            for column, value in zip(columns, plain, strict=True):
                if column[number] != exact(value):
                    there = [name for n, name in enumerate(judge.names) if number >> n & 1]
                    what = f"with {there} {keys or 'it'} is {value}, and its annotations say {column[number]}"
                    raise LawError(what, judge.market, text, judge.contents)
                compared += 1
                filled += bool(value)
    return Checked(compared, filled, len(judge.names))


def exact(value: object) -> Fraction:
    """Return a number of DuckDB as it is; a sum of nothing counts as 0."""
    return Fraction(0) if value is None else Fraction(str(value))


def smallest(broken: LawError, ready: Derive) -> LawError:
    """Return the law broken on as few rows as can be found by leaving out one after the other."""
    market, text = broken.market, broken.text
    shrinking = True
    while shrinking:
        shrinking = False
        contents = broken.contents
        for table, rows in contents.rows.items():
            for place in range(len(rows)):
                try:
                    check(Judge.of(market, contents.drop(table, place)), {text: ready(market, text)})
                except LawError as smaller:
                    broken, shrinking = smaller, True
                    break
                except duckdb.Error:
                    continue  # a reference is enforced
            if shrinking:
                break
    return broken
