"""Slopes: sums over pairs of participants are the products of sparse matrices that they replace."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from recuse.krelation.evaluate import Evaluation
from recuse.krelation.relation import Tuples
from recuse.solver.cuts.tangents import AnswerTangents, LoadTangents
from recuse.solver.limits import LONGEST_CLAUSE_IN_PAIRS

PEOPLE = 12


def conjunctions(count: int, longest: int, seed: int) -> Tuples:
    """Return random conjunctions of one to `longest` participants, with weights from 1 to 20."""
    generator = np.random.default_rng(seed)
    lengths = generator.integers(1, longest + 1, count)
    members = [np.sort(generator.choice(PEOPLE, length, replace=False)) for length in lengths]
    pointers = np.concatenate(([0], np.cumsum(lengths)))
    return Tuples(generator.integers(1, 21, count), (np.arange(count + 1), pointers), np.concatenate(members))


@pytest.mark.parametrize("kind", [LoadTangents, AnswerTangents])
@pytest.mark.parametrize("longest", range(1, LONGEST_CLAUSE_IN_PAIRS + 1))
def test_pairs_are_the_products_they_replace(
    kind: type[LoadTangents] | type[AnswerTangents], longest: int
) -> None:
    generator = np.random.default_rng(longest)
    chosen = np.array([0, 3, 7, 11])
    found = kind.of(Evaluation.of(conjunctions(400, longest, longest), PEOPLE))
    for scale in (0.0, 0.2, 0.9):
        slopes = found.slopes(generator.random(PEOPLE) * scale)
        constants, rows = slopes.jacobian(chosen)
        assert slopes.pairs is not None
        wanted_constants, wanted_rows = replace(slopes, pairs=None).jacobian(chosen)
        np.testing.assert_allclose(constants, wanted_constants, rtol=1e-12)
        np.testing.assert_allclose(rows.toarray(), wanted_rows.toarray(), rtol=1e-12)


@pytest.mark.parametrize(
    ("count", "longest"), [(20, 3), (400, LONGEST_CLAUSE_IN_PAIRS + 1)], ids=["few", "long"]
)
def test_pairs_of_few_or_long_clauses_are_not_listed(count: int, longest: int) -> None:
    assert LoadTangents.of(Evaluation.of(conjunctions(count, longest, 5), PEOPLE)).pairs is None
