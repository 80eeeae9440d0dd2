"""An answer for a notebook: HTML with the noise intervals drawn, and ε under it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from html import escape

from recuse.session.cells import Cell, Row, confidence
from recuse.session.notes import number_notes, table_notes
from recuse.session.show import Displayable, group_lines, stand_in_lines
from recuse.session.table import finest, scale_of
from recuse.session.words import charged, label, readable, value_text

WIDTH, HEIGHT = 180, 14
"""The size of an interval that is drawn, in pixels."""


def html(answer: Displayable) -> str:
    """Return an answer for a notebook."""
    if answer.is_number and confidence(answer.number) == 1 and not answer.epsilon:
        value = value_text(answer.number)
        return f"<div><b>{value}</b><br><small>exact: about nobody, and free</small></div>"
    paid = charged(answer.epsilon, answer.remaining, stored=answer.stored)
    if answer.is_number:
        body, said = f"<div>{cell_html(answer.number)}</div>", number_notes(answer.number)
    else:
        body = html_table(answer.key_names, answer.names, answer.rows)
        said = table_notes(answer.names, answer.rows)
    lines = [*said, *stand_in_lines(answer), *group_lines(answer), paid]
    return body + "".join(f"<br><small>{escape(line)}</small>" for line in lines)


def cell_html(
    cell: Cell, scale: tuple[Fraction, Fraction] | None = None, step: Fraction | None = None
) -> str:
    """Return a number, and its noise interval drawn where it has one."""
    low, high = cell.interval
    if cell.value is None or low is None or high is None or confidence(cell) == 1:
        return f"<b>{value_text(cell, step)}</b>"
    drawn = interval_svg(low, cell.value, high, scale or scale_of([cell]))
    step = step or finest([cell])
    return f"<b>{value_text(cell, step)}</b><br>{readable(low, step)} {drawn} {readable(high, step)}"


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


def html_table(key_names: Sequence[str], names: Sequence[str], rows: Sequence[Row]) -> str:
    """Return the table for a notebook, the intervals of a column drawn on one scale."""
    columns = [[row.cells[place] for row in rows] for place in range(len(names))]
    scales, steps = [scale_of(cells) for cells in columns], [finest(cells) for cells in columns]
    heads = "".join(f"<th>{escape(name)}</th>" for name in (*key_names, *names))
    body = []
    for row in rows:
        cells = [f"<td>{escape(label(key))}</td>" for key in row.keys]
        drawn = zip(row.cells, scales, steps, strict=True)
        cells += [f"<td>{cell_html(cell, scale, step)}</td>" for cell, scale, step in drawn]
        body.append(f"<tr>{''.join(cells)}</tr>")
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{''.join(body)}</tbody></table>"
