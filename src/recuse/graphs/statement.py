"""Pattern → one SELECT over a table of edges in a database: what a network scientist would write in SQL.

    WITH edge AS (SELECT "a" AS u, "b" AS v FROM "friendship" … UNION SELECT "b" AS u, "a" AS v …)
    SELECT COUNT(*) AS n FROM edge AS e1 JOIN edge AS e2 ON … WHERE e1.u < e1.v …

Edges that are stored twice, or both ways, count once; loops do not count. Every copy is counted once: the
pattern's symmetries are broken by comparing nodes, as for graphs.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from recuse.errors import ParameterError
from recuse.graphs.pattern import MOST_NODES, Pattern


@dataclass(frozen=True, slots=True)
class EdgeTable:
    """A table whose rows are edges, and the columns that hold their ends."""

    table: str
    source: str
    target: str


def count_statement(pattern: Pattern, edges: EdgeTable) -> str:
    """Return the SELECT that counts the copies of a pattern in a table of edges."""
    if len(pattern.nodes) > MOST_NODES:
        raise ParameterError(
            "the pattern is too large to be written as joins",
            found=f"{len(pattern.nodes)} nodes",
            accepted=f"at most {MOST_NODES} nodes",
        )
    place: dict[str, str] = {}
    text = ""
    for number, (u, v) in enumerate(_connected(pattern), start=1):
        on = [f"e{number}.{end} = {place[node]}" for end, node in (("u", u), ("v", v)) if node in place]
        text += f"\nJOIN edge AS e{number} ON {' AND '.join(on)}" if number > 1 else "\nFROM edge AS e1"
        place = {u: f"e{number}.u", v: f"e{number}.v"} | place
    order = set(pattern.comparisons())
    conditions = [
        f"{place[a]} {'<' if (a, b) in order else '>' if (b, a) in order else '<>'} {place[b]}"
        for a, b in combinations(pattern.nodes, 2)
        if {(a, b), (b, a)} & order or not (pattern.joined(a, b) or pattern.joined(b, a))
    ]
    where = f"\nWHERE {' AND '.join(conditions)}" if conditions else ""
    return f"WITH edge AS (\n{_edges(edges, directed=pattern.directed)}\n)\nSELECT COUNT(*) AS n{text}{where}"


def _connected(pattern: Pattern) -> list[tuple[str, str]]:
    """Return the edges in an order in which each but the first touches one before it."""
    left, found = list(pattern.edges), [pattern.edges[0]]
    left.remove(found[0])
    while left:
        reached = {node for edge in found for node in edge}
        both = [edge for edge in left if set(edge) <= reached]
        found.append((both or [edge for edge in left if set(edge) & reached])[0])
        left.remove(found[-1])
    return found


def _edges(edges: EdgeTable, *, directed: bool) -> str:
    table, source, target = map(_quoted, (edges.table, edges.source, edges.target))
    apart = f"FROM {table} WHERE {source} <> {target}"
    if directed:
        return f"  SELECT DISTINCT {source} AS u, {target} AS v {apart}"
    there, back = (f"  SELECT {a} AS u, {b} AS v {apart}" for a, b in ((source, target), (target, source)))
    return f"{there}\n  UNION\n{back}"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
