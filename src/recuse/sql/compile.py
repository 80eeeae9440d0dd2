"""Text + policy + catalogue → `DerivationQuery`: the one query that returns every owner set with its weight.

    parse ─ read ─ PASSES ─ derive

Nothing here touches data, and nothing depends on it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from recuse.errors import QueryError
from recuse.krelation.relation import Shape
from recuse.policy import Policy
from recuse.sql.catalogue import Catalogue
from recuse.sql.complete import complete_links
from recuse.sql.explain import Explanation, explain
from recuse.sql.ownership import own
from recuse.sql.parse import parse
from recuse.sql.passes import Pass, drop_equal_owners, guard_rows, weigh_rows
from recuse.sql.query import Aggregate, Query, Schema, plain, render, select
from recuse.sql.read import read

DERIVATIONS = "derivations"
WEIGHT = "weight"

PASSES: tuple[Pass, ...] = (guard_rows, complete_links, drop_equal_owners, weigh_rows)


@dataclass(frozen=True, slots=True)
class OwnerColumns:
    """The columns of the derivation query's result that together name one participant of `kind`."""

    kind: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DerivationQuery:
    """What an engine runs: one row for every owner set and sign, with its total weight in granules.

    `plain` is the query as it was understood, for an engine to check that it agrees; it is never run.
    """

    sql: str
    plain: str
    owners: tuple[OwnerColumns, ...]
    shape: Shape
    aggregate: Aggregate
    granularity: Fraction
    explanation: Explanation = field(compare=False, repr=False)


def compile_query(text: str, policy: Policy, catalogue: Catalogue) -> DerivationQuery:
    """Return the derivation query of an SQL question, or refuse it with place, reason and hint."""
    try:
        return _compile(text, policy, catalogue)
    except RecursionError:
        raise QueryError("the query is nested too deeply", hint="write it more simply") from None
    except UnsupportedError:
        raise QueryError("the query cannot be written for DuckDB", hint="write it more simply") from None


def _compile(text: str, policy: Policy, catalogue: Catalogue) -> DerivationQuery:
    ownership = own(policy, catalogue)
    schema = Schema(catalogue, ownership, policy.granularity, text)
    asked = read(parse(text), schema)
    query = asked
    for step in PASSES:
        query = step(query, schema)
    sql, owners = derive(query)
    counted = query.aggregate is Aggregate.COUNT
    return DerivationQuery(
        sql=sql,
        plain=render(plain(asked)),
        owners=owners,
        shape=Shape.CONJUNCTIONS,
        aggregate=query.aggregate,
        granularity=Fraction(1) if counted else policy.granularity,
        explanation=explain(asked, query, schema, sql),
    )


def derive(query: Query) -> tuple[str, tuple[OwnerColumns, ...]]:
    """Return the SQL that sums the weights of equal owner sets, signs apart, and its owner columns.

    Guarantee: sums of 64-bit granules in 128 bits are exact, so they do not depend on the order of rows.
    """
    if query.weight is None:
        raise ValueError("weigh the rows first")
    owners = []
    outputs: list[exp.Expr] = []
    for number, owner in enumerate(query.owners, start=1):
        names = tuple(_names(f"owner_{number}", len(owner.values)))
        owners.append(OwnerColumns(owner.kind, names))
        outputs += [exp.alias_(v.copy(), name) for v, name in zip(owner.values, names, strict=True)]
    keys: list[exp.Expr] = [exp.column(name, DERIVATIONS) for owner in owners for name in owner.columns]
    inner = select(query, *outputs, exp.alias_(query.weight.copy(), WEIGHT))
    statement = exp.Select(expressions=[*keys, exp.alias_(_total(query), WEIGHT)])
    statement.set("from_", exp.From(this=exp.Subquery(this=inner, alias=exp.TableAlias(this=DERIVATIONS))))
    if query.aggregate is Aggregate.SUM:
        weight = exp.column(WEIGHT, DERIVATIONS)
        statement.set("where", exp.Where(this=exp.and_(weight.neq(0), weight > -(2**63))))
        keys.append(weight > 0)
    if keys:
        statement.set("group", exp.Group(expressions=[key.copy() for key in keys]))
    return render(statement), tuple(owners)


def _names(prefix: str, count: int) -> list[str]:
    return [prefix] if count == 1 else [f"{prefix}_{number}" for number in range(1, count + 1)]


def _total(query: Query) -> exp.Expr:
    if query.aggregate is Aggregate.COUNT:
        return exp.Count(this=exp.Star())
    return exp.Sum(this=exp.column(WEIGHT, DERIVATIONS))
