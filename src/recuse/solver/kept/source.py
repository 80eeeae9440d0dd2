"""`InEngine`: a focus that the engine cuts out of the tuples it keeps. Only merged projections leave it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pyarrow
from numpy.typing import NDArray

from recuse.krelation.canonical import canonical
from recuse.krelation.codes import integers
from recuse.krelation.prices import Prices
from recuse.krelation.relation import NO_TUPLES, Integers, Tuples, exact_sum, narrowed
from recuse.solver import limits
from recuse.solver.cuts.outside import NOBODY, Outside
from recuse.solver.cuts.restriction import Focus
from recuse.solver.kept.loads import KeptLoads, whole
from recuse.solver.kept.outside import KeptOutside
from recuse.solver.kept.tuples import KeptTuples, ascending, merged
from recuse.solver.kept.warehouse import lendable
from recuse.solver.source import InMemory

BY_NAME = "ORDER BY kind, p"
"""how those in focus are numbered: by nothing that depends on rows"""


@dataclass(slots=True, eq=False)
class InEngine:
    """`TupleSource` of conjunctions that an engine keeps; everybody pays τ."""

    tuples: KeptTuples
    memory: InMemory | None = None
    """all tuples, once they had to be listed"""
    sets: str | None = None
    """a table in which every owner set stands once, once a core was asked for"""

    def __len__(self) -> int:
        return self.tuples.count

    def total(self) -> int:
        return self.tuples.total

    def largest_load(self) -> float:
        return KeptLoads(self.tuples).largest()

    def overloaded(self, tau: float) -> int:
        (found,) = self.tuples.line(
            f"SELECT COUNT(*) FROM {self.tuples.loads} AS l WHERE load > {whole(tau)}"
        )
        return found

    def movable(self, tau: float) -> Focus:
        """Guarantee: people are in the order of their names, tuples in the order of their members: a function
        of the tuples as a multiset and of τ (proofs.md, lemma P).
        """
        chosen, count = self._chosen(tau, ())
        return self._focus(self._projected(chosen, count), count, NOBODY)

    def focus(self, tau: float, invited: Sequence[Integers]) -> Focus:
        warehouse = self.tuples.warehouse
        chosen, count = self._chosen(tau, invited)
        projected = warehouse.keep(f"SELECT * FROM {self._projected(chosen, count)} AS t")
        outside = KeptOutside(self.tuples, cache(lambda: self._leaves(projected, count)))
        return self._focus(projected, count, outside)

    def listed(self) -> InMemory | None:
        few = self.tuples.count * self.tuples.most <= limits.FEW_KEPT_MEMBERS
        return self.everything() if few else None

    def everything(self) -> InMemory:
        if self.memory is None:
            places = ", ".join(f"p{place}" for place in range(self.tuples.most))
            found = self.tuples.warehouse.read(
                f"SELECT {places}, SUM(weight) AS weight FROM {self.tuples.rows} AS t GROUP BY {places}"
            )
            self.memory = _in_memory(found, self.tuples.kinds)
        return self.memory

    def _chosen(self, tau: float, invited: Sequence[Integers]) -> tuple[str, int]:
        """Return a table of those in focus, numbered in the order of kinds and names, and how many."""
        warehouse = self.tuples.warehouse
        people = f"SELECT kind, p FROM {self.tuples.loads} AS l WHERE load > {whole(tau)}"
        if invited:
            guests = np.concatenate(list(invited))
            lent = warehouse.lend({"kind": lendable(guests[:, 0]), "p": lendable(guests[:, 1])})
            people = f"{people} UNION SELECT kind, p FROM {lent} AS g"
        chosen = warehouse.keep(
            f"SELECT kind, p, ROW_NUMBER() OVER ({BY_NAME}) - 1 AS i FROM ({people}) AS c"
        )
        (count,) = self.tuples.line(f"SELECT COUNT(*) FROM {chosen} AS c")
        return chosen, count

    def _rows(self) -> str:
        """Return the tuples. Whoever asks for one core asks for more: equal owner sets are merged before."""
        if self.sets is None:
            tuples = self.tuples
            self.sets = merged(tuples.warehouse, tuples.rows, tuples.most) if tuples.apart else tuples.rows
        return self.sets

    def _projected(self, chosen: str, count: int) -> str:
        """Return the tuples that touch somebody chosen: m0, m1, … are their numbers, `count` for others."""
        kinds, places = self.tuples.kinds, range(self.tuples.most)
        joins = " ".join(
            f"LEFT JOIN (SELECT p, i FROM {chosen} AS c WHERE kind = {kinds[j]}) AS s{j} ON t.p{j} = s{j}.p"
            for j in places
        )
        numbers = [f"COALESCE(s{j}.i, {count})" for j in places]
        return (
            f"(SELECT {', '.join(f'p{j}' for j in places)}, weight, "
            f"{', '.join(f'{number} AS m{j}' for j, number in enumerate(numbers))} "
            f"FROM {self._rows()} AS t {joins} "
            f"WHERE LEAST({', '.join([*numbers, str(count)])}) < {count})"
        )

    @property
    def _sets(self) -> list[str]:
        """The chosen members of a projected tuple, as columns: ascending, and others behind them."""
        members = [f"m{j}" for j in range(self.tuples.most)]
        if len(set(self.tuples.kinds)) == len(members):
            return members  # a kind stands in one place only: equal sets are equal rows
        return ascending(members, self.tuples.warehouse)

    def _core(self, projected: str) -> str:
        """Return the query of the core: c, members k0, k1, … and weight of every distinct projection."""
        named = ", ".join(f"{column} AS k{j}" for j, column in enumerate(self._sets))
        keys = ", ".join(f"k{j}" for j in range(self.tuples.most))
        merged = (
            f"SELECT {keys}, SUM(weight) AS weight FROM (SELECT {named}, weight FROM {projected} AS t) AS s "
            f"GROUP BY {keys}"
        )
        return f"SELECT ROW_NUMBER() OVER (ORDER BY {keys}) - 1 AS c, {keys}, weight FROM ({merged}) AS g"

    def _leaves(self, projected: str, count: int) -> str:
        """Return a table of whom the core leaves out: which row of it, kind, p and with what weight."""
        warehouse, kinds = self.tuples.warehouse, self.tuples.kinds
        core = warehouse.keep(self._core(projected))
        named = ", ".join(f"{column} AS k{j}" for j, column in enumerate(self._sets))
        alike = " AND ".join(f"s.k{j} = k.k{j}" for j in range(self.tuples.most))
        each = " UNION ALL ".join(
            f"SELECT k.c, {kinds[j]} AS kind, s.p{j} AS p, s.weight "
            f"FROM (SELECT *, {named} FROM {projected} AS t) AS s JOIN {core} AS k ON {alike} "
            f"WHERE s.m{j} = {count} AND s.p{j} IS NOT NULL"
            for j in range(self.tuples.most)
        )
        return warehouse.keep(
            f"SELECT c, kind, p, SUM(weight) AS weight FROM ({each}) AS e GROUP BY c, kind, p"
        )

    def _focus(self, projected: str, count: int, outside: Outside) -> Focus:
        narrow = self.tuples.narrow
        keys = ", ".join(f"{narrow(f'k{j}', count)} AS k{j}" for j in range(self.tuples.most))
        weight = narrow("weight", self.tuples.largest)  # whoever is in a row has its weight as a load
        core = self.tuples.warehouse.read(
            f"SELECT {keys}, {weight} AS weight FROM ({self._core(projected)}) AS k ORDER BY c"
        )
        columns = [integers(core[f"k{j}"]) for j in range(self.tuples.most)]
        tuples = _conjunctions(columns, count, integers(core["weight"]))
        people = np.arange(count)
        rest = self.tuples.total - exact_sum(tuples.weights)
        return Focus(tuples, people, rest, outside, Prices.alike(count))


def _conjunctions(columns: Sequence[Integers], nobody: int, weights: NDArray[Any]) -> Tuples:
    """Return the conjunctions of rows of members, of which `nobody` is none."""
    if len(weights) == 0:
        return NO_TUPLES
    matrix = np.stack(columns, axis=1)
    there = matrix != nobody
    pointers = np.concatenate(([0], np.cumsum(there.sum(axis=1)))).astype(np.int64)
    levels = np.arange(len(weights) + 1), pointers
    return Tuples(narrowed(weights), levels, matrix[there].astype(np.int64))


def _in_memory(found: pyarrow.Table, kinds: Sequence[int]) -> InMemory:
    """Return all tuples in their canonical order; people are in the order of kinds and names."""
    weights = integers(found["weight"])
    columns, names, first = [found[f"p{j}"] for j in range(len(kinds))], {}, 0
    for kind in sorted(set(kinds)):
        mine = [column.drop_null() for column, other in zip(columns, kinds, strict=True) if other == kind]
        names[kind] = first, np.unique(np.concatenate(list(map(integers, mine))))
        first += len(names[kind][1])
    numbered = []
    for column, kind in zip(columns, kinds, strict=True):
        start, known = names[kind]
        null = column.is_null().to_numpy(zero_copy_only=False)
        place = np.searchsorted(known, integers(column.fill_null(0))) + start
        numbered.append(np.where(null, first, place))
    return InMemory.of(canonical(_conjunctions(numbered, first, weights)), first)
