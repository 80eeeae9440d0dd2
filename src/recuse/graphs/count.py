"""Count: which copies of which pattern are counted and who is protected, or a refusal."""

from __future__ import annotations

from dataclasses import dataclass

from recuse.errors import ParameterError
from recuse.graphs.enumerate import check, schema_of
from recuse.graphs.graph import Graph
from recuse.graphs.names import name_of, read_pattern
from recuse.graphs.pattern import MOST_NODES, Pattern
from recuse.graphs.protect import Protected, protected
from recuse.graphs.where import Condition, read_condition


@dataclass(frozen=True, slots=True)
class Count:
    """A question that can be answered: everything about it that could be refused has been looked at."""

    pattern: Pattern
    protect: Protected
    induced: bool = False
    condition: Condition | None = None
    """what single copies must fulfil"""

    @property
    def aggregated(self) -> bool:
        """Whether the copies are counted without being listed: this follows from the question alone.

        So it is for stars from k = 3 and k-triangles from k = 2 on, unless a condition looks at single
        copies. 2-stars are listed: their count is as accurate so or more, and there are not that many.
        """
        if self.condition is not None or self.induced:
            return False
        return (self.pattern.star or 0) >= 3 or (self.pattern.book or 0) >= 2

    def __str__(self) -> str:
        """Return the question in words, for the ledger and for people."""
        name = name_of(self.pattern) or str(self.pattern)
        induced = "induced " if self.induced else ""
        where = f" where {self.condition.text}" if self.condition is not None else ""
        # a condition is about the nodes by their names, so the pattern is written out
        shown = str(self.pattern) if self.condition is not None else name
        return f"count of {induced}{shown}, protecting every {self.protect.value}{where}"


def read_count(
    graph: Graph,
    pattern: object,
    protect: str | Protected | None,
    where: str | None = None,
    *,
    induced: bool = False,
) -> Count:
    """Return the question, or refuse it. Of the graph only its attributes' names and types are looked at."""
    whom = protected(protect)
    wanted = read_pattern(pattern)
    _refuse_directions(wanted, graph)
    induced = induced and not wanted.complete  # a clique's copies are induced anyway
    if induced and whom is Protected.EDGE:
        raise ParameterError(
            "an induced copy appears when an edge is withdrawn: under edge privacy the count is not monotone",
            accepted="induced copies under node privacy, or of cliques",
            hint="protect nodes, or count copies that need not be induced",
        )
    if induced and len(wanted.nodes) > MOST_NODES:
        raise ParameterError(
            "induced copies are listed one by one",
            found=f"{len(wanted.nodes)} nodes",
            accepted=f"at most {MOST_NODES} nodes",
        )
    condition = None if where is None else read_condition(where, wanted, schema_of(graph))
    if condition is not None:
        check(graph, wanted, condition, induced=induced)
    return Count(wanted, whom, induced, condition)


def _refuse_directions(pattern: Pattern, graph: Graph) -> None:
    if pattern.directed and not graph.directed:
        raise ParameterError(
            "the pattern has directions and the graph has none",
            found=str(pattern),
            hint="write a-b, or read the graph as directed",
        )
    if graph.directed and not pattern.directed:
        raise ParameterError(
            "the graph has directions and the pattern has none",
            found=str(pattern),
            hint="write a->b, or read the graph as undirected",
        )
