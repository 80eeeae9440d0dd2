"""The mechanism of Rastogi, Hay, Miklau and Suciu ("Relationship privacy", PODS 2009): for comparison only.

Laplace noise of a fixed scale for any connected subgraph. It protects an edge against adversaries whose
prior knowledge is bounded, not against all: adversarial privacy is weaker than differential privacy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from recuse.graphs.protect import Protected
from recuse.lab.comparators.comparator import Privacy
from recuse.lab.comparators.simulate import laplace_release
from recuse.lab.comparators.subgraphs import Kind, SubgraphCount
from recuse.mechanism.release import Release
from recuse.noise import Noise
from recuse.privacy import Epsilon


@dataclass(frozen=True, slots=True)
class RHMS:
    """Count + Lap((k l² ln|V|)^{l-1}/ε) for k nodes and l edges.

    The error Θ((k l² log|V|)^{l-1}/ε) is as the recursive mechanism's paper states it, with the smallest
    constant that it allows: one. The original's constants are larger, so this line is the most that can be
    said for it.
    """

    epsilon: Epsilon

    privacy = Privacy.ADVERSARIAL_EDGE
    guesses = ("what adversaries may know (γ)",)

    def scale(self, count: SubgraphCount) -> float:
        """Return the scale of the noise: it depends on the number of nodes only."""
        count.demand("rhms", tuple(Kind), Protected.EDGE)
        k, l = count.motif.nodes, count.motif.edges  # noqa: E741  (the paper's letters)
        return float((k * l**2 * math.log(max(2, len(count.graph.nodes)))) ** (l - 1) / self.epsilon.value)

    def release(self, subject: SubgraphCount, noise: Noise) -> Release:
        """Return the noisy count."""
        truth = subject.motif.count(subject.graph)
        return laplace_release(truth, self.scale(subject), self.epsilon, "rhms", noise)
