"""The degrees of a graph as one question: how many nodes have k neighbours at least, for several k."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from recuse.errors import ParameterError
from recuse.graphs.degrees import tail_counts, tail_relation
from recuse.graphs.graph import Graph, by_name
from recuse.graphs.protect import Protected
from recuse.krelation.relation import Shape
from recuse.mechanism.groups import Groups, SideBySide, Together
from recuse.mechanism.hull import HullGroups
from recuse.mechanism.mechanisms import DEFAULT, mechanism_for
from recuse.mechanism.prepared import prepare
from recuse.mechanism.tallied import Tallied
from recuse.noise import Noise
from recuse.privacy import Delta, Epsilon
from recuse.session.cells import Row
from recuse.session.fingerprint import fingerprint
from recuse.session.formulas import Keys
from recuse.session.monotone import falling
from recuse.session.question import Arrangement, Part, Question, Releases, Subjects
from recuse.solver.programs import Solver

TAILS = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 100)
"""public: degrees of social graphs, some four to a factor of ten"""
MOST_TAILS = 200
LARGEST_TAIL = 10**9


@dataclass(frozen=True, slots=True)
class DegreeQuestion:
    """A `Question`: T_k for several k, one ε for all."""

    graph: Graph
    about: str
    tails: tuple[int, ...]
    protect: Protected
    loss: Epsilon
    parts: tuple[Part, ...]

    firsts: ClassVar[Sequence[Question]] = ()
    delta: ClassVar[Delta | None] = None

    @classmethod
    def of(cls, graph: Graph, about: str, protect: Protected, tails: Sequence[int], loss: Epsilon) -> Self:
        """Return the question, or refuse it; no edge is looked at."""
        wanted = tuple(sorted(set(tails)))
        if not wanted or not 1 <= wanted[0] <= wanted[-1] <= LARGEST_TAIL or len(wanted) > MOST_TAILS:
            raise ParameterError(
                "these degrees cannot be asked for",
                found=", ".join(map(str, wanted[:5])) or "none",
                accepted=f"up to {MOST_TAILS} whole numbers from 1 on",
            )
        if graph.directed:
            raise ParameterError(
                "degrees are counted in undirected graphs", hint="read the graph without directions"
            )
        part = Part(mechanism_for(DEFAULT, loss, Shape.THRESHOLDS))
        return cls(graph, about, wanted, protect, loss, (part,))

    @property
    def text(self) -> str:
        degrees = ", ".join(map(str, self.tails))
        return f"nodes of degree {degrees} at least, protecting every {self.protect.value}"

    @property
    def policy(self) -> str:
        return fingerprint("graph policy", self.protect.value)

    @property
    def keys(self) -> Sequence[Keys]:
        return [(tail,) for tail in self.tails]

    def identity(self) -> Any:
        return ["degrees", self.about, self.protect.value, list(self.tails)]

    def given(self, _: Sequence[Releases]) -> Self:
        """Return the question as it is: nothing is released before it."""
        return self

    def found(self, _solver: Solver, _noise: Noise) -> Self:
        return self

    def read_private_rows(self, solver: Solver) -> Subjects:
        return [self._groups(solver)]

    def _groups(self, solver: Solver) -> Groups:
        """Return the tail counts in the form that protection asks for.

        Guarantee: with an edge more two nodes gain one neighbour each, so that the counts move by 2 in all
        (proofs.md, theorem S4); of nodes each count is a relation of its own (theorem S3).
        """
        if self.protect is Protected.EDGE:
            return Tallied(tail_counts(self.graph, np.array(self.tails)).tolist(), 2)
        graph = by_name(self.graph)
        tails = [prepare(tail_relation(graph, tail), solver) for tail in self.tails]
        return SideBySide(tails) if len(tails) == 1 else Together(HullGroups(tails))

    def arrange(self, keys: Sequence[Keys], releases: Releases) -> Arrangement:
        """Return a row for every k: what was released, made not to rise with k, which costs nothing."""
        (found,) = releases
        values = [Fraction(round(value)) for value in falling([one.value for one in found])]
        rows = [
            Row(key, (replace(one, value=value),))
            for key, one, value in zip(keys, found, values, strict=True)
        ]
        return Arrangement(("degree at least",), ("nodes",), tuple(rows))
