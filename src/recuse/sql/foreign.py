"""What is no part of the language: every node of a tree that nothing here reads."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from recuse.scalars import types
from recuse.scalars.expression import Variable
from recuse.sql.elaborate import OWN, SPECIAL, Elaborator
from recuse.sql.spoken import FORMS, NODES


def accepted_nodes() -> frozenset[type[exp.Expr]]:
    """Return the kinds of nodes that are read in what people write."""
    return frozenset({*SPECIAL, *NODES, *FORMS}) - frozenset(OWN)


def refuse_foreign(node: exp.Expr, text: str, *, skip: Callable[[exp.Expr], bool]) -> None:
    """Refuse aggregates, windows and subqueries in what people write; `skip` is not looked into."""
    for part in node.walk(prune=skip):
        if not skip(part) and (type(part) in OWN or isinstance(part, FOREIGN)):
            raise Elaborator(_nothing, text).refused(part)


FOREIGN = (exp.AggFunc, exp.Window, exp.Query, exp.Any, exp.All)


def _nothing(node: exp.Expr) -> Variable:
    return Variable("", node.name, types.Opaque("unknown"))
