"""Arrow tables to K-relations: the same as one tuple at a time in Python, without a loop."""

from __future__ import annotations

import datetime
import decimal
import time

import numpy as np
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.annotation import Participant, conjunction
from recuse.krelation import encode as module
from recuse.krelation.build import canonical_rows, from_expressions
from recuse.krelation.canonical import canonical
from recuse.krelation.codes import integers
from recuse.krelation.encode import Derivations, encode, encode_groups, encode_merged
from recuse.krelation.relation import KRelation, Shape

small = st.integers(0, 3)
words = st.sampled_from(["", "a", "A", "a b", "1"])
rows = st.lists(st.tuples(small, words, small, words, small, st.integers(-3, 3)), max_size=12)
OWNERS = [("place", ("a", "b")), ("place", ("c", "d")), ("person", ("e",)), ("person", ("a",))]


@given(rows)
def test_encoding_is_what_python_would_do(rows):
    columns = list(zip(*rows, strict=True)) or [()] * 6
    kinds = [
        pyarrow.int32(),
        pyarrow.string(),
        pyarrow.int64(),
        pyarrow.string(),
        pyarrow.int16(),
        pyarrow.int64(),
    ]
    arrays = [pyarrow.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    table = pyarrow.table(dict(zip("abcde", arrays, strict=False)) | {"weight": arrays[5]})
    found = encode(table, OWNERS, shape=Shape.CONJUNCTIONS, signed=True)
    expected = [
        (
            conjunction(*map(Participant, [("place", a, b), ("place", c, d), ("person", e), ("person", a)])),
            weight,
        )
        for a, b, c, d, e, weight in rows
    ]
    assert canonical_rows(found) == canonical_rows(from_expressions(expected, Shape.CONJUNCTIONS))


@given(
    st.lists(st.integers(-(10**38) + 1, 10**38 - 1) | st.integers(-(2**65), 2**65), max_size=6),
    st.integers(0, 3),
)
def test_wide_sums_are_read_exactly(values, skipped):
    array = pyarrow.array([decimal.Decimal(value) for value in values], pyarrow.decimal128(38, 0))
    found = integers(pyarrow.chunked_array([array[skipped:], array[:skipped]]))
    assert found.tolist() == values[skipped:] + values[:skipped]
    assert found.dtype == (np.int64 if all(-(2**63) <= v < 2**63 for v in values) else object)


@pytest.mark.parametrize(
    "values",
    [
        ["a", "b", "a"],
        [datetime.date(2020, 1, 1), datetime.date(2020, 1, 2), datetime.date(2020, 1, 1)],
        [decimal.Decimal("1.50"), decimal.Decimal("1.5"), decimal.Decimal("2.00")],
        [2**62, 2**62 + 1, 2**62],
    ],
)
def test_every_kind_of_key_keeps_its_values(values):
    table = pyarrow.table({"o": pyarrow.array(values), "weight": [1, 1, 1]})
    found = encode(table, [("k", ("o",))], shape=Shape.CONJUNCTIONS, signed=False)
    assert set(found.names) == {("k", value) for value in values}
    assert found.participants == 2
    assert sorted(found.positive.weights.tolist()) == [1, 2]


def test_dictionary_columns_are_read_by_value():
    first = pyarrow.array(["a", "b"]).dictionary_encode()
    second = pyarrow.array(["b", "a"]).dictionary_encode()
    table = pyarrow.table({"o": pyarrow.chunked_array([first, second]), "weight": [1, 2, 4, 8]})
    found = encode(table, [("k", ("o",))], shape=Shape.CONJUNCTIONS, signed=False)
    assert canonical_rows(found) == {
        (frozenset([frozenset([("k", "a")])]), 1): 9,
        (frozenset([frozenset([("k", "b")])]), 1): 6,
    }


def test_a_table_without_owners_is_a_constant():
    table = pyarrow.table({"weight": [3, 4]})
    found = encode(table, [], shape=Shape.CONJUNCTIONS, signed=False)
    assert (found.constant, found.participants, len(found.positive)) == (7, 0, 0)


def test_names_behave_like_a_sequence():
    table = pyarrow.table({"a": [1, 2], "b": ["x", "x"], "weight": [1, 1]})
    names = encode(table, [("p", ("a",)), ("q", ("b",))], shape=Shape.CONJUNCTIONS, signed=False).names
    assert list(names) == [names[i] for i in range(len(names))] == list(names[:])
    assert set(names) == {("p", 1), ("p", 2), ("q", "x")}
    with pytest.raises(IndexError):
        names[3]


@pytest.mark.parametrize(
    "table",
    [
        {"o": [1, 2], "weight": [1, None]},
        {"o": [1, 2], "weight": [1.0, 2.0]},
    ],
)
def test_what_no_derivation_query_returns_is_an_error(table):
    with pytest.raises(ValueError, match=r"NULL|whole"):
        encode(pyarrow.table(table), [("k", ("o",))], shape=Shape.CONJUNCTIONS, signed=True)


def test_a_row_of_which_an_owner_is_null_is_nobodys():
    table = pyarrow.table({"o": [1, None, 2], "p": [None, 1, 3], "weight": [5, 7, 9]})
    for encoded in (encode, encode_merged):
        found = encoded(table, [("k", ("o",)), ("l", ("p",))], shape=Shape.CONJUNCTIONS, signed=True)
        assert found.true_answer() == 9
        assert set(found.names) == {("k", 2), ("l", 3)}


def test_columns_of_one_kind_must_be_of_one_type():
    table = pyarrow.table({"a": [1], "b": ["1"], "weight": [1]})
    with pytest.raises(ValueError, match="different types"):
        encode(table, [("k", ("a",)), ("k", ("b",))], shape=Shape.CONJUNCTIONS, signed=True)


def test_a_million_rows_are_encoded_in_a_moment():
    count = 1_000_000
    random = np.random.default_rng(1)
    owners = random.integers(0, 200_000, (count, 2))
    table = pyarrow.table({"a": owners[:, 0], "b": owners[:, 1], "weight": np.ones(count, np.int64)})
    start = time.process_time()  # of this process alone: others may be busy
    found = encode(table, [("k", ("a",)), ("k", ("b",))], shape=Shape.CONJUNCTIONS, signed=False)
    assert time.process_time() - start < 5
    assert found.true_answer() == count


@given(st.dictionaries(st.tuples(small, words), st.integers(-3, 3), max_size=12))
def test_merged_rows_need_no_sorting(rows):
    table = pyarrow.table(
        {
            "a": pyarrow.array([a for a, _ in rows], pyarrow.int64()),
            "b": pyarrow.array([b for _, b in rows], pyarrow.string()),
            "weight": pyarrow.array(list(rows.values()), pyarrow.int64()),
        }
    )
    owners = [("number", ("a",)), ("word", ("b",))]
    merged = encode_merged(table, owners, shape=Shape.CONJUNCTIONS, signed=True)
    assert canonical_rows(merged) == canonical_rows(
        encode(table, owners, shape=Shape.CONJUNCTIONS, signed=True)
    )


# ------------------------------------------------------------------ groups do not see each other


def in_groups(rows: list[tuple[str, str, int, int]], count: int) -> list[KRelation]:
    """Return the relations of rows of two owners, a weight and a group."""
    one, other, weights, groups = zip(*rows, strict=True)
    table = pyarrow.table(
        {
            "a": one,
            "b": other,
            "weight": pyarrow.array(list(map(decimal.Decimal, weights)), pyarrow.decimal128(38, 0)),
        }
    )
    derivations = [Derivations(table, [("k", ("a",)), ("k", ("b",))])]
    return encode_groups(derivations, [np.array(groups)], count, shape=Shape.CONJUNCTIONS, signed=False)


def of_group(rows: list[tuple[str, str, int, int]], count: int) -> tuple[object, ...]:
    """Return the first group's tuples as they are solved, and whom each number stands for."""
    found = in_groups(rows, count)[0]
    tuples = canonical(found.positive)
    clauses = np.split(tuples.members, tuples.clauses[1:-1])
    stored = zip(tuples.weights.tolist(), (tuple(c.tolist()) for c in clauses), strict=True)
    return tuple(stored), tuple(found.names), tuples.weights.dtype


OWN = [("x", "y", 1, 0), ("y", "z", 2, 0)]
OTHERS = [("p", "q", 1, 1), ("a", "p", 2**70, 1), ("zz", "y1", 3, 1)]


def test_a_groups_numbers_and_order_are_the_same_whatever_other_groups_hold():
    """Lemma P: other groups' rows, and the order of all rows, are not seen."""
    alone = of_group(OWN, 1)
    for others in (OTHERS[:1], OTHERS[:2], OTHERS):
        for rows in (OWN + others, others[::-1] + OWN[::-1], [OWN[1], *others, OWN[0]]):
            assert of_group(rows, 2) == alone


def test_numbers_in_order_of_appearance_would_tell_of_other_groups(monkeypatch):
    """The twin: participants are numbered as they come, and another group's row comes first."""
    monkeypatch.setattr(module, "in_order", lambda codes, values: (codes, values))
    assert of_group([("z", "p", 1, 1), *OWN], 2) != of_group(OWN, 1)


@pytest.mark.parametrize(
    "values",
    [
        ["b", "a", "ab"],
        [2.5, float("nan"), -1.0],
        [decimal.Decimal("10.5"), decimal.Decimal("-2"), decimal.Decimal("9")],
        [datetime.date(2021, 1, 1), datetime.date(1990, 1, 1), datetime.date(2020, 1, 2)],
        [b"x", b"a", b""],
    ],
)
def test_participants_are_numbered_by_name_whatever_its_type(values):
    def names(listed):
        table = pyarrow.table({"o": pyarrow.array(listed), "weight": [1] * len(listed)})
        return list(map(repr, encode(table, [("k", ("o",))], shape=Shape.CONJUNCTIONS, signed=False).names))

    assert names(values) == names(values[::-1]) == names([*values, *values[:1]])


def test_a_weight_of_another_group_does_not_change_how_weights_are_kept():
    found = in_groups([("x", "y", 5, 0), ("p", "q", 2**70, 1)], 2)
    assert [part.positive.weights.dtype for part in found] == [np.int64, object]
    assert [part.true_answer() for part in found] == [5, 2**70]
