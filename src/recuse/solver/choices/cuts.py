"""Cutting planes for X(τ) of an aggregate: few withdraw, so only they are variables.

The master knows the *players*: everybody movable if they are few, else those whose own groups count more than
τ. The groups that a player owns are one bundle, cut as a whole, those that he only touches another. The
multipliers of the cuts prove a lower end for everybody; whoever stands in the way of that proof becomes a
player too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from recuse.deferred import sparse
from recuse.krelation.relation import Floats, Integers
from recuse.solver import limits
from recuse.solver.choices.binomials import Binomials
from recuse.solver.choices.certificate import (
    PARTS,
    ChoiceCut,
    slopes,
    snapped,
    truncated_high,
    truncated_low,
)
from recuse.solver.choices.restriction import NOBODY, ChoiceFocus, totals
from recuse.solver.interval import Interval
from recuse.solver.lp.master import Master, Tally
from recuse.solver.lp.program import Matrix


@dataclass(slots=True, eq=False)
class ChoiceCuts:
    """X(τ) in a focus: the cuts so far and what of them counts, the best withdrawal, the interval proven."""

    focus: ChoiceFocus
    table: Binomials
    tau: float
    players: Integers
    best: Integers
    found: Interval
    cuts: list[ChoiceCut]
    portions: Floats

    @classmethod
    def of(cls, focus: ChoiceFocus, table: Binomials, tau: float, loads: Floats) -> Self:
        """Return the cut at no withdrawal; `loads` are those of the movable participants."""
        nothing = np.zeros(len(focus.people), np.int64)
        first = ChoiceCut.at(focus, table, nothing)
        if len(nothing) <= limits.FEW_PLAYERS:
            players = np.arange(len(nothing))
        else:
            likely = owned(focus, first.high) > 1
            players = (
                np.flatnonzero(likely) if likely.any() else np.sort(np.argsort(-loads)[: limits.FEW_PLAYERS])
            )
        found = Interval(0.0, truncated_high(focus, table, tau, nothing))
        return cls(focus, table, tau, players, nothing, found, [first], np.ones((1, len(focus.fixed))))

    def interval(self, width: float) -> Interval | None:
        """Return an interval that holds X(τ), at most `width` wide; nothing if it does not close."""
        while (outsiders := self._obstacles(width)) is not None:
            if self.found.width <= width:
                return self.found
            self.players = np.union1d(self.players, outsiders)
        return None

    def _obstacles(self, width: float) -> Integers | None:
        """Return whom a proof for everybody needs beside the players, once the players' own gap is closed."""
        stage = Stage.of(self.focus, self.players, self.cuts[0])
        for cut, portion in zip(self.cuts, self.portions, strict=True):
            stage.add(cut, portion > 0)
        reach = limits.FIRST_PROOF_AT
        while len(self.cuts) < limits.CHOICE_ROUNDS:
            suggestion = stage.master.solve()
            if suggestion is None:
                return None
            x = np.zeros(len(self.focus.people))
            x[self.players] = suggestion.x[: len(self.players)]
            # between the master's optimum and the best point so far: fewer rounds than at the optimum
            middle = snapped((x + self.best / PARTS) / 2)
            for point in (middle, snapped(x)):
                self._visit(point)
            value = (float(stage.cost @ suggestion.x) + stage.constant) * self.tau + self.focus.rest
            if self.found.high - value <= reach * width:
                reach = limits.PROOF_AT
                self.portions = stage.portions(suggestion.y)
                over = self._prove()
                outsiders = np.flatnonzero(over > limits.NEGLIGIBLE_SLOPE)
                if self.found.width <= width or len(outsiders):
                    worst = np.argsort(-over[outsiders], kind="stable")
                    return outsiders[worst[: max(limits.FEW_PLAYERS, len(self.players))]]
            self.cuts.append(ChoiceCut.at(self.focus, self.table, middle))
            stage.add_violated(self.cuts[-1], suggestion.x)
        return None

    def _visit(self, point: Integers) -> None:
        """Keep a withdrawal if it is the best so far."""
        high = truncated_high(self.focus, self.table, self.tau, point)
        if high < self.found.high:
            self.best, self.found = point, Interval(min(self.found.low, high), high)

    def _prove(self) -> Floats:
        """Raise the lower end; return by how much each outsider's slope exceeds τ, which spoils the proof."""
        portions = self._shrunk()
        low = truncated_low(self.focus, self.tau, self.cuts, portions)
        self.found = self.found.narrowed(min(low, self.found.high), math.inf)
        over = slopes(self.focus, self.cuts, portions) - 1.0
        over[self.players] = 0.0
        return over

    def _shrunk(self) -> Floats:
        """Return smaller portions that prove no less: nobody needs to own more than τ in all.

        Whoever withdraws wholly does, and what his groups are cut by more than that burdens other people.
        """
        total = slopes(self.focus, self.cuts, self.portions)
        pairs = zip(self.portions, self.cuts, strict=True)
        own = owned(self.focus, np.sum([portion * cut.high for portion, cut in pairs], axis=0))
        factor = np.ones(len(total) + 1)
        excess = np.maximum(0.0, total - 1.0)[self.players]
        factor[self.players] -= np.minimum(
            1.0, excess / np.maximum(own[self.players], limits.NEGLIGIBLE_SLOPE)
        )
        owners = self.focus.group_owners
        least = np.where(owners >= 0, factor[owners], 0.0).max(axis=1, initial=0.0)
        return self.portions * np.where(np.any(owners >= 0, axis=1), least, 1.0)


def owned(focus: ChoiceFocus, weights: Floats) -> Floats:
    """Return the weight of the groups that each participant owns."""
    owners = focus.group_owners
    return totals(owners.T.ravel(), np.tile(weights, owners.shape[1]), len(focus.people))


@dataclass(slots=True, eq=False)
class Stage:
    """The master over some players: their withdrawals, and for each what his two bundles of groups count.

    A count is a column in [0, 1], in units of what the bundle counts without withdrawals.
    """

    focus: ChoiceFocus
    seat: Integers
    bundle: Integers
    full: Floats
    cost: Floats
    constant: float
    master: Master
    rounds: list[Integers] = field(default_factory=list)

    @classmethod
    def of(cls, focus: ChoiceFocus, players: Integers, first: ChoiceCut) -> Self:
        seat = np.full(len(focus.people) + 1, NOBODY)
        seat[players] = np.arange(len(players))
        touching = np.full(len(focus.fixed), NOBODY)
        for column in focus.petal_owners.T:
            np.maximum.at(touching, focus.petal_group, seat[column])
        owner = seat[focus.group_owners].max(axis=1, initial=NOBODY)
        bundle = np.where(owner >= 0, owner, np.where(touching >= 0, touching + len(players), NOBODY))
        mine = bundle >= 0
        full = totals(bundle, first.high, 2 * len(players))
        cost = np.concatenate((np.ones(len(players)), full))
        master = Master.over(cost, Tally())
        master.insisted = True
        return cls(focus, seat, bundle, full, cost, float(first.low[~mine].sum()), master)

    def add(self, cut: ChoiceCut, chosen: NDArray[np.bool_]) -> None:
        """Add a cut of the bundles that hold a chosen group."""
        wanted = np.zeros(len(self.full), bool)
        wanted[self.bundle[chosen & (self.bundle >= 0)]] = True
        self._add(*self._rows(cut), wanted)

    def add_violated(self, cut: ChoiceCut, x: Floats) -> None:
        """Add a cut of the bundles that the master's x puts below it."""
        rows, right = self._rows(cut)
        self._add(rows, right, rows @ x < right - limits.NEGLIGIBLE_SLOPE)

    def _add(self, rows: Matrix, right: Floats, wanted: NDArray[np.bool_]) -> None:
        which = np.flatnonzero(wanted & (self.full > 0))
        self.master.add(rows[which], right[which])
        self.rounds.append(which)

    def _rows(self, cut: ChoiceCut) -> tuple[Matrix, Floats]:
        """Return the cuts of all bundles in units of what they count without withdrawals."""
        scale = 1 / np.where(self.full > 0, self.full, 1.0)
        left = self._withdrawals(cut)
        left.data *= np.repeat(scale, np.diff(left.indptr))
        own = sparse.eye_array(len(self.full), format="csr")
        return sparse.hstack((left, own), format="csr"), totals(self.bundle, cut.low, len(self.full)) * scale

    def _withdrawals(self, cut: ChoiceCut) -> Matrix:
        """Return what each player's withdrawal takes of each bundle's cut."""
        focus, size = self.focus, len(self.full)
        through = cut.slope[focus.petal_group] * cut.active
        rows, columns, values = [], [], []
        for owners, bundle, weight in (
            (focus.group_owners, self.bundle, cut.high),
            (focus.petal_owners, self.bundle[focus.petal_group], through),
        ):
            for seat in self.seat[owners].T:
                mine = (bundle >= 0) & (seat >= 0) & (weight > limits.FAINT_ENTRY)
                rows.append(bundle[mine])
                columns.append(seat[mine])
                values.append(weight[mine])
        places = (np.concatenate(rows), np.concatenate(columns))
        return sparse.csr_array((np.concatenate(values), places), shape=(size, size // 2))

    def portions(self, duals: Floats) -> Floats:
        """Return how much of each cut counts for each group; groups without players keep the first cut."""
        found, start, mine = np.zeros((len(self.rounds), len(self.bundle))), 0, self.bundle >= 0
        for which, portion in zip(self.rounds, found, strict=True):
            shares = np.zeros(len(self.full))
            shares[which] = duals[start : start + len(which)] / self.full[which]
            portion[mine] = shares[self.bundle[mine]]
            start += len(which)
        found[0, ~mine] = 1.0
        return found
