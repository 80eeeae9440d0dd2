"""A policy as a picture: who is protected, and which rows hang on them. As lines of text, and as SVG."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from recuse.fold import fold, same
from recuse.policy.policy import Policy
from recuse.policy.terms import Link

WIDE, HIGH, APART, DOWN, EDGE = 150, 40, 30, 60, 10
"""pixels: of a box, between boxes, between rows of them, around them"""
INK, FILL = "#6b8aa8", "#dce6f0"
"""colours that are seen on dark and on light"""


def _columns(link: Link) -> str:
    return " or ".join(", ".join(columns) for columns in link.alternatives)


def as_lines(policy: Policy) -> list[str]:
    """Return a tree of tables below everybody who is protected, then the tables about nobody."""
    lines = []
    for entry in policy.protect:
        name = entry.table or entry.kind
        key = f" ({', '.join(map(str, entry.key))})" if entry.key else ""
        lines += [f"{name}{key}: each is one participant", *_below(policy, name)]
    if policy.public:
        lines.append(f"about nobody: {', '.join(entry.table for entry in policy.public)}")
    return lines


def _below(policy: Policy, name: str) -> Iterator[str]:
    """Yield the tables that are linked to one, each with what is linked to it in turn."""
    links = [link for link in policy.links if same(link.to, name)]
    for place, link in enumerate(links):
        last = place == len(links) - 1
        yield f"{'└─' if last else '├─'} {link.table} ({_columns(link)})"
        again = any(same(link.table, other.table) for other in links[:place])
        for line in () if again else _below(policy, link.table):
            yield f"{'   ' if last else '│  '}{line}"


def levels(policy: Policy) -> list[list[str]]:
    """Return the tables by how many links away from participants they are at most, nearest first."""
    depth = {fold(entry.table or entry.kind): 0 for entry in policy.protect}
    names = {fold(entry.table or entry.kind): entry.table or entry.kind for entry in policy.protect}
    for _ in policy.links:  # links have no cycles: so many rounds are enough
        for link in policy.links:
            depth[fold(link.table)] = max(depth.get(fold(link.table), 1), depth.get(fold(link.to), 0) + 1)
            names.setdefault(fold(link.table), link.table)
    return [[names[key] for key in names if depth[key] == far] for far in range(max(depth.values()) + 1)]


def as_svg(policy: Policy) -> str:
    """Return boxes, participants on top, with an arrow for every link; tables about nobody stand below."""
    rows = [*levels(policy), *([[entry.table for entry in policy.public]] if policy.public else [])]
    width = max(len(row) for row in rows) * (WIDE + APART) - APART + 2 * EDGE
    height = len(rows) * (HIGH + DOWN) - DOWN + 2 * EDGE
    places = {
        fold(name): (EDGE + column * (WIDE + APART), EDGE + level * (HIGH + DOWN))
        for level, row in enumerate(rows)
        for column, name in enumerate(row)
    }
    people = {fold(entry.table or entry.kind) for entry in policy.protect}
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="13" role="img">'
        '<defs><marker id="to" markerWidth="8" markerHeight="8" refX="7" refY="3" orient="auto">'
        f'<path d="M0,0 L7,3 L0,6 z" fill="{INK}"/></marker></defs>'
    ]
    parts += list(_arrows(policy, places))
    nobody = {fold(entry.table) for entry in policy.public}
    for row in rows:
        for name in row:
            x, y = places[fold(name)]
            dashed = ' stroke-dasharray="4 3"' if fold(name) in nobody else ""
            thick = 3 if fold(name) in people else 1.5
            parts.append(
                f'<rect x="{x}" y="{y}" width="{WIDE}" height="{HIGH}" rx="6" fill="{FILL}" '
                f'stroke="{INK}" stroke-width="{thick}"{dashed}/>'
                f'<text x="{x + WIDE / 2}" y="{y + HIGH / 2 + 4}" text-anchor="middle" fill="#223">'
                f"{escape(name)}</text>"
            )
    return "".join([*parts, "</svg>"])


def _arrows(policy: Policy, places: dict[str, tuple[int, int]]) -> Iterator[str]:
    """Yield an arrow for every link, with its columns beside it; several of a table stand side by side."""
    for table in dict.fromkeys(fold(link.table) for link in policy.links):
        links = [link for link in policy.links if fold(link.table) == table]
        for place, link in enumerate(links, start=1):
            (x1, y1), (x2, y2) = places[table], places[fold(link.to)]
            start, end = x1 + WIDE * place / (len(links) + 1), x2 + WIDE * place / (len(links) + 1)
            yield (
                f'<line x1="{start:.0f}" y1="{y1}" x2="{end:.0f}" y2="{y2 + HIGH}" stroke="{INK}" '
                f'stroke-width="1.5" marker-end="url(#to)"/>'
                f'<text x="{start + 6:.0f}" y="{y1 - 8}" fill="{INK}" font-size="11">'
                f"{escape(_columns(link))}</text>"
            )
