"""The accuracy experiment on a folder with one small graph: resumable, and its page adds up."""

from __future__ import annotations

import json

import pytest

from recuse.graphs.enumerate import occurrences
from recuse.lab.experiments import accuracy
from recuse.lab.experiments.accuracy_report import draw, geometric_mean, informative, page, ratios
from recuse.lab.experiments.oracle import oracle_error
from recuse.lab.experiments.tabulated import tabulating
from recuse.mechanism.prepared import prepare
from recuse.privacy import Epsilon
from recuse.solver.reference import reference
from support.neighbours import clique, star


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(accuracy, "RANDOM_SIZES", ())
    monkeypatch.setattr(accuracy, "EPSILONS", ("1", "2"))
    graphs = tmp_path / "graphs"
    graphs.mkdir()
    (graphs / "ring.txt").write_text(
        "".join(f"{i} {(i + step) % 90}\n" for i in range(90) for step in (1, 2))
    )
    return graphs


def test_subgraphs_are_counted_before_they_are_listed():
    graph = accuracy.random_graph(60, 4)
    for pattern, query in accuracy.PATTERNS.items():
        assert accuracy.copies(graph, pattern) == len(occurrences(graph, query)) > 0


def test_a_run_continues_where_it_stopped_and_makes_a_page(folder, tmp_path):
    out = tmp_path / "out"
    lines = list(accuracy.run_accuracy(accuracy.subgraphs(folder, 10_000), out, runs=30))
    assert any("triangles (node)" in line for line in lines)
    cells = accuracy.load_cells(out / "accuracy.jsonl")
    rows = (out / "accuracy.jsonl").read_text().splitlines()
    (out / "accuracy.jsonl").write_text("\n".join(rows[:-3]) + "\n")
    list(accuracy.run_accuracy(accuracy.subgraphs(folder, 10_000), out, runs=30))
    again = accuracy.load_cells(out / "accuracy.jsonl")
    assert len(again) == len(cells)
    assert len({(c.relation, c.protect, c.epsilon, c.mechanism) for c in again}) == len(again)
    assert json.loads(rows[0])["true_value"] == 180
    text = page(again, "make accuracy")
    assert "selective (default)" in text
    assert "NOT PRIVATE" in text
    draw(again, tmp_path / "images")
    assert (tmp_path / "images" / "accuracy-ratio.png").stat().st_size > 5000
    groups = informative(again)
    assert geometric_mean(ratios(groups, "paper", "paper")) == pytest.approx(1)


def test_tabulated_answers_lie_near_the_exact_ones():
    exact, near = (prepare(clique(14), solver).positive for solver in (reference, tabulating(reference)))
    for tau in (1.0, 3.3, 11.0, 25.0, 40.0, 100.0):
        truth = exact.truncated(tau, 1e-6).high
        assert abs(near.truncated(tau, 1e-6).high - truth) <= 0.06 * tau + 0.01 * truth


def test_the_oracle_is_not_beaten_by_a_fixed_guess():
    work = prepare(star(200), reference)
    found = oracle_error(work, Epsilon.of(1))
    assert found <= 0.7  # all leaves at τ = 200, or one edge in a hundred at τ = 1
    assert found > 0
