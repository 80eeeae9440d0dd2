"""An independent judge: the theory's programs, built recursively from expressions and solved by scipy.

Shares nothing with the solvers: neither the columnar levels, nor the model, nor the certificates.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np
from scipy.optimize import linprog

from recuse.annotation import And, Annotation, Participant, Threshold, participants

Expression = dict[int, float]  # column → coefficient; column -1 is the constant 1


def plus(*terms: Expression, sign: float = 1.0) -> Expression:
    total: Expression = defaultdict(float)
    for term in terms:
        for column, value in term.items():
            total[column] += sign * value
    return dict(total)


class Judge:
    """X, H, N, N_s and Γ of (annotation, positive weight) rows."""

    def __init__(self, rows: Sequence[tuple[Annotation, int]]) -> None:
        self.rows = rows
        self.names = sorted({name for k, _ in rows for name in participants(k)}, key=repr)
        self.column = {name: i for i, name in enumerate(self.names)}
        self.width = len(self.names)
        self.nonnegative: list[Expression] = []

    def fresh(self) -> Expression:
        self.width += 1
        return {self.width - 1: 1.0}

    def loss(self, k: Annotation) -> Expression:
        if isinstance(k, Participant):
            return {self.column[k.name]: 1.0}
        found, below = self.fresh(), [self.loss(child) for child in k.children]
        if isinstance(k, Threshold):
            caps = [*self.pieces(k, below), {-1: 1.0}]
        else:
            caps = [plus(*below), {-1: 1.0}] if isinstance(k, And) else below
        self.nonnegative += [plus(cap, plus(found, sign=-1)) for cap in caps]
        return found

    def pieces(self, k: Threshold, below: Sequence[Expression]) -> Iterator[Expression]:
        """Yield Σ_M u_i w_i / (Σ_M u_i - least + 1) of every set M of children that is enough."""
        for size in range(1, len(below) + 1):
            for chosen in combinations(range(len(below)), size):
                spare = sum(k.weights[i] for i in chosen) - k.least + 1
                if spare > 0:
                    yield plus(*({c: k.weights[i] / spare * v for c, v in below[i].items()} for i in chosen))

    def usage(self, k: Annotation, name: Hashable, context: Expression) -> Expression:
        if isinstance(k, Participant):
            if k.name != name:
                return {}
            value = self.fresh()
            self.nonnegative += [value, plus(value, self.loss(k), context, {-1: -1.0})]
            return value
        if isinstance(k, And):
            losses = [self.loss(child) for child in k.children]
            others = [plus(context, *(w for j, w in enumerate(losses) if j != i)) for i in range(len(losses))]
            return plus(*(self.usage(c, name, o) for c, o in zip(k.children, others, strict=True)))
        found = self.fresh()
        for child in k.children:
            self.nonnegative.append(plus(found, plus(self.usage(child, name, context), sign=-1)))
        self.nonnegative.append(found)
        return found

    def answer(self) -> Expression:
        kept = [(plus({-1: 1.0}, plus(self.loss(k), sign=-1)), q) for k, q in self.rows]
        return plus(*({c: q * v for c, v in z.items()} for z, q in kept))

    def load(self, name: Hashable) -> Expression:
        used = [(self.usage(k, name, {}), q) for k, q in self.rows]
        return plus(*({c: q * v for c, v in u.items()} for u, q in used))

    def size(self) -> Expression:
        return dict.fromkeys(range(len(self.names)), 1.0)

    def bounds(self, tau: float, prices: Mapping[Hashable, float] | None) -> list[tuple[Hashable, float]]:
        return [(name, tau * (prices[name] if prices else 1.0)) for name in self.names]

    def least(self, cost: Expression) -> float:
        if self.width == 0:
            return 0.0
        dense = np.zeros((len(self.nonnegative) + 1, self.width + 1))
        for i, row in enumerate([*self.nonnegative, cost]):
            for column, value in row.items():
                dense[i, column] += value
        bounds = [(0, 1)] * len(self.names) + [(None, None)] * (self.width - len(self.names))
        found = linprog(dense[-1, :-1], A_ub=-dense[:-1, :-1], b_ub=dense[:-1, -1], bounds=bounds)
        return float(found.fun) + dense[-1, -1]


def truncated(
    rows: Sequence[tuple[Annotation, int]], tau: float, prices: Mapping[Hashable, float] | None = None
) -> float:
    """Return X(τ); a participant pays τ times a price, if there are prices."""
    judge = Judge(rows)
    return judge.least(plus(judge.answer(), {judge.column[name]: b for name, b in judge.bounds(tau, prices)}))


def least_answer(rows: Sequence[tuple[Annotation, int]], s: float) -> float:
    """Return H(s)."""
    judge = Judge(rows)
    judge.nonnegative.append(plus({-1: s}, plus(judge.size(), sign=-1)))
    return judge.least(judge.answer())


def withdrawals(rows: Sequence[tuple[Annotation, int]], tau: float) -> float:
    """Return N(τ)."""
    judge = Judge(rows)
    judge.nonnegative += [plus({-1: tau}, plus(judge.load(name), sign=-1)) for name in judge.names]
    return judge.least(judge.size())


def strict_withdrawals(
    rows: Sequence[tuple[Annotation, int]], tau: float, prices: Mapping[Hashable, float] | None = None
) -> float:
    """Return N_s(τ); a participant is held to τ times a price, if there are prices."""
    judge = Judge(rows)
    for name, bound in judge.bounds(tau, prices):
        left = plus({-1: bound, judge.column[name]: -bound})
        judge.nonnegative.append(plus(left, plus(judge.load(name), sign=-1)))
    return judge.least(judge.size())


def least_load(rows: Sequence[tuple[Annotation, int]], s: float) -> float:
    """Return Γ(s)."""
    judge = Judge(rows)
    judge.nonnegative.append(plus({-1: s}, plus(judge.size(), sign=-1)))
    largest = judge.fresh()
    judge.nonnegative += [plus(largest, plus(judge.load(name), sign=-1)) for name in judge.names]
    return judge.least(largest) if judge.names else 0.0
