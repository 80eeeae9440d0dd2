"""Figures by name: cells, rows, tables and plots."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from recuse.annotation import participants
from recuse.errors import ParameterError
from recuse.krelation.build import expressions
from recuse.lab.experiments import plots
from recuse.lab.experiments.figure import Setting
from recuse.lab.experiments.r2t_tpch import PUBLISHED
from recuse.lab.experiments.random_graphs import PATTERNS, random_graph
from recuse.lab.experiments.random_relations import random_relation, universal_sensitivity
from recuse.lab.experiments.real_graphs import PAPER
from recuse.lab.experiments.reproduce import FIGURES, NAMES, left_out, reproduce
from recuse.lab.experiments.tpch import QUESTIONS
from support.profiles import some


def test_names():
    assert NAMES == (
        "error-vs-nodes", "error-vs-degree", "error-vs-epsilon", "time-vs-nodes", "real-graphs",
        "real-graphs-error", "relations-vs-clauses", "relations-vs-size", "r2t-graphs", "r2t-tpch", "all",
    )  # fmt: skip
    assert set(plots.DRAWN) == set(FIGURES)
    assert set(PUBLISHED) == {question.name for question in QUESTIONS}


def test_a_random_graph_has_its_average_degree():
    degrees = [random_graph(400, 10, seed).degrees().mean() for seed in range(20)]
    assert np.mean(degrees) == pytest.approx(10, rel=0.03)
    assert not np.array_equal(random_graph(50, 10, 1).edges, random_graph(50, 10, 2).edges)


@pytest.mark.parametrize("kind", ["3-DNF", "3-CNF"])
def test_universal_sensitivity_by_definition(kind):
    relation = random_relation(kind, 30, 2, "random", 5)
    rows = expressions(relation)
    everybody = set().union(*(participants(k) for k, _ in rows))
    assert universal_sensitivity(relation) == max(
        sum(weight for k, weight in rows if name in participants(k)) for name in everybody
    )
    assert random_relation(kind, 30, 2, "constant", 5).true_answer() == 30


def test_a_figure_from_its_cells_to_its_plot(tmp_path):
    """One small cell of each of three figures: the rows are kept, a second run has nothing to do."""
    setting = Setting(tmp_path)
    for name, cell in [
        ("error-vs-nodes", {"pattern": "triangle", "nodes": 40, "degree": 4, "seed": 0, "runs": 60}),
        ("time-vs-nodes", {"pattern": "triangle", "nodes": 40, "degree": 4, "seed": 0, "runs": 60}),
        (
            "relations-vs-size",
            {"kind": "3-DNF", "size": 40, "clauses": 2, "weights": "constant", "seed": 0, "runs": 60},
        ),
    ]:
        (step,) = reproduce(name, setting)
        step = replace(step, wanted=[cell], cells=[cell])
        assert list(step.run(1)) == [cell]
        assert step.store.missing(step.wanted) == []
        paths = step.finish()
        assert {path.suffix for path in paths} == {".parquet", ".csv", ".png", ".svg"}
        assert all(path.stat().st_size > 0 for path in paths)


def test_two_processes_find_what_one_finds(tmp_path):
    """Noise and graphs are seeded, so the rows are the same."""
    cells = [{"pattern": "triangle", "nodes": 30, "degree": 3, "seed": seed, "runs": 60} for seed in (0, 1)]
    found = []
    for jobs in (1, 2):
        (step,) = reproduce("error-vs-nodes", Setting(tmp_path / str(jobs)))
        step = replace(step, wanted=cells, cells=cells)
        assert sorted(cell["seed"] for cell in step.run(jobs)) == [0, 1]
        found.append(sorted(map(str, step.store.rows(cells))))
    assert found[0] == found[1]


def test_a_stopped_run_continues(tmp_path):
    cells = [{"pattern": "triangle", "nodes": 30, "degree": 3, "seed": seed, "runs": 60} for seed in (0, 1)]
    (step,) = reproduce("error-vs-nodes", Setting(tmp_path))
    running = replace(step, wanted=cells, cells=cells).run(1)
    assert next(running) == cells[1]
    running.close()
    left = step.store.missing(cells)
    assert left == cells[:1]
    again = replace(step, wanted=cells, cells=left)
    assert list(again.run(1)) == left
    assert {row["seed"] for row in step.store.rows(cells)} == {0, 1}
    assert again.seconds > 0


def test_every_mechanism_takes_part(tmp_path):
    (step,) = reproduce("error-vs-nodes", Setting(tmp_path))
    cell = {"pattern": "triangle", "nodes": 30, "degree": 4, "seed": 1, "runs": 60}
    rows = list(step.figure.measure(cell, step.setting))
    found = {(row["protect"], row["mechanism"]) for row in rows}
    assert found >= {
        ("edge", "selective"), ("edge", "paper"), ("edge", "smooth"), ("edge", "smooth-tight"),
        ("edge", "ladder"), ("edge", "rhms"), ("node", "selective"), ("node", "paper-node"), ("node", "r2t"),
        ("node", "opt2"), ("node", "lp"), ("node", "naive"),
    }  # fmt: skip
    assert ("edge", "k-triangle") not in found


def made_rows(name):
    """Return rows of the form that a figure has."""
    both = [("edge", "paper"), ("edge", "selective"), ("node", "paper-node"), ("node", "selective")]
    common = {"true_value": 100.0, "median_relative_error": 0.1, "trimmed_relative_error": 0.1, "runs": 1}
    times = {"seconds": 1.0, "cpu_seconds": 1.0}
    if name in ("error-vs-nodes", "error-vs-degree", "error-vs-epsilon", "time-vs-nodes"):
        return [
            {"pattern": p, "nodes": n, "degree": n / 10, "epsilon": n / 100, "protect": w, "mechanism": m}
            | common
            | times
            for p in PATTERNS
            for n in (100, 200)
            for w, m in both
        ]
    if name.startswith("real-graphs"):
        sizes = {"nodes": 5, "edges": 6, "triangles": 7, "paper_edges": 6, "paper_triangles": 7}
        return [
            {"graph": g, "protect": w, "mechanism": m, "paper_seconds": 2.0} | sizes | common | times
            for g in PAPER
            for w, m in both
        ]
    if name.startswith("relations"):
        return [
            {"kind": k, "size": n, "clauses": n, "weights": w, "mechanism": m, "us_over_epsilon": 0.1}
            | common
            | times
            for k in ("3-DNF", "3-CNF")
            for n in (1, 2)
            for w in ("constant", "random")
            for m in ("paper", "selective")
        ]
    if name == "r2t-graphs":
        names = ("selective", "paper-node", "r2t=1024", "r2t-5.5=1024", "opt2", "lp=64", "naive=64")
        return [{"graph": "power", "pattern": "edge", "mechanism": m} | common for m in names]
    return [
        {"question": "Q3", "mechanism": m, "published": 0.2, "unit": 1.0} | common
        for m in ("r2t", "r2t-5.5", "opt2", "selective")
    ]


@pytest.mark.parametrize("name", some([*FIGURES], 0.3))
def test_what_is_drawn_is_named(name, tmp_path):
    """Axes, units and legends are in the picture; tables have a line for each row."""
    paths = plots.draw(name, made_rows(name), tmp_path)
    text = paths[-1].read_text()
    if paths[-1].suffix == ".md":
        assert text.count("\n") >= 3
        return
    assert paths[0].read_bytes()[:4] == b"\x89PNG"
    assert paths[0].stat().st_size < 150_000
    expected = ["Recuse's default"]
    expected += ["seconds"] if name == "time-vs-nodes" else ["median relative error"]
    expected += ["US/ε"] if name.startswith("relations") else []
    assert all(word.replace("'", "&#x27;") in text or word in text for word in expected)


def test_what_is_missing_is_said(tmp_path):
    for name, needs in (("real-graphs", "graph"), ("r2t-tpch", "TPC-H"), ("magic", "figure")):
        with pytest.raises(ParameterError, match=needs):
            next(reproduce(name, Setting(tmp_path)))
    needed = {name: str(needs) for name, needs in left_out(Setting(tmp_path)).items()}
    assert "graph files" in needed["real-graphs"]
    assert "recuse.lab.experiments.tpch load" in needed["r2t-tpch"]
    left = [step.name for step in reproduce("all", Setting(tmp_path))]
    assert left == [name for name in FIGURES if not name.startswith(("real", "r2t"))]


@pytest.mark.parametrize(
    ("ticks", "logarithmic", "left_out"),
    [
        ([50, 100, 200, 400, 600, 800, 1000], True, [800]),
        ([2, 4, 6, 8, 10, 12, 16, 20, 24], True, []),
        ([1, 2, 3], False, []),
        ([7], True, []),
    ],
)
def test_numbers_at_an_axis_do_not_run_into_each_other(ticks, logarithmic, left_out):
    wanted = ["" if tick in left_out else f"{tick}" for tick in ticks]
    assert plots.labels(ticks, logarithmic=logarithmic) == wanted
