"""Who withdraws in some optimum of X(τ) for certain: hubs whose groups count more than τ whatever others do.

They cost τ each, and what is left is the aggregate without them, where everybody else's load has fallen:
where τ is large, so far that hardly anybody is left to be solved for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recuse.krelation.choices import Choices
from recuse.krelation.relation import Floats
from recuse.solver.bounds import UNIT
from recuse.solver.choices.binomials import Binomials
from recuse.solver.choices.certificate import initial_loads
from recuse.solver.choices.restriction import ChoiceFocus, totals


@dataclass(frozen=True, slots=True, eq=False)
class Certain:
    """Who withdraws for certain, and the aggregate without them, with its loads."""

    leavers: NDArray[np.bool_]
    rest: Choices
    loads: Floats


def withdrawn_for_certain(choices: Choices, loads: Floats, tau: float) -> Certain:
    """Return an aggregate whose X(τ), plus τ for each leaver, is the X(τ) of the one given.

    Guarantee: proofs.md, lemma A6.
    """
    found = Certain(np.zeros(choices.participants, bool), choices, loads)
    while (movable := found.loads > tau).any():
        focus = ChoiceFocus.of(found.rest, movable)
        leavers = focus.people[_certain(focus, Binomials.of(choices.k, int(focus.sizes.max()), tau))]
        if len(leavers) == 0:
            break
        gone = found.leavers.copy()
        gone[leavers] = True
        rest = choices.without(gone)
        found = Certain(gone, rest, initial_loads(rest))
    return found


def _certain(focus: ChoiceFocus, table: Binomials) -> NDArray[np.bool_]:
    """Return whose groups, which nobody else movable owns, count more than τ by their fixed units alone."""
    sole = np.sum(focus.group_owners >= 0, axis=1) == 1
    owner = focus.group_owners.max(axis=1, initial=-1)[sole]
    terms = totals(owner, np.ones(len(owner)), len(focus.people))
    return (
        totals(owner, table.low_values[focus.fixed[sole]], len(focus.people)) * (1 - UNIT * (terms + 4)) > 1
    )
