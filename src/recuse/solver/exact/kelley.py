"""Kelley's method in exact arithmetic: every program of a relation over withdrawals, in integers.

At a rational g every load and every kept fraction has a cut with integers, tangent there: one child at every
OR, and what an AND that is clipped drops. There are finitely many such choices, and an optimum of the cuts so
far either keeps all bounds or is cut off by a new one: so this ends, whatever the weights are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Protocol, Self

from recuse.krelation.evaluate import Evaluation
from recuse.solver import limits
from recuse.solver.exact.simplex import Dictionary, ExactProgram, ExactRow

ExactAffine = tuple[int, dict[int, int]]
"""constant and coefficients of a linear function of withdrawals"""
ZERO, ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True, slots=True)
class ExactCut:
    """(a function of withdrawals) ≥ constant - slope·h for all h; `value` is where the two touch."""

    value: Fraction
    constant: int
    slope: Mapping[int, int | Fraction]


class KeptTangents(Protocol):
    """What cuts the kept fractions of tuples: `Tangents`, and its like for thresholds."""

    @property
    def weights(self) -> list[int]: ...
    @property
    def participants(self) -> int: ...
    def kept(self, g: Sequence[Fraction], /) -> list[ExactCut]:
        """Return a cut of every tuple's kept fraction, tangent at g."""


@dataclass(frozen=True, slots=True, eq=False)
class Tangents:
    """Finds the cuts of loads and kept fractions at a rational g."""

    levels: list[list[int]]
    members: list[int]
    weights: list[int]
    participants: int

    @classmethod
    def of(cls, evaluation: Evaluation) -> Self:
        tuples = evaluation.tuples
        return cls(
            [level.tolist() for level in tuples.levels],
            tuples.members.tolist(),
            tuples.weights.tolist(),
            evaluation.participants,
        )

    def loads(self, g: Sequence[Fraction]) -> list[ExactCut]:
        """Return a cut of everybody's load, tangent at g."""
        unit, parts = _whole(g)
        values, clauses = self._clauses(parts, unit)
        loads, constants = [0] * self.participants, [0] * self.participants
        slopes: list[dict[int, int]] = [{} for _ in range(self.participants)]
        for weight, used in zip(self.weights, self._usages(values), strict=True):
            for p, (value, chosen) in used.items():
                loads[p] += weight * value
                slope = slopes[p]
                for clause, times in chosen:
                    constant, rows = clauses[clause]
                    constants[p] += weight * times * constant
                    for q, a in rows.items():
                        slope[q] = slope.get(q, 0) + weight * times * a
        return [
            ExactCut(Fraction(load, unit), constant, slope)
            for load, constant, slope in zip(loads, constants, slopes, strict=True)
        ]

    def kept(self, g: Sequence[Fraction]) -> list[ExactCut]:
        """Return a cut of every tuple's kept fraction, tangent at g."""
        unit, parts = _whole(g)
        return [
            ExactCut(Fraction(unit - loss, unit), 1 - constant, slope)
            for loss, (constant, slope) in self._losses(parts, unit)[0]
        ]

    def _clauses(self, parts: list[int], unit: int) -> tuple[list[int], list[ExactAffine]]:
        """Return what each lowest AND is worth, (1 - Σg - context)⁺, and a linear function below that."""
        losses = self._losses(parts, unit)
        contexts: list[tuple[int, ExactAffine]] = [(0, (0, {}))] * len(self.weights)
        for depth, level in enumerate(self.levels[:-1]):
            below, found = losses[depth + 1], list[tuple[int, ExactAffine]]()
            for node, (context, affine) in enumerate(contexts):
                children = range(level[node], level[node + 1])
                if depth % 2 == 0 or len(children) == 1:
                    found += [(context, affine)] * len(children)
                    continue
                total = context + sum(below[child][0] for child in children)
                whole = _sum([affine, *(below[child][1] for child in children)])
                found += [(total - below[c][0], _less(whole, below[c][1])) for c in children]
            contexts = found
        values, functions, last = list[int](), list[ExactAffine](), self.levels[-1]
        for node, (context, (fixed, rows)) in enumerate(contexts):
            slope = dict(rows)
            for p in self.members[last[node] : last[node + 1]]:
                context += parts[p]
                slope[p] = slope.get(p, 0) + 1
            values.append(max(0, unit - context))
            functions.append((1 - fixed, slope))
        return values, functions

    def _losses(self, parts: list[int], unit: int) -> list[list[tuple[int, ExactAffine]]]:
        """Return the losses of the nodes at every depth, leaves last, with linear functions above them."""
        found = [[(parts[p], (0, {p: 1})) for p in self.members]]
        for depth in range(len(self.levels) - 1, -1, -1):
            level, below, above = self.levels[depth], found[0], list[tuple[int, ExactAffine]]()
            for start, stop in pairwise(level):
                children = below[start:stop]
                if depth % 2 == 0:
                    above.append(min(children, key=lambda child: child[0]))
                    continue
                total = sum(loss for loss, _ in children)
                clipped = total >= unit
                above.append((unit, (1, {})) if clipped else (total, _sum([f for _, f in children])))
            found.insert(0, above)
        return found

    def _usages(self, values: list[int]) -> list[dict[int, tuple[int, list[tuple[int, int]]]]]:
        """Return for every tuple what each participant uses of it, and through which clauses how often."""
        last = self.levels[-1]
        found: list[dict[int, tuple[int, list[tuple[int, int]]]]] = []
        for clause, value in enumerate(values):
            times: dict[int, int] = {}
            for p in self.members[last[clause] : last[clause + 1]] if value else ():
                times[p] = times.get(p, 0) + 1
            found.append({p: (value * count, [(clause, count)]) for p, count in times.items()})
        for depth in range(len(self.levels) - 2, -1, -1):
            above, level = [], self.levels[depth]
            for start, stop in pairwise(level):
                used = dict(found[start])
                for child in found[start + 1 : stop]:
                    for p, (value, chosen) in child.items():
                        before = used.get(p)
                        if before is None or (depth % 2 == 0 and value > before[0]):
                            used[p] = (value, chosen)
                        elif depth % 2:
                            used[p] = (before[0] + value, before[1] + chosen)
                above.append(used)
            found = above
        return found


def _whole(g: Sequence[Fraction]) -> tuple[int, list[int]]:
    """Return a common denominator, and the numerators."""
    unit = math.lcm(1, *(value.denominator for value in g))
    return unit, [int(value * unit) for value in g]


def _sum(functions: Sequence[ExactAffine]) -> ExactAffine:
    constant, rows = 0, dict[int, int]()
    for fixed, slope in functions:
        constant += fixed
        for p, a in slope.items():
            rows[p] = rows.get(p, 0) + a
    return constant, rows


def _less(whole: ExactAffine, part: ExactAffine) -> ExactAffine:
    """Return a sum without one of its terms."""
    rows = dict(whole[1])
    for p, a in part[1].items():
        rows[p] -= a
    return whole[0] - part[0], {p: a for p, a in rows.items() if a}


@dataclass(slots=True, eq=False)
class Kelley:
    """A master of exact cuts: its dictionary, and the rows behind it for the proof."""

    program: ExactProgram
    dictionary: Dictionary
    risen: Fraction = ZERO
    rows: list[ExactRow] = field(default_factory=list)
    right: list[Fraction] = field(default_factory=list)

    @classmethod
    def over(cls, cost: Sequence[Fraction]) -> Self:
        """Return the master without rows: columns in [0, 1]."""
        program = ExactProgram(cost, [], [], [ONE] * len(cost))
        return cls(program, Dictionary.of(program))

    def add(self, row: ExactRow, right: Fraction) -> None:
        """Add row·x ≥ right."""
        self.rows.append(row)
        self.right.append(right)
        self.dictionary.add(row, right)

    def solve(self) -> list[Fraction]:
        """Return the optimum of the rows so far."""
        self.dictionary.descend()
        value = self.dictionary.value()
        limit = limits.EXACT_CUTS + limits.EXACT_CUTS_A_COLUMN * self.dictionary.columns
        if value > self.risen and len(self.dictionary.lines) > limit:
            self.risen = value
            self.dictionary.drop_idle()
        return self.dictionary.optimum().x

    def proven(self) -> Fraction:
        """Return what the rows' multipliers prove: weak duality, exactly."""
        program = ExactProgram(self.program.cost, self.rows, self.right, self.program.upper)
        return program.bound(self.dictionary.optimum().y)


def least_withdrawal(
    evaluation: Evaluation, bounds: Sequence[Fraction], strictness: int
) -> tuple[Fraction, list[Fraction]]:
    """Return a proven lower end of N (strictness 0) or N_s (strictness 1), and a g that attains it.

    `bounds` is what everybody's load is held to: τ, times their price.
    """
    tangents, people = Tangents.of(evaluation), evaluation.participants
    master = Kelley.over([ONE] * people)
    while True:
        g = master.solve()
        cuts = tangents.loads(g)
        wrong = [p for p, cut in enumerate(cuts) if cut.value > bounds[p] * (1 - strictness * g[p])]
        if not wrong:
            return master.proven(), g
        for p in wrong:
            row = {q: Fraction(a) for q, a in cuts[p].slope.items()}
            if strictness:
                row[p] = row.get(p, ZERO) - bounds[p]
            master.add(row, cuts[p].constant - bounds[p])


def least_load(evaluation: Evaluation, s: Fraction, largest: int) -> tuple[Fraction, list[Fraction]]:
    """Return a proven lower end of Γ(s), and a g with |g| ≤ s that attains it; no load exceeds `largest`."""
    tangents, people = Tangents.of(evaluation), evaluation.participants
    master = Kelley.over(
        [*[ZERO] * people, ONE]
    )  # the last column is the largest load, in units of `largest`
    master.add(dict.fromkeys(range(people), -ONE), -s)
    while True:
        *g, level = master.solve()
        wrong = [cut for cut in tangents.loads(g) if cut.value > level * largest]
        if not wrong:
            return largest * master.proven(), g
        for cut in wrong:
            row = {q: Fraction(a, largest) for q, a in cut.slope.items()}
            master.add(row | {people: ONE}, Fraction(cut.constant, largest))


def least_answer(
    tangents: KeptTangents, bounds: Sequence[Fraction], s: Fraction
) -> tuple[Fraction, list[Fraction]]:
    """Return a proven lower end of min{F(g) + Σ_p b_p g_p : |g| ≤ s}, and a g that attains it."""
    people = tangents.participants
    master = Kelley.over([*bounds, *map(Fraction, tangents.weights)])
    if s < people:
        master.add(dict.fromkeys(range(people), -ONE), -s)
    while True:
        x = master.solve()
        cuts = tangents.kept(x[:people])
        wrong = [t for t, cut in enumerate(cuts) if cut.value > x[people + t]]
        if not wrong:
            return master.proven(), x[:people]
        for t in wrong:
            row = {q: Fraction(a) for q, a in cuts[t].slope.items()}
            master.add(row | {people + t: ONE}, Fraction(cuts[t].constant))
