"""How an answer is shown: one number or a table, for a terminal, for a notebook, for Arrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from html import escape
from typing import Any, Protocol

import pyarrow

from recuse.errors import quote
from recuse.mechanism.release import Release
from recuse.numerals import nearest, short
from recuse.privacy import decimal_text
from recuse.session.cells import Cell, Row, StandIn, confidence
from recuse.session.intervals import UNBOUNDED, End

BAR = 28
WIDTH, HEIGHT = 180, 14
"""The size of an interval that is drawn for a notebook, in pixels."""
BIGGEST = 2**63
PICKED = "a value picked by its rank, which says nothing of how far it lies from the truth"


class Displayable(Protocol):
    """What is looked at of an answer."""

    @property
    def key_names(self) -> Sequence[str]: ...
    @property
    def names(self) -> Sequence[str]: ...
    @property
    def rows(self) -> Sequence[Row]: ...
    @property
    def epsilon(self) -> Fraction: ...
    @property
    def remaining(self) -> Fraction | None: ...
    @property
    def stored(self) -> bool: ...
    @property
    def stand_ins(self) -> Sequence[StandIn]: ...
    @property
    def is_number(self) -> bool: ...
    @property
    def number(self) -> Cell: ...


def text(answer: Displayable) -> str:
    """Return an answer as text: a number on one line, else its table."""
    return _number_text(answer) if answer.is_number else "\n".join(table_lines(answer, drawn=False))


def html(answer: Displayable) -> str:
    """Return an answer for a notebook, its intervals drawn."""
    if answer.is_number and isinstance(answer.number, Release):
        return _number_html(answer, answer.number)
    told = "".join(f"<br><small>{escape(line)}</small>" for line in stand_in_lines(answer))
    return html_table(answer.key_names, answer.names, answer.rows) + told


def table_lines(answer: Displayable, *, drawn: bool) -> Iterator[str]:
    """Yield the table for people, and what its intervals say; `drawn` shows them on a line."""
    yield from text_table(answer.key_names, answer.names, answer.rows, drawn=drawn)
    yield noise_note(answer.rows)
    yield from stand_in_lines(answer)
    yield charged(answer.epsilon, answer.remaining, stored=answer.stored)


def _number_text(answer: Displayable) -> str:
    cell = answer.number
    value = "undefined" if cell.value is None else short(cell.value)
    left = "" if answer.remaining is None else f", {short(answer.remaining)} left"
    if confidence(cell) == 1 and not answer.epsilon:
        return f"{value} (exact: about nobody), free{left}"
    return "\n".join([f"{value} {_spread(cell)}, {_cost(answer)}{left}", *stand_in_lines(answer)])


def stand_in_lines(answer: Displayable) -> Iterator[str]:
    """Yield the numbers that were released first, and what of the question they stand for."""
    for stand_in in answer.stand_ins:
        value = "NULL" if stand_in.cell.value is None else short(stand_in.cell.value)
        yield f"released  {value} stands for {quote(stand_in.text)} {_spread(stand_in.cell)}"


def _spread(cell: Cell) -> str:
    if isinstance(cell, Release) and cell.interval == UNBOUNDED:
        return f"({PICKED})"
    low, high = map(readable, cell.interval)
    return f"({confidence(cell) * 100:g} % of the noise: {low} to {high})"


def _cost(answer: Displayable) -> str:
    return f"epsilon {short(answer.epsilon)}{' (asked before: free)' if answer.stored else ''}"


def _number_html(answer: Displayable, release: Release) -> str:
    low, high = release.interval
    if release.noise_scale == 0:
        return f"<div><b>{short(release.value)}</b><br><small>exact: about nobody, and free</small></div>"
    left = "" if answer.remaining is None else f", {short(answer.remaining)} left"
    if low is None or high is None:
        return f"<div><b>{short(release.value)}</b><br><small>{_cost(answer)}{left}; {PICKED}</small></div>"
    drawn = interval_svg(low, release.value, high, (min(low, Fraction(0)), high))
    return (
        f"<div><b>{short(release.value)}</b> &nbsp; {short(low)} {drawn} {short(high)}"
        f"<br><small>{_cost(answer)}{left}; 95 % of the noise, not of truncation</small></div>"
    )


def interval_svg(low: Fraction, value: Fraction, high: Fraction, scale: tuple[Fraction, Fraction]) -> str:
    """Return a drawing of an interval with its middle marked, on a scale that several may share."""
    start, end = scale
    width = end - start or Fraction(1)
    left, middle, right = (4 + float((x - start) / width) * (WIDTH - 8) for x in (low, value, high))
    half = HEIGHT / 2
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT}" style="vertical-align: middle" role="img">'
        f'<g stroke="currentColor"><path d="M{left:.1f} {half}H{right:.1f}M{left:.1f} 3v{HEIGHT - 6}'
        f'M{right:.1f} 3v{HEIGHT - 6}"/></g><circle cx="{middle:.1f}" cy="{half}" r="3.5" fill="#c33"/></svg>'
    )


def readable(value: End) -> str:
    """Return a number for people, with thousands apart.

    >>> readable(Fraction(1234567)), readable(Fraction(5, 4)), readable(None)
    ('1,234,567', '1.25', 'unbounded')
    """
    return "unbounded" if value is None else short(value)


def charged(epsilon: Fraction, remaining: Fraction | None, *, stored: bool) -> str:
    """Return the line that says what an answer cost."""
    left = "" if remaining is None else f", {decimal_text(remaining)} left"
    if epsilon == 0:
        return f"epsilon   0 charged: the question is about nobody{left}"
    if stored:
        return f"epsilon   0 charged: the answer of an earlier question, for {decimal_text(epsilon)}{left}"
    return f"epsilon   {decimal_text(epsilon)} charged{left}"


def noise_note(rows: Sequence[Row]) -> str:
    """Return what the intervals of a table say, and what they do not."""
    levels = sorted({confidence(cell) for row in rows for cell in row.cells})
    if not levels:
        return "intervals none: no number is shown"
    if levels == [1.0]:
        return "exact: the question is about nobody"
    shown = " or ".join(f"{level * 100:g} %" for level in levels)
    return f"intervals {shown}, noise only: truncation can lower counts and move signed sums either way"


def text_table(
    key_names: Sequence[str], names: Sequence[str], rows: Sequence[Row], *, drawn: bool
) -> Iterator[str]:
    """Yield aligned lines: the keys, then each value with its interval, drawn on a line of its column."""
    scales = [scale_of([row.cells[place] for row in rows]) for place in range(len(names))]
    lines = [[*key_names, *(head for name in names for head in (name, "interval"))]]
    for row in rows:
        line = [label(key) for key in row.keys]
        for cell, scale in zip(row.cells, scales, strict=True):
            low, high = cell.interval
            line.append("undefined" if cell.value is None else short(cell.value))
            text = "unbounded" if low is None and high is None else f"{readable(low)} to {readable(high)}"
            line.append(f"{drawing(cell, scale)} {text}" if drawn else text)
        lines.append(line)
    widths = [max(len(line[place]) for line in lines) for place in range(len(lines[0]))]
    for line in lines:
        yield "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()


def label(key: Any) -> str:
    """Return a key, or what a formula says that is no number with an interval, for people."""
    return "NULL" if key is None else short(key) if isinstance(key, Fraction) else str(key)


def scale_of(cells: Sequence[Cell]) -> tuple[Fraction, Fraction]:
    """Return the ends of a line that holds all intervals of a column, and zero."""
    ends = [end for cell in cells for end in cell.interval if end is not None]
    return min([*ends, Fraction(0)]), max([*ends, Fraction(0)])


def drawing(cell: Cell, scale: tuple[Fraction, Fraction] | None = None) -> str:
    """Return an interval drawn on a line from zero, its value marked; blanks where it has no ends.

    >>> drawing(Release(Fraction(4), (Fraction(2), Fraction(6)), Fraction(1), Fraction(1), "selective"))
    '·········├────────●────────┤'
    """
    low, high = cell.interval
    if low is None or high is None or cell.value is None:
        return " " * BAR
    start, end = scale or scale_of([cell])
    width = end - start or Fraction(1)
    left, middle, right = (round((x - start) / width * (BAR - 1)) for x in (low, cell.value, high))
    line = ["·"] * BAR
    line[left : right + 1] = "─" * (right + 1 - left)
    line[left], line[right] = "├", "┤"
    line[middle] = "●"
    return "".join(line)


def html_table(key_names: Sequence[str], names: Sequence[str], rows: Sequence[Row]) -> str:
    """Return the table for a notebook, the intervals of a column drawn on one scale."""
    scales = [scale_of([row.cells[place] for row in rows]) for place in range(len(names))]
    heads = "".join(f"<th>{escape(name)}</th>" for name in (*key_names, *names))
    body = []
    for row in rows:
        cells = [f"<td>{escape(label(key))}</td>" for key in row.keys]
        for cell, scale in zip(row.cells, scales, strict=True):
            low, high = cell.interval
            if cell.value is None or low is None or high is None:
                cells.append(f"<td>{'undefined' if cell.value is None else short(cell.value)}</td>")
            else:
                drawn = interval_svg(low, cell.value, high, scale)
                cells.append(f"<td><b>{short(cell.value)}</b><br>{short(low)} {drawn} {short(high)}</td>")
        body.append(f"<tr>{''.join(cells)}</tr>")
    note = f"<small>{escape(noise_note(rows))}</small>"
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{''.join(body)}</tbody></table>{note}"


def arrow_table(key_names: Sequence[str], names: Sequence[str], rows: Sequence[Row]) -> pyarrow.Table:
    """Return the rows as Arrow columns: keys, then value, `_low` and `_high` of every other column.

    Counts are int64, all else is double; what is undefined or unbounded is null.
    """
    columns: list[Any] = [
        pyarrow.array(
            [nearest(row.keys[p]) if isinstance(row.keys[p], Fraction) else row.keys[p] for row in rows]
        )
        for p in range(len(key_names))
    ]
    labels = list(key_names)
    for place, name in enumerate(names):
        cells = [row.cells[place] for row in rows]
        values: list[list[End]] = [
            [cell.value for cell in cells],
            [cell.interval[0] for cell in cells],
            [cell.interval[1] for cell in cells],
        ]
        columns += [_numbers(found, cells) for found in values]
        labels += [name, f"{name}_low", f"{name}_high"]
    return pyarrow.Table.from_arrays(columns, names=labels)


def _numbers(values: Sequence[End], cells: Sequence[Cell]) -> Any:
    counted = all(isinstance(cell, Release) and (cell.counted or not cell.signed) for cell in cells)
    if counted and all(value is None or abs(value) < BIGGEST for value in values):
        return pyarrow.array([None if v is None else int(v) for v in values], pyarrow.int64())
    return pyarrow.array([None if v is None else float(nearest(v)) for v in values], pyarrow.float64())
