"""The columnar F and loads equal the reference semantics of `annotation`."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from recuse.annotation import kept, usage
from recuse.krelation.build import expressions
from recuse.krelation.evaluate import Evaluation
from support.strategies import LOADED, relations, withdrawals


@pytest.mark.parametrize("shape", LOADED)
def test_objective_and_loads_match_the_reference(shape):
    @given(relations(shape), withdrawals)
    def law(relation, g):
        rows = expressions(relation)
        at = np.array([float(g[name]) for name in relation.names])
        found = Evaluation.of(relation.positive, relation.participants)
        assert found.objective(at) == float(sum(weight * kept(k, g) for k, weight in rows))
        loads = [float(sum(weight * usage(k, name, g) for k, weight in rows)) for name in relation.names]
        assert found.loads(at).tolist() == loads

    law()
