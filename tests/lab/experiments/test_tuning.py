"""The default's error as computed is the error that the mechanism itself has."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from recuse.graphs.enumerate import TRIANGLES, occurrences, owned_by_edges, owned_by_nodes
from recuse.lab.experiments import accuracy, tuning
from recuse.lab.experiments.accuracy import random_graph
from recuse.lab.experiments.simulated import SimulatedNoise
from recuse.lab.experiments.tuning import (
    Profile,
    first_version,
    level_chances,
    median_error,
    staircase_quantiles,
)
from recuse.mechanism.prepared import prepare
from recuse.mechanism.presets import by_withdrawals
from recuse.mechanism.selective import choose_level
from recuse.privacy import Epsilon
from recuse.solver.fast import fast_programs
from recuse.solver.memo import memoising
from support.mechanisms import run

RUNS = 2000
FURTHER = [(by_withdrawals, "2"), (first_version, "0.5"), (first_version, "2")]
"""the same computation with other numbers: by night"""


@pytest.fixture(scope="module", params=[owned_by_nodes, owned_by_edges])
def prepared(request):
    found = occurrences(random_graph(120, seed=5), TRIANGLES)
    return prepare(request.param(found), memoising(fast_programs))


@pytest.mark.parametrize(
    ("preset", "epsilon"),
    [
        (by_withdrawals, "0.5"),
        *(pytest.param(*case, marks=pytest.mark.slow) for case in FURTHER),
    ],
)
def test_levels_win_as_often_as_computed(prepared, preset, epsilon):
    parameters, noise = preset(Epsilon.of(epsilon)), SimulatedNoise(1)
    won = Counter(
        choose_level(prepared.signs, parameters.levels, parameters.choice_epsilon, noise) for _ in range(RUNS)
    )
    profile = Profile.of(prepared)
    chances = level_chances(parameters, np.concatenate((profile.withdrawals, np.zeros(tuning.BEYOND))))
    assert math.isclose(chances.sum(), 1)
    for level, chance in enumerate(chances):
        assert abs(won[level] / RUNS - chance) <= 4.5 * math.sqrt(chance * (1 - chance) / RUNS) + 0.005


@pytest.mark.parametrize("epsilon", ["0.5", pytest.param("2", marks=pytest.mark.slow)])
def test_the_median_is_that_of_the_mechanism(prepared, epsilon):
    parameters, noise = by_withdrawals(Epsilon.of(epsilon)), SimulatedNoise(2)
    truth = float(prepared.relation.true_answer())
    answers = np.array([float(run(prepared, parameters, noise).value) for _ in range(RUNS)])
    errors = np.sort(np.abs(np.maximum(0, answers) - truth)) / truth
    spread = int(2.25 * math.sqrt(RUNS))  # 4.5 standard deviations of how many lie below the median
    low, high = errors[RUNS // 2 - spread], errors[RUNS // 2 + spread]
    computed = median_error(Profile.of(prepared), parameters)
    assert 0.98 * low <= computed <= 1.02 * high
    noisier = replace(parameters, answer_epsilon=parameters.answer_epsilon / 4)
    assert median_error(Profile.of(prepared), noisier) > 1.02 * high, "a twin with other noise is told apart"


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_quantiles_are_those_of_staircase_noise(epsilon):
    noise = staircase_quantiles(epsilon)
    mean = math.exp(epsilon / 2) / (math.exp(epsilon) - 1)
    assert math.isclose(np.abs(noise).mean(), mean, rel_tol=0.02)
    assert np.allclose(noise, -noise[::-1])
    assert np.all(np.diff(noise) > 0)


def test_candidates_are_compared_on_both_halves(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(accuracy, "RANDOM_SIZES", (200,))
    monkeypatch.setattr(tuning, "EPSILONS", ("1", "2"))
    (tmp_path / "ring.txt").write_text(
        "".join(f"{i} {(i + step) % 90}\n" for i in range(90) for step in (1, 2))
    )
    tuning.main(["--graphs", str(tmp_path), "--most", "600"])
    printed = capsys.readouterr().out.splitlines()
    assert "ring triangles (edge), in use" in "".join(printed)
    assert sum("where they were found" in line for line in printed) == 2
    assert sum("on other graphs" in line for line in printed) == 2
