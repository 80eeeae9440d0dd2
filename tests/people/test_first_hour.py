"""From the README alone: few commands lead from somebody's own files to a private answer."""

from __future__ import annotations

import re
import time

from recuse.policy import Policy
from support.documents import README, blocks, printed, steps, write_files

PAGE = README.read_text()
INSTALL = 1
"""pip install, which the README names first"""


def asked(heading: str) -> list[str]:
    """Return the commands below a heading of the README."""
    part = PAGE.partition(heading)[2]
    return [command for block in blocks(part, "console") for command, _ in steps(block.text)]


def since(began: float) -> str:
    """Return how long it took, for whoever runs this with -s."""
    return f"{time.perf_counter() - began:.1f} s"


def test_triangles_of_friends_in_four_commands(tmp_path):
    write_files(PAGE, tmp_path)
    commands = [one for one in asked("## Your own data") if one.startswith("recuse graph")]
    assert INSTALL + len(commands) <= 4
    assert "--pattern triangle --protect node" in commands[0]
    began = time.perf_counter()
    out = printed(commands[0].replace(" --ledger school.ledger", ""), tmp_path)
    print(f"triangles: {INSTALL + len(commands)} commands, the first answer in {since(began)}")
    assert re.search(r"^answer +\d", out, re.MULTILINE)


def test_revenue_by_month_and_region_in_five_commands(tmp_path):
    example, *commands = asked("### A shop of five files")[:4]
    printed(example, tmp_path)
    (tmp_path / "shop.toml").unlink()  # the policy is to be drafted
    assert len(list((tmp_path / "shop").glob("*.csv"))) == 5
    assert INSTALL + len(commands) <= 5
    began = time.perf_counter()
    told = [printed(command, tmp_path) for command in commands]
    print(f"revenue: {INSTALL + len(commands)} commands, from files to the answer in {since(began)}")
    assert Policy.read(tmp_path / "mine.toml").protect[0].table == "customer"
    rows = [line.split() for line in told[-1].splitlines() if line.startswith(("north", "south", "west"))]
    assert len(rows) >= 36
    assert all("to" in row for row in rows)
