"""Where a formula's value can be: it holds the value for all numbers in the intervals of its parts."""

from __future__ import annotations

from datetime import date, datetime
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from recuse.mechanism.release import Release
from recuse.session.formulas import Given, comparable, value_of
from recuse.session.possible import GivenRanges, Possible, in_noise, possible
from recuse.sql.formula import FixedNumber, FixedValue, Formula, Operation, Operator, ShownKey, Term
from support.profiles import examples

KEYS = ("a", 3)
MEASURES = 3


def numbers(draw_from: st.SearchStrategy[Formula], truths: st.SearchStrategy[Formula]):
    two = st.sampled_from(
        [
            *(Operator.ADD, Operator.SUBTRACT, Operator.MULTIPLY, Operator.DIVIDE, Operator.MODULO),
            *(Operator.WHOLE_DIVIDE, Operator.GREATEST, Operator.LEAST, Operator.COALESCE, Operator.NULLIF),
        ]
    )
    one = st.sampled_from([Operator.ABS, Operator.FLOOR, Operator.CEIL, Operator.SIGN])
    places = st.sampled_from([FixedNumber(Fraction(n)) for n in (-1, 0, 1)])
    return st.one_of(
        st.builds(lambda op, a, b: Operation(op, (a, b)), two, draw_from, draw_from),
        st.builds(lambda op, a: Operation(op, (a,)), one, draw_from),
        st.builds(lambda a, n: Operation(Operator.ROUND, (a, n)), draw_from, places),
        st.builds(lambda t, a, b: Operation(Operator.CASE, (t, a, b)), truths, draw_from, draw_from),
    )


LEAVES = st.one_of(
    st.builds(Term, st.integers(0, MEASURES - 1)),
    st.builds(lambda n: FixedNumber(Fraction(n, 2)), st.integers(-6, 6)),
    st.just(ShownKey(1)),
    st.just(FixedValue(None)),
)


def truths(parts: st.SearchStrategy[Formula]) -> st.SearchStrategy[Formula]:
    compared = st.sampled_from([Operator.EQUAL, Operator.LESS, Operator.AT_MOST, Operator.SAME])
    plain = st.one_of(
        st.builds(lambda op, a, b: Operation(op, (a, b)), compared, parts, parts),
        st.builds(lambda a: Operation(Operator.IS_NULL, (a,)), parts),
        st.builds(lambda t: Operation(Operator.EQUAL, (ShownKey(0), FixedValue(t))), st.sampled_from("ab")),
    )
    joined = st.sampled_from([Operator.AND, Operator.OR])
    return st.one_of(
        plain,
        st.builds(lambda op, a, b: Operation(op, (a, b)), joined, plain, plain),
        st.builds(lambda a: Operation(Operator.NOT, (a,)), plain),
    )


FORMULAS = st.recursive(LEAVES, lambda parts: numbers(parts, truths(parts)), max_leaves=6)
ENDS = st.tuples(st.integers(-6, 6), st.integers(0, 5)).map(lambda pair: (pair[0], pair[0] + pair[1]))


def holds(found: Possible, value: object) -> bool:
    if value is None:
        return found.null
    if isinstance(value, Fraction):
        low, high = found.ends or (Fraction(1), Fraction(0))
        return (low is None or low <= value) and (high is None or value <= high)
    return value in found.others


def released(value: Fraction, ends: tuple[Fraction, Fraction]) -> Release:
    return Release(value, ends, Fraction(1), Fraction(1), "selective")


@settings(max_examples=examples(400))
@given(st.one_of(FORMULAS, truths(FORMULAS)), st.data())
def test_the_value_lies_where_it_can_be(formula, data):
    ends = [tuple(map(Fraction, data.draw(ENDS))) for _ in range(MEASURES)]
    values = [Fraction(data.draw(st.integers(int(2 * low), int(2 * high))), 2) for low, high in ends]
    releases = [released(value, one) for value, one in zip(values, ends, strict=True)]
    found = possible(formula, GivenRanges(list(map(in_noise, releases)), KEYS))
    assert holds(found, value_of(formula, Given(releases, KEYS)))


def test_a_twin_that_forgets_a_branch_is_caught():
    """CASE may take a branch that the released number itself does not take."""
    formula = Operation(
        Operator.CASE,
        (
            Operation(Operator.LESS, (Term(0), FixedNumber(Fraction(5)))),
            FixedNumber(Fraction(1)),
            FixedNumber(Fraction(9)),
        ),
    )
    release = released(Fraction(4), (Fraction(0), Fraction(8)))
    assert possible(formula, GivenRanges([in_noise(release)])).ends == (1, 9)
    assert value_of(formula, Given([release])) == 1


def test_values_of_one_kind_compare_whatever_they_are():

    assert comparable(date(2024, 1, 2)) > comparable(datetime(2024, 1, 1, 23))
