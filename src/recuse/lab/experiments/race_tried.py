"""What other parameters of the race would give, and how many programs a release asks for.

    python -m recuse.lab.experiments.race_tried --tables TABLES [--runs 2000]
    python -m recuse.lab.experiments.race_tried --speed [--runs 30]

TABLES are those of `race_report solve`. NOT PRIVATE.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import cast

import numpy as np

from recuse.graphs.enumerate import occurrences
from recuse.lab.experiments.accuracy import OWNERS, PATTERNS, random_graph
from recuse.lab.experiments.accuracy_report import INFORMATIVE
from recuse.lab.experiments.race_report import HEAD, RaceMaker, line, measured, tables
from recuse.lab.experiments.race_settings import RaceSettings
from recuse.lab.experiments.simulated import SimulatedNoise
from recuse.mechanism import presets
from recuse.mechanism.levels import Levels, TauTable
from recuse.mechanism.prepared import prepare
from recuse.mechanism.racing import Dial, Racing
from recuse.privacy import Epsilon
from recuse.solver.fast import fast_programs
from recuse.solver.interval import Interval
from recuse.solver.memo import memoising
from recuse.solver.programs import Programs


def sloped(gentle: str | None = None, steep: str = "4.5", knee: int = 4, rungs: str = "1, 3, 8") -> RaceMaker:
    """Return the race with other slopes a doubling, or with another table of levels."""
    ladder, stride = LADDERS[rungs]

    def race_of(epsilon: Epsilon) -> Racing:
        found = presets.race_by_withdrawals(epsilon)
        slope = found.levels.gentle / presets.STRIDE if gentle is None else Fraction(gentle)
        levels = Levels(ladder, found.levels.score, knee / stride, slope * stride, Fraction(steep) * stride)
        return replace(found, levels=levels)

    return race_of


def dialled(answer: str, boost: str) -> RaceMaker:
    """Return the race with another dial."""
    dial = Dial(Fraction(answer), Fraction(boost))
    return lambda epsilon: replace(presets.race_by_withdrawals(epsilon), dials=((1, dial),))


LADDERS = {
    "doublings": (presets.DOUBLINGS, Fraction(1)),
    "1, 3, 8": (presets.STRIDES, presets.STRIDE),
    "powers of 4": (TauTable(presets.THETA, (Fraction(1),), 4, 0, 63), Fraction(2)),
}
TRIED: dict[str, RaceMaker] = {
    "the default": presets.race_by_withdrawals,
    "doublings": sloped(rungs="doublings"),
    "powers of 4": sloped(rungs="powers of 4"),
    "powers of 4, 3 a doubling above 16": sloped(steep="3", rungs="powers of 4"),
    "3.5 a doubling up to 16, whatever ε": sloped("3.5"),
    "4 a doubling up to 16, whatever ε": sloped("4"),
    "4.5 a doubling throughout": sloped("4.5"),
    "5 a doubling above 16": sloped(steep="5"),
    "4 a doubling above 16": sloped(steep="4"),
    "no lift": lambda epsilon: replace(presets.race_by_withdrawals(epsilon), offset=Fraction(0)),
    "a boost of 0.8": dialled("1", "4/5"),
    "noise of 0.9 ε, a boost of 0.8": dialled("9/10", "4/5"),
}


def tried(folder: Path, runs: int) -> Iterator[str]:
    """Yield what other parameters would give, on graphs and on the forum."""
    yield HEAD
    yield "|---" * HEAD.count(" |") + "|"
    epsilons = RaceSettings.read().epsilons
    for family in ("graphs", "forum"):
        known = list(tables(folder, family))
        for words, race_of in TRIED.items():
            every = (measured(t, text, runs, race_of) for t in known for text in epsilons[family])
            yield line(f"{family}: {words}", [cell for cell in every if cell.oracle < INFORMATIVE])


@dataclass(slots=True)
class Counted:
    """Programs that count how often something must be solved for: below the largest load."""

    programs: Programs
    asked: int = 0

    def largest_load(self) -> float:
        return self.programs.largest_load()

    def truncated(self, tau: float, width: float) -> Interval:
        self.asked += tau < self.largest_load()
        return self.programs.truncated(tau, width)

    def withdrawals(self, tau: float, width: float, stop_above: float = math.inf) -> Interval:
        self.asked += tau < self.largest_load()
        return self.programs.withdrawals(tau, width, stop_above)

    def strict_withdrawals(self, tau: float, width: float, stop_above: float = math.inf) -> Interval:
        self.asked += tau < self.largest_load()
        return self.programs.strict_withdrawals(tau, width, stop_above)

    def index(self, theta: float, beta: float, width: float) -> Interval:
        return self.programs.index(theta, beta, width)

    def integer_index(self, theta: Fraction, beta: Fraction, factor: int) -> int:
        return self.programs.integer_index(theta, beta, factor)


def speed(runs: int) -> Iterator[str]:
    """Yield how many programs a release asks for, in the median: the race and the split."""
    for size, pattern, protect in product((200, 600), ("edges", "2-stars", "triangles"), OWNERS):
        relation = OWNERS[protect](occurrences(random_graph(size, size), PATTERNS[pattern]))
        subject = prepare(relation, memoising(fast_programs))
        for mechanism in (presets.race_by_withdrawals(Epsilon.of(1)), presets.by_withdrawals(Epsilon.of(1))):
            counts = []
            for seed in range(runs):
                counted = Counted(cast(Programs, subject.positive))
                mechanism.release(replace(subject, positive=counted), SimulatedNoise(seed))
                counts.append(counted.asked)
            yield f"G({size}) {pattern} ({protect}), {mechanism.name}: {np.median(counts):.0f}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, or the counts."""
    parser = argparse.ArgumentParser(description="Other parameters of the race. NOT PRIVATE.")
    parser.add_argument("--tables", type=Path, default=Path("tables"), help="where tables are kept")
    parser.add_argument("--speed", action="store_true", help="count programs instead")
    parser.add_argument("--runs", type=int, default=30)
    given = parser.parse_args(arguments)
    for text in speed(given.runs) if given.speed else tried(given.tables, given.runs):
        print(text, flush=True)


if __name__ == "__main__":
    main()
