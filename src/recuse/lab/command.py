"""`recuse lab`: for researchers, on data that they may see. Nothing here is private."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

from recuse.cli.bundle import spread
from recuse.engines.collect import collect
from recuse.errors import ParameterError
from recuse.graphs.count import read_count
from recuse.graphs.enumerate import occurrences, owned_by_edges, owned_by_nodes
from recuse.graphs.names import read_pattern
from recuse.graphs.protect import Protected, protected
from recuse.graphs.read import read_graph
from recuse.krelation.relation import KRelation
from recuse.lab.comparators.global_sensitivity import rows_of_query, rows_of_subgraph
from recuse.lab.comparators.subgraphs import Motif, SubgraphCount
from recuse.lab.experiments.contestants import MECHANISMS, Asked, terms
from recuse.lab.experiments.error import ErrorSummary, measure, measure_aggregated
from recuse.lab.experiments.reproduce import NAMES, Setting, left_out, reproduce
from recuse.lab.progress import Progress
from recuse.mechanism.mechanisms import DEFAULT
from recuse.mechanism.mechanisms import NAMES as NAMED_OURS
from recuse.privacy import Epsilon
from recuse.session.place import ledgers_of
from recuse.session.session import connect
from recuse.solver.fast import fast_programs

OWNED = {Protected.NODE: owned_by_nodes, Protected.EDGE: owned_by_edges}

app = typer.Typer(rich_markup_mode=None)

Data = Annotated[Path, typer.Argument(help="A graph file (with --pattern), or a database (with SQL).")]
Sql = Annotated[str | None, typer.Argument(help="A question, if the source is a database.")]
PatternName = Annotated[str | None, typer.Option("--pattern", help="triangle, star(k), a-b, …")]
Who = Annotated[str | None, typer.Option("--protect", help="node or edge: who is protected in a graph.")]
LabPolicy = Annotated[Path | None, typer.Option("--policy", help="The policy, if the source is a database.")]
LossOfOneRun = Annotated[str, typer.Option("--epsilon", help="The privacy loss of one run.")]
Runs = Annotated[int, typer.Option("--runs", help="How many answers are drawn.")]
Insist = Annotated[bool, typer.Option("--not-private", help="Go on although there is a ledger.")]
LabJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@dataclass(frozen=True, slots=True)
class Measured:
    """What is measured: a count of a graph file, or a question to a database, at a loss."""

    source: Data
    sql: Sql = None
    pattern: PatternName = None
    protect: Who = None
    policy: LabPolicy = None
    epsilon: LossOfOneRun = "1"

    def contest(self) -> Contest:
        """Return the relation to be counted, and what else is known of the question."""
        if self.sql:
            return _of_database(self.source, self.sql, self.policy)
        return _of_graph(self.source, self.pattern, self.protect)


@app.command("error")
@spread
def error(
    measured: Measured,
    mechanism: Annotated[
        str, typer.Option(help=f"One of {', '.join(MECHANISMS)}; a guess as in r2t=1024.")
    ] = DEFAULT,
    runs: Runs = 400,
    not_private: Insist = False,
    json_output: LabJson = False,
) -> None:
    """Measure the error of a mechanism against the truth. NOT PRIVATE: it prints the true value."""
    _refuse_where_a_ledger_is_kept(measured.source, insist=not_private)
    loss, progress = Epsilon.of(measured.epsilon), Progress()
    if measured.sql is None and measured.pattern is not None and mechanism in NAMED_OURS:
        with progress.stage("reading the graph"):
            graph = read_graph(measured.source)
        count = read_count(graph, measured.pattern, protected(measured.protect))
        if count.aggregated:
            with progress.stage("measuring"):
                found = measure_aggregated(graph, count, mechanism, loss, runs, progress=progress)
            _tell(found, as_object=json_output)
            return
    with progress.stage("listing what is counted"):
        question = measured.contest()
    with progress.stage("measuring"):
        found = measure(
            question.relation, mechanism, loss, runs, fast_programs, asked=question.asked, progress=progress
        )
    _tell(found, as_object=json_output)


def _tell(found: ErrorSummary, *, as_object: bool) -> None:
    typer.echo(json.dumps(asdict(found) | {"private": False}) if as_object else _table(found))


@app.command("compare")
@spread
def compare(
    measured: Measured, runs: Runs = 100, not_private: Insist = False, json_output: LabJson = False
) -> None:
    """Measure every mechanism that applies to a question, and say which do not. NOT PRIVATE."""
    _refuse_where_a_ledger_is_kept(measured.source, insist=not_private)
    loss = Epsilon.of(measured.epsilon)
    if runs < 1:
        raise ParameterError("at least one run is needed", found=str(runs))
    question = measured.contest()
    rows = list(_contest(question, loss, runs))
    if json_output:
        typer.echo(json.dumps(rows))
        return
    typer.echo("NOT PRIVATE: measured against the truth")
    typer.echo(f"{'mechanism':<12}{'median':>10}{'p90':>10}{'seconds':>9}  promises; must be guessed")
    for row in rows:
        if "refused" in row:
            typer.echo(f"{row['mechanism']:<12}does not apply: {row['refused']}")
        else:
            numbers = f"{row['median']:>10.3%}{row['p90']:>10.3%}{row['seconds']:>9.2f}"
            typer.echo(f"{row['mechanism']:<12}{numbers}  {row['privacy']}; {row['guesses']}")


@app.command("reproduce")
def reproduce_command(
    name: Annotated[str, typer.Argument(help=f"One of {', '.join(NAMES)}.")],
    out: Annotated[Path, typer.Option("--out", help="The folder for raw results, tables and plots.")],
    graphs: Annotated[Path | None, typer.Option(help="The folder of the paper's graph files.")] = None,
    tpch: Annotated[
        Path | None, typer.Option(help="A database made by python -m recuse.lab.experiments.tpch load.")
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="How many processes measure.")] = os.cpu_count() or 1,
    full: Annotated[bool, typer.Option("--full", help="The paper's full size, which takes hours.")] = False,
    json_output: LabJson = False,
) -> None:
    """Make a figure or table of the paper again, or all. A stopped run continues where it was."""
    setting = Setting(out, graphs, tpch, full=full)
    for figure, needs in left_out(setting).items() if name == "all" else ():
        typer.echo(f"{figure} is left out: {needs}", err=True)
    for step in reproduce(name, setting):
        cells, count = step.run(jobs), len(step.cells)
        with typer.progressbar(cells, length=count, label=step.name, file=sys.stderr) as bar:
            for _ in bar:
                pass
        typer.echo(f"{step.name} took {step.seconds:.0f} processor seconds", err=True)
        files = [str(path) for path in step.finish()]
        typer.echo(json.dumps({"name": step.name, "files": files}) if json_output else "\n".join(files))


# ------------------------------------------------------------------ what is asked


@dataclass(frozen=True, slots=True)
class Contest:
    """A relation to be counted, and what else is known of the question."""

    relation: KRelation
    asked: Asked


def _refuse_where_a_ledger_is_kept(source: Path, *, insist: bool) -> None:
    ledgers = ledgers_of(source)
    if ledgers and not insist:
        raise ParameterError(
            "this data has a ledger, so it is meant to be asked privately",
            found=str(ledgers[0]),
            hint="use recuse ask; or, if you may see the data, add --not-private",
        )


def _of_graph(source: Path, name: str | None, protect: str | None) -> Contest:
    if name is None:
        raise ParameterError("which pattern?", hint="add --pattern, such as --pattern triangle")
    pattern, who = read_pattern(name), protected(protect)
    graph = read_graph(source)
    relation = OWNED[who](occurrences(graph, pattern))
    try:
        count = SubgraphCount(graph, Motif.of(pattern), who)
    except ParameterError:  # a pattern that only mechanisms for relations count
        return Contest(relation, Asked())
    return Contest(relation, Asked(count, rows_of_subgraph(count.motif, who)))


def _of_database(source: Path, sql: str, policy: Path | None) -> Contest:
    if policy is None:
        raise ParameterError("a question in SQL needs a policy", hint="add --policy FILE")
    with connect(source, policy) as session:
        plan = session.compile(sql)
        if plan.grouping is not None or len(plan.measures) != 1:
            raise ParameterError("errors are measured for one number", hint="ask for one COUNT or SUM")
        ((relation,),) = collect(session.engine, plan)
        rows = rows_of_query(sql, session.policy, session.engine.catalogue())
        return Contest(relation, Asked(rows=rows, unit=1 / plan.single.granularity))


# ------------------------------------------------------------------ what is shown


def _contest(question: Contest, epsilon: Epsilon, runs: int) -> Iterator[dict[str, object]]:
    progress = Progress()
    for mechanism in MECHANISMS:
        try:
            with progress.stage(mechanism):
                found = measure(
                    question.relation, mechanism, epsilon, runs, fast_programs, asked=question.asked
                )
        except ParameterError as refusal:
            yield {"mechanism": mechanism, "refused": str(refusal)}
            continue
        yield {
            "mechanism": mechanism,
            "median": found.median_relative_error,
            "p90": found.p90_relative_error,
            "seconds": found.seconds,
            **asdict(terms(mechanism)),
        }


def _table(found: ErrorSummary) -> str:
    lines = ["NOT PRIVATE: measured against the truth", f"true value       {found.true_value:,.10g}"]
    for name in ("median", "p90", "mean", "trimmed"):
        lines.append(f"{name + ' error':<17}{getattr(found, name + '_relative_error'):.4%}")
    return "\n".join([*lines, f"seconds          {found.seconds:.2f}"])
