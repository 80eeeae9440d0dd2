"""The recursive mechanism framework of the paper's section 4.1, over any pair of sequences (H, G).

H and G have one entry for each number of participants 0 … |P|; both must be recursive sequences (their
neighbours interleave). The index is an integer and decided exactly: with any slack its sensitivity is 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from recuse.exponential import at_most_exponential
from recuse.mechanism.answer import noisy_answer
from recuse.mechanism.parameters import INDEX_GRID
from recuse.mechanism.recursive import Recursive
from recuse.mechanism.release import Release
from recuse.noise import Noise

RealNumber = int | float | Fraction


@dataclass(frozen=True, slots=True)
class Sequences:
    """A recursive sequence H with H_|P| the true answer, and a bounding sequence G of it."""

    h: tuple[Fraction, ...]
    g: tuple[Fraction, ...]

    def __init__(self, h: Sequence[RealNumber], g: Sequence[RealNumber]) -> None:
        if len(h) != len(g) or not h:
            raise ValueError("H and G have one entry for each number of participants, 0 included")
        object.__setattr__(self, "h", tuple(Fraction(value) for value in h))
        object.__setattr__(self, "g", tuple(Fraction(value) for value in g))

    @property
    def participants(self) -> int:
        """|P|."""
        return len(self.h) - 1


def index(sequences: Sequences, mechanism: Recursive) -> int:
    """Return j with Δ = θe^{jβ}: the least j with G_{|P|-j} ≤ θe^{jβ}.

    Guarantee: neighbours' indices differ by at most 1, the larger database's being the larger
    (proofs.md, lemma F1).
    """
    people = sequences.participants
    for j in range(people + 1):
        if at_most_exponential(sequences.g[people - j], mechanism.theta, j * mechanism.beta):
            return j
    # G_0 = 0 for a bounding sequence, so the loop has returned; a sequence that breaks this ends here
    return people


def truncated(sequences: Sequences, tau: Fraction) -> Fraction:
    """Return X = min_i H_i + (|P|-i)τ.

    Guarantee: for fixed τ neighbours' X differ by at most τ (proofs.md, lemma F3).
    """
    people = sequences.participants
    return min(value + (people - i) * tau for i, value in enumerate(sequences.h))


def release(
    sequences: Sequences,
    mechanism: Recursive,
    noise: Noise,
    constant: Fraction = Fraction(0),
) -> Release:
    """Return X̂, the private answer, with a public constant added.

    Δ̂ = e^{μ+Y}Δ with Y ~ Lap(β/ε1): noise of scale 1/ε1 on the index, which has sensitivity 1.

    Guarantee: (ε1 + ε2)-private (proofs.md, lemma F2 and theorem R1).
    """
    exact = index(sequences, mechanism)
    noisy = INDEX_GRID * exact + noise.laplace(INDEX_GRID / mechanism.choice_epsilon)
    tau = mechanism.bound(Fraction(noisy, INDEX_GRID))
    return noisy_answer(truncated(sequences, tau), tau, Fraction(0), constant, mechanism, noise)
