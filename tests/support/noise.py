"""Noise sources for tests: seeded, scripted or silent. The package itself has none."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable
from fractions import Fraction


class OneByOne:
    """Many draws, one after the other."""

    def laplaces(self, scale: Fraction, count: int) -> list[int]:
        return [self.laplace(scale) for _ in range(count)]


class NoNoise(OneByOne):
    """Always zero."""

    def laplace(self, scale: Fraction) -> int:
        return 0

    def bits(self, count: int) -> int:
        raise AssertionError("this test wants no randomness")


class Scripted(OneByOne):
    """The given integers in turn; remembers the scales that were asked for."""

    def __init__(self, values: Iterable[int]) -> None:
        self.values = iter(values)
        self.scales: list[Fraction] = []

    def laplace(self, scale: Fraction) -> int:
        self.scales.append(scale)
        return next(self.values)

    def bits(self, count: int) -> int:
        raise AssertionError("this test wants scripted noise only")


class Seeded(OneByOne):
    """Discrete Laplace as a difference of two geometric numbers, from a seeded generator."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def laplace(self, scale: Fraction) -> int:
        ratio = -1 / float(scale)
        first, second = (math.floor(math.log(1 - self.random.random()) / ratio) for _ in range(2))
        return first - second

    def bits(self, count: int) -> int:
        return self.random.getrandbits(count)
