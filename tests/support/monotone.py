"""Monotone queries given by their answers on all subsets, by bit mask."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from recuse.mechanism.general import subset_answers


@st.composite
def monotone_answers(draw: st.DrawFn, most: int = 4) -> NDArray[np.float64]:
    """Return the answers of a random monotone query that is 0 on nobody."""
    people = draw(st.integers(1, most))
    raw = draw(st.lists(st.integers(0, 9), min_size=2**people, max_size=2**people))
    raw[0] = 0
    return subset_answers(lambda there: raw[sum(1 << i for i in there)], list(range(people)))


def withdrawn(answers: NDArray[np.float64], leaver: int) -> NDArray[np.float64]:
    """Return the answers of the database that the leaver has left."""
    masks = np.arange(answers.size)
    return answers[masks[masks >> leaver & 1 == 0]]
