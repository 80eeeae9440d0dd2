"""Relations prepared once: tests that ask the same relation again share what was solved for it."""

from __future__ import annotations

from functools import lru_cache

from recuse.krelation.relation import KRelation
from recuse.mechanism.prepared import Prepared, prepare
from recuse.solver.fast import fast_programs
from recuse.solver.memo import memoising
from recuse.solver.programs import Solver


@lru_cache(maxsize=256)
def prepared(relation: KRelation, solver: Solver = fast_programs) -> Prepared:
    """Return a relation with programs that remember; a relation is the same only if it is the same object.

    The fast solver is the one that answers; that it agrees with the reference is the law of
    tests/solver/test_conformance.py.
    """
    return prepare(relation, memoising(solver))
