"""The paper's Fig. 1, computed through the algebra, and the laws of annotated relations."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.algebra import (
    AnnotatedRelation,
    empty,
    intersect,
    join,
    product,
    project,
    rename,
    select,
    union,
    without,
)
from recuse.annotation import Participant, conjunction, disjunction, holds, participants, static_sensitivity
from recuse.primes import primes
from recuse.sensitivity import global_, impact, linear_query, local, subsets, universal
from support.strategies import people, trees

EDGES = ["ab", "ac", "bc", "bd", "cd", "ce", "de"]


def node_edges() -> AnnotatedRelation:
    """Friendships, both ways, owned by the two friends."""
    rows = {
        pair: conjunction(*map(Participant, sorted(pair)))
        for e in EDGES
        for pair in (tuple(e), tuple(e[::-1]))
    }
    return AnnotatedRelation(("x", "y"), rows)


def edge_edges() -> AnnotatedRelation:
    """Friendships, both ways, each a participant of its own."""
    rows = {
        pair: Participant("e" + "".join(sorted(pair))) for e in EDGES for pair in (tuple(e), tuple(e[::-1]))
    }
    return AnnotatedRelation(("x", "y"), rows)


def triangles(edges: AnnotatedRelation) -> AnnotatedRelation:
    second = rename(edges, {"x": "y", "y": "z"})
    third = rename(edges, {"y": "z"})
    found = join(join(edges, second), third)
    return select(found, lambda row: row["x"] < row["y"] < row["z"])


def friends_with_a_common_friend(edges: AnnotatedRelation) -> AnnotatedRelation:
    """As the figure's expressions are: the pair's own friendship, and either way to a common friend."""
    ordered = select(edges, lambda row: row["x"] < row["y"])
    paths = join(rename(edges, {"y": "z"}), rename(edges, {"x": "z"}))
    return join(ordered, project(paths, ["x", "y"]))


def canonical(relation: AnnotatedRelation) -> dict[str, frozenset]:
    return {"".join(row): primes(k) for row, k in relation.rows.items()}


def expected(table: dict[str, list[str]], names) -> dict[str, frozenset]:
    return {row: frozenset(frozenset(names(clause)) for clause in clauses) for row, clauses in table.items()}


def nodes(clause: str) -> list[str]:
    return list(clause)


def edges(clause: str) -> list[str]:
    return ["e" + pair for pair in clause.split()]


def test_figure_1a_triangles():
    assert canonical(triangles(node_edges())) == expected({t: [t] for t in ("abc", "bcd", "cde")}, nodes)
    by_edges = {"abc": ["ab ac bc"], "bcd": ["bc bd cd"], "cde": ["cd ce de"]}
    assert canonical(triangles(edge_edges())) == expected(by_edges, edges)


def test_figure_1b_pairs_of_friends_with_a_common_friend():
    by_nodes = {
        "ab": ["abc"],
        "ac": ["acb"],
        "bc": ["bca", "bcd"],
        "bd": ["bdc"],
        "cd": ["cdb", "cde"],
        "ce": ["ced"],
        "de": ["dec"],
    }
    by_edges = {
        "ab": ["ab ac bc"],
        "ac": ["ac ab bc"],
        "bc": ["bc ab ac", "bc bd cd"],
        "bd": ["bc bd cd"],
        "cd": ["cd bc bd", "cd ce de"],
        "ce": ["ce cd de"],
        "de": ["de cd ce"],
    }
    assert canonical(friends_with_a_common_friend(node_edges())) == expected(by_nodes, nodes)
    assert canonical(friends_with_a_common_friend(edge_edges())) == expected(by_edges, edges)


# ------------------------------------------------------------------ annotations say when a tuple is there

pairs = st.tuples(st.integers(0, 2), st.integers(0, 2))
tables = st.dictionaries(pairs, trees, max_size=4)


def present(relation: AnnotatedRelation, there) -> set:
    return {row for row, k in relation.rows.items() if holds(k, there)}


@given(tables, tables)
def test_operations_commute_with_presence(left_rows, right_rows):
    """The K-relation evaluated at any set of participants is the plain algebra on what they contribute."""
    left, right = AnnotatedRelation(("x", "y"), left_rows), AnnotatedRelation(("x", "y"), right_rows)
    shifted = rename(right, {"x": "y", "y": "z"})
    far = rename(right, {"x": "u", "y": "v"})
    for there in subsets("abc"):
        lefts, rights = present(left, there), present(right, there)
        assert present(union(left, right), there) == lefts | rights
        assert present(intersect(left, right), there) == lefts & rights
        assert present(project(left, ["y"]), there) == {(y,) for _, y in lefts}
        assert present(select(left, lambda row: row["x"] > 0), there) == {t for t in lefts if t[0] > 0}
        assert present(join(left, shifted), there) == {
            (x, y, w) for x, y in lefts for z, w in rights if y == z
        }
        assert present(product(left, far), there) == {(*s, *t) for s in lefts for t in rights}


def unordered(k):
    """Return the expression with the children of every node as a multiset: AND and OR know no order."""
    if isinstance(k, Participant):
        return k.name
    return type(k).__name__, frozenset(Counter(map(unordered, k.children)).items())


@given(tables, tables, people)
def test_withdrawing_before_or_after_is_the_same_expression(left_rows, right_rows, leaver):
    """Theorem A's syntactic case: equal as expressions, not only as functions."""
    left, right = AnnotatedRelation(("x", "y"), left_rows), AnnotatedRelation(("x", "y"), right_rows)

    def query(r, s):
        return project(join(union(r, s), rename(s, {"x": "y", "y": "z"})), ["x", "z"])

    after = without(query(left, right), leaver).rows
    before = query(without(left, leaver), without(right, leaver)).rows
    assert {t: unordered(k) for t, k in after.items()} == {t: unordered(k) for t, k in before.items()}


owned = st.dictionaries(pairs, people.map(Participant), max_size=4).map(
    lambda rows: AnnotatedRelation(("x", "y"), rows)
)
"""input tables whose tuples have one owner each"""

OPERATIONS = [
    lambda r, s: union(r, s),
    lambda r, s: intersect(r, s),
    lambda r, s: project(join(r, rename(s, {"x": "y", "y": "z"})), ["x", "z"]),
    lambda r, _: select(r, lambda row: row[r.attributes[0]] > 0),
]


@given(owned, st.lists(st.tuples(st.integers(0, 3), owned), max_size=4))
def test_static_sensitivity_is_at_most_one_plus_the_operations(start, steps):
    """The fourth property of S, for queries over tables whose tuples have one owner each."""
    found, operations = start, 0
    for choice, other in steps:
        found = rename(OPERATIONS[choice](found, other), {"z": "y"})
        operations += 3 if choice == 2 else 1  # a rename, a join and a projection
    for k in found.rows.values():
        assert all(static_sensitivity(k, p) <= 1 + operations for p in participants(k))


def test_empty_relation():
    assert len(union(empty(["x"]), empty(["x"])).rows) == 0


@pytest.mark.parametrize(
    "broken",
    [
        lambda: AnnotatedRelation(("x", "x"), {}),
        lambda: AnnotatedRelation(("x",), {(1, 2): Participant("a")}),
        lambda: union(empty(["x"]), empty(["y"])),
        lambda: intersect(empty(["x"]), empty(["y"])),
        lambda: product(empty(["x"]), empty(["x"])),
    ],
)
def test_ill_typed_relations_cannot_be_built(broken):
    with pytest.raises(ValueError, match=r"attribute|row"):
        broken()


# ------------------------------------------------------------------ empirical sensitivities


@pytest.mark.parametrize("make", [node_edges, edge_edges])
def test_empirical_sensitivities_of_a_subgraph_count_are_equal(make):
    found = triangles(make())
    weights = dict.fromkeys(found.rows, 1)
    everybody = frozenset().union(*map(participants, found.rows.values()))
    query = linear_query(found.rows, weights)
    assert universal(found.rows, weights, everybody) == local(query, everybody) == global_(query, everybody)


@given(st.dictionaries(st.integers(0, 3), trees, max_size=3), people)
def test_impact_is_what_a_withdrawal_changes(rows, leaver):
    changed = impact(rows, leaver)
    for t, k in rows.items():
        if any(holds(k, s) != holds(k, s - {leaver}) for s in subsets(participants(k))):
            assert t in changed
        if leaver not in participants(k):
            assert t not in changed


def test_impact_leaves_out_absorbed_occurrences():
    """a ∨ (a∧b) does not need b, although S_b = 1: sensitivities by occurrence overcount."""
    k = disjunction(Participant("a"), conjunction(Participant("a"), Participant("b")))
    assert impact({"t": k}, "b") == frozenset()
    assert impact({"t": k}, "a") == {"t"}


@given(st.dictionaries(st.integers(0, 3), trees, max_size=3))
def test_local_is_at_most_global_is_at_most_universal(rows):
    weights = {t: t + 1 for t in rows}
    everybody = frozenset().union(*map(participants, rows.values()))
    query = linear_query(rows, weights)
    assert local(query, everybody) <= global_(query, everybody) <= universal(rows, weights, everybody)
