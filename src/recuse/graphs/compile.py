"""Pattern → the one SELECT that finds every copy of it, with its nodes and its edges.

    up(u, v, e)      undirected edges, from the end of lower rank to the other
    ways(u, v, e)    undirected edges, both ways
    arcs(u, v, e)    directed edges
    nodes(n, c0, …)  attributes of nodes, edges(e, c0, …) of edges

Nodes are ranked by degree. Where the pattern's symmetries order two ends of an edge, `up` is joined, in
the order of `plan`. The copies, and so the relation, are the same whatever the ranks are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import combinations, permutations

from recuse.errors import ParameterError
from recuse.graphs.pattern import MOST_NODES, Edge, Pattern
from recuse.graphs.plan import JoinPlan, JoinStep, plan
from recuse.graphs.protect import Protected
from recuse.graphs.where import Condition


def compile_pattern(
    pattern: Pattern,
    owners: Collection[Protected],
    condition: Condition | None = None,
    *,
    induced: bool = False,
) -> str:
    """Return the SELECT whose rows are the copies: node ranks v0, v1, …, edge numbers e0, e1, …."""
    if len(pattern.nodes) > MOST_NODES:
        raise ParameterError(
            "the pattern is too large to be listed copy by copy",
            found=f"{len(pattern.nodes)} nodes",
            accepted=f"at most {MOST_NODES} nodes",
        )
    return _Writer(pattern, plan(pattern)).select(owners, condition, induced=induced)


@dataclass(frozen=True, slots=True)
class _Writer:
    pattern: Pattern
    plan: JoinPlan

    def select(self, owners: Collection[Protected], condition: Condition | None, *, induced: bool) -> str:
        first, *_ = self._edges_between(*self.plan.start)
        at = dict(self._ends(first))
        edges = {first: f"e{first}.e"}
        text = f"FROM {self._table(first)} e{first}"
        for other in self._edges_between(*self.plan.start):
            if other != first:
                text += self._check(other, at, edges)
        for step in self.plan.steps:
            text += self._wedge(step, at, edges) if len(step.via) == 2 else self._fan(step, at, edges)
            for j in self._edges_at(step.node, at):
                if j not in edges:
                    text += self._check(j, at, edges)
        for alias in condition.aliases if condition is not None else ():
            text += self._attributes(alias, at, edges)
        first_node, second_node = self.plan.start
        conditions = list(self._compared(first_node, at, {second_node: at[second_node]}))
        conditions += self._absent(at) if induced else ()
        if condition is not None:
            conditions.append(condition.sql)
        outputs = []
        if Protected.NODE in owners:
            outputs += [f"{at[node]} AS v{i}" for i, node in enumerate(self.pattern.nodes)]
        if Protected.EDGE in owners:
            outputs += [f"{edges[j]} AS e{j}" for j in range(len(self.pattern.edges))]
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        return f"SELECT {', '.join(outputs)} {text}{where}"

    # ------------------------------------------------------------------ joins

    def _fan(self, step: JoinStep, at: dict[str, str], edges: dict[int, str]) -> str:
        """Join the first edge from the bound node to the new one."""
        j, *_ = self._edges_between(step.via[0], step.node)
        ends = dict(self._ends(j))
        on = [f"{ends[step.via[0]]} = {at[step.via[0]]}"]
        at[step.node], edges[j] = ends[step.node], f"e{j}.e"
        on += self._compared(step.node, at, at)
        return f" JOIN {self._table(j)} e{j} ON {' AND '.join(on)}"

    def _wedge(self, step: JoinStep, at: dict[str, str], edges: dict[int, str]) -> str:
        """Join two edges at once: the paths p - node - q."""
        (p, q), node = step.via, step.node
        i, *_ = self._edges_between(p, node)
        j, *_ = self._edges_between(q, node)
        one, two = dict(self._ends(i)), dict(self._ends(j))
        inner = {p: one[p], node: one[node], q: two[q]}
        on = [f"{one[node]} = {two[node]}", *self._compared(p, inner, {q: two[q]})]
        name = f"w{i}"
        outer = {p: f"{name}.p", node: f"{name}.n", q: f"{name}.q"}
        at[node] = outer[node]
        edges |= {i: f"{name}.e1", j: f"{name}.e2"}
        joined = [f"{outer[p]} = {at[p]}", f"{outer[q]} = {at[q]}", *self._compared(node, at, at)]
        return (
            f" JOIN (SELECT {one[p]} AS p, {one[node]} AS n, {two[q]} AS q, e{i}.e AS e1, e{j}.e AS e2"
            f" FROM {self._table(i)} e{i} JOIN {self._table(j)} e{j} ON {' AND '.join(on)}) {name}"
            f" ON {' AND '.join(joined)}"
        )

    def _check(self, j: int, at: dict[str, str], edges: dict[int, str]) -> str:
        """Join an edge whose ends are bound."""
        edges[j] = f"e{j}.e"
        on = [f"{place} = {at[node]}" for node, place in self._ends(j)]
        return f" JOIN {self._table(j)} e{j} ON {' AND '.join(on)}"

    def _attributes(self, alias: str, at: dict[str, str], edges: dict[int, str]) -> str:
        place = int(alias[1:])
        if alias.startswith("n"):
            return f" JOIN nodes {alias} ON {alias}.n = {at[self.pattern.nodes[place]]}"
        return f" JOIN edges {alias} ON {alias}.e = {edges[place]}"

    # ------------------------------------------------------------------ edges and their ends

    def _edges_between(self, a: str, b: str) -> list[int]:
        return [j for j, edge in enumerate(self.pattern.edges) if edge in ((a, b), (b, a))]

    def _edges_at(self, node: str, at: dict[str, str]) -> list[int]:
        """Return the edges of a node whose other end is bound too."""
        return [j for j, edge in enumerate(self.pattern.edges) if node in edge and {*edge} <= at.keys()]

    def _ordered(self, edge: Edge) -> bool:
        return not self.pattern.directed and bool({edge, edge[::-1]} & self.plan.order)

    def _table(self, j: int) -> str:
        if self.pattern.directed:
            return "arcs"
        return "up" if self._ordered(self.pattern.edges[j]) else "ways"

    def _ends(self, j: int) -> Iterator[tuple[str, str]]:
        """Yield the columns in which an edge has its ends."""
        edge = self.pattern.edges[j]
        low, high = edge[::-1] if self._table(j) == "up" and edge not in self.plan.order else edge
        yield low, f"e{j}.u"
        yield high, f"e{j}.v"

    # ------------------------------------------------------------------ what nodes must not be

    def _compared(self, node: str, at: dict[str, str], others: dict[str, str]) -> Iterator[str]:
        """Yield how a node's rank compares with others': as the order says, and never equal."""
        for other, place in others.items():
            apart = not (self.pattern.joined(node, other) or self.pattern.joined(other, node))
            if other == node or not (apart or self.pattern.directed):
                continue  # an edge keeps its ends apart, and `up` in order
            if (node, other) in self.plan.order:
                yield f"{at[node]} < {place}"
            elif (other, node) in self.plan.order:
                yield f"{at[node]} > {place}"
            elif apart:
                yield f"{at[node]} <> {place}"

    def _absent(self, at: dict[str, str]) -> Iterator[str]:
        """Yield that there is no edge where the pattern has none."""
        table, pairs = ("arcs", permutations) if self.pattern.directed else ("ways", combinations)
        for a, b in pairs(self.pattern.nodes, 2):
            if not self.pattern.joined(a, b):
                yield f"NOT EXISTS (SELECT 1 FROM {table} x WHERE x.u = {at[a]} AND x.v = {at[b]})"
