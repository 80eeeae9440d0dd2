"""The map of the code: whatever a module does, it is two hops from the page on the architecture."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from support.documents import ROOT
from support.sources import MODULES, SOURCE

PAGE = (ROOT / "docs" / "explanation" / "architecture.md").read_text()
ROOMS = ("sql", "mechanism", "session")
"""the stages that have a table of their own"""
WIDEST = 420
"""characters that a cell of a stage has at most, beside those of a room whose map is elsewhere"""
ELSEWHERE = {"krelation", "solver", "scalars", "engines", "graphs", "server"}
"""rooms of which the row itself is the map, or names the page that is"""


def cells(column: int, section: str) -> Iterator[str]:
    """Yield the cells of a column of the tables in a section, which a heading begins."""
    _, _, rest = f"\n{PAGE}".partition(f"\n{section}\n")
    for line in rest.partition("\n## ")[0].splitlines():
        if line.startswith("| ") and "---" not in line:
            yield line.strip("| ").split(" | ")[column]


def named(text: str) -> set[str]:
    return {name.rpartition("/")[2].partition(".")[0] for name in re.findall(r"`([a-z_/.A-Z]+)`", text)}


def test_every_stage_has_a_row():
    stages = {path.relative_to(SOURCE).parts[0].removesuffix(".py") for path in MODULES}
    rows = {name.strip("`/") for cell in cells(0, "# Architecture") for name in cell.split(", ")}
    assert stages - rows == {"__init__", "__main__"}


@pytest.mark.parametrize("room", ROOMS)
def test_every_module_of_a_room_is_on_its_map_and_nothing_else(room):
    modules = {path.stem for path in (SOURCE / room).rglob("*.py")} - {"__init__"}
    mapped = set().union(
        *(named(cell) for column in (0, 1) for cell in cells(column, f"## Inside `{room}/`"))
    )
    assert modules - mapped == set()
    assert mapped - modules - {room, "native"} == set()


def test_every_module_of_the_solver_is_on_its_page_or_here():
    """Its routes are listed in the room itself, one hop further."""
    page = (SOURCE / "solver" / "__init__.py").read_text() + PAGE
    mapped = {word for told in re.findall(r"`([a-z_.]+)`", page) for word in told.split(".")}
    assert {path.stem for path in (SOURCE / "solver").rglob("*.py")} - mapped == {"__init__"}


def test_a_cell_can_be_read_at_a_glance():
    crowded = [
        stage
        for stage, held in zip(cells(0, "# Architecture"), cells(1, "# Architecture"), strict=True)
        if len(held) > WIDEST and stage.strip("`/") not in ELSEWHERE
    ]
    crowded += [cell for room in ROOMS for cell in cells(1, f"## Inside `{room}/`") if len(cell) > WIDEST]
    assert not crowded
