"""Engine + derivation query → the K-relation of the question."""

from __future__ import annotations

from recuse.engines.engine import Engine
from recuse.krelation.encode import encode
from recuse.krelation.relation import KRelation
from recuse.sql.compile import DerivationQuery
from recuse.sql.query import Aggregate


def collect(engine: Engine, query: DerivationQuery) -> KRelation:
    """Return the annotated relation that the query's rows make up. This is where data is looked at."""
    owners = [(owner.kind, owner.columns) for owner in query.owners]
    signed = query.aggregate is Aggregate.SUM
    return encode(engine.run(query), owners, shape=query.shape, signed=signed)
