"""Releases of aggregates: private by their exact distributions, one mechanism only, and right on average."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import pytest

from recuse.errors import ParameterError
from recuse.graphs.choices import k_stars, k_triangles
from recuse.graphs.protect import Protected
from recuse.krelation.choices import Choices
from recuse.krelation.relation import Growth
from recuse.mechanism.levels import deficit
from recuse.mechanism.mechanisms import NAMES, mechanism_for
from recuse.mechanism.parameters import LAST_DOUBLING, Score
from recuse.mechanism.prepared import Prepared, truncated
from recuse.mechanism.presets import DOUBLINGS, of_aggregate
from recuse.mechanism.selective import choose_level
from recuse.privacy import Epsilon
from recuse.solver.choices.programs import choice_programs
from recuse.solver.interval import Interval
from support.distributions import winning_probabilities, worst_log_ratio
from support.judges.choices import graph_of
from support.mechanisms import run
from support.noise import Seeded

LEVELS = 14
CLIQUE = list(combinations(range(7), 2))
HUB = [(0, leaf) for leaf in range(1, 30)] + [(leaf, leaf + 1) for leaf in range(1, 29)]
BOOK = [(0, 1)] + [(spine, page) for page in range(2, 25) for spine in (0, 1)]


def left(edges, leaver):
    return [edge for edge in edges if edge != leaver and leaver not in edge]


PAIRS = {
    "hub of stars": (k_stars, 3, Protected.NODE, HUB, 0),
    "hub of large stars": (k_stars, 8, Protected.NODE, HUB, 0),
    "edge of a clique": (k_stars, 3, Protected.EDGE, CLIQUE, (0, 1)),
    "end of a book": (k_triangles, 2, Protected.NODE, BOOK, 0),
    "spine of a book": (k_triangles, 2, Protected.EDGE, BOOK, (0, 1)),
}


def neighbours(name: str) -> tuple[Choices, Choices]:
    make, k, protect, edges, leaver = PAIRS[name]
    return tuple(make(graph_of(30, e), k, protect) for e in (edges, left(edges, leaver)))


def distribution(aggregate: Choices, epsilon: Epsilon, factor: float = 1.0) -> list[float]:
    """Return the exact probabilities of the levels; `factor` scales the score, for a broken twin."""
    parameters, programs = of_aggregate(epsilon, aggregate.shape), [choice_programs(aggregate)]
    rule = parameters.levels
    top = rule.top(programs)
    penalty = rule.penalty(programs, top)
    weight = factor * float(parameters.choice_epsilon / rule.moves())
    scores = []
    for k in rule.ladder.levels[:LEVELS]:
        lacking = float(penalty(k, math.inf)[1]) if k < top else 0.0
        scores.append(-weight * lacking - float(rule.prior(k)) * math.log(2))
    return winning_probabilities(scores)


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("epsilon", ["1/2", "2"])
def test_the_choice_of_tau_is_private(name, epsilon):
    loss = Epsilon(Fraction(epsilon))
    one, other = (distribution(part, loss) for part in neighbours(name))
    assert worst_log_ratio(one, other) <= float(of_aggregate(loss, Growth(1)).choice_epsilon) * (1 + 1e-9)


def test_a_score_three_times_as_strong_would_not_be():
    loss = Epsilon(Fraction(2))
    worst = max(
        worst_log_ratio(*(distribution(part, loss, factor=3.0) for part in neighbours(name)))
        for name in PAIRS
    )
    assert worst > float(of_aggregate(loss, Growth(1)).choice_epsilon)


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("tau", [1, 5, 20, 100])
def test_the_certified_answer_moves_by_no_more_than_the_noise_covers(name, tau):
    (whole, slack), (less, _) = (
        truncated(Prepared(part, choice_programs(part)), Fraction(tau)) for part in neighbours(name)
    )
    assert -slack * tau <= whole - less <= (1 + slack) * tau


def test_the_bound_on_its_movement_is_reached():
    """No less noise would do: the hub carries τ itself."""
    whole, less = (choice_programs(part).truncated(20.0, 0.01) for part in neighbours("hub of stars"))
    assert whole.low - less.high > 0.99 * 20


@pytest.mark.parametrize("name", PAIRS)
def test_a_level_is_skipped_only_if_its_deficit_is_as_large_as_foreseen(name):
    whole, _ = neighbours(name)
    first = -2
    ladder = replace(DOUBLINGS, first=first)
    top = ladder.reaching(choice_programs(whole).largest_load())
    exact = deficit([choice_programs(whole)], ladder, top)
    skipped = 0
    for solved in range(top - 2, first, -1):
        hasty = deficit([choice_programs(whole)], ladder, top)
        hasty(solved, math.inf)
        for k in range(first, solved):
            floor, _ = hasty(k, -1.0)  # whatever is foreseen is enough
            lowest = min(exact(j, math.inf)[1] for j in range(first, k + 1))
            assert floor <= lowest
            skipped += floor > 0
    assert skipped


def test_an_aggregate_is_answered_by_the_deficit_only():
    loss = Epsilon(Fraction(1))
    rule = mechanism_for("selective", loss, Growth(2))
    assert (rule.levels.score, rule.levels.ladder.ratio) == (Score.DEFICIT, 4)
    for name in set(NAMES) - {"selective", "split"}:
        with pytest.raises(ParameterError, match="one mechanism"):
            mechanism_for(name, loss, Growth(2))


@pytest.mark.parametrize(
    ("make", "k", "protect", "doublings"),
    [
        (k_stars, 2, Protected.NODE, 1),
        (k_stars, 10, Protected.NODE, 5),
        (k_stars, 10, Protected.EDGE, 1),
        (k_triangles, 5, Protected.EDGE, 2),
    ],
)
def test_the_levels_follow_from_the_pattern(make, k, protect, doublings):
    """The same for every graph, an empty one too."""
    for edges in ([], HUB):
        assert make(graph_of(30, edges), k, protect).shape == Growth(doublings)


@pytest.mark.parametrize("name", ["edge of a clique", "spine of a book"])
def test_with_a_large_epsilon_the_answer_is_near(name):
    whole, _ = neighbours(name)
    loss = Epsilon(Fraction(200))
    prepared, noise = Prepared(whole, choice_programs(whole)), Seeded(3)
    answers = [run(prepared, mechanism_for("selective", loss, whole.shape), noise).value for _ in range(5)]
    truth = whole.true_answer()
    assert abs(sorted(answers)[2] - truth) < truth / 20


class OneHub:
    """A hub that owns more than any double holds: X(τ) = τ at every level there is."""

    def largest_load(self) -> float:
        return math.inf

    def truncated(self, tau: float, width: float) -> Interval:
        return Interval(tau, tau)


def test_levels_end_where_the_theorem_says_however_large_the_loads_are():
    doublings = 50
    parameters = of_aggregate(Epsilon(Fraction(1)), Growth(doublings))
    levels = range(LAST_DOUBLING // doublings + 1)
    chosen = {
        choose_level([OneHub()], parameters.levels, parameters.choice_epsilon, Seeded(seed))
        for seed in range(20)
    }
    assert chosen <= set(levels)


def test_the_split_of_an_aggregate_is_the_same_as_the_default():
    loss = Epsilon(Fraction(1))
    assert mechanism_for("split", loss, Growth(2)) == of_aggregate(loss, Growth(2))
