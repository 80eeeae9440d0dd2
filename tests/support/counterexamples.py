"""The relations on which the paper's static bound breaks (proofs.md, section 1)."""

from __future__ import annotations

from itertools import combinations

from recuse.annotation import Annotation, Participant, conjunction, disjunction

Rows = list[tuple[Annotation, int]]


def spread(m: int) -> Rows:
    """Return tuples a_i ∨ p: everybody has one of his own, p a share in all."""
    return [(disjunction(Participant(f"a{i}"), Participant("p")), 1) for i in range(m)]


def friends_with_a_common_friend(m: int) -> Rows:
    """Return the pairs of friends with a common friend: m disjoint triangles and a hub adjacent to all."""
    friends: dict[str, set[str]] = {"hub": set()}
    for i in range(m):
        triangle = [f"{i}:{j}" for j in range(3)]
        friends["hub"].update(triangle)
        for node in triangle:
            friends[node] = {*triangle, "hub"} - {node}
    rows: Rows = []
    for one, other in combinations(sorted(friends), 2):
        common = sorted(friends[one] & friends[other])
        if other in friends[one] and common:
            ways = (conjunction(*map(Participant, (one, other, third))) for third in common)
            rows.append((disjunction(*ways), 1))
    return rows
