"""The last step of every mechanism: answers on a grid, plus exact noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from recuse.mechanism.grid import CellNoise, Grid, GridNoise, Releasable
from recuse.mechanism.prepared import certified_grid
from recuse.mechanism.release import CONFIDENCE, Release
from recuse.noise import Noise


class Answering(Protocol):
    """What a release says of the mechanism that made it."""

    @property
    def name(self) -> str: ...
    @property
    def epsilon(self) -> Fraction: ...


class Answerer(Answering, Protocol):
    """A mechanism whose last step draws noise of its own."""

    @property
    def answer_epsilon(self) -> Fraction: ...
    @property
    def cell(self) -> CellNoise: ...
    def lift(self, tau: Fraction, /) -> Fraction: ...


@dataclass(frozen=True, slots=True)
class Noised:
    """Answers on the grid of a τ with their noise already added: where they are, and what noise it was."""

    tau: Fraction
    grid: Grid
    places: Sequence[int]
    added: GridNoise
    reaches: Sequence[int]
    """how far the noise of each lies from zero at most, with 95 %"""

    def releases(self, constants: Sequence[int], lift: Fraction, mechanism: Answering) -> list[Release]:
        """Return what is let out: the places in granules, a public constant and lift added to each.

        The interval is about the truncated answer and its constant. So it is centred on the answer without
        the lift, and is longer by what the certificate and the grid leave open.

        Guarantee: post-processing. Each interval holds as proofs.md, lemmas I, I3 and I4 say.
        """
        grid = self.grid
        parts, whole, spread = grid.step.denominator, grid.step.numerator, self.added.spread() * grid.step
        places = [
            place * whole + constant * parts for place, constant in zip(self.places, constants, strict=True)
        ]
        return [
            Release(
                value=Fraction(place, parts) + lift,
                interval=(
                    Fraction(place - (reach + grid.below) * whole, parts),
                    Fraction(place + (reach + grid.above) * whole, parts),
                ),
                noise_scale=spread,
                epsilon=mechanism.epsilon,
                mechanism=mechanism.name,
                noise_epsilon=self.added.epsilon,
                cut=self.tau,
            )
            for place, reach in zip(places, self.reaches, strict=True)
        ]


def noisy_answer(
    truncated: Fraction,
    tau: Fraction,
    slack: Fraction,
    constant: Fraction,
    mechanism: Answerer,
    noise: Noise,
    lift: Fraction = Fraction(0),
) -> Release:
    """Return the release of a number of sensitivity (1 + slack)·τ, and of a public constant beside it.

    Guarantee: ε2-private for fixed τ if neighbours' `truncated` differ by at most (1 + slack)·τ
    (proofs.md, lemma G2): ⌈truncated/γ⌉ with γ = τ/k' moves by at most k' + ⌈k'·slack⌉ grid steps.
    """
    grid = certified_grid(tau, slack)
    added = mechanism.cell(mechanism.answer_epsilon, grid.sensitivity)
    places = [math.ceil(truncated / grid.step) + drawn for drawn in added.draw(noise)]
    (found,) = Noised(tau, grid, places, added, added.reaches(CONFIDENCE)).releases([0], lift, mechanism)
    return found.moved(constant)


def answers_at(subject: Releasable, tau: Fraction, mechanism: Answerer, noise: Noise) -> list[Release]:
    """Return the private answers of all cells for a τ, lifted against the bias of truncation if they may be.

    Guarantee: ε2-private for fixed τ (proofs.md, theorem D, lemmas G2, L and S for one cell, L1 and E0 for
    vectors); the lift and the weight of public tuples are added after.
    """
    grid = subject.grid(tau)
    added = subject.noise(mechanism.answer_epsilon, tau, mechanism.cell)
    places = [place + drawn for place, drawn in zip(subject.at(tau), added.draw(noise), strict=True)]
    lift = mechanism.lift(tau) if subject.lifted else Fraction(0)
    found = Noised(tau, grid, places, added, added.reaches(CONFIDENCE))
    return found.releases(subject.constants, lift, mechanism)
