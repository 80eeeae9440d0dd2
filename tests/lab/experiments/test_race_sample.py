"""What is computed of the race is what it does, and the made forum is as it is described."""

from __future__ import annotations

import numpy as np
import pytest

from recuse.annotation import Participant
from recuse.engines.bare import bare
from recuse.krelation.build import from_expressions
from recuse.krelation.relation import Shape
from recuse.lab.experiments import forum, race_sample
from recuse.lab.experiments.computed import Rows, race_errors
from recuse.lab.experiments.simulated import SimulatedNoise
from recuse.mechanism.presets import race_by_withdrawals
from recuse.policy import Policy
from recuse.privacy import Epsilon
from recuse.session.session import connect
from support.prepared import prepared
from support.profiles import some

RUNS = 600


@pytest.mark.parametrize("epsilon", some(["0.5", "2"], 0.5))
def test_computed_quantiles_are_those_of_the_mechanism(epsilon):
    loads = np.concatenate((np.full(150, 2.0), np.full(20, 9.0), [70.0]))
    rows = [(Participant(i), int(load)) for i, load in enumerate(loads)]
    subject = prepared(from_expressions(rows, Shape.CONJUNCTIONS, signed=False))
    race, noise, truth = race_by_withdrawals(Epsilon.of(epsilon)), SimulatedNoise(3), float(loads.sum())
    answers = np.array([float(race.release(subject, noise).value) for _ in range(RUNS)])
    errors = np.sort(np.abs(np.maximum(0, answers) - truth)) / truth
    computed = race_errors(Rows.of_loads(loads, race), race)
    for part, found in ((0.5, computed.median), (0.9, computed.p90)):
        spread = int(4.5 * np.sqrt(RUNS * part * (1 - part)))
        place = int(part * RUNS)
        assert 0.97 * errors[place - spread] <= found <= 1.03 * errors[min(place + spread, RUNS - 1)]
    twin = race_by_withdrawals(Epsilon(Epsilon.of(epsilon).value / 3))
    assert race_errors(Rows.of_loads(loads, twin), twin).p90 > 1.2 * computed.p90


def test_the_forum_is_one_seed_and_its_questions_are_answered(tmp_path):
    path = tmp_path / "forum.duckdb"
    forum.main([str(path), "--exponent", "0.9", "--share", "0.002"])
    found, again = (forum.forum(0.9, share=0.002) for _ in range(2))
    assert all((found[name]["id"] == again[name]["id"]).all() for name in forum.SIZES)
    assert {name: len(table["id"]) for name, table in forum.forum(0.6).items()} == dict(forum.SIZES)
    assert len(forum.questions()) == len({question.sql for question in forum.questions()}) == 40
    policy = Policy.parse(path.with_suffix(".toml").read_text() + "[budget]\nepsilon = 100\n")
    with bare(path) as connection, connect(connection, policy) as session:
        for question in forum.questions():
            session.compile(question.sql)
        answer = session.ask(forum.questions()[0].sql, 50).value
    assert abs(answer - 180) < 40


def test_loads_of_the_forum_are_those_of_its_joins():
    (name, loads), *_ = race_sample.forum_loads()
    assert name == "forum 0.6 posts"
    assert loads.sum() == forum.SIZES["posts"]
