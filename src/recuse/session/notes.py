"""What is said below an answer: what its noise intervals hold, what is so of the truth, what to beware of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from recuse.mechanism.release import Release
from recuse.session.cells import Cell, Row, confidence, truth
from recuse.session.intervals import UNBOUNDED
from recuse.session.truth import drowned
from recuse.session.words import PICKED, is_picked, noise_text, percent, truth_text

WIDTH = 80
HEAD = 10
NO_NUMBERS = "what is picked from the rows has no interval"
REMEDY = "raise epsilon, or ask more broadly"


def number_notes(cell: Cell) -> Iterator[str]:
    """Yield what is said of one number."""
    if confidence(cell) == 1:
        yield "truth     the answer is exact"
        return
    yield f"truth     {truth_text(cell) or f'unknown: {_why_unknown(cell)}'}"
    if cell.interval != UNBOUNDED:
        yield f"noise     {noise_text(cell)} with {percent(confidence(cell))}, about the truncated answer"
    if drowned(cell.value, cell.interval):
        yield f"caution   the noise is large against this answer: {REMEDY}"


def _why_unknown(cell: Cell) -> str:
    if is_picked(cell):
        return PICKED
    if isinstance(cell, Release):
        return f"truncation can move a {'count with NOT' if cell.counted else 'signed sum'} either way"
    return "truncation can move it either way"


def table_notes(names: Sequence[str], rows: Sequence[Row]) -> Iterator[str]:
    """Yield what is said of the numbers of a table."""
    cells = [cell for row in rows for cell in row.cells]
    levels = sorted({confidence(cell) for cell in cells})
    if not levels:
        yield "noise     none: no number is shown" if not rows else f"truth     unknown: {NO_NUMBERS}"
        return
    if levels == [1.0]:
        yield "exact: the question is about nobody"
        return
    known = sorted({confidence(cell) for cell in cells if not is_picked(cell)})
    if known:
        yield f"noise     {' or '.join(map(percent, known))}: each interval holds its truncated number"
    columns = {name: _column([row.cells[place] for row in rows]) for place, name in enumerate(names)}
    kinds = dict.fromkeys(columns.values())
    for kind in kinds:
        whose = "" if len(kinds) == 1 else f"{', '.join(n for n, k in columns.items() if k == kind)}: "
        yield from folded("truth", whose + kind)
    large = sum(drowned(cell.value, cell.interval) for cell in cells)
    if large:
        yield f"caution   large noise in {large} of {len(cells)} numbers: {REMEDY}"


def _column(cells: Sequence[Cell]) -> str:
    """Return what the numbers of a column say of the truth."""
    if all(confidence(cell) == 1 for cell in cells):
        return "exact"
    sure = percent(min(truth(cell).confidence for cell in cells))
    ends = [(truth(cell).ends, cell.interval) for cell in cells]
    if all(true == noise != UNBOUNDED for true, noise in ends):
        return f"in the interval with {sure}, nothing was truncated"
    if all(true[0] is not None and true[0] == noise[0] for true, noise in ends):
        return f"at least the lower end with {sure}"
    if all(map(is_picked, cells)):
        return f"unknown, {PICKED}"
    return "unknown, truncation can move it either way"


def folded(head: str, said: str) -> Iterator[str]:
    """Yield a line with its head, in as many lines as it needs."""
    first, *others = wrap(said, WIDTH - HEAD) or [""]
    yield f"{head:<{HEAD}}{first}"
    yield from (" " * HEAD + line for line in others)
