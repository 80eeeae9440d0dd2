"""`recuse lab`: for researchers, on data that they may see. Nothing here is private."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from recuse.engines.collect import collect
from recuse.errors import ParameterError
from recuse.experiments.error import MECHANISMS, ErrorSummary, measure
from recuse.graphs.enumerate import (
    EDGES,
    RECTANGLES,
    TRIANGLES,
    TWO_STARS,
    occurrences,
    owned_by_edges,
    owned_by_nodes,
)
from recuse.graphs.read import read_graph
from recuse.krelation.relation import KRelation
from recuse.mechanism.mechanisms import DEFAULT
from recuse.privacy import Epsilon
from recuse.session import connect, ledger_path
from recuse.solver.cutting import cutting

PATTERNS = {"edge": EDGES, "2-star": TWO_STARS, "triangle": TRIANGLES, "rectangle": RECTANGLES}
OWNERS = {"node": owned_by_nodes, "edge": owned_by_edges}

lab_app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Experiments on data you may see. NOT PRIVATE."
)


@lab_app.command("error")
def error(
    source: Annotated[Path, typer.Argument(help="A graph file (with --pattern), or a database (with SQL).")],
    sql: Annotated[str | None, typer.Argument(help="A question, if the source is a database.")] = None,
    pattern: Annotated[str | None, typer.Option(help=f"One of {', '.join(PATTERNS)}.")] = None,
    protect: Annotated[str | None, typer.Option(help="node or edge: who is protected in a graph.")] = None,
    policy: Annotated[Path | None, typer.Option(help="The policy, if the source is a database.")] = None,
    epsilon: Annotated[str, typer.Option(help="The privacy loss of one run.")] = "1",
    mechanism: Annotated[str, typer.Option(help=f"One of {', '.join(MECHANISMS)}.")] = DEFAULT,
    runs: Annotated[int, typer.Option(help="How many answers are drawn.")] = 400,
    not_private: Annotated[
        bool, typer.Option("--not-private", help="Go on although there is a ledger.")
    ] = False,
    json_output: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Measure the error of a mechanism against the truth. NOT PRIVATE: it prints the true value."""
    ledger = ledger_path(source)
    if ledger is not None and ledger.exists() and not not_private:
        raise ParameterError(
            "this data has a ledger, so it is meant to be asked privately",
            found=str(ledger),
            hint="use recuse ask; or, if you may see the data, add --not-private",
        )
    loss = Epsilon.of(epsilon)
    relation = _of_database(source, sql, policy) if sql else _of_graph(source, pattern, protect)
    found = measure(relation, mechanism, loss, runs, cutting)
    typer.echo(json.dumps(asdict(found) | {"private": False}) if json_output else _table(found))


def _of_graph(source: Path, pattern: str | None, protect: str | None) -> KRelation:
    if pattern not in PATTERNS:
        raise ParameterError("which pattern?", found=pattern or "none", accepted=", ".join(PATTERNS))
    if protect not in OWNERS:
        raise ParameterError(
            "who is protected?",
            found=protect or "nobody",
            accepted="--protect node or --protect edge",
            hint="node privacy protects a person with all connections, edge privacy one connection",
        )
    return OWNERS[protect](occurrences(read_graph(source), PATTERNS[pattern]))


def _of_database(source: Path, sql: str, policy: Path | None) -> KRelation:
    if policy is None:
        raise ParameterError("a question in SQL needs a policy", hint="add --policy FILE")
    with connect(source, policy) as session:
        plan = session.compile(sql)
        if plan.grouping is not None or len(plan.measures) != 1:
            raise ParameterError("errors are measured for one number", hint="ask for one COUNT or SUM")
        ((relation,),) = collect(session.engine, plan)
        return relation


def _table(found: ErrorSummary) -> str:
    lines = ["NOT PRIVATE: measured against the truth", f"true value       {found.true_value:,.10g}"]
    for name in ("median", "p90", "mean", "trimmed"):
        lines.append(f"{name + ' error':<17}{getattr(found, name + '_relative_error'):.4%}")
    return "\n".join([*lines, f"seconds          {found.seconds:.2f}"])
