"""A pattern as a picture: dots of Braille for a terminal, SVG for a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import zip_longest
from math import cos, hypot, pi, sin

from recuse.graphs.pattern import Pattern

MOST_DRAWN = 12
WIDTH, HEIGHT = 22, 9
"""characters; each has 2 × 4 dots"""
DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
SIZE = 180
INK = "#6b8aa8"
"""a colour that is seen on dark and on light"""

Points = dict[str, tuple[float, float]]


def layout(pattern: Pattern) -> Points:
    """Return places in the unit square: on a circle, the centre of a star in its middle."""
    around, middle = list(pattern.nodes), dict[str, tuple[float, float]]()
    if pattern.star is not None:
        centre = max(pattern.nodes, key=lambda node: sum(node in edge for edge in pattern.edges))
        around.remove(centre)
        middle = {centre: (0.5, 0.5)}
    if len(around) == 2 and not middle:
        return {around[0]: (0.1, 0.5), around[1]: (0.9, 0.5)}
    turn = -pi / 2 if len(around) % 2 else -pi / 2 - pi / len(around)
    angles = ((node, turn + 2 * pi * i / len(around)) for i, node in enumerate(around))
    return middle | {node: (0.5 + 0.45 * cos(angle), 0.5 + 0.45 * sin(angle)) for node, angle in angles}


def as_text(pattern: Pattern) -> list[str]:
    """Return the picture as lines; arrows are written below, since dots cannot show them."""
    if len(pattern.nodes) > MOST_DRAWN:
        return []
    places = {
        node: (round(x * (2 * WIDTH - 1)), round(y * (4 * HEIGHT - 1)))
        for node, (x, y) in layout(pattern).items()
    }
    cells = [[0] * WIDTH for _ in range(HEIGHT)]
    for u, v in pattern.edges:
        (x1, y1), (x2, y2) = places[u], places[v]
        steps = max(abs(x1 - x2), abs(y1 - y2), 1)
        for i in range(steps + 1):
            x, y = round(x1 + (x2 - x1) * i / steps), round(y1 + (y2 - y1) * i / steps)
            cells[y // 4][x // 2] |= DOTS[x % 2][y % 4]
    lines = [[chr(0x2800 + cell) if cell else " " for cell in row] for row in cells]
    for node, (x, y) in places.items():
        start = min(x // 2, WIDTH - len(node))
        lines[y // 4][start : start + len(node)] = node
    return ["".join(line).rstrip() for line in lines if any(cell != " " for cell in line)]


def side_by_side(patterns: Sequence[Pattern], names: Sequence[str], across: int = 3) -> list[str]:
    """Return several pictures as lines, so many in a row, each below its name."""
    lines: list[str] = []
    for start in range(0, len(patterns), across):
        row = [[name, *as_text(one)] for name, one in zip(names, patterns, strict=True)][
            start : start + across
        ]
        parts = zip_longest(*row, fillvalue="")
        lines += ["   ".join(part.ljust(WIDTH) for part in line).rstrip() for line in parts]
        lines.append("")
    return lines


def as_svg(pattern: Pattern) -> str:
    """Return the picture as SVG."""
    if len(pattern.nodes) > MOST_DRAWN:
        return ""
    places = {node: (20 + x * (SIZE - 40), 20 + y * (SIZE - 40)) for node, (x, y) in layout(pattern).items()}
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{SIZE}" height="{SIZE}" role="img" '
        f'aria-label="{escape(str(pattern))}">'
    ]
    if pattern.directed:
        parts.append(
            '<defs><marker id="head" markerWidth="8" markerHeight="8" refX="7" refY="3" orient="auto">'
            f'<path d="M0,0 L7,3 L0,6 z" fill="{INK}"/></marker></defs>'
        )
    for u, v in pattern.edges:
        x1, y1, x2, y2 = _shortened(places[u], places[v])
        head = ' marker-end="url(#head)"' if pattern.directed else ""
        parts.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
            f'stroke="{INK}" stroke-width="2"{head}/>'
        )
    for node, (x, y) in places.items():
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="11" fill="#fff" stroke="{INK}" stroke-width="2"/>'
            f'<text x="{x:.1f}" y="{y + 4:.1f}" font-size="12" text-anchor="middle">{escape(node)}</text>'
        )
    return "".join([*parts, "</svg>"])


def _shortened(start: tuple[float, float], end: tuple[float, float]) -> tuple[float, float, float, float]:
    """Return a line from circle to circle, so that an arrow's head is seen."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    part = 12 / (hypot(dx, dy) or 1)
    return start[0] + dx * part, start[1] + dy * part, end[0] - dx * part, end[1] - dy * part
