"""The tables of one sign in an engine: sets of owners with their weights, and everybody's load.

A participant is a number among its kind: its name where that is a whole number, else the place of its name
among all names of its kind. A row has a place an owner, those of one kind side by side in ascending order,
NULL where somebody would stand twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Self

import pyarrow

from recuse.krelation.encode import Owners
from recuse.solver.kept.warehouse import Warehouse

WEIGHT = "weight"


@dataclass(frozen=True, slots=True, eq=False)
class KeptTuples:
    """Owner sets of one sign: `rows` has the columns p0, p1, … and weight, `loads` kind, p and load.

    A set may stand in several rows if it can have several members: sums put them together.
    """

    kinds: tuple[int, ...]
    """of every place, ascending"""
    warehouse: Warehouse
    rows: str
    loads: str
    count: int
    total: int
    largest: int
    apart: bool = False
    """whether rows of equal owners may stand apart"""

    @classmethod
    def of(cls, warehouse: Warehouse, rows: str, kinds: tuple[int, ...], *, apart: bool = False) -> Self:
        """Return the tables of rows that are owner sets; those of one owner none twice."""
        if len(kinds) == 1:
            loads = f"(SELECT 0 AS kind, p0 AS p, {WEIGHT} AS load FROM {rows} AS t)"
        else:
            each = (
                f"SELECT {kind} AS kind, p{place} AS p, {WEIGHT} FROM {rows} AS t WHERE p{place} IS NOT NULL"
                for place, kind in enumerate(kinds)
            )
            every = " UNION ALL ".join(each)
            loads = warehouse.keep(
                f"SELECT kind, p, SUM({WEIGHT}) AS load FROM ({every}) AS t GROUP BY kind, p"
            )
        count, total = _line(warehouse, f"SELECT COUNT(*), SUM({WEIGHT}) FROM {rows} AS t")
        (largest,) = _line(warehouse, f"SELECT MAX(load) FROM {loads} AS l")
        return cls(kinds, warehouse, rows, loads, count, total, largest, apart)

    @property
    def most(self) -> int:
        """The largest number of owners that a tuple can have: it follows from the query."""
        return len(self.kinds)

    def narrow(self, number: str, most: int) -> str:
        """Return a number up to `most` as it is read."""
        return self.warehouse.spelling.narrow(number, most)

    def line(self, sql: str) -> list[int]:
        """Return the whole numbers of a query of one row, 0 for NULL."""
        return _line(self.warehouse, sql)


def kept_signs(warehouse: Warehouse, table: str, owners: Owners, *, signed: bool) -> list[KeptTuples]:
    """Return the positive, and if it has a sign the negative tuples of a table of derivations.

    Where there is one owner no two rows of one sign have the same. Rows of which an owner is NULL are
    nobody's.
    """
    coded, kinds = coded_rows(warehouse, table, owners)
    places = ", ".join(f"p{place}" for place in range(len(kinds)))
    found = []
    for of_sign, weight in signs_of(signed=signed):
        rows = f"(SELECT {places}, {weight} AS {WEIGHT} FROM {coded} AS c WHERE {of_sign})"
        apart = len(set(kinds)) == len(kinds) > 1
        if len(set(kinds)) < len(kinds):  # the same set may stand in several rows, in either order
            rows = merged(warehouse, rows, len(kinds))
        found.append(KeptTuples.of(warehouse, rows, kinds, apart=apart))
    return found


def merged(warehouse: Warehouse, rows: str, most: int) -> str:
    """Return a table in which every owner set stands once."""
    places = ", ".join(f"p{place}" for place in range(most))
    return warehouse.keep(f"SELECT {places}, SUM({WEIGHT}) AS {WEIGHT} FROM {rows} AS s GROUP BY {places}")


def signs_of(*, signed: bool) -> Sequence[tuple[str, str]]:
    """Return for each sign which rows have it, and what they weigh without it."""
    return ((f"{WEIGHT} > 0", WEIGHT), (f"{WEIGHT} < 0", f"-{WEIGHT}"))[: 1 + signed]


def coded_rows(
    warehouse: Warehouse, table: str, owners: Owners, carried: Sequence[str] = ()
) -> tuple[str, tuple[int, ...]]:
    """Return the rows with every owner as a number, sets side by side, and the kind of every place.

    A row weighs 1 where no column says what; columns that are `carried` stay as they are.
    """
    types = warehouse.read(f"SELECT * FROM {table} AS d LIMIT 0").schema
    listed = list(dict.fromkeys(kind for kind, _ in owners))
    ordered = sorted(owners, key=lambda owner: listed.index(owner[0]))
    joins: list[str] = []
    numbers: list[list[str]] = []
    for _, group in groupby(ordered, key=lambda owner: owner[0]):
        mine = [tuple(columns) for _, columns in group]
        if all(len(columns) == 1 and _is_number(types.field(columns[0]).type) for columns in mine):
            numbers.append([f"CAST(d.{_quoted(column)} AS BIGINT)" for (column,) in mine])
            continue
        names = _numbered(warehouse, table, mine)
        found = []
        for columns in mine:
            alias = f"n{len(joins)}"
            alike = (f"{alias}.c{i} = d.{_quoted(column)}" for i, column in enumerate(columns))
            joins.append(f"JOIN {names} AS {alias} ON {' AND '.join(alike)}")
            found.append(f"{alias}.number")
        numbers.append(found)
    kinds = tuple(listed.index(kind) for kind, _ in ordered)
    outputs = [part for found in numbers for part in _as_set(found, warehouse)]
    listing = ", ".join(f"{output} AS p{place}" for place, output in enumerate(outputs))
    listing = ", ".join([*(f"d.{name}" for name in carried), listing])
    weight = f"d.{WEIGHT}" if WEIGHT in types.names else f"1 AS {WEIGHT}"
    there = " AND ".join(f"d.{_quoted(column)} IS NOT NULL" for _, columns in owners for column in columns)
    return f"(SELECT {listing}, {weight} FROM {table} AS d {' '.join(joins)} WHERE {there})", kinds


def _numbered(warehouse: Warehouse, table: str, places: Sequence[Sequence[str]]) -> str:
    """Return the name of a table of all names of one kind, numbered in their order."""
    width = range(len(places[0]))
    every = " UNION ".join(
        f"SELECT DISTINCT {', '.join(f'{_quoted(columns[i])} AS c{i}' for i in width)} FROM {table} AS d"
        for columns in places
    )
    names = ", ".join(f"c{i}" for i in width)
    number = f"ROW_NUMBER() OVER (ORDER BY {names}) AS number"
    return warehouse.keep(f"SELECT {number}, {names} FROM ({every}) AS e")


def _as_set(numbers: Sequence[str], warehouse: Warehouse) -> list[str]:
    """Return the members of a set in ascending order, NULL behind the last."""
    if len(numbers) == 1:
        return list(numbers)
    if len(numbers) > 3:
        return [warehouse.spelling.members(numbers, place) for place in range(1, len(numbers) + 1)]
    least, *between, most = ascending(numbers, warehouse)
    if not between:
        return [least, f"NULLIF({most}, {least})"]
    (middle,) = between
    second = f"CASE WHEN {middle} <> {least} THEN {middle} WHEN {most} <> {least} THEN {most} END"
    return [least, second, f"CASE WHEN {middle} <> {least} AND {most} <> {middle} THEN {most} END"]


def ascending(numbers: Sequence[str], warehouse: Warehouse) -> list[str]:
    """Return numbers in ascending order; few of them without a list, which takes ten times as long."""
    if len(numbers) == 1:
        return list(numbers)
    if len(numbers) > 3:
        return [warehouse.spelling.ordered(numbers, place) for place in range(1, len(numbers) + 1)]
    first, second, *third = numbers
    least, most = f"LEAST({', '.join(numbers)})", f"GREATEST({', '.join(numbers)})"
    middle = [
        f"GREATEST(LEAST({first}, {second}), LEAST(GREATEST({first}, {second}), {last}))" for last in third
    ]
    return [least, *middle, most]


def _is_number(kind: Any) -> bool:
    """Return whether a name is a whole number of 64 bits."""
    return bool(pyarrow.types.is_integer(kind)) and kind != pyarrow.uint64()


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _line(warehouse: Warehouse, sql: str) -> list[int]:
    (row,) = zip(*(column.to_pylist() for column in warehouse.read(sql).columns), strict=True)
    return [0 if value is None else int(value) for value in row]
