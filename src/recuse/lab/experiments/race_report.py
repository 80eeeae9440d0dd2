"""How far is the race from an oracle? Tables of relations, solved once, and mechanisms replayed from them.

    python -m recuse.lab.experiments.race_report solve --graphs FOLDER --tables TABLES [--family graphs]
    python -m recuse.lab.experiments.race_report report --tables TABLES

`solve` goes on where it was stopped, smallest relations first; `report` replays what is solved. What is
measured, how often and from which seeds is in `race.toml`, which the tables keep. NOT PRIVATE.
"""

from __future__ import annotations

import argparse
import math
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import product
from operator import itemgetter
from pathlib import Path

import numpy as np
from scipy.stats import beta

from recuse.graphs.enumerate import Occurrences
from recuse.krelation.relation import Floats, KRelation
from recuse.lab.comparators.r2t import R2T
from recuse.lab.experiments import replay
from recuse.lab.experiments.accuracy import OWNERS, counted, one_owner, two_kinds
from recuse.lab.experiments.accuracy_report import FLOOR, INFORMATIVE, LOSS, geometric_mean
from recuse.lab.experiments.disjunctions import disjunctions
from recuse.lab.experiments.forum_relations import forums
from recuse.lab.experiments.race_settings import USUAL, RaceSettings, begun, stated
from recuse.lab.experiments.signs import signed_sums
from recuse.lab.experiments.tables import Tabled, fill
from recuse.mechanism import presets
from recuse.mechanism.foreknown import Foreknown
from recuse.mechanism.prepared import prepare
from recuse.mechanism.racing import Racing
from recuse.mechanism.release import CONFIDENCE
from recuse.privacy import Epsilon
from recuse.solver.fast import fast_programs

GOOD, HALF = 0.05, 0.5
"""where the oracle's median is below the first, an answer off by more than the second is a collapse"""
BESIDE = ("split", "paper", "r2t")
FAMILIES = tuple(RaceSettings.read().epsilons)
SURE = 0.999
"""with which confidence a cell's coverage is said to be below 95 %, if it is"""

RaceMaker = Callable[[Epsilon], Racing]

FoundRelation = tuple[str, str, Callable[[], KRelation], int | None]


@dataclass(frozen=True, slots=True)
class RaceCell:
    """The errors of every mechanism in one cell: median, p90, p99 and how often off by more than half."""

    name: str
    protect: str
    epsilon: str
    oracle: float
    errors: dict[str, tuple[float, float, float, float]]
    coverage: float
    width: float
    """of the race's interval, as a multiple of the split's"""
    runs: int

    def too_narrow(self) -> bool:
        """Return whether the upper 99.9 % confidence bound on the interval's coverage is below 95 %."""
        held = round(self.coverage * self.runs)
        return held < self.runs and float(beta.ppf(SURE, held + 1, self.runs - held)) < float(CONFIDENCE)

    def over(self, other: str | None, place: int = 0) -> float:
        """Return the race's error as a multiple of the oracle's, or of another mechanism's."""
        base = self.oracle if other is None else self.errors[other][place]
        return max(FLOOR, self.errors["race"][place]) / max(FLOOR, base)


def relations(
    families: Sequence[str], graphs: Path | None, database: Path | None, settings: RaceSettings
) -> Iterator[tuple[str, FoundRelation]]:
    """Yield the relations of some families that are solved for, with their family."""
    for name, make in signed_sums(settings.judged) if "signed" in families else ():
        yield "signed", (name, "people", make, None)
    for name, make in disjunctions(settings.judged) if "or" in families else ():
        yield "or", (name, "people", make, None)
    for made in forums() if "forum" in families else ():
        for name, relation in made.pairs():
            yield "forum", (f"{made.exponent} {name}", "users", partial(_itself, relation), None)
    if database is not None and "tpch" in families:
        for name, protect, relation in one_owner(database):
            yield "tpch", (name, protect, partial(_itself, relation), None)
    if database is not None and "kinds" in families:
        for name, protect, make in two_kinds(database):
            yield "kinds", (name, protect, make, None)
    if graphs is not None and "graphs" in families:
        smallest_first = sorted(counted(graphs, settings.most), key=itemgetter(0))
        for (_, name, list_all), protect in product(smallest_first, OWNERS):
            bound = 1 if protect == "edge" and name.endswith(" edges") else None
            yield "graphs", (name, protect, partial(_owned, protect, list_all), bound)


def _owned(protect: str, list_all: Callable[[], Occurrences]) -> KRelation:
    """Return a relation that is listed when it is asked for: all of them at once would take 20 GB."""
    return OWNERS[protect](list_all())


def _itself(relation: KRelation) -> KRelation:
    return relation


def solve(
    found: Iterator[tuple[str, FoundRelation]], folder: Path, settings: RaceSettings, each: float = math.inf
) -> Iterator[str]:
    """Solve for every relation that has no whole table yet, yielding a line for each.

    A relation that takes longer than `each` processor seconds is left as it is, for another run.
    """
    for family, (name, protect, make, bound) in found:
        path = folder / family / f"{name} {protect}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        table = Tabled.read(path) if path.exists() else None
        if table is not None and table.whole:
            continue
        started = written = time.process_time()
        prepared = prepare(make(), fast_programs)
        table = table or Tabled.of(name, protect, prepared, bound)
        for _ in fill(table, prepared, settings.epsilons[family]):
            if time.process_time() - written > 10:
                table.write(path)
                written = time.process_time()
            if time.process_time() - started > each:
                break
        table.write(path)
        taken = f"{time.process_time() - started:.1f} s" + ("" if table.whole else ", not whole yet")
        yield f"{family}: {name} ({protect}), {table.tuples:,} tuples, {taken}"


def tables(folder: Path, family: str) -> Iterator[Tabled]:
    """Yield the whole tables of a family; those of the forum's joins with one owner need no solving."""
    for path in sorted((folder / family).glob("*.json")):
        table = Tabled.read(path)
        if table.whole:
            yield table
    if family == "forum":
        for made in forums():
            for name, loads in made.loads():
                yield Tabled.of_loads(f"{made.exponent} {name}", loads, "users")


def measured(table: Tabled, text: str, runs: int, race_of: RaceMaker | None = None) -> RaceCell:
    """Return a cell, replayed with a seed of its own; the race with other parameters, if they are given."""
    epsilon, key = Epsilon.of(text), f"{table.name} {table.protect} {text}"

    def random(mechanism: str) -> np.random.Generator:
        return np.random.default_rng(zlib.crc32(f"{key} {mechanism}".encode()))

    by_load = table.conjunctions
    default = presets.race_by_withdrawals if by_load else presets.race_by_deficit
    known = Foreknown(single=race_of is None and table.protect == "edge")
    mechanism = known.told((race_of or default)(epsilon))
    race = replay.race(table, mechanism, random("race"), runs)
    parts = (presets.by_withdrawals if by_load else presets.by_deficit)(epsilon)
    split = replay.split(table, parts, random("split"), runs)
    found = {"race": race, "split": split}
    if len(table.signs) == 1:  # R2T is for values of one sign
        found["r2t"] = replay.r2t(table, R2T(epsilon), random("r2t"), runs)
    if text in table.signs[0].indices:
        mu = Fraction(1) if table.protect == "node" else Fraction(1, 2)
        index, paper = table.signs[0].indices[text], presets.paper(epsilon, mu=mu)
        found["paper"] = replay.recursive(table, paper, index, random("paper"), runs)
    errors = {name: errors_of(table, one.answers) for name, one in found.items()}
    wide = float(np.mean(race.widths) / np.mean(split.widths))
    oracle = replay.oracle(table, text)
    return RaceCell(table.name, table.protect, text, oracle, errors, float(np.mean(race.held)), wide, runs)


def errors_of(table: Tabled, answers: Floats) -> tuple[float, float, float, float]:
    """Return the median, p90 and p99 of relative errors, and how many are above a half."""
    errors = np.abs(answers - table.truth) / max(1.0, abs(table.truth))
    median, p90, p99 = (float(np.quantile(errors, part)) for part in (0.5, 0.9, 0.99))
    return median, p90, p99, float(np.mean(errors > HALF))


HEAD = (
    "| relations | cells | race / oracle | split / oracle | p90 / split's | p99 / split's | off by half "
    "| split: off by half | lose to the paper by > 1.25 | worst | least coverage | too narrow "
    "| width / split's |"
)


def line(words: str, cells: Sequence[RaceCell]) -> str:
    """Return the figures of some cells as a line of a table."""
    good = [cell for cell in cells if cell.oracle < GOOD]
    beside = [cell.over("paper") for cell in cells if "paper" in cell.errors]
    split = [max(FLOOR, cell.errors["split"][0]) / max(FLOOR, cell.oracle) for cell in cells]
    figures = (
        f"{geometric_mean([cell.over(None) for cell in cells]):.2f}",
        f"{geometric_mean(split):.2f}",
        *(f"{geometric_mean([cell.over('split', place) for cell in cells]):.2f}" for place in (1, 2)),
        *(
            f"{np.mean([cell.errors[name][3] for cell in good]):.2%}" if good else "–"
            for name in ("race", "split")
        ),
        f"{sum(ratio > LOSS for ratio in beside)}" if beside else "–",
        f"{max(beside):.2f}" if beside else "–",
        f"{min(cell.coverage for cell in cells):.1%}",
        f"{sum(cell.too_narrow() for cell in cells)}",
        f"{geometric_mean([cell.width for cell in cells]):.2f}",
    )
    return f"| {words} | {len(cells)} | " + " | ".join(figures) + " |"


def report(families: Sequence[str], folder: Path, settings: RaceSettings) -> Iterator[str]:
    """Yield the lines of the results: a line a family, and for graphs by protection and ε."""
    yield HEAD
    yield "|---" * HEAD.count(" |") + "|"
    runs = settings.runs
    for family in families:
        epsilons = settings.epsilons[family]
        known = list(tables(folder, family))
        every = [measured(table, text, runs) for table in known for text in epsilons]
        cells = [cell for cell in every if cell.oracle < INFORMATIVE]
        if not cells:
            continue
        yield line(f"{family}: {len(known)} relations", cells)
        for protect in ("node", "edge"):
            if some := [cell for cell in cells if cell.protect == protect]:
                yield line(f"{family}, {protect} privacy", some)
        for text in epsilons if len(epsilons) > 1 else ():
            if some := [cell for cell in cells if cell.epsilon == text]:
                yield line(f"{family}, ε = {text}", some)
    yield ""
    yield stated(folder, settings)


def main(arguments: Sequence[str] | None = None) -> None:
    """Solve, or print the table."""
    parser = argparse.ArgumentParser(description="The race beside an oracle. NOT PRIVATE.")
    parser.add_argument("step", choices=("solve", "report"))
    parser.add_argument("--tables", type=Path, required=True, help="where tables are kept")
    parser.add_argument("--graphs", type=Path, help="a folder of graph files")
    parser.add_argument("--tpch", type=Path, help="a DuckDB file with the TPC-H tables")
    parser.add_argument("--settings", type=Path, default=USUAL, help="what is measured: a file as race.toml")
    parser.add_argument("--each", type=float, default=math.inf, help="seconds after which one is put off")
    parser.add_argument("--only", default="", help="solve only for relations whose names have this in them")
    parser.add_argument("--family", choices=FAMILIES, action="append", help="only this (may be repeated)")
    given = parser.parse_args(arguments)
    families = given.family or FAMILIES
    settings = begun(given.tables, given.settings)
    found = relations(families, given.graphs, given.tpch, settings)
    chosen = (one for one in found if given.only in f"{one[1][0]} {one[1][1]}")
    lines = (
        solve(chosen, given.tables, settings, given.each)
        if given.step == "solve"
        else report(families, given.tables, settings)
    )
    for text in lines:
        print(text, flush=True)


if __name__ == "__main__":
    main()
