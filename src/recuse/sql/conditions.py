"""Conditions and values of rows: names resolved, subqueries made into choices, absences and cases of both.

A predicate over a subquery that nobody but the row's own owners can change is one like any other (`own`).
Over other private rows it may stand in WHERE, ON and FILTER, under AND, OR, NOT and whatever else gives a
truth value; where it stands in a value, rows are told apart by what it says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod

from sqlglot import exp

from recuse.errors import QueryError
from recuse.scalars.expression import Expression
from recuse.sql.asks import (
    is_extreme,
    is_subquery,
    is_subquery_predicate,
    is_subquery_value,
    is_value_comparison,
)
from recuse.sql.cases import Cases, TooManyError
from recuse.sql.elaborate import Elaborator, Lookup
from recuse.sql.foreign import refuse_foreign
from recuse.sql.native.inner import Inner
from recuse.sql.native.own import own_inner
from recuse.sql.native.seen import NotOwn
from recuse.sql.position import refusal, span
from recuse.sql.predicates import Predicate, Predicates, Subquery
from recuse.sql.query import Block, BlockSource, Scalar
from recuse.sql.schema import Schema
from recuse.sql.scope import Scope
from recuse.sql.sentences import Sentences, given_truths
from recuse.sql.totals import TotalTest
from recuse.sql.truths import Compound, Mention, Sentence, Truth
from recuse.sql.walk import type_lookup

Native = Callable[[exp.Expr, Scope], Scalar]
"""reads an expression with subqueries that are to be run as they are"""

MAX_OUTCOMES = 9
IS: dict[Truth, str] = {None: "is null", True: "is true", False: "is false"}


@dataclass(frozen=True, slots=True)
class Conditions:
    """A reader of conditions and values."""

    schema: Schema
    subquery: Subquery
    native: Native
    sources: list[BlockSource]
    """all that the reader has met; own subqueries add to them"""
    released: Callable[[exp.Expr], Scalar]
    """returns the place of the number that a subquery of private rows stands for"""
    again: Callable[[exp.Expr], Scalar | None]
    """returns the place that it has been given before: looking at it once is enough"""

    def lookup(self) -> Lookup:
        """Return the function that says of which type a column is."""
        return type_lookup(self.sources)

    def read(self, node: exp.Expr, scope: Scope) -> list[Block]:
        """Return the cases in which `node` is TRUE: blocks without sources, no row in two of them.

        What has no subquery is read first, so that the others know whose rows they stand beside.
        """
        parts = list(_conjuncts(node))
        asking = [any(map(is_subquery, part.walk())) for part in parts]
        plain = [part for part, asks in zip(parts, asking, strict=True) if not asks]
        base = Block(conditions=tuple(self.value(part, scope) for part in plain))
        within = replace(scope, rows=scope.rows.joined(base))
        reader = Sentences(self, within)
        conditions = [
            reader.condition(reader.sought(part)) for part, asks in zip(parts, asking, strict=True) if asks
        ]
        try:
            cases = Cases(reader.predicates, reader.tests).of(conditions)
        except TooManyError as error:
            raise refusal(
                f"too many {error.what} in one condition with NOT",
                self.schema.text,
                span(node, self.schema.text),
                accepted=f"{error.accepted}",
                hint="join what can be joined, or ask for each part by itself",
            ) from None
        return [base.joined(case) for case in cases]

    def values(self, nodes: Sequence[exp.Expr], scope: Scope) -> list[tuple[Block, list[Scalar]]]:
        """Return what the values are, case by case: other people's rows may decide them.

        One case without conditions if no subquery on private tables stands in them.
        """
        reader = Sentences(self, scope)
        marked = [reader.marked(node) for node in nodes]
        found: dict[tuple[Expression, ...], tuple[list[Scalar], list[Sentence]]] = {}
        every = [dict.fromkeys(predicate.outcomes) for predicate in reader.predicates]
        if prod(map(len, every)) > MAX_OUTCOMES:
            raise self._refuse("too many subqueries decide a value", nodes[0], "ask for each by itself")
        for said in product(*every):
            values = [given_truths(value, dict(enumerate(said))) for value in marked]
            typed = tuple(self.elaborator().expression(value) for value in values)
            questions = [Compound(IS[outcome], (Mention(number),)) for number, outcome in enumerate(said)]
            found.setdefault(typed, (values, []))[1].append(Compound("and", tuple(questions)))
        cases = Cases(reader.predicates, reader.tests)
        return [
            (case, values)
            for values, conditions in found.values()
            for case in (cases.of([Compound("or", tuple(conditions))]) if every else [Block()])
        ]

    def value(self, node: exp.Expr, scope: Scope) -> Scalar:
        """Return the expression with every column resolved; nobody else's rows may decide it."""
        refuse_foreign(node, self.schema.text, skip=is_subquery)
        resolved = node.transform(lambda part: self.resolved(part, scope))
        self.elaborator().expression(resolved)
        return resolved

    def resolved(self, part: exp.Expr, scope: Scope) -> exp.Expr:
        """Return a column, or a subquery that is row-wise, with its names resolved; else the part itself."""
        if is_subquery_value(part):
            return self._single(part, scope)
        if is_subquery_predicate(part) or is_value_comparison(part):
            found = self.predicate(part, scope)
            if isinstance(found, Predicate):
                raise self._not_row_wise(part)
            return found
        if isinstance(part, exp.Column):
            return scope.resolve(part)
        return part

    def predicate(self, node: exp.Expr, scope: Scope) -> Predicate | Scalar:
        """Return a predicate over a subquery; a condition on the row where nobody else can change it."""
        beside = self._beside_own(node, scope) if is_value_comparison(node) else None
        if beside is not None:
            return beside
        reader = Predicates(self.schema, self.subquery, self.value, self.sources)
        found = reader.read(node, scope)
        row_wise = reader.settled(found, scope)
        if row_wise is not None:
            return row_wise
        found = reader.divided(found)
        reader.refuse_nested(found, node)
        return found

    def elaborator(self) -> Elaborator:
        """Return the reader of typed expressions."""
        return Elaborator(self.lookup(), self.schema.text, self.schema.catalogue.macros)

    def _single(self, node: exp.Expr, scope: Scope) -> Scalar:
        """Return the one value of a public or own subquery."""
        query = node.unnest()
        known = self.again(query)
        if known is not None:
            return known
        found = self._run_as_it_is(node, scope)
        if found is None and not self._looks_around(node, scope):
            return self.released(query)
        if found is None:
            raise self._refuse(
                "a subquery that stands for a value is not monotone",
                node,
                "write EXISTS, IN or a join; ask for an inner aggregate by itself",
            )
        return found

    def _run_as_it_is(self, node: exp.Expr, scope: Scope) -> Scalar | None:
        """Return a subquery of any form that stands for a value, None if it is not own."""
        met = len(self.sources)
        found = self.native(node, scope)
        if not isinstance(found, Inner):
            raise TypeError("a subquery is read as one")
        try:
            return own_inner(found, scope.around, self.schema, self.sources, tested=False)
        except NotOwn:
            del self.sources[met:]
            return None

    def _looks_around(self, node: exp.Expr, scope: Scope) -> bool:
        """Return whether a subquery uses columns of the rows around it."""
        met = len(self.sources)
        found = self.native(node, scope)
        del self.sources[met:]
        return bool(found.args.get("uses"))

    def _beside_own(self, node: exp.Expr, scope: Scope) -> Scalar | None:
        """Return a comparison with the MIN, MAX, COUNT or SUM of a subquery, None if that is not own."""
        asked = TotalTest.of(node)
        if asked is not None:
            return self._total_beside_own(asked, node, scope)
        sides = (node.args["this"], node.args["expression"])
        values = [self._run_as_it_is(side, scope) for side in sides if is_extreme(side)]
        if None in values:
            return None
        found = [values[0] if is_extreme(side) else self.value(side, scope) for side in sides]
        return type(node)(this=found[0], expression=found[1])

    def _total_beside_own(self, asked: TotalTest, node: exp.Expr, scope: Scope) -> Scalar | None:
        met = len(self.sources)
        try:
            value = self._run_as_it_is(asked.inner, scope)
        except QueryError:
            del self.sources[met:]
            return None
        if value is None:
            return None
        beside = [self.value(side, scope) for side in asked.beside]
        if isinstance(node, exp.Between):
            return exp.Between(this=value, low=beside[0], high=beside[1])
        if isinstance(node, exp.In):
            return exp.In(this=value, expressions=beside)
        return asked.kind(this=value, expression=beside[0])

    def _not_row_wise(self, node: exp.Expr) -> QueryError:
        return self._refuse(
            "what a row is worth would depend on other people's rows",
            node,
            "write the subquery in WHERE, or in FILTER (WHERE …) of an aggregate",
        )

    def _refuse(self, problem: str, node: exp.Expr, hint: str | None) -> QueryError:
        return refusal(problem, self.schema.text, span(node, self.schema.text), hint=hint)


def _conjuncts(node: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the parts that must all be TRUE."""
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.And):
        for part in node.flatten():
            yield from _conjuncts(part)
    else:
        yield node
