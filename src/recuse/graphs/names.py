"""What a user writes for a pattern → Pattern: a name, `a-b, b-c, c-a`, `a->b`, or a NetworkX graph."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import combinations, pairwise
from typing import Any

from recuse.errors import ParameterError
from recuse.fold import fold
from recuse.graphs.pattern import MOST_COPIES, MOST_NODES, Edge, Pattern, letters

ACCEPTED = (
    "edge, triangle, rectangle, star(k), path(k), cycle(k), clique(k), k-triangle(k), or edges such as "
    "a-b, b-c (a->b where directed)"
)
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_CALL = re.compile(r"([a-z-]+?) ?\( ?(\d{1,6}) ?\)")
_PREFIX = re.compile(r"(\d{1,6})-(star|triangle|cycle|clique)s?")
_EDGE = re.compile(r"([a-z][a-z0-9_]*) ?(->|<-|-) ?([a-z][a-z0-9_]*)")


def star(k: int) -> Pattern:
    """Return the star with k leaves around a."""
    first, *leaves = letters(k + 1)
    return Pattern((first, *leaves), tuple((first, leaf) for leaf in leaves))


def path(k: int) -> Pattern:
    """Return the path on k nodes."""
    return Pattern(letters(k), tuple(pairwise(letters(k))))


def cycle(k: int) -> Pattern:
    """Return the cycle on k nodes."""
    names = letters(k)
    return Pattern(names, (*pairwise(names), (names[-1], names[0])))


def clique(k: int) -> Pattern:
    """Return the complete graph on k nodes."""
    return Pattern(letters(k), tuple(combinations(letters(k), 2)))


def book(k: int) -> Pattern:
    """Return k triangles that share the edge a-b."""
    first, second, *pages = letters(k + 2)
    return Pattern(
        (first, second, *pages),
        ((first, second), *((spine, page) for page in pages for spine in (first, second))),
    )


FAMILIES: dict[str, tuple[Callable[[int], Pattern], int, int]] = {
    "star": (star, 1, MOST_COPIES),
    "path": (path, 2, MOST_NODES),
    "cycle": (cycle, 3, MOST_NODES),
    "clique": (clique, 2, MOST_NODES),
    "k-triangle": (book, 1, MOST_COPIES),
}
"""by name: how one of size k is made, the smallest k and the largest"""
SINGLES = {"edge": clique(2), "triangle": clique(3), "rectangle": cycle(4)}


def read_pattern(written: object) -> Pattern:
    """Return the pattern of a name, of edges as text, of a NetworkX graph, or a pattern as it is."""
    if isinstance(written, Pattern):
        return written
    if isinstance(written, str):
        return _of_text(written)
    if hasattr(written, "is_directed") and hasattr(written, "edges") and hasattr(written, "nodes"):
        return _of_graph(written)
    raise _unknown(type(written).__name__)


def _of_text(written: str) -> Pattern:
    text = " ".join(fold(written).split())
    if text in SINGLES:
        return SINGLES[text]
    if match := _CALL.fullmatch(text):
        return _member(match[1], int(match[2]))
    if match := _PREFIX.fullmatch(text):
        return _member({"triangle": "k-triangle"}.get(match[2], match[2]), int(match[1]))
    if re.fullmatch(r"\d+-path", text):
        raise ParameterError(
            "a path's size can mean nodes or edges", found=written, hint="write path(k), where k counts nodes"
        )
    return _of_edges(text, written)


def _member(name: str, k: int) -> Pattern:
    if name not in FAMILIES:
        raise _unknown(f"{name}({k})")
    make, least, most = FAMILIES[name]
    if not least <= k <= most:
        raise ParameterError(f"there is no {name}({k})", accepted=f"k from {least} to {most}")
    return make(k)


def _of_edges(text: str, written: str) -> Pattern:
    edges: list[Edge] = []
    arrows = set()
    for part in text.split(","):
        match = _EDGE.fullmatch(part.strip())
        if match is None:
            raise _unknown(written)
        first, arrow, second = match[1], match[2], match[3]
        edges.append((second, first) if arrow == "<-" else (first, second))
        arrows.add(arrow == "-")
    if len(arrows) > 1:
        raise ParameterError(
            "the pattern mixes a-b and a->b", found=written, hint="all edges are directed, or none"
        )
    return Pattern(_in_order(edges), tuple(edges), directed=False in arrows)


def _in_order(edges: list[Edge]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(node for edge in edges for node in edge))


def _of_graph(source: Any) -> Pattern:
    """Return a NetworkX graph as a pattern: its nodes keep names that can stand in a condition."""
    nodes = list(source.nodes)
    if len(nodes) > MOST_COPIES + 2:
        raise ParameterError("the pattern has too many nodes", found=str(len(nodes)))
    spelled = [fold(node) if isinstance(node, str) else "" for node in nodes]
    usable = all(map(_NAME.fullmatch, spelled)) and len(set(spelled)) == len(spelled)
    names = dict(zip(nodes, spelled if usable else letters(len(nodes)), strict=True))
    edges = dict.fromkeys((names[edge[0]], names[edge[1]]) for edge in source.edges)
    return Pattern(tuple(names.values()), tuple(edges), directed=bool(source.is_directed()))


def _unknown(found: str) -> ParameterError:
    return ParameterError("this is no pattern", found=found, accepted=ACCEPTED)


def name_of(pattern: Pattern) -> str | None:
    """Return the name of a pattern, whatever its nodes are called.

    >>> name_of(read_pattern("x-y, y-z, z-x")), name_of(read_pattern("x-y, x-z"))
    ('triangle', 'star(2)')
    """
    if pattern.directed:
        return None
    form = pattern.canonical()
    singles = {single.canonical(): name for name, single in SINGLES.items()}
    if form in singles:
        return singles[form]
    if pattern.star or pattern.book:
        return f"star({pattern.star})" if pattern.star else f"k-triangle({pattern.book})"
    size = len(pattern.nodes)
    families = (
        (name, make(size)) for name, (make, _, _) in FAMILIES.items() if make in (path, cycle, clique)
    )
    return next((f"{name}({size})" for name, found in families if found.canonical() == form), None)
