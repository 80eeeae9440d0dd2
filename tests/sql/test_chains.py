"""The chain theorem: any condition is an alternating sum of monotone ones, and its cases tell rows apart."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from recuse.sql.cases import MAX_PREDICATES, Cases, TooManyError
from recuse.sql.chains import chain
from recuse.sql.predicates import Predicate
from recuse.sql.query import Block, column
from recuse.sql.truths import Compound, Fixed, Mention, OfRow, patterns, truth
from support.profiles import examples


def points(heights):
    return list(product(*(range(height + 1) for height in heights)))


def holds(antichain, point) -> bool:
    return any(all(a <= b for a, b in zip(least, point, strict=True)) for least in antichain)


def changes(said, heights) -> int:
    """Return the most changes of a condition along a chain, counted from 0 before its start."""
    most = {}
    for point in sorted(points(heights), key=sum):
        below = [other for other in most if all(a <= b for a, b in zip(other, point, strict=True))]
        most[point] = max(
            [int(said[point])] + [most[other] + (said[other] != said[point]) for other in below]
        )
    return max(most.values())


def check(said, heights) -> None:
    found = chain(said.__getitem__, heights)
    assert len(found) == changes(said, heights) <= sum(heights) + 1
    for point in points(heights):
        ups = [holds(antichain, point) for antichain in found]
        assert ups == sorted(ups, reverse=True)
        assert sum((-1) ** j * up for j, up in enumerate(ups)) == said[point]


def test_every_function_of_three_bits():
    for values in product([False, True], repeat=8):
        check(dict(zip(points([1, 1, 1]), values, strict=True)), [1, 1, 1])


@pytest.mark.parametrize("heights", [[1, 1, 1, 1], [2, 2], [2, 1, 1], [3, 2], [2, 2, 2], [3, 1]])
@settings(max_examples=examples(100))
@given(data=st.data())
def test_any_function_of_levels(heights, data):
    every = points(heights)
    values = data.draw(st.lists(st.booleans(), min_size=len(every), max_size=len(every)))
    check(dict(zip(every, values, strict=True)), heights)


def test_the_examples_of_the_theorem():
    assert chain(lambda x: x[0] == 0 and x[1] == 0, [1, 1]) == (((0, 0),), ((0, 1), (1, 0)))
    assert chain(lambda x: x[0] == 0 or x[1] == 1, [1, 1]) == (((0, 0),), ((1, 0),), ((1, 1),))
    assert len(chain(lambda x: sum(x) % 2 == 1, [1] * 4)) == 4


def test_a_chain_that_stops_early_is_no_identity():
    """The twin: two terms are not enough for an exclusive or."""
    found = chain(lambda x: x[0] != x[1], [1, 1])[:1]
    assert any(holds(found[0], point) != (point[0] != point[1]) for point in points([1, 1]))


# ------------------------------------------------------------------ cases

EXISTS, IN, ALL, BESIDE = (False, True), (False, None, True), (True, None, False), (None, False, True, False)


def predicate(number: int, outcomes) -> Predicate:
    """Return a predicate whose k-th step is a block that says which step of which predicate it is."""
    steps = [(Block(conditions=(column("step", f"{number}_{k}"),)),) for k in range(1, len(outcomes))]
    return Predicate(tuple(steps), outcomes)


def scalar(node: exp.Expr, said):
    """Return the truth of a condition, given that of its columns."""
    match node:
        case exp.Paren():
            return scalar(node.this, said)
        case exp.Column():
            return said[node.table, node.name]
        case exp.Boolean():
            return bool(node.this)
        case exp.Null():
            return None
        case exp.Not():
            value = scalar(node.this, said)
            return None if value is None else not value
        case exp.Is():
            return scalar(node.this, said) is scalar(node.expression, said)
        case exp.And() | exp.Or():
            values = [scalar(part, said) for part in (node.left, node.right)]
            ends = isinstance(node, exp.Or)
            return ends if ends in values else None if None in values else not ends
    raise TypeError(node)


def there(block: Block, said) -> bool:
    """Whether a row is in a block: a branch is there if what it says is so."""
    return (
        all(scalar(condition, said) is True for condition in block.conditions)
        and all(any(there(branch, said) for branch in choice.branches) for choice in block.choices)
        and not any(there(branch, said) for branch in block.absent)
    )


def sentences(predicates: int, tests: int):
    leaves = st.one_of(
        st.builds(Mention, st.integers(0, predicates - 1)),
        st.builds(OfRow, st.integers(0, tests - 1)),
        st.builds(Fixed, st.sampled_from([True, False, None])),
    )
    several = [("not", 1), ("is null", 1), ("is true", 1), ("and", 2), ("or", 3), ("or", 2), ("by value", 4)]
    return st.recursive(
        leaves,
        lambda inner: st.sampled_from(several).flatmap(
            lambda pair: st.builds(Compound, st.just(pair[0]), st.tuples(*[inner] * pair[1]))
        ),
        max_leaves=8,
    )


@settings(max_examples=examples(150))
@given(
    outcomes=st.lists(st.sampled_from([EXISTS, IN, ALL, BESIDE]), min_size=3, max_size=3),
    asked=st.lists(sentences(3, 2), min_size=1, max_size=3),
)
def test_a_row_is_in_one_case_where_the_conditions_are_true_and_in_none_elsewhere(outcomes, asked):
    predicates = [predicate(number, levels) for number, levels in enumerate(outcomes)]
    cases = Cases(predicates, [column("row", str(number)) for number in range(2)]).of(asked)
    for levels in product(*(range(len(found)) for found in outcomes)):
        say = [found[level] for found, level in zip(outcomes, levels, strict=True)]
        steps = {
            ("step", f"{number}_{k}"): level >= k
            for number, level in enumerate(levels)
            for k in range(1, len(outcomes[number]))
        }
        for pattern in patterns(2):
            rows = {("row", str(number)): value for number, value in enumerate(pattern)}
            wanted = all(truth(sentence, say, pattern) is True for sentence in asked)
            assert sum(there(case, steps | rows) for case in cases) == wanted
            for case in cases:
                implied = [choice for choice in case.choices if choice.implied]
                if any(there(branch, steps | rows) for branch in case.absent):
                    assert all(any(there(b, steps | rows) for b in choice.branches) for choice in implied)


def test_negations_side_by_side_are_one_case_and_have_no_limit():
    predicates = [predicate(number, IN) for number in range(9)]
    (case,) = Cases(predicates, []).of([Compound("not", (Mention(number),)) for number in range(9)])
    assert len(case.absent) == 9
    (same,) = Cases(predicates, []).of([Compound("not", (Compound("or", tuple(map(Mention, range(9)))),))])
    assert same == case


def test_a_condition_that_is_no_conjunction_has_a_limit():
    predicates = [predicate(number, EXISTS) for number in range(MAX_PREDICATES + 1)]
    parts = tuple(Compound("not", (Mention(number),)) for number in range(MAX_PREDICATES + 1))
    assert Cases(predicates, []).of([Compound("or", parts[:-1])])
    with pytest.raises(TooManyError):
        Cases(predicates, []).of([Compound("or", parts)])


def test_a_test_stays_a_condition_that_an_engine_can_join_by():
    """`x = y OR NOT EXISTS` keeps x = y as it is where it must be true."""
    cases = Cases([predicate(0, EXISTS)], [column("row", "0")]).of(
        [Compound("or", (OfRow(0), Compound("not", (Mention(0),))))]
    )
    assert [case.conditions[0].sql() for case in cases] == ['"row"."0"', 'NOT ("row"."0") IS TRUE']
    assert [bool(case.absent) for case in cases] == [False, True]
