"""The groups of one query, answered from one ε."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from recuse.mechanism.answer import answer_at
from recuse.mechanism.mechanisms import choose, run
from recuse.mechanism.parameters import Doublings, Exponent, Parameters
from recuse.mechanism.prepared import Prepared
from recuse.mechanism.release import Release
from recuse.noise import Noise


def release_groups(
    groups: Sequence[Prepared], parameters: Parameters[Exponent | Doublings], noise: Noise, *, disjoint: bool
) -> list[Release]:
    """Return the private answers of all groups of a query, which together cost the parameters' ε.

    Where no participant can touch two groups (`disjoint`, which follows from query and catalogue), each group
    is answered with the whole ε and has its own τ. Otherwise one choice of τ serves all, and ε2 is split.

    Guarantee: (ε1 + ε2)-private (docs/proofs.md, theorem R7).
    """
    if disjoint or not groups:
        return [run(group, parameters, noise) for group in groups]
    tau = choose([part for group in groups for part in group.signs], parameters, noise)
    each = replace(parameters, answer_epsilon=parameters.answer_epsilon / len(groups))
    answers = [answer_at(group, tau, each, noise) for group in groups]
    return [replace(answer, epsilon=parameters.epsilon) for answer in answers]
