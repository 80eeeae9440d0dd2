"""The race as it runs: its joint distribution is the one that the audit computes, and its intervals hold."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from recuse.annotation import Participant
from recuse.krelation.build import from_expressions
from recuse.krelation.contributions import Contributions
from recuse.krelation.encode import Derivations, encode_groups
from recuse.krelation.relation import KRelation, Shape
from recuse.mechanism import presets
from recuse.mechanism.cell import Laplace, Staircase
from recuse.mechanism.clipped import Clipped, clipped
from recuse.mechanism.grid import GridNoise
from recuse.mechanism.levels import TauTable, beyond
from recuse.mechanism.prepared import Prepared, prepare
from recuse.mechanism.racing import Racing, enter
from recuse.mechanism.reach import at_any_level
from recuse.mechanism.release import CONFIDENCE, Release
from recuse.privacy import Epsilon
from recuse.solver.fast import fast_programs
from recuse.solver.interval import Interval
from support.neighbours import star
from support.noise import Seeded
from support.prepared import prepared
from support.races import Law, level_of, scores_of, winning

ONE = Epsilon.of(1)
RACE = presets.race_by_withdrawals(ONE)
LEVELS = 6


def told(release: Release, subject: Prepared, mechanism: Racing) -> tuple[int, int]:
    """Return the level that won and the noise that was added, from what was released."""
    ladder = mechanism.levels.ladder
    added = subject.noise(mechanism.epsilon, ladder.taus[0], mechanism.cell)
    tau = release.noise_scale / added.spread() * 1000
    level = ladder.taus.index(tau)
    lift = mechanism.offset * tau / mechanism.epsilon if level > 0 else 0
    (place,) = subject.at(tau)
    return level, int((release.value - lift) / subject.grid(tau).step) - place


def test_level_and_noise_have_the_exact_joint_distribution():
    """Chi-square over (level, level of its noise): what the audit is about is what runs."""
    relation, runs, source = tied(3), 1500, Seeded(5)
    subject, noise = prepared(relation), Staircase(Fraction(1), 1010)
    counts: Counter[tuple[int, int]] = Counter()
    for _ in range(runs):
        level, drawn = told(RACE.release(subject, source), subject, RACE)
        counts[level, int(level_of(noise, np.array([drawn]))[0])] += 1
    law = Law.of(noise)
    scores = scores_of(relation, RACE.levels, float(1 / RACE.levels.moves()), LEVELS)
    expected = {
        (k, int(size)): runs * law.chances[int(size)] * chance
        for k in range(LEVELS)
        for size, chance in zip(
            law.levels[:8], winning(scores, [law] * LEVELS, lambda ls: ls, k, law.levels[:8]), strict=True
        )
    }
    cells = {cell: e for cell, e in expected.items() if e > 5}
    statistic = sum((counts[cell] - e) ** 2 / e for cell, e in cells.items())
    assert statistic < chi2.isf(1e-6, len(cells))
    assert sum(cells.values()) > 0.95 * runs


@pytest.mark.parametrize("noise", [Staircase(Fraction(1, 2), 11), Laplace(Fraction(1, 2), 5)])
def test_a_size_and_then_a_point_is_a_draw_of_the_noise(noise: GridNoise):
    """Lemma Z, by chi-square against the probabilities themselves."""
    runs, source = 6000, Seeded(3)
    entries = noise.entries(runs, source)
    drawn = np.array([entries.point(place, source)[0] for place in range(runs)])
    numbers = np.arange(-400, 401)
    weights = np.exp(-float(noise.epsilon) * level_of(noise, numbers))
    expected = runs * weights / weights.sum()
    counts = np.array([(drawn == number).sum() for number in numbers])
    many = expected > 8
    statistic = float(((counts - expected) ** 2 / expected)[many].sum())
    assert statistic < chi2.isf(1e-6, many.sum())
    off = runs * weights**1.3 / (weights**1.3).sum()
    assert float(((counts - off) ** 2 / off)[many].sum()) > chi2.isf(1e-6, many.sum()), "30 % is noticed"


class Recording:
    """Programs that note for which τ an answer was asked for."""

    def __init__(self, programs) -> None:
        self.programs, self.asked = programs, []

    def __getattr__(self, name):
        return getattr(self.programs, name)

    def truncated(self, tau: float, width: float) -> Interval:
        self.asked.append(tau)
        return self.programs.truncated(tau, width)


def test_the_answer_is_the_same_whatever_was_drawn():
    """Different draws that share a winner have one X': the place without noise depends on τ alone."""
    subject, found = prepare(star(40), fast_programs), {}
    for seed in range(60):
        source = Seeded(seed)
        release = RACE.release(subject, source)
        tau = release.noise_scale / Staircase(Fraction(1), 1010).spread() * 1000
        found.setdefault(tau, set()).add(subject.at(tau))
    assert len(found) > 1
    assert all(len(places) == 1 for places in found.values())
    fresh = prepare(star(40), fast_programs)
    assert all(places == {fresh.at(tau)} for tau, places in found.items())


def solved(relation: KRelation) -> list[tuple[object, ...]]:
    """Return what a solver is handed of both signs."""
    seen: list[tuple[object, ...]] = []

    def solver(tuples, participants, prices=None):
        arrays = (tuples.weights, *tuples.levels, tuples.members)
        seen.append((participants, *(array.tolist() for array in arrays)))
        return fast_programs(tuples, participants, prices)

    prepare(relation, solver).at(Fraction(1))  # a level at which loads alone decide nothing
    assert seen
    return seen


ROWS = [(a, b, w) for w, (a, b) in enumerate(combinations("hazbcqd", 2), 1)]


def table_of(rows: list[tuple[str, str, int]]) -> Derivations:
    one, other, weights = zip(*rows, strict=True)
    table = pyarrow.table({"a": one, "b": other, "weight": weights})
    return Derivations(table, [("k", ("a",)), ("k", ("b",))])


def in_group(rows: list[tuple[str, str, int]], others: list[tuple[str, str, int]]) -> KRelation:
    """Return the relation of rows beside another group's."""
    groups = np.array([0] * len(rows) + [1] * len(others))
    found = encode_groups([table_of(rows + others)], [groups], 2, shape=Shape.CONJUNCTIONS, signed=False)
    return found[0]


def test_what_is_solved_depends_on_neither_the_order_of_rows_nor_other_groups():
    """Lemma P: permuted rows, owners in the other order, other groups: the same programs, the same X'."""
    expected = in_group(ROWS, [])
    alone, whole = solved(expected), prepare(expected, fast_programs)
    turned = [(b, a, w) for a, b, w in ROWS]
    others = [("0", "z", 9), ("m", "zz", 2**40), ("a", "n", 3)]
    for found in (
        in_group(ROWS[::-1], []),
        in_group(turned, []),
        in_group(ROWS, others),
        in_group(turned[::-1], others),
    ):
        assert solved(found) == alone
        subject = prepare(found, fast_programs)
        assert all(subject.at(Fraction(tau)) == whole.at(Fraction(tau)) for tau in (1, 3, 8, 24))


def test_a_name_that_keeps_its_place_changes_nothing():
    """Participants renamed in order: numbers, tuples and X' stay as they are."""
    renamed = [("x" + a, "x" + b, w) for a, b, w in ROWS]
    assert solved(in_group(ROWS, [])) == solved(in_group(renamed, []))


def test_only_the_winners_answer_is_asked_for():
    """By withdrawals no X is solved in the choice, so the one of the answer is the only one."""
    subject = prepare(star(40), fast_programs)
    recording = Recording(subject.positive)
    RACE.release(replace(subject, positive=recording), Seeded(1))
    assert len(recording.asked) == 1


# ------------------------------------------------------------------ intervals


@given(st.integers(-8, 0), st.integers(1, 90))
def test_what_may_fail_adds_up_to_what_may_fail_in_a_release(first, count):
    """Lemma I3."""
    levels = range(first, first + count)
    assert abs(sum(1 - at_any_level(levels, k) for k in levels) - (1 - CONFIDENCE)) < 1e-12


def tied(levels: int) -> KRelation:
    """Return loads with which the first levels tie: as many people above each as its lead in the prior."""
    rows, above = [], 0
    ladder, weight = RACE.levels.ladder, float(1 / RACE.levels.moves())
    for level in range(levels, 0, -1):
        lead = float(RACE.levels.prior(levels) - RACE.levels.prior(level - 1)) * np.log(2) / weight
        while above < round(lead):
            rows.append((Participant(above), int(ladder.tau(level))))
            above += 1
    return from_expressions(rows, Shape.CONJUNCTIONS, signed=False)


@pytest.mark.parametrize("levels", [0, 3, 6])
def test_the_interval_holds_where_levels_tie(levels):
    """The worst case of lemma I3: whoever has a large noise wins."""
    subject, source, runs, inside = prepared(tied(levels)), Seeded(levels), 500, 0
    for _ in range(runs):
        release = RACE.release(subject, source)
        tau = release.noise_scale / Staircase(Fraction(1), 1010).spread() * 1000
        exact = subject.at(tau)[0] * subject.grid(tau).step
        inside += release.interval[0] <= exact <= release.interval[1]
    assert inside >= 0.925 * runs


# ------------------------------------------------------------------ a public bound


@pytest.mark.parametrize(("bound", "taus"), [(1, [1]), (2, [1, 2]), (8, [1, 3, 8]), (9, 4)])
def test_levels_end_at_a_public_bound(bound, taus):
    ladder = replace(presets.STRIDES, bound=Fraction(bound))
    assert ladder.taus[-1] == bound
    assert len(ladder.taus) == taus if isinstance(taus, int) else list(ladder.taus) == taus


def test_with_one_level_nothing_is_chosen_and_the_interval_is_as_narrow_as_the_noise():
    ladder = replace(presets.STRIDES, bound=Fraction(1))
    race = replace(RACE, levels=replace(RACE.levels, ladder=ladder))
    rows = [(Participant(i), 1) for i in range(50)]
    subject = prepared(from_expressions(rows, Shape.CONJUNCTIONS, signed=False))
    release = race.release(subject, Seeded(1))
    reach = Staircase(Fraction(1), 1010).reach(CONFIDENCE)
    assert release.interval[1] - release.interval[0] == Fraction(2 * (reach + 10) + 1, 1000)


def test_a_load_above_the_bound_costs_accuracy_only():
    """A key that is not true: X(U) is released, to which a heavy participant adds U at most."""
    ladder = replace(presets.STRIDES, bound=Fraction(1))
    race = replace(RACE, levels=replace(RACE.levels, ladder=ladder))
    heavy = from_expressions([(Participant(0), 1000), (Participant(1), 1)], Shape.CONJUNCTIONS, signed=False)
    assert abs(race.release(prepared(heavy), Seeded(1)).value - 2) < 40


def test_a_ladder_has_its_least_ratio():
    assert presets.STRIDES.ratio == Fraction(8, 3)
    assert TauTable(Fraction(1), (Fraction(1),), 4, 0, 5).ratio == 4


@pytest.mark.parametrize("added", [Laplace(Fraction(1), 100), Laplace(Fraction(1, 3), 7)])
def test_what_enters_is_helped_by_a_part_of_what_its_noise_costs(added):
    entrants = enter([added] * 5, Fraction(1, 2), Seeded(1))
    for one in entrants:
        (drawn,) = one.point(Seeded(2))
        assert one.boost == Fraction(1, 2) * added.epsilon * abs(drawn) / added.sensitivity
    assert any(one.boost for one in entrants)


# ------------------------------------------------------------------ whom many cells spare

quarters = st.integers(0, 40).map(lambda number: Fraction(number, 4))


@given(quarters, st.integers(0, 4).map(lambda number: Fraction(number, 4)), quarters.filter(bool))
def test_what_exceeds_a_number_moves_no_farther_than_all_of_it(least, move, spared):
    """Theorem R11; the twin that is not cut at zero gives more than there is."""

    def exceeding(found):
        return beyond(lambda _, __: (float(found), found), spared)(0, 1.0)

    (low, one), (_, other) = exceeding(least), exceeding(least + move)
    assert 0 <= one <= other <= one + move
    assert one == max(0, least - spared)
    assert low <= one, "a level is skipped only where it has lost"


def test_how_much_is_worth_finding_counts_from_there():
    """The inner penalty may stop above what is spared and what the level can bear together."""
    asked = []
    beyond(lambda _, stop: asked.append(stop) or (9.0, Fraction(9)), Fraction(5))(0, 2.0)
    assert asked[0] >= 7


def many(groups: int, people: int = 400) -> Clipped:
    """Return people with one to 40 rows, in as many groups."""
    rows = np.arange(people) % 40 + 1
    owners = np.repeat(np.arange(people), rows)
    made = Contributions.of(
        owners,
        np.arange(len(owners)) % groups,
        np.ones(len(owners), np.int64),
        participants=people,
        constants=np.zeros(groups, object),
        signed=False,
    )
    return clipped(made, fast_programs)


def test_the_more_groups_the_less_noise_is_bought_with_truncation():
    few, more = many(1), many(300)
    assert RACE.release_cells(few, Seeded(1))[0].cut >= 24
    spared = [RACE.release_cells(more, Seeded(seed))[0].cut for seed in range(5)]
    heard = [replace(RACE, spared=Fraction(0)).release_cells(more, Seeded(seed))[0].cut for seed in range(5)]
    assert sorted(spared)[2] < sorted(heard)[2]
    assert RACE.dial_of(more).answer == 1, "and the noise has all of ε"
