"""A table of numbers in text, with their noise intervals drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from recuse.session.cells import Cell, Row, step_of
from recuse.session.words import label, noise_text, value_text

BARS = (28, 16, 10)
"""how long a drawn interval is, in characters: the longest for which there is room"""


def text_table(
    key_names: Sequence[str], names: Sequence[str], rows: Sequence[Row], bar: int = 0
) -> Iterator[str]:
    """Yield aligned lines: the keys, then each value with its noise, drawn in so many characters."""
    columns = [[row.cells[place] for row in rows] for place in range(len(names))]
    scales, steps = [scale_of(cells) for cells in columns], [finest(cells) for cells in columns]
    lines = [[*key_names, *(head for name in names for head in (name, "noise"))]]
    for row in rows:
        line = [label(key) for key in row.keys]
        for cell, scale, step in zip(row.cells, scales, steps, strict=True):
            line.append(value_text(cell, step))
            noise = noise_text(cell, step)
            line.append(f"{drawing(cell, scale, bar)} {noise}" if bar else noise)
        lines.append(line)
    widths = [max(len(line[place]) for line in lines) for place in range(len(lines[0]))]
    for line in lines:
        yield "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()


def finest(cells: Sequence[Cell]) -> Fraction | None:
    """Return what the numbers of a column are printed to: the finest step of any."""
    steps = [step for step in map(step_of, cells) if step is not None]
    return min(steps, default=None)


def scale_of(cells: Sequence[Cell]) -> tuple[Fraction, Fraction]:
    """Return the ends of a line that holds all intervals of a column, and zero."""
    ends = [end for cell in cells for end in cell.interval if end is not None]
    return min([*ends, Fraction(0)]), max([*ends, Fraction(0)])


def drawing(cell: Cell, scale: tuple[Fraction, Fraction] | None = None, bar: int = BARS[0]) -> str:
    """Return an interval drawn on a line from zero, its value marked; blanks where it has no ends.

    >>> from recuse.mechanism.release import Release
    >>> drawing(Release(Fraction(4), (Fraction(2), Fraction(6)), Fraction(1), Fraction(1), "selective"))
    '·········├────────●────────┤'
    """
    low, high = cell.interval
    if low is None or high is None or cell.value is None:
        return " " * bar
    start, end = scale or scale_of([cell])
    width = end - start or Fraction(1)
    left, middle, right = (round((x - start) / width * (bar - 1)) for x in (low, cell.value, high))
    line = ["·"] * bar
    line[left : right + 1] = "─" * (right + 1 - left)
    line[left], line[right] = "├", "┤"
    line[middle] = "●"
    return "".join(line)
