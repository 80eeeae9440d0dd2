"""Prepared: a relation with its programs, and X(τ) of both its signs."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from recuse.krelation.relation import KRelation
from recuse.mechanism.parameters import SLACK
from recuse.noise import round_down
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
    """Return the relation with its programs."""
    positive, negative = (solver(part, relation.participants) for part in relation.signs)
    return Prepared(relation, positive, negative)


def truncated(prepared: Prepared, tau: Fraction) -> tuple[Fraction, Fraction]:
    """Return X(τ) up to the certified slack, and that slack in units of τ (a double).

    Guarantee: neighbours' values differ by at most (1 + slack)·τ (docs/proofs.md, theorem D and lemma G2);
    with two signs both move the same way, so only the slack doubles.
    """
    highs = [truncated_high(part, tau) for part in prepared.signs]
    if len(highs) == 1:
        return highs[0], SLACK
    return highs[0] - highs[1], 2 * SLACK


def truncated_high(programs: Programs, tau: Fraction) -> Fraction:
    """Return a number between X(τ) and X(τ) + ητ."""
    return Fraction(programs.truncated(float(tau), round_down(SLACK * tau)).high)
