"""A K-relation as nested sets of names: equal for equal relations, whatever numbers participants have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from itertools import pairwise
from typing import Any

from recuse.krelation.relation import KRelation, Tuples


def as_set(relation: KRelation) -> dict[str, Any]:
    """Return the constants and the tuples of a relation, what tuples of each annotation weigh together."""
    return {
        "signed": relation.signed,
        "shape": relation.shape,
        "constant": relation.constant,
        "parts": [_tuples(part, list(relation.names)) for part in relation.signs],
    }


def _tuples(part: Tuples, names: list[Hashable]) -> Counter[Any]:
    nodes: list[Any] = [_spelled(names[member]) for member in part.members.tolist()]
    quorums = [*part.quorums][::-1] if part.quorums else []
    for depth, level in enumerate(reversed(part.levels)):
        nodes = [frozenset(Counter(nodes[start:end]).items()) for start, end in pairwise(level.tolist())]
        if depth % 2 and quorums:
            least = quorums[depth // 2].least.tolist()
            nodes = list(zip(nodes, least, strict=True))
    total: Counter[Any] = Counter()
    for node, weight in zip(nodes, map(int, part.weights.tolist()), strict=True):
        total[node] += weight
    return total


def _spelled(name: Any) -> str:
    """Return a participant's name: numbers alike, whatever their types are."""
    return str(tuple(str(part) for part in name)) if isinstance(name, tuple) else str(name)
