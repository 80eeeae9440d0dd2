"""`recuse histogram`: how many rows lie in each bin, or which share up to each edge, drawn."""

from __future__ import annotations

from datetime import date, datetime
from fractions import Fraction
from typing import Annotated

import typer

from recuse.cli.bundle import spread
from recuse.cli.options import AsJson, Loss, Opening, announce, opened
from recuse.cli.progress import working
from recuse.cli.show import PlotFile, check_plot, draw, picture
from recuse.errors import ParameterError
from recuse.session.distribution import BinEdge


@spread
def histogram(
    what: Opening,
    value: Annotated[str, typer.Argument(help="A column, or an expression of columns.")],
    source: Annotated[str, typer.Argument(metavar="FROM", help="A table, or a join as SQL writes it.")],
    epsilon: Loss,
    edges: Annotated[str | None, typer.Option(help="The edges of the bins: 0,10,20, or dates.")] = None,
    bins: Annotated[
        int | None, typer.Option(help="In place of --edges: how many bins of equal width.")
    ] = None,
    between: Annotated[
        str | None,
        typer.Option(help="With --bins: their ends, as 0,100; without, the ends are released first."),
    ] = None,
    where: Annotated[str | None, typer.Option(help="Which rows, as SQL writes it.")] = None,
    cdf: Annotated[
        bool, typer.Option("--cdf", help="Which share of the rows lies up to each edge, instead.")
    ] = False,
    plot: PlotFile = None,
    json_output: AsJson = False,
) -> None:
    """Answer how many rows have a value in each bin, draw it, and charge one epsilon."""
    check_plot(plot)
    ends = None if between is None else _edges(between, "--between")
    if ends is not None and len(ends) != 2:
        raise ParameterError("--between takes two ends", found=between, accepted="--between 0,100")
    listed = None if edges is None else _edges(edges, "--edges")
    with opened(what) as session:
        asked = session.cdf if cdf else session.histogram
        try:
            with working():
                answer = asked(
                    value,
                    source,
                    epsilon,
                    edges=listed,
                    bins=bins,
                    between=None if ends is None else (ends[0], ends[1]),
                    where=where,
                )
        finally:
            announce(session)
    draw(answer, as_object=json_output)
    picture(answer, plot)


def _edges(text: str, option: str) -> list[BinEdge]:
    """Return the numbers or dates of a list."""
    try:
        return [_edge(part.strip()) for part in text.split(",")]
    except (ValueError, ZeroDivisionError):
        accepted = f"{option} 0,10,20 or {option} 2024-01-01,2024-07-01"
        raise ParameterError(f"{option} is not understood", found=text, accepted=accepted) from None


def _edge(text: str) -> BinEdge:
    if ":" in text:
        return datetime.fromisoformat(text)
    if text.count("-") == 2:
        return date.fromisoformat(text)
    return Fraction(text)
