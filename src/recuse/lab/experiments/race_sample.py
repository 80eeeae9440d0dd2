"""How far is the race from an oracle? Computed, not sampled, on made loads and on the made forum's own joins.

    python -m recuse.lab.experiments.race_sample --seed 1

Rows here have one owner, so that the penalties are counts of loads and nothing is solved. Beside the default
stand tables of levels with other ratios, and the split. NOT PRIVATE.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from recuse.krelation.relation import Floats
from recuse.lab.experiments.accuracy_report import INFORMATIVE, geometric_mean
from recuse.lab.experiments.computed import Errors, Rows, oracle_median, race_errors, split_errors
from recuse.lab.experiments.forum import EXPONENTS, FACTS, forum
from recuse.mechanism import presets
from recuse.mechanism.levels import TauTable
from recuse.mechanism.racing import Racing
from recuse.privacy import Epsilon

EPSILONS = ("0.1", "0.5", "1", "2")
ONE = Fraction(1)
TABLES = {
    "ratio 2": (TauTable(ONE, (ONE,), 2, 0, 127), Fraction(1)),
    "1, 17/6, 8": (replace(presets.STRIDES, rungs=(ONE, Fraction(17, 6))), presets.STRIDE),
    "1, 3, 8": (presets.STRIDES, presets.STRIDE),
    "ratio 4": (TauTable(ONE, (ONE,), 4, 0, 63), Fraction(2)),
}
GOOD = 0.05
"""Where the oracle's median is below this, an answer that is off by half is a collapse."""


def race(epsilon: Epsilon, table: str) -> Racing:
    """Return the default with another table of levels: the prior is the same a doubling."""
    found, (ladder, stride) = presets.race_by_withdrawals(epsilon), TABLES[table]
    per = stride / presets.STRIDE
    levels = found.levels
    levels = replace(
        levels, ladder=ladder, knee=levels.knee / per, gentle=levels.gentle * per, steep=levels.steep * per
    )
    return replace(found, levels=levels)


def made_loads(seed: int) -> Iterator[tuple[str, Floats]]:
    """Yield loads of made relations: Zipf, alike, products of fan-outs, and a handful far above the rest."""
    random = np.random.default_rng(seed)
    for people in (1500, 30_000):
        ranks = 1.0 + np.arange(people)
        each = int(random.integers(3, 30))
        for exponent in EXPONENTS:
            chances = ranks**-exponent
            drawn = random.multinomial(people * each, chances / chances.sum())
            yield f"zipf {exponent} {people}", drawn.astype(np.float64)
        yield f"alike {people}", random.poisson(each, people).astype(np.float64)
        weights = ranks**-0.8 / (ranks**-0.8).sum()
        product = random.poisson(each * people * weights) * random.poisson(3 * people * weights)
        yield f"product {people}", product.astype(np.float64)
        tail = np.full(each // 2 + 2, 20.0 * each)
        yield f"clique {people}", np.concatenate((random.poisson(3, people).astype(np.float64), tail))


def forum_loads() -> Iterator[tuple[str, Floats]]:
    """Yield how many rows every user has in the forum's stars around users, at all exponents."""
    stars: list[tuple[str, ...]] = [(fact,) for fact in FACTS]
    stars += [("posts", "comments"), ("posts", "badges"), ("comments", "badges"), ("votes", "badges")]
    stars += [("posts", "comments", "badges"), ("posts", "votes", "badges"), FACTS]
    for exponent in EXPONENTS:
        tables = forum(exponent)
        users = len(tables["users"]["id"])
        each = {fact: np.bincount(tables[fact]["owner"], minlength=users) + 0.0 for fact in FACTS}
        for star in stars:
            yield f"forum {exponent} {' '.join(star)}", np.prod([each[fact] for fact in star], axis=0)


def cells(
    found: Iterator[tuple[str, Floats]], epsilons: Sequence[str]
) -> Iterator[tuple[str, str, float, Errors]]:
    """Yield mechanism, ε, the oracle's error and ours, where the oracle's is small enough to say anything."""
    for _, loads in found:
        owned = loads[loads > 0]
        for epsilon in map(Epsilon.of, epsilons):
            oracle = oracle_median(owned, float(epsilon.value))
            if oracle >= INFORMATIVE:
                continue
            text = str(float(epsilon.value))
            yield "split", text, oracle, split_errors(owned, presets.by_withdrawals(epsilon))
            for table in TABLES:
                rule = race(epsilon, table)
                yield table, text, oracle, race_errors(Rows.of_loads(owned, rule), rule)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print errors over the oracle's, tails over those of the split, and how often answers collapse."""
    parser = argparse.ArgumentParser(description="The race on made loads, computed. NOT PRIVATE.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--forum", action="store_true", help="the made forum at epsilon 1 instead")
    given = parser.parse_args(arguments)
    found = list(cells(forum_loads(), ("1",)) if given.forum else cells(made_loads(given.seed), EPSILONS))
    beside = [one for name, _, _, one in found if name == "split"]
    print("levels      median/oracle   p90   p99 over the split's   off by half   cells")
    for name in ("split", *TABLES):
        ours = [(oracle, errors) for table, _, oracle, errors in found if table == name]
        pairs = list(zip((errors for _, errors in ours), beside, strict=True))
        collapsed = [errors.half for oracle, errors in ours if oracle < GOOD]
        print(
            f"{name:<12}{geometric_mean([e.median / o for o, e in ours]):>13.2f}"
            f"{geometric_mean([a.p90 / b.p90 for a, b in pairs]):>6.2f}"
            f"{geometric_mean([a.p99 / b.p99 for a, b in pairs]):>6.2f}"
            f"{100 * float(np.mean(collapsed)):>31.2f} %{len(ours):>8}"
        )


if __name__ == "__main__":
    main()
