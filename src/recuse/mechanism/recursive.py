"""The efficient recursive mechanism on K-relations: repaired loads, certified programs.

r (or the paper's integer index) is released with ε1, which fixes τ; X(τ) is released with ε2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from recuse.krelation.relation import KRelation
from recuse.mechanism.answer import noisy_answer
from recuse.mechanism.framework import bound
from recuse.mechanism.parameters import INDEX_GRID, SLACK, Index, Parameters
from recuse.mechanism.release import Release
from recuse.noise import Noise, round_down
from recuse.solver.programs import Programs, Solver


@dataclass(frozen=True, slots=True)
class Prepared:
    """A relation with the programs of its two signs, so that several releases share what is solved."""

    relation: KRelation
    positive: Programs
    negative: Programs

    @property
    def signs(self) -> tuple[Programs, ...]:
        """The programs that the query can have: a count has no negative ones."""
        return (self.positive, self.negative) if self.relation.signed else (self.positive,)


def prepare(relation: KRelation, solver: Solver) -> Prepared:
    """Return the relation's programs."""
    positive, negative = (solver(part, relation.participants) for part in relation.signs)
    return Prepared(relation, positive, negative)


def recursive(prepared: Prepared, parameters: Parameters, noise: Noise) -> Release:
    """Return the private answer of a K-relation.

    Guarantee: (ε1 + ε2)-private for every pair of neighbours in the sense of docs/proofs.md, theorem A
    (theorem R3 there), whatever the solver returns within its certified intervals.
    """
    steps, sensitivity = index_steps(prepared, parameters)
    noisy = steps + noise.laplace(sensitivity / parameters.index_epsilon)
    tau = bound(Fraction(noisy, INDEX_GRID), parameters)
    answer, slack = truncated(prepared, tau)
    return noisy_answer(answer, tau, slack, Fraction(prepared.relation.constant), parameters, noise)


def index_steps(prepared: Prepared, parameters: Parameters) -> tuple[int, Fraction]:
    """Return the index on its grid, and how far one participant can move it.

    Guarantee: the larger of two signs' indices moves as one sign's does (docs/proofs.md, theorem C and
    lemma G1): by k steps for the exact integer, by k + ⌈kη⌉ for a certified real.
    """
    if parameters.index is Index.INTEGER:
        exact = (
            part.integer_index(parameters.theta, parameters.beta, parameters.factor) for part in prepared.signs
        )
        return INDEX_GRID * max(exact), Fraction(INDEX_GRID)
    theta, beta = float(parameters.theta / parameters.factor), float(parameters.beta)
    real = max(part.index(theta, beta, round_down(SLACK)).high for part in prepared.signs)
    return math.ceil(INDEX_GRID * Fraction(real)), Fraction(INDEX_GRID + math.ceil(INDEX_GRID * SLACK))


def truncated(prepared: Prepared, tau: Fraction) -> tuple[Fraction, Fraction]:
    """Return X(τ) up to the certified slack, and that slack in units of τ.

    Guarantee: neighbours' values differ by at most (1 + slack)·τ (docs/proofs.md, theorem D and lemma G2);
    with two signs both move the same way, so only the slack doubles.
    """
    width = round_down(SLACK * tau)
    highs = [Fraction(part.truncated(float(tau), width).high) for part in prepared.signs]
    if len(highs) == 1:
        return highs[0], SLACK
    return highs[0] - highs[1], 2 * SLACK
