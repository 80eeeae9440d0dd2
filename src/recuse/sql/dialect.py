"""How an engine writes SQL: its name for people, its grammar, and the total form of a row-wise expression."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

from sqlglot import Dialect as Grammar
from sqlglot import ErrorLevel, exp

from recuse.scalars.duckdb import Bodies, Compiler
from recuse.scalars.expression import Expression
from recuse.scalars.spelling import spelled
from recuse.scalars.types import Type

Understood = Callable[[exp.Expr, str], exp.Expr]
"""a node as it was written, and the text of the question → what it means to an engine"""


def _as_written(tree: exp.Query, _: str) -> exp.Query:
    return tree


def _plain_sums(tree: exp.Expr) -> exp.Expr:
    return tree


@dataclass(frozen=True, slots=True)
class Dialect:
    """The SQL of one engine. A question is read, and its statements are written, in its engine's own.

    `grammar` is what sqlglot calls it. `scalar` writes an expression of the total language, given how
    subqueries in it are written. Guarantee: what it writes raises on no row (`recuse.scalars`). `spelled` is
    the engine's type that holds all values of one of ours. `understood` puts the engine's own functions where
    a question's words mean something else than elsewhere. `calls` names the functions of many rows, and what
    else queries are made of, that have a form for it; None if all have. `wide` is its type of whole numbers
    of 128 bits at least; None where rows are not added up before a join. `exact` writes the sums of a
    statement of ours so that those of whole numbers of 64 bits do not overflow, where a plain SUM would.
    """

    name: str
    grammar: str
    scalar: Callable[[Expression, Bodies], str] = field(repr=False)
    spelled: Callable[[Type], str] = field(repr=False)
    understood: Callable[[exp.Query, str], exp.Query] = field(default=_as_written, repr=False)
    calls: frozenset[str] | None = None
    wide: str | None = None
    exact: Callable[[exp.Expr], exp.Expr] = field(default=_plain_sums, repr=False)

    def statement(self, tree: exp.Expr) -> str:
        """Return the SQL text of a tree, which is used up."""
        return self.exact(tree).sql(
            _grammar(self.grammar), copy=False, comments=False, unsupported_level=ErrorLevel.RAISE
        )

    def identifier(self, name: str) -> str:
        """Return a name in quotes, whatever it is."""
        return exp.to_identifier(name, quoted=True).sql(_grammar(self.grammar))


_grammar = cache(Grammar.get_or_raise)
"""sqlglot's dialect of a name: to make one takes as long as to write a short statement"""


def _duckdb(expression: Expression, bodies: Bodies) -> str:
    return Compiler(bodies=bodies).sql(expression)


DUCKDB = Dialect("DuckDB", "duckdb", _duckdb, spelled, wide="HUGEINT")
