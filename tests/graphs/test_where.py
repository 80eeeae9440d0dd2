"""Conditions: what they mean, what they cannot name, and that no row makes them raise."""

from __future__ import annotations

import networkx as nx
import pyarrow
import pytest

from recuse.errors import ParameterError, QueryError
from recuse.graphs.count import read_count
from recuse.graphs.enumerate import occurrences, schema_of
from recuse.graphs.graph import Graph
from recuse.graphs.names import read_pattern
from recuse.graphs.objects import graph_of_object
from recuse.graphs.where import UNTYPED, AttributeSchema, read_condition
from recuse.sql.render import render

SCHEMA = AttributeSchema(
    (("city", UNTYPED), ("age", "BIGINT"), ("born", "DATE"), ("fit", "BOOLEAN"), ("id", UNTYPED)),
    (("weight", UNTYPED), ("length", "DOUBLE"), ("note", "VARCHAR")),
)


def read(text: str, pattern: str = "a-b") -> str:
    return render(read_condition(text, read_pattern(pattern), SCHEMA).scalar)


def mixed() -> Graph:
    """Return a path 0-1-2-3 whose attributes are of every kind of Python value, and broken ones."""
    source = nx.path_graph(4)
    nx.set_node_attributes(source, {0: "oslo", 1: "rome", 2: "oslo", 3: None}, "city")
    nx.set_node_attributes(source, {0: 3, 1: "4.5", 2: 10.0, 3: "old"}, "age")
    nx.set_edge_attributes(source, {(0, 1): 2, (1, 2): 7.5, (2, 3): [1]}, "weight")
    return graph_of_object(source)


def found(text: str, pattern: str = "a-b", graph: Graph | None = None) -> list[list[int]]:
    graph = graph or mixed()
    shape = read_pattern(pattern)
    condition = read_condition(text, shape, schema_of(graph))
    return sorted(sorted(row) for row in occurrences(graph, shape, condition).nodes.tolist())


@pytest.mark.parametrize(
    ("text", "edges"),
    [
        ("a.city = b.city", []),
        ("a.city = 'oslo' AND b.city = 'rome'", [[0, 1], [1, 2]]),
        ("ab.weight > 3", [[1, 2]]),
        ("ba.weight > 3", [[1, 2]]),
        ("(ab.weight) >= 2", [[0, 1], [1, 2]]),
        ("a.age > 4 AND b.age > 4", [[1, 2]]),
        ("a.age > 4.4", [[0, 1], [1, 2], [2, 3]]),
        ("CAST(a.age AS DOUBLE) < CAST(b.age AS DOUBLE) - 2", [[1, 2]]),
        ("a.age + b.age > 10", [[1, 2]]),
        ("a.city IS NULL", [[2, 3]]),
        ("ab.weight IS NULL", [[2, 3]]),
        ("1 / (a.age - 3) > 0 OR a.id = 3", [[0, 1], [1, 2], [2, 3]]),
        ("a.id = 0 OR b.id = '3'", [[0, 1], [2, 3]]),
        ("COALESCE(ab.weight, 100) > 50", [[2, 3]]),
        ("CASE WHEN a.city = 'rome' THEN ab.weight ELSE 0 END > 5", [[1, 2]]),
        ("TRUE", [[0, 1], [1, 2], [2, 3]]),
        ("NULL", []),
    ],
)
def test_what_a_condition_means(text, edges):
    assert found(text) == edges


def test_a_copy_counts_once_under_any_naming():
    triangle = graph_of_object(nx.complete_graph(3))
    assert found("a.id = 0", "triangle", triangle) == [[0, 1, 2]]
    assert found("a.id = 0 AND b.id = 2", "triangle", triangle) == [[0, 1, 2]]
    assert found("a.id = 0 AND b.id = 0", "triangle", triangle) == []
    path = graph_of_object(nx.path_graph(3))
    assert found("b.id = 1", "a-b, b-c", path) == [[0, 1, 2]]
    assert found("b.id = 0", "a-b, b-c", path) == []


def test_declared_types_are_kept():
    edges = pyarrow.table({"u": [1, 2], "v": [2, 3], "n": ["10", "9"], "x": [10, 9]})
    graph = graph_of_object(edges)
    assert schema_of(graph).edges == (("n", "VARCHAR"), ("x", "BIGINT"))
    assert len(found("ab.n > '9'", graph=graph)) == 0
    assert len(found("ab.x > 9", graph=graph)) == 1


@pytest.mark.parametrize(
    ("text", "problem", "column"),
    [
        ("a.age > (SELECT 1)", "a subquery", 9),
        ("EXISTS (SELECT 1 FROM up)", "a subquery", 1),
        ("a.age IN (SELECT u FROM ways)", "a subquery", 1),
        ("random() > 0.5", "random is not among", 1),
        ("a.age > 1 AND now() > a.born", "not among|not accepted", 15),
        ("count(*) > 1", "an aggregate", 1),
        ("row_number() OVER () > 1", "a window function", 1),
        ("a.age > 1 LIMIT 3", "LIMIT", 11),
        ("a.age > 1; SELECT 2", "several statements", 10),
        ("a.age > 1 /* a /* b */ */", "comment", 11),
        ("a.age > 1) OR (TRUE", "not valid SQL", 10),
        ("city = 'oslo'", "whose city", 1),
        ("c.city = 'oslo'", "no node or edge c", 1),
        ("a.wieght > 1", "no attribute wieght", 1),
        ("a.city < b.city", "order of attributes", 1),
        ("ab.note > 3", "a number is compared with text", 1),
        ("lower(a.city) > 3", "a number is compared with text", 1),
    ],
)
def test_a_refusal_says_where(text, problem, column):
    with pytest.raises(QueryError, match=problem) as caught:
        read(text)
    assert (caught.value.line, caught.value.column) == (1, column)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "name",
    [
        "a.rowid",
        "a.n",
        "a.c0",
        "a.rank",
        "a.degree",
        "ab.e",
        "ab.u",
        "ab.c0",
        "e0.u",
        "n0.c0",
        "nodes.n",
        "up.u",
    ],
)
def test_nothing_but_attributes_has_a_name(name):
    """Ranks and degrees depend on others' edges."""
    with pytest.raises(QueryError, match=r"no attribute|no node or edge"):
        read(f"{name} > 1")


@pytest.mark.parametrize("text", ["", "   ", "a.age > 1 UNION SELECT 1", "SELECT 1", "a.age >"])
def test_what_is_no_condition(text):
    with pytest.raises(QueryError) as caught:
        read(text)
    assert "\n" not in str(caught.value)


def test_the_name_of_an_edge_must_mean_one_thing():
    with pytest.raises(ParameterError, match="means two things"):
        read("ab.length > 1", "a-b, b-ab")
    with pytest.raises(ParameterError, match="enumerated"):
        read("a.age > 1", "star(9)")


def test_what_has_no_type_is_refused_without_looking_at_data():
    edges = pyarrow.table({"u": [1], "v": [2], "when": pyarrow.array([0], pyarrow.date32())})
    with pytest.raises(QueryError, match="text is needed"):
        read_count(graph_of_object(edges), "edge", "node", "lower(ab.when) = 'x'")


def test_names_are_read_in_any_case():
    assert read("A.CITY = 'x'") == read("a.city = 'x'")


POISON = ["", "x", "1e999", "-0", "nan", "9" * 30, "2024-02-30", "😀", "'", None]


@pytest.mark.parametrize(
    "text",
    [
        "1 / ab.weight > 0",
        "1 // CAST(ab.weight AS BIGINT) > 0",
        "ab.weight * 1e308 > 0",
        "CAST(ab.weight AS BIGINT) > 0",
        "CAST(ab.weight AS DATE) > '2000-01-01'",
        "sqrt(ab.weight) > 0",
        "ab.weight = TRUE",
        "ab.weight BETWEEN 1 AND 5",
    ],
)
def test_no_value_makes_a_condition_raise(text):
    """A poisoned row fails for itself, and changes nothing for the others."""
    alone = nx.Graph([(0, 1, {"weight": "4"})])
    source = alone.copy()
    source.add_edges_from((2 * i, 2 * i + 1, {"weight": value}) for i, value in enumerate(POISON, start=1))
    rest = [row for row in found(text, graph=graph_of_object(source)) if row == [0, 1]]
    assert rest == found(text, graph=graph_of_object(alone))
