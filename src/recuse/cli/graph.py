"""`recuse graph`: subgraph counts of a graph, what they mean, its motifs, degrees and transitivity."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

from recuse.cli.bundle import spread
from recuse.cli.options import AnalystName, AsJson, Loss, MechanismName, announce
from recuse.cli.progress import working
from recuse.cli.show import PlotFile, check_plot, picture, tell
from recuse.errors import ParameterError
from recuse.graphs.draw import side_by_side
from recuse.graphs.names import read_pattern
from recuse.graphs.protect import protected
from recuse.graphs.text import Layout
from recuse.mechanism.mechanisms import DEFAULT
from recuse.session.answer import Answer
from recuse.session.degree_question import TAILS
from recuse.session.graph import BUDGET, MOTIFS, GraphSession
from recuse.session.graph import graph as open_graph
from recuse.session.place import SecondBudgetWarning

TOLD = ("question", "owners", "where", "method", "sql")

GraphFile = Annotated[str, typer.Argument(help="A graph file, or a name of recuse datasets.")]
PatternText = Annotated[
    str | None,
    typer.Option(
        help="edge, triangle, rectangle, star(k), path(k), cycle(k), clique(k), k-triangle(k), "
        "or edges: 'a-b, b-c, c-a', 'a->b'."
    ),
]
WhomToProtect = Annotated[
    str | None, typer.Option(help="node or edge: who is protected. There is no default.")
]
Where = Annotated[
    str | None,
    typer.Option(help="A condition on attributes, such as 'a.city = b.city AND ab.weight > 3'."),
]
Induced = Annotated[
    bool, typer.Option("--induced", help="Only copies without further edges among their nodes.")
]
Directed = Annotated[
    bool, typer.Option("--directed", help="Directions count; in GML and GraphML the file says so.")
]
NodeTable = Annotated[Path | None, typer.Option(help="A CSV file about the nodes of a CSV file.")]
Separator = Annotated[
    str | None, typer.Option(help="What stands between two cells of an edge list, such as ';' or tab.")
]
Header = Annotated[
    bool | None,
    typer.Option("--header/--no-header", help="Whether the first line of an edge list names its columns."),
]
Comment = Annotated[str | None, typer.Option(help="What lines begin with that are left out, such as '#'.")]
GraphLedger = Annotated[Path | None, typer.Option(help="The budget ledger; FILE.ledger unless named.")]
NewBudget = Annotated[str, typer.Option(help="What a new ledger grants.")]


@dataclass(frozen=True, slots=True)
class Copies:
    """Which copies are meant, and who is protected."""

    pattern: PatternText = None
    protect: WhomToProtect = None
    where: Where = None
    induced: Induced = False

    def named(self) -> str:
        """Return the pattern, which must be named."""
        if self.pattern is None:
            raise ParameterError(
                "what is counted?",
                accepted="--pattern P",
                hint="--pattern triangle, --pattern 'star(3)', --pattern 'a-b, b-c, c-a'",
            )
        return self.pattern


@dataclass(frozen=True, slots=True)
class EdgeList:
    """How an edge list is to be read."""

    separator: Separator = None
    header: Header = None
    comment: Comment = None

    def layout(self) -> Layout:
        """Return it as the library takes it; a tab can be named, since it is hard to type."""
        tab = self.separator in ("tab", "\\t")
        return Layout("\t" if tab else self.separator, self.header, self.comment)


PLAIN = EdgeList()


@dataclass(frozen=True, slots=True)
class GraphSource:
    """Which file is read, and how."""

    file: GraphFile
    directed: Directed = False
    nodes: NodeTable = None
    edges: EdgeList = PLAIN


@dataclass(frozen=True, slots=True)
class GraphAccount:
    """Which ledger is charged, and in whose name."""

    ledger: GraphLedger = None
    budget: NewBudget = str(BUDGET)
    analyst: AnalystName = None


NO_ACCOUNT = GraphAccount()

graph_app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Count copies of a pattern in a graph, or say what a count means.",
)


@graph_app.command()
@spread
def count(
    epsilon: Loss,
    copies: Copies,
    source: GraphSource,
    account: GraphAccount,
    mechanism: MechanismName = DEFAULT,
    json_output: AsJson = False,
) -> None:
    """Count the copies of a pattern, and charge the epsilon to the ledger."""
    whom, what = protected(copies.protect), copies.named()

    def ask(session: GraphSession) -> Answer:
        where, induced = copies.where, copies.induced
        return session.count(
            what, protect=whom, epsilon=epsilon, where=where, induced=induced, mechanism=mechanism
        )

    with _opened(source, account) as session:
        answer = _asked(session, ask)
    tell(answer, as_object=json_output)


@graph_app.command()
@spread
def explain(copies: Copies, source: GraphSource, json_output: AsJson = False) -> None:
    """Draw a pattern, say what is counted and who owns each copy. Costs nothing."""
    whom, what = protected(copies.protect), copies.named()
    with _opened(source) as session:
        found = session.explain(what, protect=whom, where=copies.where, induced=copies.induced)
    told = {name: getattr(found, name) for name in TOLD}
    typer.echo(json.dumps(told) if json_output else "\n".join(found.lines()))


@graph_app.command()
@spread
def transitivity(
    *,
    epsilon: Loss,
    protect: WhomToProtect = None,
    source: GraphSource,
    account: GraphAccount,
    json_output: AsJson = False,
) -> None:
    """Answer 3 × triangles / 2-stars with both counts, and charge the epsilon that they share."""
    whom = protected(protect)
    with _opened(source, account) as session:
        answer = _asked(session, lambda opened: opened.transitivity(protect=whom, epsilon=epsilon))
    tell(answer, as_object=json_output)


@graph_app.command()
@spread
def motifs(
    *,
    epsilon: Loss,
    protect: WhomToProtect = None,
    patterns: Annotated[
        list[str] | None, typer.Option("--pattern", help=f"Which; without: {', '.join(MOTIFS)}.")
    ] = None,
    plot: PlotFile = None,
    source: GraphSource,
    account: GraphAccount,
    json_output: AsJson = False,
) -> None:
    """Count the copies of several patterns, draw these, and charge the epsilon that the counts share."""
    whom, names = protected(protect), patterns or list(MOTIFS)
    check_plot(plot)
    drawn = side_by_side([read_pattern(name) for name in names], names)
    with _opened(source, account) as session:
        answer = _asked(session, lambda opened: opened.motifs(protect=whom, epsilon=epsilon, patterns=names))
    if not json_output:
        typer.echo("\n".join(drawn))
    tell(answer, as_object=json_output)
    picture(answer, plot)


@graph_app.command()
@spread
def degrees(
    *,
    file: GraphFile,
    epsilon: Loss,
    protect: WhomToProtect = None,
    at_least: Annotated[
        str, typer.Option("--at-least", help="The degrees, from each of which on nodes are counted.")
    ] = ",".join(map(str, TAILS)),
    plot: PlotFile = None,
    edges: EdgeList,
    account: GraphAccount,
    json_output: AsJson = False,
) -> None:
    """Answer how many nodes have k neighbours at least, for several k, and charge one epsilon."""
    whom, tails = protected(protect), _tails(at_least)
    check_plot(plot)
    with _opened(GraphSource(file, edges=edges), account) as session:
        answer = _asked(session, lambda opened: opened.degrees(protect=whom, epsilon=epsilon, tails=tails))
    tell(answer, as_object=json_output)
    picture(answer, plot)


def _tails(text: str) -> list[int]:
    found = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and len(part) < 10 for part in found):
        raise ParameterError("--at-least is not understood", found=text, accepted="--at-least 1,2,5,10")
    return [int(part) for part in found]


@contextmanager
def _opened(source: GraphSource, account: GraphAccount = NO_ACCOUNT) -> Iterator[GraphSession]:
    """Give the session of a command; `announce` says in our own words what is new."""
    more = asdict(source.edges.layout()) | asdict(account)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecondBudgetWarning)
        with working():
            session = open_graph(source.file, nodes=source.nodes, directed=source.directed or None, **more)
        with session:
            yield session


def _asked(session: GraphSession, ask: Callable[[GraphSession], Answer]) -> Answer:
    """Return the answer, and say what is new of the ledger even if there is none."""
    try:
        with working():
            return ask(session)
    finally:
        announce(session)
