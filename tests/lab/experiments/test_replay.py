"""Replays from a table have the errors of the mechanisms themselves; tables are kept, forums counted."""

from __future__ import annotations

from fractions import Fraction

import duckdb
import numpy as np
import pyarrow
import pytest
from scipy.stats import ks_2samp

from recuse.graphs.enumerate import TRIANGLES, occurrences, owned_by_nodes
from recuse.lab.comparators.r2t import R2T
from recuse.lab.experiments import race_report, replay
from recuse.lab.experiments.accuracy import random_graph
from recuse.lab.experiments.contestants import answering
from recuse.lab.experiments.disjunctions import disjunctions, distinct
from recuse.lab.experiments.forum import forum, questions
from recuse.lab.experiments.forum_relations import Forum
from recuse.lab.experiments.oracle import oracle_error
from recuse.lab.experiments.simulated import SimulatedNoise
from recuse.lab.experiments.tables import Tabled, fill
from recuse.mechanism import presets
from recuse.mechanism.prepared import prepare
from recuse.privacy import Epsilon
from recuse.solver.fast import fast_programs
from recuse.solver.memo import memoising
from support.profiles import some

HALF = Epsilon.of("0.5")
RUNS = 200


def solved(relation, protect: str) -> Tabled:
    prepared = prepare(relation, fast_programs)
    table = Tabled.of("made", protect, prepared)
    for _ in fill(table, prepared):
        pass
    return table


@pytest.fixture(scope="module")
def triangles():
    relation = owned_by_nodes(occurrences(random_graph(120, 3), TRIANGLES))
    return relation, solved(relation, "node")


@pytest.fixture(scope="module")
def items():
    relation = distinct(120, 60, 3, 0.8, 1)
    return relation, solved(relation, "people")


def replayed(mechanism: str, table: Tabled, seed: int = 1):
    random = np.random.default_rng(seed)
    by_load = table.conjunctions
    if mechanism == "selective":
        rule = presets.race_by_withdrawals if by_load else presets.race_by_deficit
        return replay.race(table, rule(HALF), random).answers
    if mechanism == "split":
        return replay.split(
            table, (presets.by_withdrawals if by_load else presets.by_deficit)(HALF), random
        ).answers
    if mechanism == "paper-node":
        index = table.signs[0].indices["0.5"]
        return replay.recursive(table, presets.paper(HALF, mu=Fraction(1)), index, random).answers
    return replay.r2t(table, R2T(HALF), random).answers


@pytest.mark.parametrize("mechanism", some(["selective", "split", "paper-node", "r2t"], 0.5))
def test_a_replay_has_the_distribution_of_the_mechanism(mechanism, triangles):
    relation, table = triangles
    release, noise = answering(mechanism, HALF, relation), SimulatedNoise(5)
    subject = prepare(relation, memoising(fast_programs))
    runs = RUNS if mechanism != "paper-node" else 60
    real = np.array([max(0.0, float(release(subject, noise).value)) for _ in range(runs)])
    assert ks_2samp(real, replayed(mechanism, table)).pvalue > 1e-4


@pytest.mark.parametrize("mechanism", some(["selective", "split"], 0.5))
def test_with_or_too(mechanism, items):
    relation, table = items
    release, noise = answering(mechanism, HALF, relation), SimulatedNoise(6)
    subject = prepare(relation, memoising(fast_programs))
    real = np.array([max(0.0, float(release(subject, noise).value)) for _ in range(RUNS)])
    assert ks_2samp(real, replayed(mechanism, table)).pvalue > 1e-4


def test_a_replay_of_another_epsilon_is_told_apart(triangles):
    """The twin: the noise of half the ε is noticed with as many runs."""
    _, table = triangles
    race, other = (presets.race_by_withdrawals(Epsilon.of(text)) for text in ("0.5", "0.25"))
    one = replay.race(table, race, np.random.default_rng(1), RUNS).answers
    two = replay.race(table, other, np.random.default_rng(2)).answers
    assert ks_2samp(one, two).pvalue < 1e-4


def test_the_oracle_is_the_one_of_the_accuracy_page(triangles):
    relation, table = triangles
    exact = oracle_error(prepare(relation, memoising(fast_programs)), HALF)
    assert abs(replay.oracle(table, "0.5") / exact - 1) < 0.03


def test_a_table_is_kept_and_a_stopped_run_goes_on(tmp_path, items):
    relation, whole = items
    prepared = prepare(relation, fast_programs)
    half = Tabled.of("made", "people", prepared)
    next(fill(half, prepared))
    half.write(tmp_path / "half.json")
    again = Tabled.read(tmp_path / "half.json")
    assert not again.whole
    assert len(again.signs[0].answers) == 1
    for _ in fill(again, prepared):
        pass
    assert again.whole
    assert again.signs[0].answers == whole.signs[0].answers


def test_the_forums_relations_count_what_its_questions_ask():
    made = Forum(0.9, forum(0.9, share=0.01))
    counts = {name: loads.sum() for name, loads in made.loads()}
    counts |= {name: relation.true_answer() for name, relation in made.pairs()}
    assert len(counts) == 36
    with duckdb.connect() as connection:
        for name, table in made.tables.items():
            connection.register(name, pyarrow.table(table))
        asked = {question.name[3:]: question.sql for question in questions()}
        for name, count in counts.items():
            assert connection.execute(asked[name]).fetchone() == (count,), name


def test_a_report_has_a_line_a_family(tmp_path, triangles, items):
    for family, (_, table) in (("graphs", triangles), ("or", items)):
        (tmp_path / family).mkdir()
        table.write(tmp_path / family / "made.json")
    found = [
        race_report.line(family, [race_report.measured(table, "1", 300)])
        for family in ("graphs", "or")
        for table in race_report.tables(tmp_path, family)
    ]
    assert found[0].startswith("| graphs | 1 | ")
    assert all(line.count("|") == race_report.HEAD.count("|") for line in found)


def test_relations_with_or_are_many_and_of_every_kind():
    names = [name for name, _ in disjunctions(2)]
    assert len(set(names)) == 36
    assert {name.split()[0] for name in names} == {"DISTINCT", "EXISTS", "UNION", "3-DNF", "3-CNF"}
