"""A mechanism is a value: a toy one is a class and a registration, and is asked like any other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, is_dataclass
from fractions import Fraction

import duckdb
import pytest

from recuse.errors import ParameterError
from recuse.krelation.relation import Growth, Shape
from recuse.mechanism.mechanisms import MECHANISMS, mechanism_for
from recuse.mechanism.truncating import Truncating
from recuse.noise import Noise
from recuse.policy import Policy
from recuse.privacy import Epsilon
from recuse.session.parts import Parts
from recuse.session.session import connect
from recuse.solver.programs import TruncationPrograms
from support.noise import Seeded

ONE = Epsilon.of(1)
POLICY = Policy.parse('[[protect]]\ntable = "person"\nkey = ["id"]\n[budget]\nepsilon = 10\n')


@dataclass(frozen=True, slots=True)
class Fixed(Truncating):
    """A toy: τ is a public number."""

    tau: Fraction

    def choose(self, programs: Sequence[TruncationPrograms], noise: Noise) -> Fraction:
        return self.tau


def toy(epsilon: Epsilon, shape: Shape | Growth) -> Fixed:
    half = epsilon.value / 2
    return Fixed("toy", half, half, Fraction(1), Fraction(4))


def test_a_toy_mechanism_is_a_class_and_a_registration(monkeypatch):
    monkeypatch.setitem(MECHANISMS, "toy", toy)
    connection = duckdb.connect()
    connection.execute("CREATE TABLE person AS SELECT i AS id, i % 3 AS town FROM range(500) r(i)")
    with connect(connection, POLICY, parts=Parts(noise=Seeded(1))) as session:
        answer = session.ask("SELECT COUNT(*) FROM person", 1, mechanism="toy")
        assert (answer.number.mechanism, answer.number.noise_epsilon) == ("toy", Fraction(1, 2))
        assert abs(answer.value - 500) < 100
        grouped = "SELECT town, COUNT(*) FROM person WHERE town IN (0, 1) GROUP BY town"
        assert len(session.ask(grouped, 1, mechanism="toy")) == 2
        assert not session.ask("SELECT COUNT(*) FROM person", 1).stored, "another mechanism, another question"


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_mechanism_is_a_frozen_value(name):
    one, other = (mechanism_for(name, ONE, Shape.CONJUNCTIONS) for _ in range(2))
    assert is_dataclass(one)
    assert (one, hash(one)) == (other, hash(other))
    assert mechanism_for(name, Epsilon.of(2), Shape.CONJUNCTIONS) != one


def test_a_name_that_nobody_registered_is_refused():
    with pytest.raises(ParameterError, match="no such mechanism"):
        mechanism_for("toy", ONE, Shape.CONJUNCTIONS)
