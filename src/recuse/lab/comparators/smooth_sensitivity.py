"""Noise calibrated to smooth sensitivity, for triangles and k-stars: for comparison only.

Nissim, Raskhodnikova and Smith, "Smooth sensitivity and sampling in private data analysis" (STOC 2007):
triangles. Karwa, Raskhodnikova, Smith and Yaroslavtsev, "Private analysis of graph structure" (VLDB 2011):
k-stars.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from recuse.errors import ParameterError
from recuse.graphs.protect import Protected
from recuse.lab.comparators.comparator import Privacy
from recuse.lab.comparators.distance import COUNTED, smooth_sensitivity
from recuse.lab.comparators.simulate import cauchy_release
from recuse.lab.comparators.subgraphs import Kind, SubgraphCount
from recuse.mechanism.release import Release
from recuse.noise import Noise
from recuse.privacy import Epsilon

OF_2007 = 6.0
"""The divisor that the paper proves."""


@dataclass(frozen=True, slots=True)
class SmoothSensitivity:
    """Count + Cauchy noise of scale S(G)·divisor/ε, S smooth with β = ε/divisor.

    Nissim et al. prove divisor = 6 (their admissible noise ∝ 1/(1+|z|^γ), α = β = ε/(2γ+2), with γ = 2);
    Kasiviswanathan et al. (TCC 2013) use √2, which we give to all smooth mechanisms: Cauchy distributions
    (m, s) and (m', s') differ by a factor of at most e^d, d their distance in the hyperbolic half-plane,
    cosh d = 1 + ((m-m')² + (s-s')²)/(2ss').
    """

    epsilon: Epsilon
    divisor: float = math.sqrt(2)

    privacy = Privacy.PURE_EDGE
    guesses = ()

    def scale(self, count: SubgraphCount) -> float:
        """Return the scale of the noise.

        Guarantee: ε-private for one edge: |f(G) - f(G')| ≤ min(S(G), S(G')) and |ln S(G)/S(G')| ≤ β.
        """
        count.demand("smooth sensitivity", COUNTED, Protected.EDGE)
        if count.motif.kind is Kind.TRIANGLES and count.motif.k > 1:
            raise ParameterError(
                "the smooth sensitivity of this pattern is not known to be computable",
                found=str(count.motif),
                hint="use k-triangle",
            )
        beta = float(self.epsilon.value) / self.divisor
        return smooth_sensitivity(count.graph, count.motif, beta) / beta

    def release(self, subject: SubgraphCount, noise: Noise) -> Release:
        """Return the noisy count."""
        truth = subject.motif.count(subject.graph)
        return cauchy_release(truth, self.scale(subject), self.epsilon, "smooth", noise)
