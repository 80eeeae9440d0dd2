"""`recuse graph`: subgraph counts of a graph, and its transitivity."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from recuse.cli.options import AnalystName, AsJson, Mechanism, announce
from recuse.cli.progress import working
from recuse.cli.show import tell
from recuse.errors import ParameterError
from recuse.graphs.explain import GraphExplanation
from recuse.graphs.protect import protected
from recuse.mechanism.mechanisms import DEFAULT
from recuse.mechanism.release import Release
from recuse.session.answer import Answer
from recuse.session.graph import BUDGET, GraphSession
from recuse.session.graph import graph as open_graph
from recuse.session.place import SecondBudgetWarning


def graph(
    file: Annotated[str, typer.Argument(help="A graph file (docs/graphs.md), or a name of recuse datasets.")],
    pattern: Annotated[
        str | None,
        typer.Option(
            help="edge, triangle, rectangle, star(k), path(k), cycle(k), clique(k), k-triangle(k), "
            "or edges: 'a-b, b-c, c-a', 'a->b'."
        ),
    ] = None,
    protect: Annotated[
        str | None, typer.Option(help="node or edge: who is protected. There is no default.")
    ] = None,
    epsilon: Annotated[str | None, typer.Option(help="The privacy loss of this answer, such as 0.5.")] = None,
    where: Annotated[
        str | None,
        typer.Option(help="A condition on attributes, such as 'a.city = b.city AND ab.weight > 3'."),
    ] = None,
    induced: Annotated[
        bool, typer.Option("--induced", help="Only copies without further edges among their nodes.")
    ] = False,
    transitivity: Annotated[
        bool, typer.Option("--transitivity", help="3 × triangles / 2-stars, in place of a pattern.")
    ] = False,
    directed: Annotated[
        bool, typer.Option("--directed", help="Directions count; in GML and GraphML the file says so.")
    ] = False,
    nodes: Annotated[Path | None, typer.Option(help="A CSV file about the nodes of a CSV file.")] = None,
    ledger: Annotated[Path | None, typer.Option(help="The budget ledger; FILE.ledger unless named.")] = None,
    budget: Annotated[str, typer.Option(help="What a new ledger grants.")] = str(BUDGET),
    analyst: AnalystName = None,
    mechanism: Mechanism = DEFAULT,
    explain: Annotated[
        bool, typer.Option("--explain", help="Draw the pattern and say what is counted; free.")
    ] = False,
    json_output: AsJson = False,
) -> None:
    """Count the copies of a pattern in a graph, and charge the epsilon to the ledger."""
    whom = protected(protect)
    if (pattern is None) is not transitivity or (transitivity and (where is not None or induced or explain)):
        raise ParameterError(
            "what is counted?",
            accepted="--pattern P, or --transitivity alone",
            hint="--pattern triangle, --pattern 'star(3)', --pattern 'a-b, b-c, c-a'",
        )
    if epsilon is None and not explain:
        raise ParameterError("how much privacy may this cost?", accepted="--epsilon 0.5, or --explain")
    with _opened(file, nodes, directed=directed, ledger=ledger, budget=budget, analyst=analyst) as session:
        if explain:
            found = session.explain(pattern, protect=whom, where=where, induced=induced)
            typer.echo(_explained(found, as_object=json_output))
            return
        try:
            with working():
                answer: Release | Answer
                if transitivity:
                    answer = session.transitivity(protect=whom, epsilon=epsilon or "")
                else:
                    answer = session.count(
                        pattern,
                        protect=whom,
                        epsilon=epsilon or "",
                        where=where,
                        induced=induced,
                        mechanism=mechanism,
                    )
        finally:
            announce(session)
    tell(answer, as_object=json_output)


@contextmanager
def _opened(
    file: str, nodes: Path | None, *, directed: bool, ledger: Path | None, budget: str, analyst: str | None
) -> Iterator[GraphSession]:
    """Give the session of the command; `announce` says in our own words what is new."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecondBudgetWarning)
        with working():
            session = open_graph(
                file, nodes=nodes, directed=directed or None, ledger=ledger, budget=budget, analyst=analyst
            )
        with session:
            yield session


def _explained(found: GraphExplanation, *, as_object: bool) -> str:
    if not as_object:
        return "\n".join(found.lines())
    told = ("question", "owners", "where", "method", "sql")
    return json.dumps({name: getattr(found, name) for name in told})
