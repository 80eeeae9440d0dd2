"""Tables of one sign in an engine → their programs."""

from __future__ import annotations

from functools import cache

from recuse.solver.fast import FastPrograms
from recuse.solver.glance import Glance
from recuse.solver.kept.loads import KeptLoads
from recuse.solver.kept.separate import KeptSeparate
from recuse.solver.kept.source import InEngine
from recuse.solver.kept.tuples import KeptTuples
from recuse.solver.programs import Programs


def kept_programs(tuples: KeptTuples) -> Programs:
    """Return the programs of tuples that stay in an engine.

    Which they are follows from the query: closed forms where every row has one owner.
    """
    solved = cache(lambda: FastPrograms(InEngine(tuples)))
    if tuples.most == 1:
        return KeptSeparate(tuples, solved)
    return Glance(KeptLoads(tuples), tuples.total, solved)
