"""Pairs of neighbours that break careless mechanisms: a star, a clique, and the paper's counterexample."""

from __future__ import annotations

import math
from fractions import Fraction

from recuse.annotation import Participant, conjunction, disjunction
from recuse.krelation.build import from_expressions, without
from recuse.krelation.relation import KRelation, Shape
from recuse.mechanism.levels import Levels
from support.distributions import winning_probabilities
from support.prepared import prepared


def star(leaves: int) -> KRelation:
    """Return edges of a hub to its leaves, nodes protected."""
    rows = [(conjunction(Participant("hub"), Participant(i)), 1) for i in range(leaves)]
    return from_expressions(rows, Shape.CONJUNCTIONS, signed=False)


def clique(size: int, weight: int = 3) -> KRelation:
    """Return the edges of a clique, nodes protected."""
    members = [Participant(i) for i in range(size)]
    rows = [(conjunction(a, b), weight) for i, a in enumerate(members) for b in members[:i]]
    return from_expressions(rows, Shape.CONJUNCTIONS, signed=False)


def shared(values: int) -> KRelation:
    """Return the paper's counterexample: tuples a_i ∨ p."""
    rows = [(disjunction(Participant(i), Participant("p")), 1) for i in range(values)]
    return from_expressions(rows, Shape.CLAUSES, signed=False)


def lacking(rows: int) -> KRelation:
    """Return rows a_i for which neither b nor p is there: a_i, minus a_i ∧ (b ∨ p)."""
    other = disjunction(Participant("b"), Participant("p"))
    added = [(Participant(i), 1) for i in range(rows)]
    taken = [(conjunction(Participant(i), other), -1) for i in range(rows)]
    return from_expressions([*added, *taken], Shape.CLAUSES)


def changing(rows: int) -> KRelation:
    """Return rows for which one of b and p is there, but not both: b ∨ p, minus b ∧ p."""
    b, p = Participant("b"), Participant("p")
    added = [(conjunction(Participant(i), disjunction(b, p)), 1) for i in range(rows)]
    return from_expressions(
        [*added, *((conjunction(Participant(i), b, p), -1) for i in range(rows))], Shape.CLAUSES
    )


PAIRS = {
    "star": (star(40), without(star(40), "hub")),
    "clique": (clique(8), without(clique(8), 0)),
    "a_i or p": (shared(40), without(shared(40), "p")),
}
SIGNED = {
    "a_i without b or p": (lacking(12), without(lacking(12), "p")),
    "a_i with b or p but not both": (changing(12), without(changing(12), "p")),
}


def penalties(relation: KRelation, levels: Levels, count: int) -> list[Fraction]:
    """Return the penalty of each of the first levels, as a mechanism computes it."""
    programs = prepared(relation).signs
    top = levels.top(programs)
    penalty = levels.penalty(programs, top)
    return [penalty(k, math.inf)[1] if k < top else Fraction(0) for k in levels.ladder.levels[:count]]


def level_distribution(
    relation: KRelation, levels: Levels, epsilon: Fraction, count: int, factor: float = 1.0
) -> list[float]:
    """Return the exact probabilities of the levels; `factor` scales the score, for a broken twin."""
    weight = factor * float(epsilon / levels.moves())
    found = zip(levels.ladder.levels[:count], penalties(relation, levels, count), strict=True)
    return winning_probabilities(
        [-weight * float(d) - float(levels.prior(k)) * math.log(2) for k, d in found]
    )
