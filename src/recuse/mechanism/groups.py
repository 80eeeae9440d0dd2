"""The groups of one query, answered from one ε."""

from __future__ import annotations

from collections.abc import Sequence

from recuse.mechanism.prepared import Prepared
from recuse.mechanism.release import Release
from recuse.mechanism.truncating import Mechanism
from recuse.noise import Noise


def release_groups(
    groups: Sequence[Prepared], mechanism: Mechanism, noise: Noise, *, disjoint: bool
) -> list[Release]:
    """Return the private answers of all groups of a query, which together cost the mechanism's ε.

    Where no participant can touch two groups (`disjoint`, which follows from query and catalogue), each group
    is answered with the whole ε and has its own τ. Otherwise one choice of τ serves all, and ε2 is split.

    Guarantee: (ε1 + ε2)-private (proofs.md, theorem R7).
    """
    if disjoint or not groups:
        return [mechanism.release(group, noise) for group in groups]
    return mechanism.release_together(groups, noise)
