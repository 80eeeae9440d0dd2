"""A table of counts as a picture: a bar for every row, its noise interval on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from recuse.errors import ParameterError
from recuse.privacy import decimal_text
from recuse.session.answer import Answer
from recuse.session.cells import Cell, confidence
from recuse.session.formulas import Keys
from recuse.session.table import finest
from recuse.session.words import label, noise_text, percent, value_text
from recuse.sql.histogram import ABOVE, UP_TO

LONGEST = 40
"""characters of a bar in text"""
ROW, BAR, LEFT, RIGHT, TOP = 22, 360, 150, 190, 30
"""pixels: of a row, of the longest bar, beside and above the bars"""
END = ' text-anchor="end"'
INK, FAINT, FILL, PAPER = "#222", "#777", "#9bb8d3", "#fff"


@dataclass(frozen=True, slots=True)
class Bar:
    """One row of a picture."""

    label: str
    """what the row is about"""
    cell: Cell
    value: Fraction
    low: Fraction
    high: Fraction


def bars_of(answer: Answer) -> list[Bar]:
    """Return a bar for every row of an answer with one number a row; of others there is no picture."""
    if len(answer.names) != 1 or not answer.rows:
        raise ParameterError(
            "a picture shows one number for every group",
            found=f"{len(answer.names)} numbers a group" if answer.rows else "no groups",
            hint="ask for one aggregate with GROUP BY",
        )
    found = []
    for row in answer.rows:
        (cell,), zero = row.cells, Fraction(0)
        value = zero if cell.value is None else cell.value
        low, high = (value if end is None else end for end in cell.interval)
        found.append(Bar(_words(answer.key_names, row.keys), cell, value, low, high))
    return found


def _lines(bars: Sequence[Bar]) -> str:
    """Return what the lines on the bars are: how much of the noise, of the bar that says least."""
    return f"lines: {percent(min(confidence(bar.cell) for bar in bars))} of the noise"


def _words(names: Sequence[str], keys: Keys) -> str:
    """Return what a row is about; a bin of a histogram by its two edges.

    >>> _words((ABOVE, UP_TO), (10, 20)), _words((ABOVE, UP_TO), (None, 10)), _words(("x", "y"), (1, 2))
    ('10 to 20', 'up to 10', '1, 2')
    """
    if tuple(names) != (ABOVE, UP_TO):
        return ", ".join(map(label, keys))
    above, up_to = keys
    if above is None:
        return f"up to {label(up_to)}"
    return f"above {label(above)}" if up_to is None else f"{label(above)} to {label(up_to)}"


def _ends(bars: Sequence[Bar]) -> tuple[Fraction, Fraction]:
    """Return the ends of the scale of all bars, zero in it."""
    low = min([Fraction(0), *(bar.low for bar in bars), *(bar.value for bar in bars)])
    high = max([Fraction(0), *(bar.high for bar in bars), *(bar.value for bar in bars)])
    return low, high if high > low else low + 1


def text_bars(answer: Answer) -> list[str]:
    """Return the picture in characters: a bar to the value, its noise interval drawn over it."""
    bars = bars_of(answer)
    (low, high), step = _ends(bars), finest([bar.cell for bar in bars])
    head = f"{', '.join(answer.key_names)}: {answer.names[0]}"
    width = max(len(bar.label) for bar in bars)
    numbers = [value_text(bar.cell, step) for bar in bars]
    wide = max(map(len, numbers))

    def at(value: Fraction) -> int:
        return round((value - low) / (high - low) * LONGEST)

    lines = [head]
    for bar, number in zip(bars, numbers, strict=True):
        line = [
            "█" if at(min(Fraction(0), bar.value)) <= x < at(max(Fraction(0), bar.value)) else " "
            for x in range(LONGEST + 1)
        ]
        for x in range(at(bar.low), at(bar.high) + 1):
            line[x] = "▓" if line[x] == "█" else "─"
        lines.append(f"{bar.label:>{width}}  {number:>{wide}}  {''.join(line).rstrip()}")
    return lines


def svg(answer: Answer) -> str:
    """Return the picture as SVG, which needs nothing else."""
    bars = bars_of(answer)
    (low, high), step = _ends(bars), finest([bar.cell for bar in bars])
    height = TOP + ROW * len(bars) + 34

    def at(value: Fraction) -> float:
        return LEFT + float((value - low) / (high - low)) * BAR

    def text(x: float, y: float, words: str, more: str = "") -> str:
        return f'<text x="{x:.1f}" y="{y:.1f}" fill="{INK}"{more}>{words}</text>'

    size = f'width="{LEFT + BAR + RIGHT}" height="{height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12" role="img">',
        f'<rect width="100%" height="100%" fill="{PAPER}"/>',
        text(LEFT, 18, escape(answer.names[0]), ' font-weight="bold"'),
        text(LEFT - 8, 18, escape(", ".join(answer.key_names)), END),
    ]
    for place, bar in enumerate(bars):
        top = TOP + ROW * place
        middle, start, end = top + ROW / 2, at(min(Fraction(0), bar.value)), at(max(Fraction(0), bar.value))
        left, right = at(bar.low), at(bar.high)
        said = f'{value_text(bar.cell, step)} <tspan fill="{FAINT}">({noise_text(bar.cell, step)})</tspan>'
        ticks = f"M{left:.1f} {middle}H{right:.1f}M{left:.1f} {middle - 4}v8M{right:.1f} {middle - 4}v8"
        parts += [
            text(LEFT - 8, middle + 4, escape(bar.label), END),
            f'<rect x="{start:.1f}" y="{top + 3}" width="{end - start:.1f}" height="{ROW - 6}" '
            f'fill="{FILL}"/>',
            f'<path d="{ticks}" stroke="{INK}" fill="none"/>',
            text(LEFT + BAR + 10, middle + 4, said),
        ]
    parts.append(
        text(LEFT, height - 12, f"{_lines(bars)}; epsilon {decimal_text(answer.epsilon)}") + "</svg>"
    )
    return "".join(parts)


def check_picture(path: Path) -> None:
    """Refuse a file that no picture can be written to: of another kind, or where nothing can be."""
    if path.suffix.lower() not in (".svg", ".png"):
        raise ParameterError("this kind of picture is not made", found=path.name, accepted=".svg or .png")
    if not path.absolute().parent.is_dir():
        raise ParameterError("there is no such folder", found=str(path.parent))
    if path.suffix.lower() == ".png" and find_spec("matplotlib") is None:
        hint = "pip install 'recuse[plots]', or name a .svg file"
        raise ParameterError("a PNG needs the package matplotlib", hint=hint)


def save(answer: Answer, path: Path) -> None:
    """Write the picture: SVG by ourselves, PNG with matplotlib (the extra plots)."""
    check_picture(path)
    if path.suffix.lower() == ".svg":
        path.write_text(svg(answer))
    else:
        _png(answer, path)


def _png(answer: Answer, path: Path) -> None:
    bars = bars_of(answer)
    figure = import_module("matplotlib.figure").Figure(
        figsize=(7, 0.6 + 0.3 * len(bars)), layout="constrained"
    )
    axes = figure.add_subplot()
    places, values = range(len(bars)), [float(bar.value) for bar in bars]
    reach = [
        [max(0.0, float(bar.value - bar.low)) for bar in bars],
        [max(0.0, float(bar.high - bar.value)) for bar in bars],
    ]
    axes.barh(places, values, xerr=reach, color=FILL, ecolor=INK, capsize=3)
    axes.set_yticks(places, [bar.label for bar in bars])
    axes.invert_yaxis()
    axes.set(xlabel=f"{answer.names[0]} ({_lines(bars)})", ylabel=", ".join(answer.key_names))
    figure.savefig(path, dpi=144)
