"""Conditions with subqueries as sentences: predicates and tests are numbered as they are met."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlglot import exp

from recuse.errors import QueryError
from recuse.scalars.expression import Constant
from recuse.scalars.types import Boolean
from recuse.sql.asks import (
    is_subquery,
    is_subquery_predicate,
    is_value_comparison,
)
from recuse.sql.elaborate import brought
from recuse.sql.foreign import refuse_foreign
from recuse.sql.having import asked_of_one
from recuse.sql.predicates import Predicate
from recuse.sql.query import Scalar
from recuse.sql.render import conjunction
from recuse.sql.scope import Scope
from recuse.sql.truths import Compound, Fixed, Mention, OfRow, Sentence, Truth

if TYPE_CHECKING:
    from recuse.sql.conditions import Conditions

MARK = "predicate"
"""the note on what stands for a predicate in an expression; no text can write it"""


QUESTIONS = {"is null": exp.null(), "is true": exp.true(), "is false": exp.false()}


def marks_in(node: exp.Expr) -> Iterator[int]:
    """Yield the numbers of the predicates that are marked in an expression."""
    for part in node.find_all(exp.Var):
        if MARK in part.meta:
            yield part.meta[MARK]


def given_truths(node: exp.Expr, said: Mapping[int, Truth]) -> exp.Expr:
    """Return an expression with what some of its predicates say in their places."""

    def told(part: exp.Expr) -> exp.Expr:
        number: int = part.meta.get(MARK, -1)
        if number not in said:
            return part
        return exp.Null() if said[number] is None else exp.Boolean(this=said[number])

    return node.transform(told)


def is_marked(node: exp.Expr) -> bool:
    return next(marks_in(node), None) is not None


def is_logical(node: exp.Expr) -> bool:
    """Return whether an expression is made of predicates by logic alone."""
    inner = node.unnest()
    return isinstance(inner, exp.Not | exp.And | exp.Or | exp.Is) or MARK in inner.meta


@dataclass(frozen=True, slots=True)
class Sentences:
    """A reader of conditions with subqueries: predicates and tests are numbered as they are met."""

    conditions: Conditions
    scope: Scope
    predicates: list[Predicate] = field(default_factory=list)
    tests: list[Scalar] = field(default_factory=list)

    def sought(self, node: exp.Expr) -> exp.Expr:
        """Return `marked` of what must be TRUE; groups that a row is among are asked about one by one."""
        met, known = len(self.conditions.sources), len(self.predicates)
        try:
            return self.marked(node)
        except QueryError as refused:
            del self.conditions.sources[met:], self.predicates[known:]
            of_one = asked_of_one(node, self.scope, self.conditions.schema.text)
            if of_one is None:
                raise
            first = refused
        try:
            return self.marked(of_one)
        except QueryError:
            raise first from None

    def marked(self, node: exp.Expr) -> exp.Expr:
        """Return the expression, names resolved, with a mark for every predicate that is not row-wise."""
        refuse_foreign(node, self.conditions.schema.text, skip=is_subquery)

        def resolve(part: exp.Expr) -> exp.Expr:
            if not is_subquery_predicate(part) and not is_value_comparison(part):
                return self.conditions.resolved(part, self.scope)
            found = self.conditions.predicate(part, self.scope)
            if not isinstance(found, Predicate):
                return found
            mark = exp.Var(this=MARK)
            mark.meta[MARK] = len(self.predicates)
            self.predicates.append(found)
            return mark

        return node.transform(resolve)

    def condition(self, node: exp.Expr) -> Sentence:
        """Return a marked expression as a function of its predicates and of tests on the row."""
        node = node.unnest()
        marks = list(marks_in(node))
        if not marks:
            return self._test(node)
        if isinstance(node, exp.Var):
            return Mention(marks[0])
        if isinstance(node, exp.Not):
            return Compound("not", (self.condition(node.this),))
        if isinstance(node, exp.And | exp.Or):
            return self._connected(node)
        if isinstance(node, exp.Is) and is_logical(node.this):
            for word, question in QUESTIONS.items():
                if node.expression == question:
                    return Compound(word, (self.condition(node.this),))
        if isinstance(node, exp.Case) and node.this is None and self._gives_truth(node):
            return self._case(node)
        return self._lifted(node, marks[0])

    def _connected(self, node: exp.And | exp.Or) -> Sentence:
        """Return AND or OR; what has no predicate in it is one test."""
        parts = [part.unnest() for part in node.flatten()]
        plain = [part for part in parts if not is_marked(part)]
        found = [self.condition(part) for part in parts if is_marked(part)]
        if plain:
            both = isinstance(node, exp.And)
            test = conjunction(plain) if both else exp.or_(*(p.copy() for p in plain), copy=False)
            found.insert(0, self._test(test))
        return Compound("and" if isinstance(node, exp.And) else "or", tuple(found))

    def _gives_truth(self, node: exp.Case) -> bool:
        default = node.args.get("default")
        given = [branch.args["true"] for branch in node.args["ifs"]] + ([default] if default else [])
        elaborator = self.conditions.elaborator()
        return all(
            is_marked(value) or isinstance(elaborator.expression(value).type, Boolean) for value in given
        )

    def _case(self, node: exp.Case) -> Sentence:
        default = node.args.get("default")
        found: Sentence = Fixed(None) if default is None else self.condition(default)
        for branch in reversed(node.args["ifs"]):
            then = self.condition(branch.args["true"])
            found = Compound("by value", (self.condition(branch.this), then, found, found))
        return found

    def _lifted(self, node: exp.Expr, number: int) -> Sentence:
        """Return a condition with a predicate inside of it: what it is for each truth of the predicate."""
        outcomes = self.predicates[number].outcomes

        def given(value: Truth) -> Sentence:
            if not any(outcome is value for outcome in outcomes):
                return Fixed(None)
            return self.condition(given_truths(node, {number: value}))

        return Compound("by value", (Mention(number), given(True), given(False), given(None)))

    def _test(self, node: exp.Expr) -> Sentence:
        """Return a condition on the row alone; a constant is known."""
        found = self.conditions.elaborator().condition(node)
        if isinstance(found, Constant):
            return Fixed(None if found.value is None else bool(found.value))
        test = brought(node, Boolean(), self.conditions.lookup())
        known = [other.sql() for other in self.tests]
        if test.sql() not in known:
            self.tests.append(test)
            return OfRow(len(known))
        return OfRow(known.index(test.sql()))
