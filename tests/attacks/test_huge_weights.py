"""Huge weights: values at the ends of number formats, whose sums overflow them.

One participant with a value near 10^308 or 2^63 must neither make an answer fail, nor wrap around and cancel
somebody else's, nor cost more than one participant may.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import inf

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.annotation import Annotation, Participant, conjunction
from recuse.engines.collect import collect
from recuse.engines.duckdb import DuckDB
from recuse.krelation.build import from_expressions, without
from recuse.krelation.relation import KRelation, Shape
from recuse.mechanism.levels import withdrawals
from recuse.mechanism.parameters import SLACK
from recuse.mechanism.prepared import prepare
from recuse.mechanism.presets import DOUBLINGS
from recuse.noise import round_down
from recuse.policy import Link
from recuse.session.session import Session
from recuse.solver.exact.programs import ExactPrograms
from recuse.solver.fast import fast_programs
from recuse.solver.reference import reference
from support.policies import about_people
from support.profiles import some
from support.shape import outcome, session_on

POLICY = about_people(("t", "who"))
POLICY = replace(POLICY, links=(*POLICY.links, Link.any("u", ("who",), ("other",), to="person")))
MOST = 2**63 - 1

LARGE = 9 * 10**18
"""below 2^63, and no sum of a few of them is near a power of two: such loads are attacked below"""

VALUES = {
    "BIGINT": [LARGE, -MOST - 1, LARGE, -LARGE],
    "HUGEINT": [2**127 - 1, -(2**127) + 1, 2**63, LARGE, LARGE],
    "DOUBLE": [1e308, -1e308, float("inf"), float("nan"), -0.0, 5e-324, 9.3e18, 9e18],
    "DECIMAL(38, 0)": [10**38 - 1, -1, LARGE, LARGE],
}
QUESTIONS = [
    "SELECT SUM(x), AVG(x), COUNT(DISTINCT x) FROM t",
    "SELECT SUM(x * x), SUM(-x), SUM(abs(x)) FROM t",
    "SELECT SUM(x * y) FROM (SELECT p.x, q.x AS y FROM t p, t q) s",
    "SELECT SUM(x) FROM u",
    "SELECT who % 2, SUM(x) FROM t WHERE who % 2 IN (0, 1) GROUP BY who % 2",
]


def opened(kind: str, values: list[object]) -> Session:
    """Return a session on tables in which three own all of the values, and eight more ordinary people."""
    made = duckdb.connect()
    made.execute(f"CREATE TABLE t (who INTEGER, x {kind})")
    rows = [(who, value) for who in range(3) for value in values] + [(who, 1) for who in range(10, 18)]
    made.executemany("INSERT INTO t VALUES (?, ?)", rows)
    made.execute("CREATE TABLE u AS SELECT who, who + 1 AS other, x FROM t")
    return session_on(DuckDB.open(made), POLICY)


@pytest.mark.parametrize(
    "kind",
    ["BIGINT", "DOUBLE", *(pytest.param(k, marks=pytest.mark.slow) for k in ("HUGEINT", "DECIMAL(38, 0)"))],
)
def test_nothing_raises_and_the_form_is_the_same(kind):
    with opened(kind, [1]) as plain, opened(kind, VALUES[kind]) as huge:
        for text in some(QUESTIONS, 0.5):
            expected = outcome(plain, text, "1")
            assert isinstance(expected, list), text
            assert outcome(huge, text, "1") == expected, text


# ------------------------------------------------------------------ sums do not wrap around


def relation_of(session: Session, text: str) -> KRelation:
    ((relation,),) = collect(session.engine, session.compile(text))
    return relation


def exact_sum(relation: KRelation) -> int:
    return relation.true_answer()


def wrapping_sum(relation: KRelation) -> int:
    """The broken twin: the same sum in 64 bits."""
    total = np.zeros((), np.int64)
    with np.errstate(over="ignore"):
        for part, sign in zip(relation.signs, (1, -1), strict=True):
            for weight in part.weights.tolist():
                total = total + np.array(sign * weight % 2**64, np.uint64).astype(np.int64)
    return int(total)


def double_sum(relation: KRelation) -> int:
    """Another broken twin: the same sum in doubles, which loses what is small beside what is large."""
    return int(sum(float(w) for w in relation.signs[0].weights.tolist()))


def is_additive(total) -> bool:
    """Return whether everybody's withdrawal lowers the sum by exactly what they own."""
    with opened("BIGINT", [MOST, MOST]) as session:
        relation = relation_of(session, "SELECT SUM(x) FROM t")
    whole = total(relation)
    owned = {("person", who): 2 * MOST if who < 3 else 1 for who in (0, 1, 2, *range(10, 18))}
    return whole == sum(owned.values()) and all(
        whole - total(without(relation, name)) == amount for name, amount in owned.items()
    )


def test_sums_are_exact_beyond_64_bits():
    assert is_additive(exact_sum)


@pytest.mark.parametrize("twin", [wrapping_sum, double_sum])
def test_the_twins_that_sum_in_a_number_format_are_caught(twin):
    assert not is_additive(twin)


# ------------------------------------------------------------------ loads that no double tells from τ


def owned(weight: int, *owners: object) -> tuple[Annotation, int]:
    return conjunction(*map(Participant, owners)), weight


BESIDE = {
    "2^53 + 1": ([owned(2**53 + 1, 0)], 53),
    "2^63 - 1": ([owned(MOST, who) for who in range(3)], 63),
    "a self-join": (
        [owned(2**65 - 4, a) for a in range(3)]
        + [owned(2**66 - 8, a, b) for a in range(3) for b in range(a)]
        + [owned(2, a, b) for a in range(3) for b in range(10, 18)],
        65,
    ),
}
LEVELS = [10, 20, 26, 27, 30, 40, 53, 65, 100]


def penalties_close(solver, relation: KRelation, level: int, penalty_of=withdrawals) -> bool:
    """Return whether doublings about a level can be scored: failing to would depend on the data."""
    (programs,) = prepare(relation, solver).signs
    penalty = penalty_of([programs], DOUBLINGS)
    try:
        return all(
            high - Fraction(low) <= SLACK for low, high in map(known(penalty), range(level - 1, level + 3))
        )
    except RuntimeError:
        return False


def known(penalty):
    return lambda level: penalty(level, inf)


def always_strict(programs, ladder):
    """N_s at every scale: doubles alone do not find it."""

    def penalty(level, stop_above):
        found = [
            part.strict_withdrawals(float(ladder.tau(level)), round_down(SLACK), stop_above)
            for part in programs
        ]
        return max(n.low for n in found), Fraction(max(n.high for n in found))

    return penalty


@st.composite
def beside(draw, level: int) -> KRelation:
    """Return a relation whose loads lie beside powers of two about a level."""
    rows = []
    for owners in draw(st.lists(st.sets(st.integers(0, 4), min_size=1, max_size=3), min_size=1, max_size=7)):
        power = draw(st.one_of(st.integers(level - 1, level + 1), st.integers(0, level + 3)))
        rows.append(owned(max(1, 2**power + draw(st.integers(-8, 8))), *owners))
    return from_expressions(rows, Shape.CONJUNCTIONS, signed=False)


@pytest.mark.parametrize("solver", [fast_programs, reference])
@pytest.mark.parametrize("name", BESIDE)
def test_withdrawals_are_known_beside_every_load(solver, name):
    rows, level = BESIDE[name]
    relation = from_expressions(rows, Shape.CONJUNCTIONS, signed=False)
    assert penalties_close(solver, relation, level)


@pytest.mark.parametrize("name", BESIDE)
def test_strict_withdrawals_are_known_beside_every_load(name):
    rows, level = BESIDE[name]
    relation = from_expressions(rows, Shape.CONJUNCTIONS, signed=False)
    assert penalties_close(fast_programs, relation, level, always_strict)


def test_the_twin_without_exact_arithmetic_is_caught(monkeypatch):
    rows, level = BESIDE["2^53 + 1"]
    relation = from_expressions(rows, Shape.CONJUNCTIONS, signed=False)
    monkeypatch.setattr(ExactPrograms, "withdrawals", gives_up)
    assert not penalties_close(fast_programs, relation, level, always_strict)


def gives_up(*_):
    """The broken twin of a last resort."""
    raise RuntimeError


@pytest.mark.parametrize("level", some([*LEVELS], 0.5))
@given(data=st.data())
def test_withdrawals_are_known_at_every_scale(level, data):
    assert penalties_close(fast_programs, data.draw(beside(level)), level)
