"""Groups of rows that stay in an engine: each a relation of its own, or vectors of one owner's rows.

Rows have a `place` beside their owners: the number of their group. What is summed is summed for all groups at
once, so that a group that is not asked about costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from recuse.krelation.encode import Owners
from recuse.solver.kept.loads import whole
from recuse.solver.kept.tuples import WEIGHT, KeptTuples, coded_rows, signs_of
from recuse.solver.kept.warehouse import Warehouse

PLACE = "place"
MOST_BITS = 126
"""of a whole number in an engine"""


def kept_groups(
    warehouse: Warehouse, table: str, owners: Owners, count: int, *, signed: bool
) -> list[list[KeptTuples]]:
    """Return for each of `count` groups its positive, and if it has a sign its negative tuples.

    Guarantee: those of a group are a function of its own rows: names are numbered across all groups, and
    nothing but their order is looked at (proofs.md, lemma P).
    """
    coded, kinds = coded_rows(warehouse, table, owners, (PLACE,))
    places = ", ".join(f"p{place}" for place in range(len(kinds)))
    found: list[list[KeptTuples]] = [[] for _ in range(count)]
    for of_sign, weight in signs_of(signed=signed):
        rows = warehouse.keep(
            f"SELECT {PLACE}, {places}, SUM({weight}) AS {WEIGHT} FROM {coded} AS c WHERE {of_sign} "
            f"GROUP BY {PLACE}, {places}"
        )
        each = " UNION ALL ".join(
            f"SELECT {PLACE}, {kind} AS kind, p{j} AS p, {WEIGHT} FROM {rows} AS t WHERE p{j} IS NOT NULL"
            for j, kind in enumerate(kinds)
        )
        loads = warehouse.keep(
            f"SELECT {PLACE}, kind, p, SUM({WEIGHT}) AS load FROM ({each}) AS e GROUP BY {PLACE}, kind, p"
        )
        sizes = _numbers(warehouse, f"COUNT(*) AS a, SUM({WEIGHT}) AS b", rows)
        largest = _numbers(warehouse, "MAX(load) AS a", loads)
        for place, signs in enumerate(found):
            mine = f"(SELECT {places}, {WEIGHT} FROM {rows} AS g WHERE {PLACE} = {place})"
            theirs = f"(SELECT kind, p, load FROM {loads} AS g WHERE {PLACE} = {place})"
            (tuples, total), (most,) = sizes.get(place, (0, 0)), largest.get(place, (0,))
            signs.append(KeptTuples(kinds, warehouse, mine, theirs, tuples, total, most))
    return found


@dataclass(frozen=True, slots=True, eq=False)
class KeptVectors:
    """What every participant brings to each of `count` groups: tables of place, p and weight, and of loads.

    Guarantee: `clipped` is `mechanism.clipped.clipped_parts`, in whole numbers: with a participant more the
    sums move by `most` steps at most in all (proofs.md, theorem E0).
    """

    loads: KeptTuples
    """everybody as the owner of one row that weighs what they bring to all groups, signs apart"""
    rows: str
    count: int
    signed: bool
    constants: Sequence[int] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "constants", [0] * self.count)

    @classmethod
    def of(cls, warehouse: Warehouse, table: str, owners: Owners, count: int, *, signed: bool) -> KeptVectors:
        """Return the vectors of rows that have one owner, a place and a weight."""
        coded, kinds = coded_rows(warehouse, table, owners, (PLACE,))
        rows = warehouse.keep(
            f"SELECT {PLACE}, p0 AS p, SUM({WEIGHT}) AS {WEIGHT} FROM {coded} AS c GROUP BY {PLACE}, p0 "
            f"HAVING SUM({WEIGHT}) <> 0"
        )
        loads = warehouse.keep(f"SELECT p AS p0, SUM(ABS({WEIGHT})) AS {WEIGHT} FROM {rows} AS r GROUP BY p")
        return cls(KeptTuples.of(warehouse, loads, kinds), rows, count, signed)

    def true_answers(self) -> Sequence[int]:
        found = _numbers(self.loads.warehouse, f"SUM({WEIGHT}) AS a", self.rows)
        return [found.get(place, (0,))[0] for place in range(self.count)]

    def clipped(self, tau: Fraction, step: Fraction, most: int) -> Sequence[int]:
        wide = self.loads.warehouse.spelling.wide
        size, load = wide(f"ABS({WEIGHT})"), wide("load")
        over, up, down = f"load > {whole(tau)}", step.denominator, step.numerator
        if self.loads.total.bit_length() + max(most, up).bit_length() > MOST_BITS:
            return self._listed(tau, step, most)
        quotient = self.loads.warehouse.spelling.quotient
        part = (
            f"CASE WHEN {over} THEN {quotient(f'{size} * {wide(str(most))}', load)} "
            f"ELSE {quotient(f'{size} * {wide(str(up))}', wide(str(down)))} END"
        )
        found = _numbers(
            self.loads.warehouse,
            f"SUM(CASE WHEN {WEIGHT} < 0 THEN -({part}) ELSE {part} END) AS a",
            f"(SELECT r.{PLACE}, r.{WEIGHT}, l.{WEIGHT} AS load FROM {self.rows} AS r "
            f"JOIN {self.loads.rows} AS l ON r.p = l.p0)",
        )
        return [found.get(place, (0,))[0] for place in range(self.count)]

    def _listed(self, tau: Fraction, step: Fraction, most: int) -> Sequence[int]:
        """Return the same in Python, where the numbers have no end."""
        found = self.loads.warehouse.read(
            f"SELECT r.{PLACE}, r.{WEIGHT}, l.{WEIGHT} AS load FROM {self.rows} AS r "
            f"JOIN {self.loads.rows} AS l ON r.p = l.p0"
        )
        sums = [0] * self.count
        for place, weight, load in zip(*(column.to_pylist() for column in found.columns), strict=True):
            size = abs(int(weight))
            part = size * most // int(load) if load > tau else size * step.denominator // step.numerator
            sums[int(place)] += part if weight > 0 else -part
        return sums


def _numbers(warehouse: Warehouse, sums: str, table: str) -> dict[int, tuple[int, ...]]:
    """Return the sums of every place that has rows."""
    found = warehouse.read(f"SELECT {PLACE} AS place, {sums} FROM {table} AS t GROUP BY {PLACE}")
    lines = zip(*(column.to_pylist() for column in found.columns), strict=True)
    return {int(place): tuple(map(int, numbers)) for place, *numbers in lines}
