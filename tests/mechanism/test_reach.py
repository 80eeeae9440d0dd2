"""The noise of a winner, given that it won: exactly, by listing all vectors of a tiny grid (lemma I4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recuse.krelation.build import from_owners
from recuse.krelation.contributions import Contributions
from recuse.mechanism import presets
from recuse.mechanism.boxes import BoxLaplace, Norm
from recuse.mechanism.clipped import Clipped, clipped
from recuse.mechanism.cumulative import TotalledLaplace
from recuse.mechanism.grid import GridNoise
from recuse.mechanism.prepared import prepare
from recuse.mechanism.reach import at_any_level, of_winner
from recuse.mechanism.release import CONFIDENCE
from recuse.mechanism.vector import ManhattanLaplace
from recuse.privacy import Epsilon
from recuse.solver.fast import fast_programs
from support.noise import Seeded
from support.profiles import examples

FAR = 300
"""vectors farther out have a chance below e^{-12} even under the weakest noise here"""
RACE = presets.race_by_withdrawals(Epsilon.of(1))

Made = Callable[[Fraction, int], GridNoise]
FORMS: dict[str, Made] = {
    "manhattan": lambda rate, cells: ManhattanLaplace(rate, 1, cells),
    "totals": lambda rate, cells: TotalledLaplace(ManhattanLaplace(rate, 1, cells)),
    "hull": lambda rate, cells: BoxLaplace(Norm.HULL, rate, 1, cells),
    "cube": lambda rate, cells: BoxLaplace(Norm.CUBE, rate, 1, cells),
}


@cache
def vectors(form: str) -> tuple[np.ndarray, np.ndarray]:
    """Return all vectors of two cells near zero as released, and their norms."""
    found = np.indices((2 * FAR + 1,) * 2).reshape(2, -1).T - FAR
    if form == "hull":
        return found, np.maximum(0, found.max(axis=1)) - np.minimum(0, found.min(axis=1))
    if form == "cube":
        return found, np.abs(found).max(axis=1)
    norms = np.abs(found).sum(axis=1)
    return (np.cumsum(found, axis=1) if form == "totals" else found), norms


def missed(form: str, rate: float, boost: float, z: float, reaches: Sequence[int]) -> float:
    """Return the largest P(|i_g| > reach_g | the level wins), the others being z ahead of it."""
    released, norms = vectors(form)
    weights = np.exp(-rate * norms) * np.minimum(1, np.exp(boost * rate * norms - z))
    beyond = np.abs(released) > np.array(reaches)
    return float((weights @ beyond).max() / weights.sum())


def reaches(form: str, rate: Fraction, boost: Fraction) -> Sequence[int]:
    return FORMS[form]((1 - boost) * rate, 2).reaches(CONFIDENCE)


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=examples(30, least=4), deadline=None)
@given(
    st.fractions(Fraction(1, 12), 2, max_denominator=20),
    st.fractions(0, Fraction(1, 2), max_denominator=20),
    st.floats(-1, 30),
)
def test_the_reach_holds_whatever_a_winner_had_to_beat(form, rate, boost, z):
    """Lemma I4, with brute force as judge."""
    found = reaches(form, rate, boost)
    assert missed(form, float(rate), float(boost), z, found) <= 1 - CONFIDENCE + 1e-9


@pytest.mark.parametrize("form", ["manhattan", "hull", "cube"])
def test_the_reach_of_a_draw_would_not_hold_for_a_winner(form):
    """The broken twin: noise that needed its boost is larger."""
    rate, boost = Fraction(1, 25), Fraction(1, 4)
    assert missed(form, 0.04, 0.25, 5, reaches(form, rate, Fraction(0))) > 0.075
    assert missed(form, 0.04, 0.25, 5, reaches(form, rate, boost)) <= 0.05


@pytest.mark.parametrize("form", FORMS)
def test_a_winner_that_beat_nobody_has_noise_as_it_is_drawn(form):
    """The judge is judged: without a lead of the others the boost changes nothing."""
    found = reaches(form, Fraction(1), Fraction(0))
    assert missed(form, 1.0, 0.5, -50, found) == missed(form, 1.0, 0.0, 0, found)


def test_certified_penalties_have_their_part_in_what_may_fail():
    """A penalty that is larger where the noise is small, within its slack: the worst that lemma I4 allows."""
    slack, rate, boost = 0.02, 1.0, 0.4
    found = FORMS["manhattan"](Fraction(3, 5), 2).reaches(of_winner(Fraction(1)))
    released, norms = vectors("manhattan")
    beyond = (np.abs(released) > np.array(found)).any(axis=1)
    weights = np.exp(-rate * norms) * np.minimum(1, np.exp(boost * rate * norms - 20))
    weights *= np.where(beyond, np.exp(slack), 1)
    assert float((weights @ (np.abs(released) > np.array(found))).max() / weights.sum()) <= 1 - CONFIDENCE


# ------------------------------------------------------------------ which of the two


def test_with_one_level_nothing_was_beaten():
    ladder = replace(presets.STRIDES, bound=Fraction(1))
    race, subject = replace(RACE, levels=replace(RACE.levels, ladder=ladder)), alike(12)
    assert at_any_level(range(1), 0) == CONFIDENCE
    found = race.release_cells(subject, Seeded(1))[0]
    reach = subject.noise(Fraction(1), Fraction(1), RACE.cell).reach(CONFIDENCE)
    assert found.interval[1] - found.interval[0] == 2 * reach * subject.grid(Fraction(1)).step


def alike(groups: int) -> Clipped:
    """Return people with loads that make levels tie, spread over groups."""
    people = 400
    loads = np.ceil(8.0 ** (np.arange(people) % 40 / 10)).astype(np.int64)
    zeros = np.zeros(groups, object)
    owners = np.arange(people)
    made = Contributions.of(
        owners, owners % groups, loads, participants=people, constants=zeros, signed=False
    )
    return clipped(made, fast_programs)


@pytest.mark.parametrize(("groups", "most"), [(2, 1.01), (4, 0.99), (12, 0.81), (36, 0.71)])
def test_the_more_groups_the_narrower_than_what_may_fail_at_any_level(groups, most):
    subject, ladder = alike(groups), RACE.levels.ladder
    found = RACE.release_cells(subject, Seeded(groups))[0]
    tau = found.cut
    own = subject.noise(RACE.dial_of(subject).answer, tau, RACE.cell)
    union = own.reach(at_any_level(ladder.levels, ladder.taus.index(tau)))
    width = (found.interval[1] - found.interval[0]) / subject.grid(tau).step
    assert width / 2 <= most * union


def test_the_intervals_of_groups_hold():
    """A few runs; `lab/experiments/coverage.py` has a thousand of every form and size."""
    groups, runs, held = 12, 60, 0
    subject, source = alike(groups), Seeded(12)
    for _ in range(runs):
        found = RACE.release_cells(subject, source)
        exact = [place * subject.grid(found[0].cut).step for place in subject.at(found[0].cut)]
        held += sum(one.interval[0] <= at <= one.interval[1] for one, at in zip(found, exact, strict=True))
    assert held > 0.92 * groups * runs


def test_where_all_of_the_noise_takes_part_what_may_fail_at_any_level_is_kept():
    """Noise with nothing left of its ε dominates nothing: lemma I4 says nothing of one number."""
    relation = from_owners(np.full(40, 3), np.arange(40)[:, None], participants=40, signed=False)
    subject = prepare(relation, fast_programs)
    found = RACE.release(subject, Seeded(3))
    level = RACE.levels.ladder.taus.index(found.cut)
    reach = subject.noise(Fraction(1), found.cut, RACE.cell).reach(
        at_any_level(RACE.levels.ladder.levels, level)
    )
    assert found.interval[1] - found.interval[0] == (2 * (reach + 10) + 1) * found.cut / 1000
