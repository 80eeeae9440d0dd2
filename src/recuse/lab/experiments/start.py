"""How much processor time a process takes from its start to its first answer.

    python -m recuse.lab.experiments.start [--times 9]

The database of the demonstration is asked for the number of orders, in a process of its own each time. The
first of them, which may have to compile modules, is not counted.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from recuse.demo import POLICY, QUESTIONS, make_database

ASKED = """
import recuse, sys
with recuse.connect("made.duckdb", policy="made.toml") as db:
    db.ask(sys.argv[1], epsilon=1)
"""


def first_answer() -> float:
    """Return the seconds of processor time that a process of its own took, user and system."""
    with tempfile.TemporaryDirectory() as folder:
        make_database(Path(folder) / "made.duckdb")
        (Path(folder) / "made.toml").write_text(POLICY)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", ASKED, QUESTIONS[1].sql], cwd=folder, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the least, the median and the largest."""
    parser = argparse.ArgumentParser(description="Processor time from the start to the first answer.")
    parser.add_argument("--times", type=int, default=9)
    times = parser.parse_args(arguments).times
    first_answer()
    taken = sorted(first_answer() for _ in range(times))
    print(f"least {taken[0]:.2f} s   median {median(taken):.2f} s   largest {taken[-1]:.2f} s")


if __name__ == "__main__":
    main()
