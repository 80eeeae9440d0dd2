"""How much time a process takes from its start to its first answer: of the processor, and on the wall.

    python -m recuse.lab.experiments.start [--times 9]

The database of the demonstration is asked for the number of orders, in a process of its own each time. The
first of them, which has to compile modules, is not counted; what it compiled is kept for the others, whatever
the environment says of that.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from recuse.demo import POLICY, QUESTIONS, make_database

ASKED = """
import recuse, sys
with recuse.connect("made.duckdb", policy="made.toml") as db:
    db.ask(sys.argv[1], epsilon=1)
"""


def first_answer(compiled: Path) -> tuple[float, float]:
    """Return the seconds that a process of its own took: of processor time, user and system, and on the wall.

    What it compiles is kept in a folder, or was.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(compiled)
    with tempfile.TemporaryDirectory() as folder:
        make_database(Path(folder) / "made.duckdb")
        (Path(folder) / "made.toml").write_text(POLICY)
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        asked = [sys.executable, "-c", ASKED, QUESTIONS[1].sql]
        subprocess.run(asked, cwd=folder, env=environment, check=True)
        wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, wall


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the least, the median and the largest."""
    parser = argparse.ArgumentParser(description="The time from the start of a process to its first answer.")
    parser.add_argument("--times", type=int, default=9)
    times = parser.parse_args(arguments).times
    with tempfile.TemporaryDirectory() as folder:
        first_answer(Path(folder))
        taken = [first_answer(Path(folder)) for _ in range(times)]
    for name, seconds in zip(("processor", "wall"), zip(*taken, strict=True), strict=True):
        print(
            f"{name:10} least {min(seconds):.2f} s   median {median(seconds):.2f} s   "
            f"largest {max(seconds):.2f} s"
        )


if __name__ == "__main__":
    main()
