"""Graph sessions: one call, charged before a copy is looked for, refused before anything is charged."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from itertools import product

import networkx as nx
import pandas as pd
import pytest

import recuse
from recuse.errors import BudgetError, DatabaseError, ParameterError, QueryError
from recuse.graphs import datasets
from recuse.graphs.count import read_count
from recuse.ledger import Ledger
from recuse.privacy import Epsilon
from recuse.session import graph_question
from recuse.session.graph import MOTIFS
from recuse.session.graph_question import GraphQuestion
from recuse.session.parts import Parts
from recuse.session.place import SecondBudgetWarning
from support.noise import Seeded
from support.profiles import some

CAVEMEN = nx.connected_caveman_graph(40, 6)


@pytest.fixture
def session():
    return recuse.graph(CAVEMEN, parts=Parts(noise=Seeded(3)))


@pytest.mark.parametrize("protect", ["node", "edge"])
def test_one_call(session, protect):
    truth = sum(nx.triangles(CAVEMEN).values()) // 3
    answer = session.count("triangle", protect=protect, epsilon=2)
    assert isinstance(answer, recuse.Answer)
    assert abs(answer.value - truth) < truth / 3
    assert answer.interval[0] <= answer.value <= answer.interval[1]
    assert (answer.epsilon, answer.remaining, answer.number.signed) == (2, 8, False)
    assert session.budget.spent == 2


WITHOUT_HUB = {
    "frame": pd.DataFrame({"u": pd.Series([], dtype="int64"), "v": pd.Series([], dtype="int64")}),
    "untyped frame": pd.DataFrame({"u": [], "v": []}),
    "graph": nx.Graph(),
    "leaves": nx.empty_graph(9),
}


@pytest.mark.parametrize(
    ("name", "protect"),
    some([*product([*WITHOUT_HUB, "list.txt", "table.csv"], ["node", "edge"])], 0.25),
)
def test_a_star_without_its_hub_is_answered_like_any_other(name, protect, tmp_path):
    """Row B4 of the issue: whether a source is empty is data."""
    source = WITHOUT_HUB.get(name)
    if source is None:
        source = tmp_path / name
        source.write_text("source,target\n" if name.endswith(".csv") else "")
    session = recuse.graph(source, budget=100)
    for pattern in ("edge", "triangle", "star(2)", "star(3)", "k-triangle(2)", "rectangle"):
        assert session.count(pattern, protect=protect, epsilon=1).epsilon == 1
    for mechanism in ("tuned", "paper"):
        assert session.count("edge", protect=protect, epsilon=1, mechanism=mechanism).epsilon == 1
    assert session.count("edge", protect=protect, epsilon=1, where="a.id > 3").epsilon == 1
    assert session.transitivity(protect=protect, epsilon=1).epsilon == 1


def test_empty_tables_are_answered_like_any_other(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "edges.csv").write_text("a,b\n")
    policy = recuse.Policy.parse(
        '[[protect]]\nkind = "person"\n[[link]]\ntable = "edges"\ncolumn = ["a"]\nto = "person"\n'
        '[[link]]\ntable = "edges"\ncolumn = ["b"]\nto = "person"\n[budget]\nepsilon = 100\n'
        '[columns.edges]\na = "BIGINT"\nb = "BIGINT"'
    )
    with recuse.connect(tmp_path / "data", policy) as session:
        for sql in (
            "SELECT COUNT(*) FROM edges",
            "SELECT SUM(a) FROM edges",
            "SELECT AVG(a) FROM edges",
            "SELECT COUNT(DISTINCT a) FROM edges",
            "SELECT COUNT(*) FROM edges x JOIN edges y ON x.b = y.a",
            "SELECT a, COUNT(*) FROM edges WHERE a IN (1, 2) GROUP BY a",
        ):
            assert session.ask(sql, 1).epsilon == 1


def test_every_kind_of_pattern_is_answered(session):
    for pattern in ("edge", "rectangle", "a-b, b-c, c-a, a-d", nx.path_graph(4)):
        assert session.count(pattern, protect="node", epsilon="0.5").value >= 0


@pytest.mark.parametrize("pattern", ["star(3)", "star(8)", "k-triangle(2)"])
@pytest.mark.parametrize("protect", ["node", "edge"])
def test_stars_and_k_triangles_are_aggregated(pattern, protect):
    made = recuse.graph(nx.connected_caveman_graph(12, 5), parts=Parts(noise=Seeded(1)))
    assert made.count(pattern, protect=protect, epsilon=4).value >= 0
    assert "aggregated" in made.explain(pattern, protect=protect).method
    assert "enumerated" in made.explain("star(2)", protect=protect).method
    assert "enumerated" in made.explain("star(3)", protect=protect, where="a.id > 0").method


def test_whom_one_protects_has_no_default(session):
    with pytest.raises(TypeError):
        session.count("triangle", epsilon=1)
    for nobody in ("nobody", "", None):
        with pytest.raises(ParameterError, match="who is protected"):
            session.count("triangle", protect=nobody, epsilon=1)


def test_the_same_question_is_stored_and_free(session):
    first = session.count("a-b, b-c, c-a", protect="node", epsilon=1)
    again = session.count("triangle", protect="node", epsilon=1)
    assert (again.value, again.stored, again.remaining) == (first.value, True, 9)
    other = session.count("triangle", protect="edge", epsilon=1)
    assert (other.stored, other.remaining) == (False, 8)


def test_transitivity_has_a_joint_interval(session):
    answer = session.transitivity(protect="edge", epsilon=4)
    ((ratio, triangles, stars),) = [row.cells for row in answer]
    low, high = ratio.interval
    assert 0 <= low <= ratio.value <= high <= 1
    assert ratio.value == min(1, 3 * triangles.value / stars.value)
    assert low <= 3 * triangles.interval[0] / stars.interval[1]
    assert abs(float(ratio.value) - nx.transitivity(CAVEMEN)) < 0.2
    assert ratio.confidence == pytest.approx(0.9)
    assert (answer.epsilon, answer.remaining) == (4, 6)
    assert triangles.epsilon + stars.epsilon == 4
    assert session.transitivity(protect="edge", epsilon=4).stored


def test_a_transitivity_without_two_stars_is_anything():
    lonely = recuse.graph(nx.path_graph(2), parts=Parts(noise=Seeded(1)))
    ((ratio, *_),) = [row.cells for row in lonely.transitivity(protect="edge", epsilon=10)]
    assert ratio.interval == (0, 1)


def test_frames_and_conditions():
    edges = pd.DataFrame({"u": range(300), "v": range(1, 301), "weight": [float(i % 5) for i in range(300)]})
    people = pd.DataFrame({"who": range(301), "city": ["oslo" if i % 2 else "rome" for i in range(301)]})
    made = recuse.graph(edges, nodes=people, parts=Parts(noise=Seeded(2)))
    all_of_them = made.count("edge", protect="edge", epsilon=3, where="a.city <> b.city")
    heavy = made.count("edge", protect="edge", epsilon=3, where="ab.weight > 3")
    assert abs(all_of_them.value - 300) < 20
    assert abs(heavy.value - 60) < 20


# ------------------------------------------------------------------ the ledger


def test_a_file_has_its_ledger_beside_it(tmp_path):
    path = tmp_path / "friends.txt"
    path.write_text("".join(f"{u} {v}\n" for u, v in CAVEMEN.edges))
    with recuse.graph(path, budget=3) as made:
        made.count("edge", protect="node", epsilon=1)
        assert made.ledger_is_new
    with recuse.graph(str(path)) as again:
        assert (again.budget.granted, again.budget.spent) == (3, 1)
        assert again.count("edge", protect="node", epsilon=1).stored
        with pytest.raises(BudgetError):
            again.count("edge", protect="edge", epsilon="2.5")
    assert Ledger.open(tmp_path / "friends.txt.ledger").balance().spent == 1


def test_a_ledger_elsewhere_is_said(tmp_path):
    path = tmp_path / "friends.txt"
    path.write_text("1 2\n")
    made = recuse.graph(path, ledger=tmp_path / "other.ledger")
    with pytest.warns(SecondBudgetWarning):
        made.count("edge", protect="node", epsilon=1)


def test_the_charge_comes_first(session, monkeypatch):
    def look(*arguments):
        assert session.budget.spent == 1
        raise KeyboardInterrupt

    monkeypatch.setattr(graph_question, "subject", look)
    with pytest.raises(KeyboardInterrupt):
        session.count("triangle", protect="node", epsilon=1)
    assert session.budget.spent == 1


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        ({"pattern": "a-b, c-d"}, ParameterError),
        ({"pattern": "a-b,b-c,c-d,d-e,e-f,f-g"}, ParameterError),
        ({"pattern": "a->b"}, ParameterError),
        ({"pattern": "path(3)", "protect": "edge", "induced": True}, ParameterError),
        ({"pattern": "star(9)", "induced": True}, ParameterError),
        ({"pattern": "star(9)", "where": "a.id = 1"}, ParameterError),
        ({"where": "a.id > (SELECT 1)"}, QueryError),
        ({"where": "a.nothing = 1"}, QueryError),
        ({"epsilon": 0}, ParameterError),
        ({"mechanism": "magic"}, ParameterError),
        ({"protect": "everybody"}, ParameterError),
    ],
)
def test_refusals_charge_nothing(session, asked, error):
    with pytest.raises(error) as caught:
        session.count(**{"pattern": "triangle", "protect": "node", "epsilon": 1} | asked)
    assert "\n" not in str(caught.value)
    assert not session.has_ledger
    assert session.budget.spent == 0


def test_induced_copies(session):
    assert session.count("clique(3)", protect="edge", epsilon=1, induced=True).value >= 0
    assert session.count("triangle", protect="edge", epsilon=1).stored
    assert "NOT EXISTS" in session.explain("path(3)", protect="node", induced=True).sql


def test_directions_must_agree():
    made = recuse.graph(nx.DiGraph([(1, 2), (2, 3), (3, 1)]), parts=Parts(noise=Seeded(1)))
    assert made.count("a->b, b->c, c->a", protect="node", epsilon=1).value >= 0
    with pytest.raises(ParameterError, match="the graph has directions"):
        made.count("triangle", protect="node", epsilon=1)


# ------------------------------------------------------------------ explanations


def test_an_explanation_is_free_and_drawn(session):
    found = session.explain("triangle", protect="node", where="a.id = 3")
    text = "\n".join(found.lines())
    for said in ("a-b, a-c, b-c", "all its nodes", "a.id = 3", "under any naming", "SELECT", "enumerated"):
        assert said in text
    assert repr(found) == text
    assert found._repr_svg_().startswith("<svg")
    assert "<table" in found._repr_html_()
    assert not session.has_ledger


# ------------------------------------------------------------------ public graphs


def test_a_public_graph_is_fetched_once(tmp_path, monkeypatch):
    home = tmp_path / "home.txt"
    home.write_text("1 2\n2 3\n3 1\n")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(
        datasets.DATASETS, "tiny", datasets.Dataset(home.as_uri(), "tiny.txt", "three friends")
    )
    made = recuse.graph("tiny")
    assert made.count("edge", protect="node", epsilon=1).value >= 0
    home.unlink()
    assert recuse.graph("tiny").budget.spent == Fraction(1)


def test_a_home_that_does_not_answer_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    gone = datasets.Dataset((tmp_path / "gone.txt").as_uri(), "gone.txt", "nobody")
    monkeypatch.setitem(datasets.DATASETS, "gone", gone)
    with pytest.raises(DatabaseError, match="could not be fetched") as caught:
        recuse.graph("gone")
    assert "\n" not in str(caught.value)
    with pytest.raises(DatabaseError, match="cannot be read"):
        recuse.graph("no-such-graph")


def test_no_optional_library_is_loaded_for_a_file(tmp_path):
    path = tmp_path / "g.txt"
    path.write_text("1 2\n2 3\n3 1\n")
    code = (
        "import sys, recuse\n"
        f"recuse.graph({str(path)!r}).count('triangle', protect='node', epsilon=1)\n"
        "print(*{'pandas', 'polars', 'networkx', 'igraph', 'matplotlib', 'scipy.io'} & set(sys.modules))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == ""


def test_motifs_are_one_question_with_a_row_each(session):
    patterns = ("star(2)", "triangle", "clique(4)")
    answer = session.motifs(protect="edge", epsilon=10, patterns=patterns)
    assert (answer.key_names, answer.names, answer.epsilon) == (("motif",), ("count",), 10)
    triangles = sum(nx.triangles(CAVEMEN).values()) / 3
    found = {row.keys[0]: float(row.cells[0].value) for row in answer}
    assert tuple(found) == patterns
    assert abs(found["triangle"] - triangles) < 0.3 * triangles
    assert session.motifs(protect="edge", epsilon=10, patterns=patterns).stored
    with pytest.raises(ParameterError, match="together"):
        session.motifs(protect="edge", epsilon=1, patterns=["triangle", "triangle"])


def motifs_of(names: tuple[str, ...]) -> GraphQuestion:
    graph = recuse.graph(CAVEMEN)._graph
    counts = tuple(read_count(graph, name, "node") for name in names)
    return GraphQuestion.of_motifs(graph, "", counts, names, Epsilon.of("1/3"))


@pytest.mark.parametrize("many", [1, 2, 3, 6])
def test_the_parts_of_motifs_add_up(many):
    asked = motifs_of(MOTIFS[:many])
    assert sum(part.mechanism.epsilon for part in asked.parts) == Fraction(1, 3)


def test_other_motifs_are_another_question():
    asked = [motifs_of(names) for names in (MOTIFS, MOTIFS[::-1], MOTIFS[1:], (*MOTIFS[1:], "star(4)"))]
    assert len({repr(one.identity()) for one in asked}) == len(asked)


def test_motifs_and_transitivity_share_what_was_released(session):
    ratio = session.transitivity(protect="edge", epsilon=4)
    found = session.motifs(protect="edge", epsilon=4, patterns=("triangle", "star(2)"))
    assert session.budget.spent == (4 if found.stored else 8)
    assert [row.keys for row in found] == [("triangle",), ("star(2)",)]
    assert ratio.names != found.names
