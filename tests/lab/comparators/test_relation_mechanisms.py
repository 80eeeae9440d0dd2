"""Mechanisms for relations: the fixed linear program and global sensitivity."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recuse.annotation import Participant
from recuse.errors import ParameterError
from recuse.graphs.protect import Protected
from recuse.krelation.build import from_expressions, without
from recuse.krelation.relation import Shape
from recuse.lab.comparators.comparator import Privacy
from recuse.lab.comparators.fixed_truncation import FixedTruncation
from recuse.lab.comparators.global_sensitivity import GlobalSensitivity, rows_of_query, rows_of_subgraph
from recuse.lab.comparators.subgraphs import Kind, Motif
from recuse.lab.experiments.contestants import Asked, comparator
from recuse.mechanism.prepared import prepare
from recuse.policy import Policy
from recuse.privacy import Epsilon
from recuse.solver.memo import memoising
from recuse.solver.reference import reference
from recuse.sql.catalogue import Catalogue, Column, Table
from support.neighbours import PAIRS, star
from support.noise import Seeded
from support.packing import ROWS, packing, relation_of
from support.profiles import examples

ONE = Epsilon.of(1)


class Fixed:
    """Uniform bits in the middle: Laplace noise is 0."""

    def bits(self, count):
        return 1 << (count - 1)

    def laplace(self, scale):
        raise AssertionError("these comparators draw bits")


def prepared(relation):
    return prepare(relation, memoising(reference))


@pytest.mark.parametrize("tau", [0.5, 3.0, 20.0, 100.0])
def test_the_truncated_answer_by_hand(tau):
    """A star of 40 edges, nodes protected: the hub can keep τ of them, each leaf one."""
    found = FixedTruncation(ONE, tau).release(prepared(star(40)), Fixed())
    assert float(found.value) == pytest.approx(min(tau, 40), abs=0.011 * tau)
    assert float(found.noise_scale) == pytest.approx(1.01 * tau)


@settings(max_examples=examples(60))
@given(rows=ROWS, tau=st.sampled_from([0.5, 1.0, 3.0, 6.0]))
def test_the_truncated_answer_is_the_largest_packing(rows, tau):
    found = FixedTruncation(ONE, tau).release(prepared(relation_of(rows)), Fixed())
    assert -1e-6 <= float(found.value) - packing(rows, tau) <= 0.0101 * tau


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("tau", [0.5, 2.0, 7.0])
def test_one_participant_moves_it_by_no_more_than_the_noise_covers(pair, tau):
    one, other = (float(FixedTruncation(ONE, tau).release(prepared(r), Fixed()).value) for r in PAIRS[pair])
    assert abs(one - other) <= 1.01 * tau + 1e-6


def test_a_fixed_bound_is_in_units_of_the_answer():
    assert comparator("lp", ONE, 4.0, Asked(unit=Fraction(1000))) == FixedTruncation(ONE, 4000.0)


def test_without_truncation_a_hub_moves_the_count_further():
    one, other = (relation.true_answer() for relation in PAIRS["star"])
    assert abs(one - other) > 7 * 1.01


def test_the_noise_has_the_stated_spread():
    mechanism, work, source = FixedTruncation(ONE, 3.0), prepared(star(40)), Seeded(5)
    away = np.array([float(mechanism.release(work, source).value) for _ in range(6000)]) - 3
    assert np.mean(np.abs(away)) == pytest.approx(3.03, rel=0.06)
    assert np.mean(np.abs(away)) != pytest.approx(3.03 * 1.3, rel=0.06)


def test_restricted_joins_have_a_bound_in_the_query():
    assert rows_of_subgraph(Motif(Kind.EDGE), Protected.EDGE) == 1
    assert rows_of_subgraph(Motif(Kind.EDGE), Protected.NODE) is None
    assert rows_of_subgraph(Motif(Kind.TRIANGLES), Protected.EDGE) is None
    with pytest.raises(ParameterError, match="unrestricted"):
        GlobalSensitivity(ONE, None)


def test_global_sensitivity_is_private_and_less_noise_would_not_be():
    """One row each: a participant moves the count by 1, so Lap(rows/ε) has loss rows-moved·ε/rows."""
    relation = from_expressions([(Participant(i), 1) for i in range(9)], Shape.CONJUNCTIONS, signed=False)
    moved = relation.true_answer() - without(relation, 3).true_answer()
    scale = GlobalSensitivity(ONE, 1).scale()
    assert moved / scale <= 1
    assert moved / (scale / 1.3) > 1
    found = GlobalSensitivity(ONE, 1).release(prepared(relation), Fixed())
    assert (float(found.value), found.noise_scale) == (pytest.approx(9), Fraction(1))
    assert math.isclose(float(found.interval[1] - found.value), math.log(20))


def test_each_says_what_it_promises_and_needs():
    assert FixedTruncation(ONE).privacy is Privacy.PURE
    assert FixedTruncation(ONE).guesses
    assert GlobalSensitivity(ONE, 1).guesses == ()
    with pytest.raises(ParameterError):
        FixedTruncation(ONE, 0.0)


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT COUNT(*) FROM person WHERE age > 30", 1),
        ("SELECT SUM(age) FROM person", None),
        ("SELECT COUNT(*) FROM purchase", None),
        ("SELECT COUNT(*) FROM person p JOIN purchase o ON p.id = o.buyer", None),
        ("SELECT COUNT(*) FROM person a JOIN person b ON a.age = b.age", None),
        ("SELECT COUNT(*) FROM visit", None),
        ("SELECT COUNT(*) FROM (SELECT DISTINCT age FROM person) t", None),
    ],
)
def test_which_queries_bound_the_rows_of_a_participant(sql, rows):
    """Only counts over a protected table whose key is enforced; `visit` has several rows a key."""
    person = Table("person", (Column("id", "BIGINT"), Column("age", "BIGINT")), (("id",),))
    purchase = Table("purchase", (Column("buyer", "BIGINT"),))
    visit = Table("visit", (Column("guest", "BIGINT"),))
    policy = Policy.parse(
        '[[protect]]\ntable = "person"\nkey = ["id"]\n[[protect]]\ntable = "visit"\nkey = ["guest"]\n'
        '[[link]]\ntable = "purchase"\ncolumn = ["buyer"]\nto = "person"\n'
    )
    assert rows_of_query(sql, policy, Catalogue((person, purchase, visit))) == rows
