"""Counts that are known not to rise from one to the next, made so: isotonic regression, post-processing."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction


def falling(values: Sequence[Fraction]) -> list[Fraction]:
    """Return the non-increasing numbers that are nearest in squares: pool adjacent violators.

    >>> [int(value) for value in falling([Fraction(v) for v in (9, 4, 6, 1)])]
    [9, 5, 5, 1]
    """
    pools: list[tuple[Fraction, int]] = []
    for value in values:
        total, size = value, 1
        while pools and pools[-1][0] * size < total * pools[-1][1]:
            before, many = pools.pop()
            total, size = total + before, size + many
        pools.append((total, size))
    return [total / size for total, size in pools for _ in range(size)]
