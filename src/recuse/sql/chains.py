"""Any condition on positive predicates → monotone conditions that alternate in sign: the chain theorem.

A predicate has levels, 0 to its height, which rise as rows appear: EXISTS goes from 0 (false) to 1 (true),
IN from 0 (false) over 1 (NULL) to 2 (true). A point is one level of each predicate. For a condition f on
points let L(x) be the length of the longest chain up to x along which f is true, false, true, …, and
h_j = [L ≥ j]. Then

    f = h_1 - h_2 + h_3 - …,   every h_j monotone,   h_1 ≥ h_2 ≥ …   (proofs.md, theorem N2)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

Point = tuple[int, ...]
Antichain = tuple[Point, ...]
"""the least points at which a monotone condition holds: none if it never does"""


def chain(condition: Callable[[Point], bool], heights: Sequence[int]) -> tuple[Antichain, ...]:
    """Return h_1, h_2, … of a condition on points below `heights`, each by its least points.

    Guarantee: at most one more than the heights together, and no other signed sum of monotone conditions is
    shorter (proofs.md, theorem N2).

    >>> chain(lambda point: point == (0,), [1])
    (((0,),), ((1,),))
    """
    points = sorted(product(*(range(height + 1) for height in heights)), key=sum)
    lengths: dict[Point, int] = {}
    for point in points:
        below = max((lengths[other] for other in _steps_down(point)), default=0)
        lengths[point] = below + (condition(point) != (below % 2 == 1))
    longest = max(lengths.values())
    return tuple(_least(points, lengths, length) for length in range(1, longest + 1))


def _steps_down(point: Point) -> list[Point]:
    """Return the points one level below: a longest chain below a point ends at it or below one of them."""
    return [
        (*point[:place], level - 1, *point[place + 1 :]) for place, level in enumerate(point) if level > 0
    ]


def _least(points: Sequence[Point], lengths: dict[Point, int], length: int) -> Antichain:
    return tuple(
        point
        for point in points
        if lengths[point] >= length and all(lengths[other] < length for other in _steps_down(point))
    )
