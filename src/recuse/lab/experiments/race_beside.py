"""What else might spare a race its collapses and its heavy tails: replays of what was tried beside it.

    python -m recuse.lab.experiments.race_beside --tables TABLES [--runs 2000]

TABLES are those of `race_report solve`. NOT PRIVATE. All but `sides` are private themselves:

spared            a level's penalty forgives c/ε people: about a private quantile of loads
two τ             the race with part of ε, then X at a larger τ with the rest, taken if it is far above
shifted inverse   (Fang, Dong and Yi 2022): a number itself is drawn, by how many people must leave for it
people are known  the prior is steep where ε times a stated number of participants is large
sides             one owner a row: noise that is positive helps against lower levels, negative against higher
"""

from __future__ import annotations

import argparse
import math
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np

from recuse.krelation.relation import Floats
from recuse.lab.experiments import replay
from recuse.lab.experiments.accuracy_report import FLOOR, INFORMATIVE, LOSS, geometric_mean
from recuse.lab.experiments.race_report import GOOD, errors_of, tables
from recuse.lab.experiments.race_settings import RaceSettings
from recuse.lab.experiments.tables import Tabled
from recuse.mechanism import presets
from recuse.mechanism.foreknown import Foreknown
from recuse.mechanism.parameters import ANSWER_GRID
from recuse.mechanism.racing import Racing
from recuse.privacy import Epsilon

ReplayedAnswers = Callable[[Tabled, Fraction, np.random.Generator, int], Floats]

LARGEST_ANSWER, RATIO = 2.0**40, 1.05
"""the numbers among which the shifted inverse draws"""
FURTHEST, FINE = 400.0, 0.125
"""up to how many withdrawals H is known, and how finely"""


def default(table: Tabled, epsilon: Fraction) -> Racing:
    """Return the race as it is."""
    known = Foreknown(single=table.protect == "edge")
    return known.told(presets.race_by_withdrawals(Epsilon(epsilon)))


def spared(share: float, table: Tabled, epsilon: Fraction, random: np.random.Generator, runs: int) -> Floats:
    """Return what is released if c/ε people are forgiven."""
    mechanism = default(table, epsilon)
    found = replay.raced(table, mechanism, random, runs, share / float(epsilon))
    return found.answers(table, mechanism)


def two_taus(
    share: Fraction,
    higher: int,
    far: float,
    table: Tabled,
    epsilon: Fraction,
    random: np.random.Generator,
    runs: int,
) -> Floats:
    """Return the race's answer with part of ε, or X at a τ some levels up if that is far above it."""
    mechanism = default(table, epsilon * (1 - share))
    found = replay.raced(table, mechanism, random, runs)
    first = found.answers(table, mechanism)
    place = np.minimum(found.winner + higher, len(found.scored.taus) - 1)
    taus, left = found.scored.taus[place], float(epsilon * share)
    noise = replay.staircase(left, found.steps, random, (runs,))[1] / ANSWER_GRID
    second = found.scored.answers[place] + taus * noise
    return np.where(second - first > far * taus / left, second, first)


def known_people(
    few: float, steep: str, table: Tabled, epsilon: Fraction, random: np.random.Generator, runs: int
) -> Floats:
    """Return the race with a steep prior where ε times the number of participants is above `few`."""
    mechanism = default(table, epsilon)
    if float(epsilon) * table.participants >= few and table.protect != "edge":
        gentle = max(mechanism.levels.gentle, Fraction(steep) * presets.STRIDE)
        mechanism = replace(mechanism, levels=replace(mechanism.levels, gentle=gentle))
    return replay.raced(table, mechanism, random, runs).answers(table, mechanism)


def least_answers(table: Tabled) -> tuple[Floats, Floats]:
    """Return numbers of withdrawals s and H(s) = max_τ X(τ) - τs, from the τ that are known."""
    withdrawn = np.arange(0.0, FURTHEST + FINE, FINE)
    taus, answers = table.signs[0].points()
    return withdrawn, (answers[:, None] - taus[:, None] * withdrawn).max(axis=0)


def shifted_inverse(
    shift: float, table: Tabled, epsilon: Fraction, random: np.random.Generator, runs: int
) -> Floats:
    """Return numbers drawn by the exponential mechanism: near H(c/ε) if c is large enough.

    How many must leave for the answer to be y moves by one at most: a weight of ε/2.
    """
    withdrawn, least = least_answers(table)
    places = RATIO ** np.arange(math.ceil(math.log(LARGEST_ANSWER) / math.log(RATIO)))
    lengths = np.interp(-places, -least, withdrawn)  # H falls
    lengths = np.where(places >= least[0], 0.0, lengths)
    scores = -float(epsilon) / 2 * np.abs(lengths - shift / float(epsilon))
    chances = np.exp(scores - scores.max())
    return random.choice(places, runs, p=chances / chances.sum()) + table.constant


def sides(table: Tabled, epsilon: Fraction, random: np.random.Generator, runs: int) -> Floats:
    """Return the answers of runs that have a winner where each side of the noise helps against one side.

    NOT PRIVATE: some runs have none, and nothing is known that could be released then (race.md).
    """
    mechanism = default(table, epsilon)
    rule, scored = mechanism.levels, replay.Scored.of(table, mechanism.levels)
    steps = ANSWER_GRID + math.ceil(ANSWER_GRID / 100)
    sizes, noise = replay.staircase(float(epsilon), steps, random, (runs, len(scored.taus)))
    weight = float(epsilon / rule.moves())
    plain = random.exponential(size=sizes.shape) - weight * scored.penalties - scored.costs(rule)
    against_lower = plain + float(epsilon) * sizes * (noise > 0)
    against_higher = plain + float(epsilon) * sizes * (noise < 0)
    nobody = np.full((runs, 1), -np.inf)
    below = np.concatenate((nobody, np.maximum.accumulate(against_higher, axis=1)[:, :-1]), axis=1)
    above = np.maximum.accumulate(against_lower[:, ::-1], axis=1)[:, ::-1]
    above = np.concatenate((above[:, 1:], nobody), axis=1)
    wins = (against_lower > below) & (against_higher > above)
    won = np.flatnonzero(wins.any(axis=1))
    winner = wins[won].argmax(axis=1)
    found = replay.Raced(scored, winner, noise[won, winner], steps)
    return found.answers(table, mechanism)


TRIED: dict[str, ReplayedAnswers] = {
    "the race": partial(spared, 0.0),
    "spared: 0.5/ε": partial(spared, 0.5),
    "spared: 1/ε": partial(spared, 1.0),
    "two τ: a fifth of ε one level up": partial(two_taus, Fraction(1, 5), 1, 2.0),
    "two τ: a third of ε two levels up": partial(two_taus, Fraction(1, 3), 2, 2.0),
    "two τ: half of ε two levels up": partial(two_taus, Fraction(1, 2), 2, 3.0),
    "shifted inverse, c = 16": partial(shifted_inverse, 16.0),
    "shifted inverse, c = 24": partial(shifted_inverse, 24.0),
    "people are known: 3.5 from εn = 100": partial(known_people, 100.0, "3.5"),
    "people are known: 4.5 from εn = 300": partial(known_people, 300.0, "4.5"),
}
ONE_OWNER: dict[str, ReplayedAnswers] = {"sides (runs with a winner)": sides}


@dataclass(frozen=True, slots=True)
class Beside:
    """A cell: the oracle's error, that of f - H(4/ε), and a mechanism's median, p90, p99 and collapses."""

    oracle: float
    bound: float
    errors: tuple[float, float, float, float]


def beside(table: Tabled, text: str, answer: ReplayedAnswers, runs: int) -> Beside:
    """Return a cell: one seed for all that is tried, and errors of at most all of the answer."""
    random = np.random.default_rng(zlib.crc32(f"{table.name} {table.protect} {text}".encode()))
    epsilon = Epsilon.of(text).value
    answers = np.minimum(replay.clamped(table, answer(table, epsilon, random, runs)), 2 * table.truth)
    withdrawn, least = least_answers(table)
    lost = table.signs[0].whole - float(np.interp(4 / float(epsilon), withdrawn, least))
    return Beside(replay.oracle(table, text), lost / max(1.0, table.truth), errors_of(table, answers))


def compared(words: str, cells: Sequence[Beside], race: Sequence[Beside]) -> str:
    """Return the figures of some cells as a line, beside those of the race."""

    def over(place: int) -> float:
        ratios = (
            max(FLOOR, mine.errors[place]) / max(FLOOR, its.errors[place])
            for mine, its in zip(cells, race, strict=True)
        )
        return geometric_mean(list(ratios))

    good = [cell for cell in cells if cell.oracle < GOOD]
    lost = sum(
        max(FLOOR, mine.errors[0]) > LOSS * max(FLOOR, its.errors[0])
        for mine, its in zip(cells, race, strict=True)
    )
    heavy = [max(FLOOR, c.errors[0]) / max(FLOOR, c.bound) for c in cells if c.bound > c.oracle]
    figures = (
        f"{geometric_mean([max(FLOOR, c.errors[0]) / max(FLOOR, c.oracle) for c in cells]):.2f}",
        *(f"{over(place):.2f}" for place in (0, 1, 2)),
        f"{np.mean([cell.errors[3] for cell in good]):.2%}" if good else "–",
        f"{lost}",
        f"{geometric_mean(heavy):.2f}" if heavy else "–",
    )
    return f"| {words} | {len(cells)} | " + " | ".join(figures) + " |"


HEAD = (
    "| | cells | median / oracle | median / the race's | p90 / the race's | p99 / the race's | off by half "
    "| lose to the race by > 1.25 | median / (f - H(4/ε)) |"
)


def tried(folder: Path, runs: int) -> Iterator[str]:
    """Yield what was tried, on graphs by protection and on the forum, where one owner a row is alone too."""
    epsilons = RaceSettings.read().epsilons
    yield HEAD
    yield "|---" * HEAD.count(" |") + "|"
    graphs, forum = list(tables(folder, "graphs")), list(tables(folder, "forum"))
    alone = [table for table in forum if not table.name.partition(" ")[2].startswith(PAIRED)]
    parts = {
        "nodes": ([t for t in graphs if t.protect == "node"], epsilons["graphs"], TRIED),
        "edges": ([t for t in graphs if t.protect == "edge"], epsilons["graphs"], TRIED),
        "forum": (forum, epsilons["forum"], TRIED),
        "forum, one owner": (alone, epsilons["graphs"], {"the race": TRIED["the race"], **ONE_OWNER}),
    }
    for words, (known, texts, tries) in parts.items():
        cells = [(table, text) for table in known for text in texts]
        informative = [one for one in cells if replay.oracle(*one) < INFORMATIVE]
        race: list[Beside] = []
        for name, answer in tries.items():
            found = [beside(table, text, answer, runs) for table, text in informative]
            race = race or found
            if found:
                yield compared(f"{words}: {name}", found, race)


PAIRED = ("star posts comments", "star posts votes", "chain")
"""the forum's joins whose rows have two owners"""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="What was tried beside the race. NOT PRIVATE.")
    parser.add_argument("--tables", type=Path, required=True, help="where tables are kept")
    parser.add_argument("--runs", type=int, default=2000)
    given = parser.parse_args()
    for text in tried(given.tables, given.runs):
        print(text, flush=True)


if __name__ == "__main__":
    main()
