"""Conditions of predicates and tests → cases: blocks without sources, no row in two of them.

A condition that only rises with its predicates is a choice, one that only falls an absence; any other is the
chain of `chains`, two links a case: the rows of h_1 without h_2, those of h_3 without h_4, and so on. Which
chain a row has follows from its own values, the truth of the tests.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from sqlglot import exp

from recuse.sql.chains import Antichain, Point, chain
from recuse.sql.predicates import Predicate
from recuse.sql.query import Block, Choice, Scalar, chosen
from recuse.sql.render import conjunction
from recuse.sql.truths import TRUTHS, Compound, Mention, OfRow, Sentence, Truth, patterns, truth

MAX_PREDICATES = 4
MAX_TESTS = 6
Couple = tuple[Antichain, Antichain]
"""what must be there, and what must not"""


@dataclass(frozen=True, slots=True)
class TooManyError(Exception):
    """More predicates or tests in one condition than are understood."""

    what: str
    accepted: int


@dataclass(frozen=True, slots=True)
class Cases:
    """The predicates and tests that conditions speak of, by their numbers."""

    predicates: Sequence[Predicate]
    tests: Sequence[Scalar]

    def of(self, conditions: Iterable[Sentence]) -> list[Block]:
        """Return the cases in which all conditions are TRUE.

        Guarantee: a row satisfies them, whoever is there, iff it is in a case, and it is in one only
        (proofs.md, theorem N2).
        """
        base = Block()
        others: list[Sentence] = []
        for condition in conditions:
            for part in _parts(condition):
                simple = self._simple(part)
                if simple is None:
                    others.append(part)
                else:
                    base = base.joined(simple)
        if not others:
            return [base]
        found = self._chained(Compound("and", tuple(others))) or [Block(conditions=(exp.false(),))]
        return [base.joined(case) for case in found]

    # -------------------------------------------------------------- without a chain

    def _simple(self, condition: Sentence) -> Block | None:
        """Return the only case of a condition that is a test, a choice or an absence."""
        asked, tested = sorted(_numbers(condition, Mention)), sorted(_numbers(condition, OfRow))
        if not asked:
            return Block(conditions=(self._indicator(condition, tested),))
        positive = self._positive(condition)
        if positive is not None:
            return positive
        if len(asked) == 1 and not tested:
            (number,) = asked
            predicate = self.predicates[number]
            levels = [(level,) for level in range(len(predicate.outcomes))]
            said = [truth(condition, self._said(point, asked), ()) is True for point in levels]
            if said[0] and said == sorted(said, reverse=True) and False in said:
                return Block(absent=predicate.steps[said.index(False) - 1])
        return None

    def _positive(self, condition: Sentence) -> Block | None:
        """Return the case of a condition in which everything rises: choices under AND and OR."""
        match condition:
            case OfRow(number):
                return Block(conditions=(self.tests[number],))
            case Mention(number):
                predicate = self.predicates[number]
                rises = [outcome is True for outcome in predicate.outcomes]
                if rises != sorted(rises) or True not in rises[1:] or rises[0]:
                    return None
                return Block(choices=(chosen(predicate.steps[rises.index(True) - 1]),))
            case Compound("and" | "or" as word, parts):
                found = [part for part in map(self._positive, parts) if part is not None]
                if len(found) < len(parts):
                    return None
                return _both(found) if word == "and" else _either(found)
        return None

    # -------------------------------------------------------------- with one

    def _chained(self, condition: Sentence) -> list[Block]:
        asked, tested = sorted(_numbers(condition, Mention)), sorted(_numbers(condition, OfRow))
        if len(asked) > MAX_PREDICATES:
            raise TooManyError("subqueries", MAX_PREDICATES)
        if len(tested) > MAX_TESTS:
            raise TooManyError("conditions beside subqueries", MAX_TESTS)
        heights = [len(self.predicates[number].steps) for number in asked]
        points = list(_points(heights))

        @cache
        def links(said: tuple[bool, ...]) -> list[Couple]:
            table = dict(zip(points, said, strict=True))
            return _links(chain(table.__getitem__, heights))

        by_link: dict[tuple[int, Couple], set[tuple[Truth, ...]]] = {}
        for pattern in patterns(len(tested)):
            known = _spread(tested, pattern)
            said = tuple(truth(condition, self._said(point, asked), known) is True for point in points)
            for place, link in enumerate(links(said)):
                by_link.setdefault((place, link), set()).add(pattern)
        return [
            self._case(link, asked, _within([self.tests[number] for number in tested], rows))
            for (_, link), rows in by_link.items()
        ]

    def _case(self, link: Couple, asked: Sequence[int], where: Scalar | None) -> Block:
        there, absent = link
        conditions = () if where is None else (where,)
        if not any(there[0]):
            return Block(conditions=conditions, absent=self._branches(absent, asked))
        steps = self._steps(there[0], asked) if len(there) == 1 else [self._branches(there, asked)]
        choices = tuple(chosen(branches, implied=True) for branches in steps)  # h_1 holds where h_2 does
        return Block(conditions=conditions, choices=choices, absent=self._branches(absent, asked))

    def _branches(self, antichain: Antichain, asked: Sequence[int]) -> tuple[Block, ...]:
        """Return the branches of an OR over points: a point asks for a row of each of its steps."""
        found: list[Block] = []
        for point in antichain:
            steps = self._steps(point, asked)
            found += steps[0] if len(steps) == 1 else [Block(choices=tuple(map(chosen, steps)))]
        return tuple(found)

    def _steps(self, point: Point, asked: Sequence[int]) -> list[tuple[Block, ...]]:
        pairs = zip(point, asked, strict=True)
        return [self.predicates[number].steps[level - 1] for level, number in pairs if level]

    def _said(self, point: Point, asked: Sequence[int]) -> list[Truth]:
        """Return what every predicate says at a point of some of them."""
        pairs = zip(point, asked, strict=True)
        return _spread(asked, [self.predicates[number].outcomes[level] for level, number in pairs])

    def _indicator(self, condition: Sentence, tested: Sequence[int]) -> Scalar:
        """Return a condition on tests alone as one on the row."""
        if isinstance(condition, OfRow):
            return self.tests[condition.number]
        true = {p for p in patterns(len(tested)) if truth(condition, (), _spread(tested, p)) is True}
        found = _within([self.tests[number] for number in tested], true)
        return exp.true() if found is None else found


def _parts(condition: Sentence) -> Iterator[Sentence]:
    """Yield the conditions that are all TRUE where this one is."""
    match condition:
        case Compound("and", parts):
            for part in parts:
                yield from _parts(part)
        case Compound("not", (Compound("or", parts),)):
            for part in parts:
                yield from _parts(Compound("not", (part,)))
        case Compound("not", (Compound("not", (inner,)),)):
            yield from _parts(inner)
        case _:
            yield condition


def _numbers(condition: Sentence, kind: type[Mention] | type[OfRow]) -> set[int]:
    if isinstance(condition, Compound):
        return set[int]().union(*(_numbers(part, kind) for part in condition.parts))
    return {condition.number} if isinstance(condition, kind) else set()


def _spread(numbers: Sequence[int], values: Sequence[Truth]) -> list[Truth]:
    """Return a list that holds the values at their numbers."""
    found: list[Truth] = [None] * (max(numbers, default=-1) + 1)
    for number, value in zip(numbers, values, strict=True):
        found[number] = value
    return found


def _points(heights: Sequence[int]) -> Iterator[Point]:
    if not heights:
        yield ()
        return
    for rest in _points(heights[1:]):
        for level in range(heights[0] + 1):
            yield (level, *rest)


def _links(found: tuple[Antichain, ...]) -> list[Couple]:
    padded = [*found, ()]
    return [(padded[place], padded[place + 1]) for place in range(0, len(found), 2)]


def _both(blocks: Sequence[Block]) -> Block:
    found = Block()
    for block in blocks:
        found = found.joined(block)
    return found


def _either(blocks: Sequence[Block]) -> Block:
    """Return the case of an OR: tests are one branch, a choice brings its own."""
    scalars = [conjunction(block.conditions) for block in blocks if not block.choices]
    branches: list[Block] = []
    for block in blocks:
        if block.choices:
            alone = len(block.choices) == 1 and not block.conditions and not block.choices[0].quorum
            branches += block.choices[0].branches if alone else [block]
    if scalars:
        branches.insert(0, Block(conditions=(exp.or_(*scalars, copy=False),)))
    return Block(choices=(Choice(tuple(branches)),))


def _within(tests: Sequence[Scalar], rows: set[tuple[Truth, ...]]) -> Scalar | None:
    """Return the condition that the tests say one of the patterns; None if that is always so.

    It is used where TRUE alone counts, so a test by itself stands for "is true".
    """
    if not tests:
        return None if rows else exp.false()
    rest = {value: frozenset(row[1:] for row in rows if row[0] is value) for value in TRUTHS}
    options: list[Scalar | None] = []
    for following in dict.fromkeys(rest.values()):
        if not following:
            continue
        own = _says(tests[0], tuple(value for value in TRUTHS if rest[value] == following))
        then = _within(tests[1:], set(following))
        parts = [part for part in (own, then) if part is not None]
        options.append(conjunction(parts) if parts else None)
    if None in options:
        return None
    found = [option for option in options if option is not None]
    return exp.or_(*found, copy=False) if found else exp.false()


def _says(test: Scalar, values: tuple[Truth, ...]) -> Scalar | None:
    """Return the condition that a test says one of the values."""
    one = exp.paren(test.copy())
    question = {True: exp.true(), False: exp.false(), None: exp.null()}
    if len(values) == 3:
        return None
    if values == (True,):
        return test.copy()
    if values == (False,):
        return exp.Not(this=one)
    if len(values) == 1:
        return exp.Is(this=one, expression=exp.null())
    (other,) = set(TRUTHS) - set(values)
    return exp.Not(this=exp.Is(this=one, expression=question[other]))
