"""The paper's seven graphs: sizes, times and errors; and R2T's queries on all graphs of a folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from recuse.errors import ParameterError
from recuse.graphs.enumerate import occurrences
from recuse.graphs.graph import Graph
from recuse.graphs.names import read_pattern
from recuse.graphs.protect import Protected
from recuse.graphs.read import read_graph
from recuse.lab.comparators.subgraphs import Motif, SubgraphCount
from recuse.lab.experiments.contestants import Asked
from recuse.lab.experiments.figure import (
    OF_PAPER,
    OWNED,
    PAPER_EPSILON,
    Figure,
    Setting,
    errors,
    seed_of,
    subgraph_errors,
    timed_release,
)
from recuse.lab.experiments.store import StoredCell, StoredRow

PAPER: Mapping[str, tuple[int, int, int, float, float]] = {
    "netscience": (1589, 2742, 3764, 8.924, 19.188),
    "power": (4941, 6594, 651, 0.468, 0.374),
    "1138_bus": (1138, 2596, 128, 0.078, 0.063),
    "bcspwr10": (5300, 13571, 721, 0.655, 0.406),
    "gemat12": (4929, 33111, 592, 0.640, 0.483),
    "ca-GrQc": (5242, 14496, 48260, 3940.552, 54236.462),
    "ca-HepTh": (9877, 25998, 28339, 788.160, 2104.818),
}
"""the paper's table: |V|, |E|, triangles, seconds with node privacy, seconds with edge privacy"""

R2T_EPSILON = "0.8"
R2T_PATTERNS = {"edge": 1, "2-star": 2, "triangle": 2, "rectangle": 3}
"""R2T's queries, and the power of the degree bound that is their guessed global sensitivity"""
R2T_DEGREE = 1024
MOST_TUPLES = 20_000, 500_000
"""Relations beyond are left out: reduced, full."""


def files(folder: Path) -> dict[str, Path]:
    """Return the graph files of a folder by the name before the first dot."""
    return {path.name.split(".")[0]: path for path in sorted(folder.iterdir()) if path.is_file()}


def graph_named(setting: Setting, name: str) -> Graph:
    """Return the graph of a name."""
    found = files(setting.graph_folder())
    if name not in found:
        raise ParameterError("a graph of the paper is missing", found=name, accepted=", ".join(PAPER))
    return read_graph(found[name])


def of_paper(setting: Setting) -> list[StoredCell]:
    """Return the paper's graphs that the folder has."""
    return [{"graph": name, "runs": setting.runs} for name in PAPER if name in files(setting.graph_folder())]


def measure_table(cell: StoredCell, setting: Setting) -> Iterator[StoredRow]:
    """Yield sizes and the times of one release, beside the paper's."""
    name = str(cell["graph"])
    graph = graph_named(setting, name)
    found = occurrences(graph, read_pattern("triangle"))
    nodes, edges, triangles, *seconds = PAPER[name]
    for who, of_paper in zip((Protected.NODE, Protected.EDGE), seconds, strict=True):
        relation = OWNED[who](found)
        for mechanism in (OF_PAPER[who], "selective"):
            yield {
                "protect": who.value,
                "mechanism": mechanism,
                "nodes": len(graph.nodes),
                "edges": len(graph.edges),
                "triangles": len(found),
                "paper_nodes": nodes,
                "paper_edges": edges,
                "paper_triangles": triangles,
                **timed_release(relation, mechanism),
                "paper_seconds": of_paper,
            }


def measure_errors(cell: StoredCell, setting: Setting) -> Iterator[StoredRow]:
    """Yield the errors of triangle counts."""
    found = occurrences(graph_named(setting, str(cell["graph"])), read_pattern("triangle"))
    return subgraph_errors(found, Motif.named("triangle"), (PAPER_EPSILON,), setting.runs, seed_of(cell))


# ------------------------------------------------------------------ R2T's queries


def of_r2t(setting: Setting) -> list[StoredCell]:
    """Return R2T's four queries on every graph of the folder."""
    return [
        {"graph": name, "pattern": pattern, "runs": setting.runs, "most": MOST_TUPLES[setting.full]}
        for name in files(setting.graph_folder())
        for pattern in R2T_PATTERNS
    ]


def measure_r2t(cell: StoredCell, setting: Setting) -> Iterator[StoredRow]:
    """Yield the errors with node privacy at R2T's ε, its global sensitivity from its degree bound."""
    graph, pattern = graph_named(setting, str(cell["graph"])), str(cell["pattern"])
    motif = Motif.named(pattern)
    if not 0 < motif.count(graph) <= int(cell["most"]):
        return
    found = occurrences(graph, read_pattern(pattern))
    guess = R2T_DEGREE ** R2T_PATTERNS[pattern]
    mechanisms = (
        "selective", "paper-node", f"r2t={guess}", f"r2t-5.5={guess}", "opt2", "lp=64", "naive=64"
    )  # fmt: skip
    asked = Asked(SubgraphCount(graph, motif, Protected.NODE))
    yield from errors(
        OWNED[Protected.NODE](found), mechanisms, (R2T_EPSILON,), setting.runs, asked, seed_of(cell)
    )


FIGURES = (
    Figure("real-graphs", of_paper, measure_table),
    Figure("real-graphs-error", of_paper, measure_errors),
    Figure("r2t-graphs", of_r2t, measure_r2t),
)
