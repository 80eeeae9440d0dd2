"""A graph session: a graph with its ledger, of which subgraph counts are asked.

    pattern ─read→ Count ─→ Question ─charge→ Paid ─answer→ Answer

A source that is no graph is refused when it is opened, a question before the ledger is charged; copies are
looked for only after.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from recuse.errors import ParameterError
from recuse.graphs.count import read_count
from recuse.graphs.datasets import located
from recuse.graphs.explain import GraphExplanation, explain
from recuse.graphs.graph import Graph
from recuse.graphs.objects import graph_of_object
from recuse.graphs.protect import Protected, protected
from recuse.graphs.read import read_graph
from recuse.graphs.text import Layout
from recuse.mechanism.mechanisms import DEFAULT
from recuse.privacy import Epsilon, NumberLike
from recuse.session.answer import Answer
from recuse.session.degree_question import TAILS, DegreeQuestion
from recuse.session.graph_question import GraphQuestion
from recuse.session.parts import Parts
from recuse.session.place import LedgerLocation
from recuse.session.spine import Spine

BUDGET = 10

MOTIFS = ("star(2)", "triangle", "star(3)", "path(4)", "rectangle", "clique(4)")
"""what network scientists count first"""
MOST_MOTIFS = 20


class GraphSession(Spine):
    """An open graph. Use `recuse.graph` to get one."""

    def __init__(
        self,
        graph: Graph,
        place: LedgerLocation,
        grant: Epsilon,
        parts: Parts,
        analyst: str | None = None,
        about: str = "",
    ) -> None:
        super().__init__(place, grant, None, parts, parts.failures, analyst)
        self._graph = graph
        self._about = about

    def explain(
        self, pattern: object, *, protect: str | Protected, where: str | None = None, induced: bool = False
    ) -> GraphExplanation:
        """Return what a count asks for and who owns each copy. It is free: no edge is looked at."""
        return explain(read_count(self._graph, pattern, protect, where, induced=induced))

    def question(
        self,
        pattern: object,
        *,
        epsilon: NumberLike,
        mechanism: str = DEFAULT,
        protect: str | Protected,
        where: str | None = None,
        induced: bool = False,
    ) -> GraphQuestion:
        """Return a question that `charge` and `answer` take, or refuse it. No edge is looked at."""
        count = read_count(self._graph, pattern, protect, where, induced=induced)
        return GraphQuestion.of_count(self._graph, self._about, count, Epsilon.of(epsilon), mechanism)

    def count(
        self,
        pattern: object,
        *,
        protect: str | Protected,
        epsilon: NumberLike,
        where: str | None = None,
        induced: bool = False,
        mechanism: str = DEFAULT,
    ) -> Answer:
        """Return the private number of copies of a pattern, each matched subgraph counted once.

        Guarantee: ε-private towards every node with all its edges, or towards every edge, as `protect` says
        (proofs.md, theorems R3 to R6); ε is charged before copies are looked for, and never refunded.
        Whatever fails after that is an `UnansweredError`.
        """
        asked = self.question(
            pattern, protect=protect, epsilon=epsilon, where=where, induced=induced, mechanism=mechanism
        )
        return self.settle(asked)

    def transitivity(self, *, protect: str | Protected, epsilon: NumberLike) -> Answer:
        """Return 3 × triangles / 2-stars with the two counts, for one ε that they share evenly.

        The interval is a joint one: it holds the ratio of both truncated counts with probability 90 %.

        Guarantee: ε-private as `count`; the ratio is post-processing.
        """
        counts = tuple(read_count(self._graph, name, protect) for name in ("triangle", "star(2)"))
        question = GraphQuestion.of_transitivity(self._graph, self._about, counts, Epsilon.of(epsilon))
        return self.settle(question)

    def motifs(
        self, *, protect: str | Protected, epsilon: NumberLike, patterns: Sequence[str] = MOTIFS
    ) -> Answer:
        """Return the number of copies of each of several patterns, a row each, for one ε shared evenly.

        Guarantee: ε-private as `count`: the parts of ε add up to it (proofs.md, theorem R4).
        """
        if not 1 <= len(set(patterns)) == len(patterns) <= MOST_MOTIFS:
            raise ParameterError(
                "these motifs cannot be asked for together",
                accepted=f"1 to {MOST_MOTIFS} patterns, each once",
            )
        counts = tuple(read_count(self._graph, pattern, protect) for pattern in patterns)
        loss, names = Epsilon.of(epsilon), tuple(patterns)
        return self.settle(GraphQuestion.of_motifs(self._graph, self._about, counts, names, loss))

    def degrees(
        self, *, protect: str | Protected, epsilon: NumberLike, tails: Sequence[int] = TAILS
    ) -> Answer:
        """Return how many nodes have k neighbours at least, for each k of `tails`, for one ε.

        Guarantee: ε-private towards every node with all its edges, or towards every edge, as `protect` says
        (proofs.md, theorems S3 and S4); ε is charged before an edge is looked at.
        """
        asked = DegreeQuestion.of(self._graph, self._about, protected(protect), tails, Epsilon.of(epsilon))
        return self.settle(asked)

    def __repr__(self) -> str:
        return f"<GraphSession on {self.place}>"


def graph(
    source: Any,
    *,
    nodes: Any = None,
    directed: bool | None = None,
    separator: str | None = None,
    header: bool | None = None,
    comment: str | None = None,
    ledger: str | PathLike[str] | None = None,
    budget: NumberLike = BUDGET,
    analyst: str | None = None,
    parts: Parts | None = None,
) -> GraphSession:
    """Return a session on a graph: a file, the name of a public one, or a graph object or edge table.

    `nodes` is a table about the nodes of an edge table. `separator`, `header` and `comment` say of an edge
    list what its name does not: what stands between two cells, whether the first line names the columns, and
    what lines begin with that are left out. The ledger of a file lies beside it as `NAME.ledger`
    unless another is named; graphs in memory are counted in memory. `budget` is what a new ledger grants.
    """
    grant, layout = Epsilon.of(budget), Layout(separator, header, comment)
    if isinstance(source, str | PathLike):
        file = located(fspath(source))
        about = None if nodes is None else _table_path(nodes)
        place = LedgerLocation.of(file, ledger)
        loaded = read_graph(file, about, directed=directed, layout=layout)
    elif layout != Layout():
        raise ParameterError("only a file has a separator, a header and comments")
    else:
        about, place = None, LedgerLocation.of(None, ledger)
        loaded = graph_of_object(source, nodes, directed=directed)
    return GraphSession(loaded, place, grant, parts or Parts(), analyst, f"{place.called(about)}{layout}")


def _table_path(nodes: object) -> Path:
    if not isinstance(nodes, str | PathLike):
        raise ParameterError("a file of edges takes a file of nodes", found=type(nodes).__name__)
    return Path(fspath(nodes))
