"""Contributions: what stands for a participant follows from that participant's rows, summed or not."""

from __future__ import annotations

import numpy as np
import pyarrow
from hypothesis import given
from hypothesis import strategies as st

from recuse.krelation.codes import loosely_numbered, numbered, places_in
from recuse.krelation.contributions import Contributions, encode_contributions
from recuse.krelation.encode import Derivations

GROUPS = 3
rows = st.lists(st.tuples(st.integers(0, 4), st.integers(0, GROUPS - 1), st.integers(-9, 9)), max_size=12)
wide = st.integers(-(2**63), 2**63 - 1)


def contributions(rows) -> Contributions:
    columns = zip(*rows, strict=True) if rows else ((),) * 3
    owners, groups, weights = (np.array(column, np.int64) for column in columns)
    zeros = np.zeros(GROUPS, object)
    return Contributions.of(owners, groups, weights, participants=5, constants=zeros, signed=True)


def of_one(found: Contributions, person: int):
    """Return what stands for a participant, row by row."""
    own = found.owners == person
    return sorted(zip(found.groups[own].tolist(), found.weights[own].tolist(), strict=True))


@given(rows)
def test_loads_are_the_norms_of_what_people_bring_to_groups(rows):
    found = contributions(rows)
    for person in range(5):
        own = [sum(w for p, g, w in rows if (p, g) == (person, group)) for group in range(GROUPS)]
        assert found.loads[person] == sum(map(abs, own))


@given(rows, st.integers(0, 4))
def test_what_stands_for_people_does_not_depend_on_others(rows, leaver):
    found, without = contributions(rows), contributions([row for row in rows if row[0] != leaver])
    assert all(of_one(found, person) == of_one(without, person) for person in range(5) if person != leaver)
    assert of_one(without, leaver) == []


def test_a_sum_that_others_decide_on_is_caught():
    """The twin sums everybody's rows as soon as anybody has one below nothing."""

    def twin(rows):
        return [] if all(w >= 0 for _, _, w in rows) else [(0, sum(w for p, _, w in rows if p == 0))]

    rows = [(0, 0, 2), (0, 0, 3), (1, 0, -1)]
    assert twin(rows) != twin(rows[:2])
    assert of_one(contributions(rows), 0) == of_one(contributions(rows[:2]), 0) == [(0, 2), (0, 3)]


def test_rows_without_a_weight_weigh_one():
    table = pyarrow.table({"group": [0, 1, 1, 2], "owner": [7, 7, 9, 10**18]})
    found = encode_contributions(
        [Derivations(table, [("person", ["owner"])])], [np.array([0, 1, 1, 2])], 3, signed=False
    )
    assert found.true_answers().tolist() == [1, 2, 1]
    assert sorted(found.loads[found.loads > 0].tolist()) == [1, 1, 2]


@given(st.lists(st.one_of(st.integers(-5, 20), wide), max_size=8))
def test_loose_codes_are_equal_where_values_are(values):
    column = pyarrow.chunked_array([pyarrow.array(values, pyarrow.int64())])
    codes, size = loosely_numbered([column])
    exact, _ = numbered([column])
    assert all(0 <= code < size for code in codes)
    pairs = [(a, b) for a in range(len(values)) for b in range(len(values))]
    assert all((codes[a] == codes[b]) == (exact[a] == exact[b]) for a, b in pairs)


@given(
    st.lists(st.one_of(st.integers(-5, 20), wide), max_size=8),
    st.lists(st.integers(-4, 12), unique=True, min_size=1, max_size=8),
    st.sampled_from([pyarrow.int8(), pyarrow.int16(), pyarrow.int64(), pyarrow.uint64()]),
)
def test_places_are_those_in_the_list(values, known, kind):
    least, most = (-128, 127) if kind == pyarrow.int8() else (-(2**15), 2**15 - 1)
    if kind in (pyarrow.int8(), pyarrow.int16()):
        values = [min(most, max(least, value)) for value in values]
    if kind == pyarrow.uint64():
        values = [value + 2**63 for value in values]
    column = pyarrow.chunked_array([pyarrow.array(values, kind)], type=kind)
    found = places_in(column, pyarrow.chunked_array([pyarrow.array(known, pyarrow.int64())]))
    if found is not None:
        assert found.tolist() == [known.index(v) if v in known else len(known) for v in values]
    assert (found is None) == (kind == pyarrow.uint64())
