"""The linear program at a fixed τ: for comparison only.

Kasiviswanathan, Nissim, Raskhodnikova and Smith, "Analyzing graphs with node differential privacy" (TCC
2013), linear programs: X(τ) is the Lipschitz extension of the count from graphs where nobody is in more
than τ occurrences.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from recuse.errors import ParameterError
from recuse.lab.comparators.comparator import Privacy
from recuse.lab.comparators.simulate import laplace_release
from recuse.mechanism.prepared import Prepared, truncated
from recuse.mechanism.release import Release
from recuse.noise import Noise
from recuse.privacy import Epsilon


@dataclass(frozen=True, slots=True)
class FixedTruncation:
    """X(τ) + Lap((1 + η)τ/ε) for a guessed τ; η is the slack of the certified X."""

    epsilon: Epsilon
    tau: float = 64.0

    privacy = Privacy.PURE
    guesses = ("τ, how much one participant may count",)

    def __post_init__(self) -> None:
        if not self.tau > 0:
            raise ParameterError("τ must be positive", found=str(self.tau))

    def release(self, subject: Prepared, noise: Noise) -> Release:
        """Return the noisy truncated answer.

        Guarantee: ε-private (proofs.md, theorem D).
        """
        kept, slack = truncated(subject, Fraction(self.tau))
        scale = self.tau * float((1 + slack) / self.epsilon.value)
        return laplace_release(float(kept) + subject.relation.constant, scale, self.epsilon, "lp", noise)
