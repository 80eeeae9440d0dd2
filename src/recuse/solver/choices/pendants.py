"""Stars whose edges are protected: what every edge of a node alone decides is settled before any program.

A node counts if it has at least k edges. An edge with one such end is a *pendant*: of a node's pendants as
many are kept as do not cost more than τ. What is left are the edges between nodes that count, and of those
some stay, and some go, whatever the others do.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from recuse.krelation.choices import Choices
from recuse.krelation.relation import Integers
from recuse.solver import limits
from recuse.solver.bounds import UNIT
from recuse.solver.choices.binomials import Binomials
from recuse.solver.choices.restriction import ChoiceFocus

SLACK = 8 * UNIT
"""More than the error of a sum of two slopes."""


@dataclass(frozen=True, slots=True, eq=False)
class Edges:
    """The nodes that count: how many pendants each has, and the edges between them, by participant."""

    k: int
    pendants: Integers
    people: Integers
    ends: Integers
    """two nodes a row, one row for each of `people`"""

    @classmethod
    def of(cls, choices: Choices) -> Self | None:
        """Return the edges of an aggregate of this kind; nothing of another kind."""
        if choices.group_owners.shape[1] or choices.unit_owners.shape[1] != 1:
            return None
        sizes = choices.sizes()
        nodes = np.flatnonzero(sizes >= choices.k)
        group, unit = choices.places[sizes[choices.places[:, 0]] >= choices.k].T
        owner, node = choices.unit_owners[unit, 0], np.searchsorted(nodes, group)
        times = np.bincount(owner, minlength=choices.participants)
        if times.max(initial=0) > 2:
            return None
        pendants = np.bincount(node[times[owner] == 1], minlength=len(nodes))
        order = np.flatnonzero(times[owner] == 2)
        order = order[np.argsort(owner[order], kind="stable")]
        return cls(choices.k, pendants, owner[order][::2], node[order].reshape(-1, 2))

    def settled(self, tau: float) -> Settled:
        """Return what is left to be solved at τ. Guarantee: proofs.md, lemma A8."""
        sizes = self.pendants + np.bincount(self.ends.ravel(), minlength=len(self.pendants))
        table = Binomials.of(self.k, int(sizes.max(initial=0)), tau)
        most = bisect_left(table.slopes, tau)  # from here on a slope is τ at least
        kept = np.minimum(self.pendants, most)
        open_, gone = np.ones(len(self.people), bool), int((self.pendants - kept).sum())
        for _ in range(limits.SETTLING_ROUNDS):
            stay, leave = _certain(self.ends[open_], kept, most, table)
            if not (stay.any() or leave.any()):
                break
            kept = kept + np.bincount(self.ends[open_][stay].ravel(), minlength=len(kept))
            gone += int(leave.sum())
            open_[np.flatnonzero(open_)[stay | leave]] = False
        return Settled.of(self, np.flatnonzero(open_), kept, gone, table)


def _certain(
    ends: Integers, kept: Integers, most: int, table: Binomials
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which edges stay, and which leave, in some optimum, whatever the others do.

    An edge saves what the last unit of both its ends costs: at most that with all its rivals there, at least
    that with none of them.
    """
    rivals = np.bincount(ends.ravel(), minlength=len(kept))
    last = table.low_slopes[np.maximum(0, kept + rivals - 1)][ends].sum(axis=1) * (1 + SLACK)
    first = table.low_slopes[kept][ends].sum(axis=1) * (1 - SLACK)
    return last <= 1, (first >= 1) | (kept[ends] >= most).any(axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class Settled:
    """X(τ) is X(τ) of this focus, plus τ for each that is gone. Its petals are the open edges, twice each."""

    focus: ChoiceFocus
    table: Binomials
    gone: int

    @classmethod
    def of(cls, edges: Edges, left: Integers, kept: Integers, gone: int, table: Binomials) -> Self:
        nodes, ends = np.unique(edges.ends[left], return_inverse=True)
        still = np.ones(len(kept), bool)
        still[nodes] = False
        values, times = np.unique(kept[still], return_counts=True)
        pairs = zip(values.tolist(), times.tolist(), strict=True)
        rest = sum(table.values[value] * count for value, count in pairs)
        owners = np.repeat(np.arange(len(left)), 2)[:, None]
        nobody = np.empty((len(nodes), 0), np.int64)
        focus = ChoiceFocus(edges.people[left], nobody, kept[nodes], ends.reshape(-1), owners, rest)
        return cls(focus, table, gone)
