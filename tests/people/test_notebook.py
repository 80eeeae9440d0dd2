"""A notebook is executed, in a kernel without ipywidgets, and what its cells show is looked at."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import recuse

nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
pytest.importorskip("ipykernel", reason="ipykernel is not installed")
nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")

CELLS = {
    "load": "%load_ext recuse",
    "open": "%recuse shop --policy shop.toml --epsilon 2",
    "table": "%%recuse\nSELECT kind, COUNT(*) AS n FROM orders GROUP BY kind",
    "number": "%%recuse --epsilon 1 --to many\nSELECT COUNT(*) FROM orders",
    "kept": "type(many).__name__, many.epsilon == 1",
    "again": "%%recuse --epsilon 1\nSELECT COUNT(*)  FROM orders",
    "budget": "%recuse",
    "explain": "%%recuse --explain\nSELECT COUNT(*) FROM orders",
    "estimate": (
        "import recuse\nsession = recuse.connect('shop', 'shop.toml')\n"
        "known = recuse.Statistics(rows={'orders': 1500, 'customer': 500}, largest={'orders': 20})\n"
        "session.estimate('SELECT COUNT(*) FROM orders', 1, like=known)"
    ),
    "named": "%%recuse session --epsilon 0.5\nSELECT COUNT(*) FROM customer",
    "widgets": "import importlib.util\nimportlib.util.find_spec('ipywidgets') is None",
    "rows": "%%recuse\nSELECT kind\nFROM orders",
    "python": "session.ask('SELECT COUNT(nothing) FROM orders', epsilon=1)",
    "words": "%recuse --nonsense",
    "dbapi": (
        "import recuse.dbapi\nasked = recuse.dbapi.connect('shop', 'shop.toml', epsilon=1)\n"
        "asked.cursor().execute('SELECT * FROM orders')"
    ),
    "pattern": (
        "import networkx\nrecuse.graph(networkx.karate_club_graph()).explain('triangle', protect='node')"
    ),
}


@pytest.fixture(scope="module")
def outputs(shop):
    """Return what each cell shows, by its name."""
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in CELLS.values()])
    source = str(Path(recuse.__file__).parents[1])
    path = os.pathsep.join([source, *filter(None, [os.environ.get("PYTHONPATH")])])
    client = nbclient.NotebookClient(
        made, timeout=120, allow_errors=True, resources={"metadata": {"path": str(shop)}}
    )
    client.execute(env=os.environ | {"PYTHONPATH": path})
    return dict(zip(CELLS, (cell.outputs for cell in made.cells), strict=True))


def html(outputs, name: str) -> str:
    (shown,) = outputs[name]
    return shown["data"]["text/html"]


def test_a_table_shows_each_group_with_its_interval_drawn_and_epsilon_below(outputs):
    shown = html(outputs, "table")
    assert shown.count("<svg") == 2
    assert ">book<" in shown
    assert ">2 charged, 48 left<" in shown


def test_a_number_shows_its_interval_and_is_kept_under_its_name(outputs):
    shown = html(outputs, "number")
    assert shown.count("<svg") == 1
    assert ">1 charged, 47 left<" in shown
    assert outputs["kept"][0]["data"]["text/plain"] == "('Answer', True)"


def test_running_a_cell_again_is_free(outputs):
    assert "0 charged: the answer of an earlier question, for 1, 47 left" in html(outputs, "again")


def test_the_budget_is_drawn(outputs):
    assert "<svg" in html(outputs, "budget")
    assert ">47<" in html(outputs, "budget")


def test_explanations_estimates_patterns_and_tables_are_shown(outputs):
    assert "customer orders.customer" in html(outputs, "explain")
    assert html(outputs, "estimate").count("<svg") == 1
    assert "nothing was charged" in html(outputs, "estimate")
    assert html(outputs, "pattern").count("<circle") == 3
    assert "a row belongs to (customer)" in html(outputs, "open")


def test_a_session_of_the_notebook_may_be_named(outputs):
    assert ">0.5 charged, 46.5 left<" in html(outputs, "named")


@pytest.mark.parametrize(
    ("name", "caret"),
    [("rows", ["    SELECT kind", " " * 11 + "^"]), ("dbapi", ["    SELECT * FROM orders"])],
)
def test_a_refusal_is_a_line_with_a_caret_below_the_place(outputs, name, caret):
    (shown,) = outputs[name]
    first, *others = shown["traceback"]
    assert "this would list individuals" in first
    assert "\n" not in first
    assert others[: len(caret)] == caret
    assert others[-1].startswith("    recuse explain-error query.")
    assert len(others) == 3


def test_a_refusal_of_python_has_no_traceback(outputs):
    (shown,) = outputs["python"]
    assert shown["traceback"][1:] == [
        "    SELECT COUNT(nothing) FROM orders",
        " " * 17 + "^",
        "    recuse explain-error query.there-is-no-column-in",
    ]


def test_a_mistake_in_the_words_is_a_line(outputs):
    (shown,) = outputs["words"]
    said, explained = shown["traceback"]
    assert "%recuse --help" in said
    assert explained == "    recuse explain-error parameter.recuse"


def test_nothing_needs_widgets(outputs):
    """If they were installed, the test would not show what it says."""
    if outputs["widgets"][0]["data"]["text/plain"] != "True":
        pytest.skip("ipywidgets are installed here")
    assert not [name for name, shown in outputs.items() for one in shown if one["output_type"] == "stream"]
