"""The last step of every mechanism: X(τ) on a grid, plus exact noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from recuse.mechanism.parameters import ANSWER_GRID
from recuse.mechanism.prepared import Prepared, truncated
from recuse.mechanism.release import CONFIDENCE, Release
from recuse.noise import Noise, laplace_quantile, staircase, staircase_quantile, staircase_spread


class GridNoise(Protocol):
    """Noise for an integer of a known sensitivity."""

    def draw(self, noise: Noise) -> int:
        """Return the noise, in grid steps."""

    def reach(self) -> int:
        """Return how far it lies from zero at most, with the confidence of a release."""

    def spread(self) -> Fraction:
        """Return its mean absolute value."""


@dataclass(frozen=True, slots=True)
class Laplace:
    """Discrete Laplace noise: ε-private by lemma L."""

    epsilon: Fraction
    sensitivity: int

    def draw(self, noise: Noise) -> int:
        return noise.laplace(self.spread())

    def reach(self) -> int:
        return laplace_quantile(self.spread(), CONFIDENCE)

    def spread(self) -> Fraction:
        return self.sensitivity / self.epsilon


@dataclass(frozen=True, slots=True)
class Staircase:
    """Discrete staircase noise: ε-private by lemma S, and the least there is."""

    epsilon: Fraction
    sensitivity: int

    def draw(self, noise: Noise) -> int:
        return staircase(self.epsilon, self.sensitivity, noise)

    def reach(self) -> int:
        return staircase_quantile(self.epsilon, self.sensitivity, CONFIDENCE)

    def spread(self) -> Fraction:
        return staircase_spread(self.epsilon, self.sensitivity)


class Answering(Protocol):
    """What the last step needs to know of a mechanism."""

    @property
    def name(self) -> str: ...
    @property
    def epsilon(self) -> Fraction: ...
    @property
    def answer_epsilon(self) -> Fraction: ...
    def grid_noise(self, sensitivity: int) -> GridNoise: ...
    def lift(self, tau: Fraction, /) -> Fraction: ...


def noisy_answer(
    truncated: Fraction,
    tau: Fraction,
    slack: Fraction,
    constant: Fraction,
    mechanism: Answering,
    noise: Noise,
    lift: Fraction = Fraction(0),
) -> Release:
    """Return the release of a number of sensitivity (1 + slack)·τ, and of a public constant beside it.

    The interval is about X + constant, X being any number within slack·τ of `truncated`. So it is centred on
    the answer without the lift, and is longer by what the certificate and the grid leave open.

    Guarantee: ε2-private for fixed τ if neighbours' `truncated` differ by at most (1 + slack)·τ
    (proofs.md, lemma G2): ⌈truncated/γ⌉ with γ = τ/k' moves by at most k' + ⌈k'·slack⌉ grid steps. The
    interval holds X + constant with probability 95 % at least (lemma I there).
    """
    step = tau / ANSWER_GRID
    loose = math.ceil(ANSWER_GRID * slack)
    added = mechanism.grid_noise(ANSWER_GRID + loose)
    middle = (math.ceil(truncated / step) + added.draw(noise)) * step + constant
    reach = added.reach() + loose
    return Release(
        value=middle + lift,
        interval=(middle - (reach + 1) * step, middle + reach * step),
        noise_scale=added.spread() * step,
        epsilon=mechanism.epsilon,
        mechanism=mechanism.name,
        noise_epsilon=mechanism.answer_epsilon,
    )


def answer_at(subject: Prepared, tau: Fraction, mechanism: Answering, noise: Noise) -> Release:
    """Return the private X(τ) of a relation, lifted against the bias of truncation where it has no sign.

    Guarantee: ε2-private for fixed τ (proofs.md, theorem D, lemmas G2, L and S); the lift and the weight
    of public tuples are added after.
    """
    answer, slack = truncated(subject, tau)
    lift = Fraction(0) if subject.relation.signed else mechanism.lift(tau)
    return noisy_answer(answer, tau, slack, Fraction(subject.relation.constant), mechanism, noise, lift)
