"""An aggregate is a value: a new one is one class and a registration, and everything else follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import pyarrow
import pytest
from sqlglot import exp

from recuse.engines.collect import collect
from recuse.errors import QueryError
from recuse.policy import Policy
from recuse.scalars.types import Boolean, Type
from recuse.session.session import Session, connect
from recuse.sql import aggregates
from recuse.sql.elaborate import Lookup
from recuse.sql.query import Block, Scalar
from recuse.sql.schema import Schema

POLICY = Policy.parse("""
[[protect]]
table = "customer"
key = ["id"]

[[link]]
table = "orders"
column = ["customer"]
to = "customer"
""")
FRAMES = {
    "customer": pyarrow.table({"id": [1, 2, 3]}),
    "orders": pyarrow.table({"customer": [1, 1, 2, 3, 9], "price": [5, 20, 30, None, 40]}),
}


@dataclass(frozen=True, slots=True)
class CountIf:
    """COUNT_IF: a row weighs 1 while its condition holds, and nothing else."""

    word: str = "COUNT_IF"
    signed: bool = False
    weighed: bool = True
    placed: bool = False
    whole: bool = True

    def rows(self, block: Block, _: Sequence[Scalar]) -> Block:
        return block

    def value(self, values: Sequence[Scalar]) -> Scalar:
        return values[0]

    def refuses(self, kind: Type) -> str | None:
        return None if isinstance(kind, Boolean) else "COUNT_IF takes a condition"

    def suited(self, _: Type) -> CountIf:
        return self

    def weight(self, value: Scalar | None, _schema: Schema, _lookup: Lookup) -> Scalar:
        return exp.Case(
            ifs=[exp.If(this=value.copy(), true=exp.Literal.number(1))], default=exp.Literal.number(0)
        )

    def plain(self, value: Scalar) -> exp.Expr:
        return exp.CountIf(this=value)

    def granularity(self, _: Schema) -> Fraction:
        return Fraction(1)

    def words(self, _: Schema) -> str:
        return "in how many rows it holds"


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Session:
    monkeypatch.setitem(aggregates.AGGREGATES, exp.CountIf, (CountIf(),))
    return connect(FRAMES, POLICY)


def relation_of(session: Session, sql: str):
    ((relation,),) = collect(session.engine, session.compile(sql))
    return relation


def test_a_toy_aggregate_is_asked_like_any_other(session):
    relation = relation_of(session, "SELECT COUNT_IF(price > 10) FROM orders")
    assert relation.true_answer() == 2
    assert not relation.signed
    assert set(relation.names) == {("customer", 1), ("customer", 2)}
    joined = "SELECT COUNT_IF(price > 10 AND c.id = 1) FROM orders o JOIN customer c ON o.customer = c.id"
    assert relation_of(session, joined).true_answer() == 1
    assert len(session.compile("SELECT COUNT(*), COUNT_IF(price > 10), AVG(price) FROM orders").measures) == 4


def test_it_is_explained_and_refused_in_its_own_words(session):
    explained = session.explain("SELECT COUNT_IF(price > 10) FROM orders")
    assert explained.questions == ("in how many rows it holds",)
    assert "COUNT_IF(" in explained.understood[0]
    with pytest.raises(QueryError, match="COUNT_IF takes a condition"):
        session.compile("SELECT COUNT_IF(price) FROM orders")


def test_without_a_registration_it_is_refused():
    with connect(FRAMES, POLICY) as session, pytest.raises(QueryError) as error:
        session.compile("SELECT BOOL_OR(price > 10) FROM orders")
    assert error.value.accepted == (
        "COUNT, SUM, AVG, MAX, MIN, MEDIAN, QUANTILE_CONT, MODE, STDDEV, CORR and REGR_SLOPE, "
        "with DISTINCT and FILTER, and arithmetic over them"
    )


def test_a_weight_below_nothing_drops_out_unless_the_aggregate_is_signed(session, monkeypatch):
    """An unsigned relation with a negative weight would break the theorems: the derivations leave it out."""
    monkeypatch.setattr(CountIf, "weight", lambda *_: exp.Neg(this=exp.Literal.number(1)))
    assert relation_of(session, "SELECT COUNT_IF(price > 10) FROM orders").true_answer() == 0


@pytest.mark.parametrize("aggregate", [aggregates.COUNT, aggregates.SUM])
def test_an_aggregate_is_a_frozen_value(aggregate):
    assert aggregate == type(aggregate)()
    assert hash(aggregate) == hash(type(aggregate)())
    with pytest.raises((AttributeError, TypeError)):  # a constant of the class, not a field
        aggregate.word = "OTHER"
