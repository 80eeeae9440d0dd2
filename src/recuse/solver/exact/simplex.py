"""The dual simplex method in integers: exact, without tolerances, and it always ends.

A dictionary says what every basic variable is in terms of the others, one line each: integers over a common
denominator. Costs are not negative, so the dictionary without rows is dual feasible, and so it remains when
rows are added: cuts go on from where the last optimum was.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Self

from recuse.solver import limits

ExactRow = Mapping[int, Fraction]


@dataclass(frozen=True, slots=True, eq=False)
class ExactProgram:
    """min cost·x, rows·x ≥ right, 0 ≤ x ≤ upper, in rationals."""

    cost: Sequence[Fraction]
    rows: Sequence[ExactRow]
    right: Sequence[Fraction]
    upper: Sequence[Fraction]

    def residuals(self, x: Sequence[Fraction]) -> list[Fraction]:
        """Return right - rows·x."""
        return [
            b - sum(a * x[j] for j, a in row.items()) for row, b in zip(self.rows, self.right, strict=True)
        ]

    def reduced(self, y: Sequence[Fraction]) -> list[Fraction]:
        """Return cost - y·rows."""
        left = list(self.cost)
        for row, multiplier in zip(self.rows, y, strict=True):
            if multiplier:
                for j, a in row.items():
                    left[j] -= multiplier * a
        return left

    def bound(self, y: Sequence[Fraction]) -> Fraction:
        """Return what y⁺ proves: no x in the box costs less (weak duality, exactly)."""
        y = [max(Fraction(0), value) for value in y]
        boxed = sum(min(Fraction(0), d) * u for d, u in zip(self.reduced(y), self.upper, strict=True))
        return sum((b * value for b, value in zip(self.right, y, strict=True)), start=Fraction(0)) + boxed


@dataclass(frozen=True, slots=True)
class Optimum:
    """An optimal point and optimal multipliers of the rows."""

    x: list[Fraction]
    y: list[Fraction]


@dataclass(slots=True, eq=False)
class Equation:
    """denominator·(a variable) = Σ terms·(others) + constant, in integers without a common factor."""

    terms: dict[int, int]
    constant: int
    denominator: int

    def shorten(self) -> None:
        """Divide by what all numbers have in common."""
        common = math.gcd(self.denominator, self.constant)
        for term in self.terms.values():
            if common == 1:
                return
            common = math.gcd(common, term)
        if common > 1:
            self.terms = {j: term // common for j, term in self.terms.items()}
            self.constant //= common
            self.denominator //= common

    def substitute(self, j: int, other: Equation) -> None:
        """Replace variable j by what the other line says of it."""
        mine = self.terms.pop(j)
        common = math.gcd(mine, other.denominator)
        mine, scale = mine // common, other.denominator // common
        if scale != 1:
            self.terms = {k: term * scale for k, term in self.terms.items()}
            self.denominator *= scale
        terms = self.terms
        for k, term in other.terms.items():
            total = terms.get(k, 0) + mine * term
            if total:
                terms[k] = total
            else:
                del terms[k]
        self.constant = self.constant * scale + mine * other.constant
        self.shorten()

    def solved_for(self, j: int, own: int) -> Equation:
        """Return the line of variable j; this one was that of `own`."""
        pivot = self.terms[j]
        sign = 1 if pivot > 0 else -1
        terms = {k: -sign * term for k, term in self.terms.items() if k != j}
        terms[own] = sign * self.denominator
        return Equation(terms, -sign * self.constant, sign * pivot)

    def mirrored(self, j: int, upper: Fraction) -> None:
        """Count variable j from its upper bound downwards."""
        term = self.terms[j]
        if upper.denominator != 1:
            self.terms = {k: value * upper.denominator for k, value in self.terms.items()}
            self.constant *= upper.denominator
            self.denominator *= upper.denominator
            term = self.terms[j]
        self.constant += term * upper.numerator // upper.denominator
        self.terms[j] = -term
        self.shorten()


@dataclass(slots=True, eq=False)
class Dictionary:
    """Lines of the basic variables and of the cost. All others are at zero; `mirrored` ones count downwards.

    Guarantee: `descend` ends for every program that has a feasible point. The cost never falls; while it does
    not rise, Bland's rule visits no basis twice; and there are finitely many. Nothing rests on its being
    right: `ExactProgram.bound` proves a lower end from any multipliers.
    """

    columns: int
    uppers: list[Fraction]
    scales: list[int]
    """what each row was multiplied by to be integers"""
    lines: dict[int, Equation]
    cost: Equation
    mirrored: set[int] = field(default_factory=set)

    @classmethod
    def of(cls, program: ExactProgram) -> Self:
        """Return the dictionary in which the slacks are basic."""
        scale = math.lcm(1, *(c.denominator for c in program.cost))
        cost = Equation({j: int(c * scale) for j, c in enumerate(program.cost) if c}, 0, scale)
        found = cls(len(program.cost), list(program.upper), [], {}, cost)
        for row, right in zip(program.rows, program.right, strict=True):
            found.add(row, right)
        return found

    def add(self, row: ExactRow, right: Fraction) -> None:
        """Add row·x ≥ right: its slack is basic. What was dual feasible remains so."""
        scale = math.lcm(right.denominator, *(a.denominator for a in row.values()))
        terms = {j: int(a * scale) for j, a in row.items() if a}
        line = Equation(terms, -int(right * scale), 1)
        most = sum((a * self.uppers[j] for j, a in terms.items() if a > 0), start=Fraction(0))
        self.uppers.append(max(Fraction(0), most + line.constant))
        self.lines[self.columns + len(self.scales)] = line
        self.scales.append(scale)
        for j in list(terms):
            if j in self.mirrored:
                line.mirrored(j, self.uppers[j])
            if j in self.lines:
                line.substitute(j, self.lines[j])

    def drop_idle(self) -> None:
        """Forget the rows that are not tight."""
        for i in [i for i, line in self.lines.items() if i >= self.columns and line.constant]:
            del self.lines[i]

    def value(self) -> Fraction:
        """Return the cost where the dictionary stands."""
        return Fraction(self.cost.constant, self.cost.denominator)

    def descend(self) -> None:
        """Pivot until no basic variable is out of its box."""
        idle = 0
        while (own := self.leaving(first=idle > limits.STEPS_WITHOUT_PROGRESS)) is not None:
            idle = idle + 1 if self.pivot(own, self.entering(own)) else 0

    def leaving(self, *, first: bool) -> int | None:
        """Return a basic variable out of its box, turned so as to be below zero: the worst, or the first."""
        worst, found = Fraction(0), None
        for i, line in self.lines.items():
            below = -line.constant
            upper = self.uppers[i]
            above = line.constant * upper.denominator - upper.numerator * line.denominator
            if below > 0 or above > 0:
                if first:
                    found = i if found is None else min(found, i)
                    continue
                out = Fraction(below if below > 0 else above, line.denominator)
                if out > worst or (out == worst and found is not None and i < found):
                    worst, found = out, i
        if found is not None and self.lines[found].constant > 0:
            self.turn(found)
        return found

    def entering(self, own: int) -> int:
        """Return the variable whose growth mends the line at the least cost, the first of such."""
        costs, best, found = self.cost.terms, (0, 0), -1
        for j, term in self.lines[own].terms.items():
            if term > 0:
                cost = costs.get(j, 0)
                lead = cost * best[1] - best[0] * term if found >= 0 else -1
                if lead < 0 or (lead == 0 and j < found):
                    best, found = (cost, term), j
        if found < 0:
            raise RuntimeError("a program without a feasible point")
        return found

    def pivot(self, own: int, j: int) -> bool:
        """Exchange a basic variable for another; return whether the cost stays as it is."""
        line = self.lines.pop(own).solved_for(j, own)
        line.shorten()
        for other in self.lines.values():
            if j in other.terms:
                other.substitute(j, line)
        self.lines[j] = line
        if j not in self.cost.terms:
            return True
        before = Fraction(self.cost.constant, self.cost.denominator)
        self.cost.substitute(j, line)
        return Fraction(self.cost.constant, self.cost.denominator) == before

    def turn(self, i: int) -> None:
        """Count a basic variable from its other bound."""
        line, upper = self.lines[i], self.uppers[i]
        line.terms = {k: -term * upper.denominator for k, term in line.terms.items()}
        line.constant = upper.numerator * line.denominator - line.constant * upper.denominator
        line.denominator *= upper.denominator
        line.shorten()
        self.mirrored ^= {i}

    def optimum(self) -> Optimum:
        """Return where the dictionary stands, and its multipliers."""

        def value(j: int) -> Fraction:
            line = self.lines.get(j)
            at = Fraction(line.constant, line.denominator) if line else Fraction(0)
            return self.uppers[j] - at if j in self.mirrored else at

        def multiplier(i: int) -> Fraction:
            slack = self.columns + i
            term = 0 if slack in self.mirrored else self.cost.terms.get(slack, 0)
            return Fraction(term * self.scales[i], self.cost.denominator)

        return Optimum(
            [value(j) for j in range(self.columns)], [multiplier(i) for i in range(len(self.scales))]
        )
