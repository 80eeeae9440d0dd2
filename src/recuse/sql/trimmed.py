"""TRIMMED_MEAN(x, p): the mean of the values between two quantiles, which are released first.

    TRIMMED_MEAN(x, 0.05)    AVG(x) FILTER (WHERE x BETWEEN the 5 % quantile AND the 95 % quantile)

What is written here is SQL that is read as if a person had written it.

Guarantee: private with the ε asked (proofs.md, theorem J1): quantiles first, then a mean between constants.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from sqlglot import exp

from recuse.errors import QueryError
from recuse.fold import same
from recuse.privacy import decimal_text
from recuse.sql.listed import literal_value
from recuse.sql.placeholder import PutFirst, asked_first

WORD = "TRIMMED_MEAN"
HINT = "write TRIMMED_MEAN(x, 0.05); in groups AVG(x) FILTER (WHERE x BETWEEN 1 AND 100)"
Refuse = Callable[[str, exp.Expr, str], QueryError]


def is_trimmed(node: exp.Expr) -> bool:
    """Return whether a call is a trimmed mean, with or without a FILTER."""
    call = node.this if isinstance(node, exp.Filter) else node
    return isinstance(call, exp.AnonymousAggFunc) and same(str(call.this), WORD)


def trimmed(node: exp.Expr, around: exp.Select, refuse: Refuse, first: PutFirst) -> exp.Expr | None:
    """Return how a trimmed mean of the SELECT around is written; None if it is something else.

    The quantiles are those of all rows, so there is none of a group.
    """
    if not is_trimmed(node):
        return None
    call, test = (node.this, node.expression.this) if isinstance(node, exp.Filter) else (node, None)
    part = literal_value(call.expressions[1]) if len(call.expressions) == 2 else None
    known = isinstance(part, Fraction) and 0 < part < Fraction(1, 2)
    if not isinstance(part, Fraction) or not known or around.args.get("group") is not None:
        problem = f"{WORD}(x, p) is the mean without a part p of the rows at either end, of no groups"
        raise refuse(problem, node, HINT)
    value, tests = call.expressions[0], [] if test is None else [test]
    low, high = (first(_quantile(value, rank, tests, around)) for rank in (part, 1 - part))
    between = exp.Between(this=exp.paren(value.copy()), low=low, high=high)
    where = exp.Where(this=exp.and_(between, *(one.copy() for one in tests)))
    return exp.Filter(this=exp.Avg(this=value.copy()), expression=where)


def _quantile(value: exp.Expr, rank: Fraction, tests: list[exp.Expr], around: exp.Select) -> exp.Select:
    """Return the SELECT of the value below which a part of the rows lies."""
    said = decimal_text(rank)
    found: exp.Expr = exp.Quantile(this=value.copy(), quantile=exp.Literal.number(said))
    if tests:
        found = exp.Filter(this=found, expression=exp.Where(this=tests[0].copy()))
    return asked_first(found, f"the {said} quantile of {value.sql(dialect='duckdb')}", around)
