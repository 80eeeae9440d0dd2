"""An answer for a notebook: HTML with the noise intervals drawn, and ε under it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from html import escape

from recuse.html import fields, interval_svg
from recuse.session.cells import Cell, Row, confidence
from recuse.session.notes import HEAD, number_notes, table_notes
from recuse.session.show import Displayable, group_lines, stand_in_lines
from recuse.session.table import finest, scale_of
from recuse.session.words import charged, label, noise_text, value_text


def html(answer: Displayable) -> str:
    """Return an answer for a notebook."""
    if answer.is_number and confidence(answer.number) == 1 and not answer.epsilon:
        value = value_text(answer.number)
        return f"<div><b>{value}</b></div>" + fields([("exact", "about nobody, and free")])
    paid = charged(answer.epsilon, answer.remaining, stored=answer.stored)
    if answer.is_number:
        body, said = f"<div>{cell_html(answer.number)}</div>", number_notes(answer.number)
    else:
        body = html_table(answer.key_names, answer.names, answer.rows)
        said = table_notes(answer.names, answer.rows)
    lines = [*said, *stand_in_lines(answer), *group_lines(answer), paid]
    return body + fields(_split(line) for line in lines)


def _split(line: str) -> tuple[str, str]:
    """Return the head of a line and what it says; a line that goes on has no head.

    >>> _split("epsilon   1 charged"), _split("exact: the question is about nobody")
    (('epsilon', '1 charged'), ('', 'exact: the question is about nobody'))
    """
    head, said = line[:HEAD], line[HEAD:]
    return (head.strip(), said) if head.endswith(" ") else ("", line)


def cell_html(cell: Cell) -> str:
    """Return a number, and below it its noise interval drawn, where it has one."""
    value, *noise = _parts(cell, scale_of([cell]), finest([cell]))
    return f"{value}<br>{' '.join(noise)}" if any(noise) else value


def _parts(cell: Cell, scale: tuple[Fraction, Fraction], step: Fraction | None) -> tuple[str, str, str]:
    """Return a number, its noise interval as a picture, and the same in words."""
    low, high = cell.interval
    value = f"<b>{value_text(cell, step)}</b>"
    if cell.value is None or low is None or high is None or confidence(cell) == 1:
        return value, "", ""
    return value, interval_svg(low, cell.value, high, scale), noise_text(cell, step)


def html_table(key_names: Sequence[str], names: Sequence[str], rows: Sequence[Row]) -> str:
    """Return the table for a notebook, the intervals of a column drawn on one scale."""
    columns = [[row.cells[place] for row in rows] for place in range(len(names))]
    scales, steps = [scale_of(cells) for cells in columns], [finest(cells) for cells in columns]
    heads = "".join(f"<th>{escape(name)}</th>" for name in key_names)
    heads += "".join(f'<th>{escape(name)}</th><th colspan="2">noise</th>' for name in names)
    body = []
    for row in rows:
        cells = [f"<td>{escape(label(key))}</td>" for key in row.keys]
        for cell, scale, step in zip(row.cells, scales, steps, strict=True):
            cells += [f"<td>{part}</td>" for part in _parts(cell, scale, step)]
        body.append(f"<tr>{''.join(cells)}</tr>")
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{''.join(body)}</tbody></table>"
