"""Precision attack: the set of possible answers must not tell neighbours apart (Mironov, CCS 2012).

A double that comes out of `truth + scale·ln(u)` lies on a set that the truth decides: whoever sees the last
bits of one answer can tell which of two neighbours it came from. Ours are whole steps of a public grid.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import duckdb
import pytest

from recuse.krelation.relation import KRelation
from recuse.mechanism import presets
from recuse.mechanism.answer import noisy_answer
from recuse.mechanism.prepared import prepare, truncated
from recuse.policy import Policy
from recuse.privacy import Epsilon
from recuse.session.session import connect
from recuse.solver.reference import reference
from support.neighbours import PAIRS
from support.noise import Scripted

TAU = Fraction(0.3)
DRAWS = range(-1500, 1501)
ONE = Epsilon.of(1)


def released(relation: KRelation) -> set[Fraction]:
    """Return all answers of a relation at one τ, over a range of noise."""
    value, slack = truncated(prepare(relation, reference), TAU)
    parameters = presets.tuned(ONE)
    draws = ([draw] for draw in DRAWS)
    return {noisy_answer(value, TAU, slack, Fraction(0), parameters, Scripted(draw)).value for draw in draws}


def float_laplace(relation: KRelation) -> set[Fraction]:
    """Return the same of a broken twin: Laplace noise in doubles, by inversion."""
    value, _ = truncated(prepare(relation, reference), TAU)
    uniforms = ((draw - DRAWS.start + 1) / 4096 for draw in DRAWS)
    return {Fraction(float(value) + float(TAU) * math.log(u)) for u in uniforms}


def tell_apart(mechanism: Callable[[KRelation], set[Fraction]], one: KRelation, other: KRelation) -> bool:
    """Return whether some answer between the extremes of both is possible for one neighbour alone."""
    first, second = mechanism(one), mechanism(other)
    low, high = max(min(first), min(second)), min(max(first), max(second))
    return {x for x in first if low <= x <= high} != {x for x in second if low <= x <= high}


@pytest.mark.parametrize("pair", PAIRS)
def test_neighbours_have_the_same_possible_answers(pair):
    assert not tell_apart(released, *PAIRS[pair])


@pytest.mark.parametrize("pair", PAIRS)
def test_the_twin_with_noise_in_doubles_is_caught(pair):
    assert tell_apart(float_laplace, *PAIRS[pair])


SUMS = """
[[protect]]
kind = "person"

[[link]]
table = "t"
column = ["who"]
to = "person"

[budget]
epsilon = 100

[sum]
granularity = 0.01
"""


@pytest.mark.parametrize("mechanism", ["selective", "tuned", "paper"])
def test_every_number_of_an_answer_is_whole_granules(mechanism):
    """Data that is not on the grid at all comes out on it, whatever the noise."""
    data = duckdb.connect()
    data.execute("CREATE TABLE t AS SELECT i // 3 AS who, i % 2 AS k, sqrt(i) AS x FROM range(300) r(i)")
    with connect(data, Policy.parse(SUMS)) as session:
        answer = session.ask(
            "SELECT k, SUM(x), COUNT(*) FROM t WHERE k IN (0, 1) GROUP BY k", 2, mechanism=mechanism
        )
        total = session.ask("SELECT SUM(x) FROM t", 2, mechanism=mechanism)
    numbers = [(total, Fraction(1, 100))]
    for row in answer:
        numbers += zip(row.cells, (Fraction(1, 100), Fraction(1)), strict=True)
    for cell, granule in numbers:
        for number in (cell.value, *cell.interval):
            assert (number / granule).denominator == 1
