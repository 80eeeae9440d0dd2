"""What loads alone say of conjunctions that stay in an engine: a histogram of a few rows leaves it.

Loads are put together by their size, two heaps a doubling. Of each heap the number, the sum, the least and
the largest are known exactly, so that a convex function of a load is bounded by its chord (proofs.md, lemma
D').
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from recuse.solver.bounds import up
from recuse.solver.interval import Interval, nearest, outward
from recuse.solver.kept.tuples import KeptTuples

HEAPS_A_DOUBLING = 2


@dataclass(frozen=True, slots=True)
class Heap:
    """Some participants: how many, the sum of their loads, the least and the largest, all above τ or none."""

    over: bool
    count: int
    sum: int
    least: int
    most: int

    def bounded(self, slope: Fraction, own: Fraction) -> Fraction:
        """Return a number not below Σ (slope·ℓ - own)⁺: on the chord from the least to the largest load."""
        low, high = (max(Fraction(0), slope * end - own) for end in (self.least, self.most))
        if self.least == self.most:
            return self.count * low
        along = Fraction(self.sum - self.count * self.least, self.most - self.least)
        return self.count * low + (high - low) * along


@dataclass(frozen=True, slots=True, eq=False)
class KeptLoads:
    """`Loads` of which a histogram is asked at every τ."""

    tuples: KeptTuples

    def largest(self) -> float:
        near = nearest(self.tuples.largest)
        return near if math.isinf(near) or int(near) >= self.tuples.largest else up(near)

    def counted(self, tau: float, strictness: float) -> Interval:
        heaps = self._heaps(tau)
        over = sum(heap.count for heap in heaps if heap.over)
        low = loads_bound(heaps, Fraction(tau), self.tuples.most, Fraction(strictness))
        return Interval(max(0.0, outward(low, low).low), float(over))

    def _heaps(self, tau: float) -> list[Heap]:
        """Return the loads above and up to τ in heaps. A load is whole: it is above τ if it is above ⌊τ⌋."""
        over = f"load > {whole(tau)}"
        size = f"FLOOR({HEAPS_A_DOUBLING / math.log(2)} * LN(CAST(load AS DOUBLE PRECISION)))"
        narrow, every = self.tuples.narrow, self.tuples.most * self.tuples.total
        least, most = (narrow(f"{end}(load)", self.tuples.largest) for end in ("MIN", "MAX"))
        count, total = narrow("COUNT(*)", every), narrow("SUM(load)", every)
        found = self.tuples.warehouse.read(
            f"SELECT {over} AS o, {count} AS n, {total} AS s, {least} AS a, {most} AS b "
            f"FROM {self.tuples.loads} AS l GROUP BY {over}, {size}"
        )
        columns = [column.to_pylist() for column in found.columns]
        return [Heap(bool(over), *map(int, numbers)) for over, *numbers in zip(*columns, strict=True)]


def whole(tau: float | Fraction) -> int:
    """Return ⌊τ⌋, or a number that no load reaches."""
    return min(math.floor(tau), 2**126)


def loads_bound(heaps: Sequence[Heap], tau: Fraction, most: int, strictness: Fraction) -> Fraction:
    """Return what heaps of loads prove of N (strictness 0) or N_s (1) of conjunctions of `most` owners.

    Guarantee: a lower bound (proofs.md, lemma D'). It is concave in ν, with bends where the bracket of the
    least or the largest of a heap is 0: the best of them is taken.
    """
    above = sum((heap.sum - heap.count * tau for heap in heaps if heap.over), Fraction(0))

    def proven(nu: Fraction) -> Fraction:
        own = {True: 1 + nu * strictness * tau, False: Fraction(1)}
        lost = (heap.bounded(nu * (most if heap.over else most - 1), own[heap.over]) for heap in heaps)
        return nu * above - sum(lost, Fraction(0))

    return max(map(proven, _bends(heaps, tau, most, strictness)), default=Fraction(0))


def _bends(heaps: Sequence[Heap], tau: Fraction, most: int, strictness: Fraction) -> Iterator[Fraction]:
    for heap in heaps:
        for load in {heap.least, heap.most}:
            charged = most * load - strictness * tau if heap.over else Fraction((most - 1) * load)
            if charged > 0:
                yield 1 / charged
