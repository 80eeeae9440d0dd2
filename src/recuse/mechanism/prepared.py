"""Prepared: a query's relation with its programs, and X(τ) of both its signs.

It is `Releasable`: the one cell of a question without groups.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from recuse.deferred import Deferred
from recuse.krelation.canonical import canonical
from recuse.krelation.prices import Prices
from recuse.krelation.relation import Growth, KRelation, Shape, Tuples
from recuse.mechanism.grid import CellNoise, Grid, GridNoise
from recuse.mechanism.parameters import ANSWER_GRID, SLACK
from recuse.noise import round_down
from recuse.solver.glance import glanced
from recuse.solver.kept.relation import KeptRelation
from recuse.solver.programs import Solver, TruncationPrograms

if TYPE_CHECKING:
    from recuse.solver.kept import programs as kept
    from recuse.solver.thresholds import programs as thresholds
else:
    kept = Deferred("recuse.solver.kept.programs")
    thresholds = Deferred("recuse.solver.thresholds.programs")


class Relation(Protocol):
    """What mechanisms know of a query: a `KRelation`, or an aggregate that stands for one."""

    @property
    def shape(self) -> Shape | Growth:
        """The form of its annotations, or how an aggregate grows: follows from query and policy only."""

    @property
    def signed(self) -> bool:
        """Whether it has negative tuples by its nature, as a sum does and a count does not."""

    @property
    def constant(self) -> int:
        """What nobody can withdraw: public, added exactly."""

    def true_answer(self) -> int:
        """Return the answer without noise. Never release it."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A relation with the programs of its signs, so that several releases share what is solved.

    Without `negative` the relation has no sign. Whether there are more programs than X(τ) follows from the
    relation's shape, and so does whether a mechanism may ask for them (`mechanisms.chosen`).
    """

    relation: Relation
    positive: TruncationPrograms
    negative: TruncationPrograms | None = None

    @property
    def signs(self) -> tuple[TruncationPrograms, ...]:
        """The programs that the query can have: a count has no negative ones."""
        return (self.positive,) if self.negative is None else (self.positive, self.negative)

    @property
    def theta(self) -> Fraction:
        return Fraction(1)

    @property
    def constants(self) -> Sequence[int]:
        return (self.relation.constant,)

    @property
    def lifted(self) -> bool:
        return not self.relation.signed

    @property
    def shared_out(self) -> bool:
        return False

    def grid(self, tau: Fraction) -> Grid:
        return certified_grid(tau, SLACK * len(self.signs))

    def noise(self, epsilon: Fraction, _: Fraction, cell: CellNoise) -> GridNoise:
        return _number_noise(cell, epsilon, len(self.signs))

    def at(self, tau: Fraction) -> Sequence[int]:
        return (math.ceil(truncated(self, tau)[0] / self.grid(tau).step),)


def certified_grid(tau: Fraction, slack: Fraction) -> Grid:
    """Return the grid of a number that is certified within slack·τ and rounded up.

    Guarantee: where the number moves by τ, its place moves by the sensitivity at most (proofs.md, lemma G2).
    """
    loose = loose_steps(slack)
    return Grid(tau / ANSWER_GRID, ANSWER_GRID + loose, loose + 1, loose)


@lru_cache(maxsize=64)
def _number_noise(cell: CellNoise, epsilon: Fraction, signs: int) -> GridNoise:
    """Return the noise of one number: the same for all levels."""
    return cell(epsilon, ANSWER_GRID + loose_steps(SLACK * signs))


def loose_steps(slack: Fraction) -> int:
    """Return how many steps of the grid a certificate leaves open."""
    return math.ceil(ANSWER_GRID * slack)


def prepare(relation: KRelation, solver: Solver, prices: Prices | None = None) -> Prepared:
    """Return the relation with its programs; those of thresholds know X(τ) only, whichever solver is named.

    Which they are follows from the shape, hence from query and policy. There all pay τ. Tuples are put in
    their canonical order before they are solved for, so that what is found is a function of the relation as
    a set; what their loads decide is one without that.
    """
    people = relation.participants

    def make(part: Tuples) -> TruncationPrograms:
        if relation.shape is Shape.THRESHOLDS:
            return thresholds.threshold_programs(canonical(part), people)
        return glanced(part, people, prices, lambda: solver(canonical(part), people, prices))

    positive, negative = map(make, relation.signs)
    return Prepared(relation, positive, negative if relation.signed else None)


def prepare_kept(relation: KeptRelation) -> Prepared:
    """Return a relation that stays in an engine with its programs; as `prepare`."""
    negative = None if relation.negative is None else kept.kept_programs(relation.negative)
    return Prepared(relation, kept.kept_programs(relation.positive), negative)


def truncated(prepared: Prepared, tau: Fraction) -> tuple[Fraction, Fraction]:
    """Return X(τ) up to the certified slack, and that slack in units of τ (a double).

    Guarantee: neighbours' values differ by at most (1 + slack)·τ (proofs.md, theorem D and lemma G2);
    with two signs both move the same way, so only the slack doubles.
    """
    return truncated_difference(prepared, tau, SLACK), SLACK * len(prepared.signs)


def truncated_difference(prepared: Prepared, tau: Fraction, slack: Fraction) -> Fraction:
    """Return X(τ) of the positive less that of the negative tuples, each certified within slack·τ above."""
    first, *second = (truncated_high(part, tau, slack) for part in prepared.signs)
    return first - sum(second)


def truncated_high(programs: TruncationPrograms, tau: Fraction, slack: Fraction = SLACK) -> Fraction:
    """Return a number between X(τ) and X(τ) + slack·τ, or the largest double if that is less.

    Guarantee: a public lid moves nothing farther apart, so theorem D holds with it.
    """
    found = programs.truncated(float(tau), round_down(slack * tau))
    return Fraction(min(found.high, sys.float_info.max))
