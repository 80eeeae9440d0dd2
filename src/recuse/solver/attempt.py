"""Attempts: what may fail unseen, because a slower and surer route stands behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np

Found = TypeVar("Found")

FAILURES = (ArithmeticError, LookupError, ValueError, TypeError, RuntimeError)
"""What goes wrong in doubles must not be seen from outside, as it depends on the data. Want of memory is not
among them: it depends on what else was solved, and must not steer what is found (proofs.md, contract S)."""


def attempted(ask: Callable[[], Found | None]) -> Found | None:
    """Return what `ask` finds, and nothing where it fails, or where a double overflows or is not a number.

    So no comparison with a NaN decides anything, and no warning is printed.
    """
    try:
        with np.errstate(over="raise", divide="raise", invalid="raise"):
            return ask()
    except FAILURES:
        return None


def tolerated(found: Iterator[Found]) -> Iterator[Found]:
    """Yield what is found until it fails; what comes next is tried instead."""
    while (value := attempted(lambda: next(found, None))) is not None:
        yield value
