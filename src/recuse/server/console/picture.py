"""The policy as a picture: participants on the left, what belongs to them to the right, by its distance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

BOX, GAP, MARGIN, LETTERS = (170, 44), (90, 26), 16, 20
"""pixels; letters of a name, at most"""


@dataclass(frozen=True, slots=True)
class Box:
    """A table, where it stands."""

    name: str
    label: str
    """its name, cut where it is long"""
    role: str
    x: int
    y: int


@dataclass(frozen=True, slots=True)
class Picture:
    """All tables of a policy."""

    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Arrow:
    """A link: from a table to the one whose rows its rows belong to."""

    path: str
    """as SVG writes it"""
    label: str


def picture(tables: Sequence[Mapping[str, Any]]) -> Picture:
    """Return where tables stand: kinds without a table too, public and closed ones in the last columns."""
    links = {table["name"]: [link["to"] for link in table["links"]] for table in tables}
    roles = {table["name"]: table["role"] for table in tables}
    kinds = {to: "participant" for found in links.values() for to in found if to not in roles}
    roles = kinds | roles
    depth = {
        name: _depth(name, links, ()) for name, role in roles.items() if role in ("participant", "linked")
    }
    last = 1 + max(depth.values(), default=-1)
    for role in ("public", "closed"):
        aside = [name for name, found in roles.items() if found == role]
        depth |= dict.fromkeys(aside, last)
        last += bool(aside)
    rows: dict[int, int] = {}
    boxes = {}
    for name in sorted(roles, key=lambda name: depth[name]):
        row = rows[depth[name]] = rows.get(depth[name], -1) + 1
        x = MARGIN + depth[name] * (BOX[0] + GAP[0])
        label = name if len(name) <= LETTERS else name[: LETTERS - 1] + "…"
        boxes[name] = Box(name, label, roles[name], x, MARGIN + row * (BOX[1] + GAP[1]))
    arrows = [
        _arrow(boxes[table["name"]], boxes[link["to"]], place, len(table["links"]), link)
        for table in tables
        for place, link in enumerate(table["links"])
    ]
    width = 2 * MARGIN + (1 + max(depth.values(), default=0)) * (BOX[0] + GAP[0]) - GAP[0]
    height = 2 * MARGIN + (1 + max(rows.values(), default=0)) * (BOX[1] + GAP[1]) - GAP[1]
    return Picture(tuple(boxes.values()), tuple(arrows), width, height)


def _depth(name: str, links: Mapping[str, Sequence[str]], above: tuple[str, ...]) -> int:
    targets = [to for to in links.get(name, ()) if to not in above and to != name]
    return 1 + max(_depth(to, links, (*above, name)) for to in targets) if targets else 0


def _arrow(start: Box, end: Box, place: int, many: int, link: Mapping[str, Any]) -> Arrow:
    """Return a line from the left side of a table to the right side of the one that it belongs to."""
    share = BOX[1] * (place + 1) // (many + 1)
    x1, y1, x2, y2 = start.x, start.y + share, end.x + BOX[0] + 8, end.y + share
    if start.name == end.name or start.x <= end.x:
        x2, y2 = end.x + BOX[0] // 2, end.y + BOX[1] + 8
        return Arrow(f"M{x1 + BOX[0] // 2 + 20} {start.y + BOX[1]}v18H{x2}v-10", _columns(link))
    half = (x1 + x2) // 2
    return Arrow(f"M{x1} {y1}C{half} {y1} {half} {y2} {x2} {y2}", _columns(link))


def _columns(link: Mapping[str, Any]) -> str:
    return " or ".join(", ".join(names) for names in link["columns"])
