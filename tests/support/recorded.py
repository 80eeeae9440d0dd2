"""The relations of which version 0.1 recorded intervals and answers, and what is recorded of each.

bench       random triples, 3-DNF and 3-CNF; triangles of two graphs of networkx, nodes or edges protected
audit       the neighbours that break careless mechanisms
documents   the first two questions of the demonstration; the third took minutes in 0.1
tpch        the counts among the ten questions of `bench-tpch`, on made rows that are few and uneven
graphs      triangles of graphs of the paper, nodes or edges protected; `tests/recorded_graphs_0.1.json`

`tests/recorded_0.1.json` is what `record` gave with the solver, the mechanisms and the compiler of version
0.1 (its last commit, 3f7870d): today's code cannot write it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import networkx
import numpy as np

from recuse.demo import POLICY, QUESTIONS, make_database
from recuse.engines.collect import collect
from recuse.engines.duckdb import DuckDB
from recuse.graphs.enumerate import TRIANGLES, occurrences, owned_by_edges, owned_by_nodes
from recuse.graphs.graph import simple_graph
from recuse.graphs.read import read_graph
from recuse.krelation.relation import KRelation, Shape
from recuse.lab.experiments import tpch
from recuse.lab.experiments.bench_relations import random_cnf, random_dnf, random_triples
from recuse.mechanism.prepared import prepare
from recuse.policy import Policy
from recuse.solver.fast import fast_programs
from recuse.solver.memo import memoising
from recuse.sql.compile import compile_query
from support.neighbours import PAIRS
from support.noise import Seeded
from support.tpch import MORE, make_parquet, uneven

LEVELS = (0.5, 1.0, 2.0, 4.0, 16.0, 64.0)
WIDTH = 0.01
SEEDS = range(6)
MECHANISMS = ("split", "paper")
OF_PAIRS = ("star", "clique", "a_i or p")
Answering = Callable[[str, Any, Any], Fraction]
"""(mechanism, prepared relation, noise) → the released number, for ε = 1"""


def relations(folder: Path) -> Iterator[tuple[str, KRelation]]:
    """Yield the relations with their names."""
    made = {"triples": random_triples(300), "dnf": random_dnf(150, 3), "cnf": random_cnf(30, 3)}
    shapes = {"triples": Shape.CONJUNCTIONS, "dnf": Shape.CLAUSES, "cnf": Shape.TREES}
    for name, (tuples, people) in made.items():
        yield f"bench {name}", KRelation(shapes[name], tuples, signed=False, participants=people)
    for name, graph in (
        ("karate", networkx.karate_club_graph()),
        ("lesmis", networkx.les_miserables_graph()),
    ):
        numbered = networkx.convert_node_labels_to_integers(graph)
        pairs = np.array(sorted(tuple(sorted(edge)) for edge in numbered.edges()))
        copies = occurrences(simple_graph(list(range(len(numbered))), pairs), TRIANGLES)
        yield f"bench {name} nodes", owned_by_nodes(copies)
        yield f"bench {name} edges", owned_by_edges(copies)
    for name in OF_PAIRS:
        for place, relation in enumerate(PAIRS[name]):
            yield f"audit {name} {place}", relation
    make_database(folder / "demo.duckdb")
    with closing(DuckDB.open(folder / "demo.duckdb")) as engine:
        for place, question in enumerate(QUESTIONS[:2]):
            plan = compile_query(question.sql, Policy.parse(POLICY), engine.catalogue())
            ((relation,),) = collect(engine, plan)
            yield f"document {place}", relation
    make_parquet(folder, MORE, uneven(MORE))
    tpch.load(folder, folder / "tpch.duckdb")
    for asked in tpch.QUESTIONS:
        if "COUNT(*)" in asked.sql:  # sums had a unit of their own in 0.1
            yield f"tpch {asked.name}", tpch.relation_of(folder / "tpch.duckdb", asked)


def of_graph(path: Path, who: str) -> KRelation:
    """Return the triangles of a graph in a file, owned by its nodes or by its edges."""
    copies = occurrences(read_graph(path), TRIANGLES)
    return owned_by_nodes(copies) if who == "nodes" else owned_by_edges(copies)


def record(relation: KRelation, answer: Answering) -> dict[str, Any]:
    """Return the certified intervals of a relation, and what it is answered with for some noise.

    What was solved once is remembered: an answer with other noise asks for the same intervals.
    """
    prepared = prepare(relation, memoising(fast_programs))
    (programs,) = prepared.signs
    found = {f"X({tau:g})": programs.truncated(tau, WIDTH * tau) for tau in LEVELS}
    found |= {f"N_s({tau:g})": programs.strict_withdrawals(tau, WIDTH) for tau in LEVELS}
    found["r"] = programs.index(1.0, 0.2, WIDTH)
    return {
        "intervals": {name: [interval.low, interval.high] for name, interval in found.items()},
        "answers": {
            name: [str(answer(name, prepared, Seeded(seed))) for seed in SEEDS] for name in MECHANISMS
        },
    }
