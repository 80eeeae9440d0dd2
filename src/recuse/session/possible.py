"""Where the noise lets a formula's value be: intervals for numbers, sets for all else.

Guarantee: `possible` holds the formula's value for all numbers in the intervals of what it is made of, so it
misses with no more than the sum of what each of them may miss (Bonferroni).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import ceil, floor, trunc
from typing import Any

from recuse.mechanism.release import Release
from recuse.session.formulas import ARITHMETIC, apply, plain
from recuse.session.intervals import UNBOUNDED, End, Ends, combine, rounded, square_root
from recuse.session.labels import of_keys
from recuse.session.truth import truth_of
from recuse.sql import formula as written


@dataclass(frozen=True, slots=True)
class Possible:
    """What a value can be: a number between two ends, one of some others, or NULL."""

    ends: Ends | None = None
    others: frozenset[Any] = frozenset()
    null: bool = False

    def truths(self) -> Iterator[bool | None]:
        """Yield the truth values that it can have."""
        yield from (truth for truth in (True, False) if truth in self.others)
        if self.null:
            yield None

    def or_else(self, other: Possible) -> Possible:
        """Return what either can be."""
        return Possible(_hull(self.ends, other.ends), self.others | other.others, self.null or other.null)


NOTHING = Possible()


@dataclass(frozen=True, slots=True)
class GivenRanges:
    """What a formula of one row is made of: what its measures can be, its keys, and where the scalars are."""

    measures: Sequence[Possible]
    keys: tuple[Any, ...] = ()
    scalars: Sequence[Ends] = ()


def in_noise(release: Release) -> Possible:
    """Return what a measure can be before noise."""
    return Possible(release.interval, null=release.undefined)


def in_truth(release: Release) -> Possible:
    """Return what a measure can be in truth."""
    return Possible(truth_of(release).ends, null=release.undefined)


def possible(formula: written.Formula, given: GivenRanges) -> Possible:
    """Return what a formula's value can be."""
    match formula:
        case written.Term(measure):
            return given.measures[measure]
        case written.ReleasedFirst(number):
            ends = given.scalars[number]
            return Possible(ends, null=ends == UNBOUNDED)
        case written.Windowed() | written.Stacked():  # which row it is, is not known here
            return Possible(UNBOUNDED, null=True)
        case written.ShownKey(position):
            return _exactly(plain(given.keys[position]))
        case written.OfKeys(expression):
            return _exactly(of_keys(expression, given.keys))
        case written.FixedNumber(value) | written.FixedValue(value):
            return _exactly(value)
        case written.Operation(written.Operator.CASE, arguments):
            return _case(arguments, given)
        case written.Operation(operator, arguments):
            return _applied(operator, [possible(argument, given) for argument in arguments])


def _exactly(value: Any) -> Possible:
    if value is None:
        return Possible(null=True)
    if isinstance(value, Fraction):
        return Possible((value, value))
    return Possible(others=frozenset({value}))


def _case(arguments: Sequence[written.Formula], given: GivenRanges) -> Possible:
    found = NOTHING
    for test, value in zip(arguments[:-1:2], arguments[1:-1:2], strict=True):
        truths = set(possible(test, given).truths())
        if True in truths:
            found = found.or_else(possible(value, given))
        if truths == {True}:
            return found
    return found.or_else(possible(arguments[-1], given))


def _applied(operator: written.Operator, values: Sequence[Possible]) -> Possible:
    null = any(value.null for value in values)
    match operator:
        case written.Operator.AND | written.Operator.OR | written.Operator.NOT:
            return _logic(operator, values)
        case written.Operator.IS_NULL:
            filled = values[0].ends is not None or bool(values[0].others)
            return Possible(others=frozenset({*([True] if null else []), *([False] if filled else [])}))
        case written.Operator.COALESCE:
            return _first(values)
        case written.Operator.NULLIF:
            return replace(values[0], null=True)
        case written.Operator.GREATEST | written.Operator.LEAST:
            return _extreme(operator, values)
        case written.Operator.EQUAL | written.Operator.LESS | written.Operator.AT_MOST:
            return replace(_compared(operator, *values), null=null)
        case written.Operator.DATE | written.Operator.MOMENT | written.Operator.SINCE:
            return Possible(UNBOUNDED, null=null)
        case written.Operator.SAME:
            found = _compared(written.Operator.EQUAL, *values).others
            return Possible(others=frozenset({True, False}) if null else found)
    ends = [value.ends for value in values]
    if any(one is None for one in ends):
        return Possible(null=True)
    return _number(operator, [one or UNBOUNDED for one in ends], null=null)


def _number(operator: written.Operator, ends: Sequence[Ends], *, null: bool) -> Possible:
    """Return what a number is that is computed from others."""
    if operator in ARITHMETIC:
        left, right = ends
        return Possible(combine(operator, left, right), null=null or _by_zero(operator, right))
    if operator is written.Operator.WHOLE_DIVIDE:
        found = combine(written.Operator.DIVIDE, *ends)
        return Possible(_mapped(trunc, found), null=null or _by_zero(operator, ends[1]))
    if operator is written.Operator.MODULO:
        sizes = [abs(end) for end in ends[1] if end is not None]
        most = max(sizes) if len(sizes) == len(ends[1]) else None
        bound = (None if most is None else -most, most)
        return Possible(bound, null=null or _by_zero(operator, ends[1]))
    if operator in (written.Operator.NOT_BELOW, written.Operator.NOT_ABOVE):
        return Possible(_clamped(operator, *ends), null=null)
    if operator is written.Operator.SQRT:
        return Possible(_root(ends[0]), null=null or ends[0][0] is None or ends[0][0] < 0)
    if operator is written.Operator.ABS:
        return Possible(_absolute(ends[0]), null=null)
    if operator is written.Operator.ROUND:
        places = int(ends[1][0] or 0)
        return Possible((rounded(ends[0][0], places), rounded(ends[0][1], places)), null=null)
    return Possible(_mapped(_MONOTONE[operator], ends[0]), null=null)


_MONOTONE: dict[written.Operator, Callable[[Fraction], int]] = {
    written.Operator.FLOOR: floor,
    written.Operator.CEIL: ceil,
    written.Operator.SIGN: lambda number: (number > 0) - (number < 0),
}


def _mapped(step: Callable[[Fraction], int], ends: Ends) -> Ends:
    low, high = ends
    return (None if low is None else Fraction(step(low)), None if high is None else Fraction(step(high)))


def _root(ends: Ends) -> Ends:
    low, high = ends
    least = Fraction(0) if low is None or low < 0 else square_root(low)
    return least, None if high is None else square_root(max(high, Fraction(0)), up=True)


def _by_zero(operator: written.Operator, divisor: Ends) -> bool:
    divides = operator in (written.Operator.DIVIDE, written.Operator.WHOLE_DIVIDE, written.Operator.MODULO)
    low, high = divisor
    return divides and (low is None or low <= 0) and (high is None or high >= 0)


def _clamped(operator: written.Operator, ends: Ends, kept: Ends) -> Ends:
    """Return where a number of an interval lies once it keeps an end."""
    chosen = max if operator is written.Operator.NOT_BELOW else min
    (low, high), (floor_, lid) = ends, kept
    return _end(chosen, (low, floor_), low=True), _end(chosen, (high, lid), low=False)


def _absolute(ends: Ends) -> Ends:
    low, high = ends
    if low is None or high is None:
        return Fraction(0), None
    least = Fraction(0) if low <= 0 <= high else min(abs(low), abs(high))
    return least, max(abs(low), abs(high))


def _logic(operator: written.Operator, values: Sequence[Possible]) -> Possible:
    found: set[bool | None] = set(values[0].truths())
    if operator is written.Operator.NOT:
        found = {apply(operator, [truth]) for truth in found}
    for value in values[1:]:
        found = {apply(operator, pair) for pair in product(found, value.truths())}
    return Possible(others=frozenset(found - {None}), null=None in found)


def _first(values: Sequence[Possible]) -> Possible:
    found = NOTHING
    for value in values:
        found = replace(found.or_else(value), null=value.null)
        if not value.null:
            break
    return found


def _extreme(operator: written.Operator, values: Sequence[Possible]) -> Possible:
    """Return the greatest or least of some values, of which those that are NULL are left out."""
    filled = [value for value in values if value.ends is not None]
    sure = [value for value in filled if not value.null]
    if any(value.others for value in values) or not sure:
        found = NOTHING
        for value in values:
            found = found.or_else(value)
        return found
    # what may be NULL can only raise the greatest of the others, or lower the least of them
    chosen, inner, outer = (
        (max, sure, filled) if operator is written.Operator.GREATEST else (min, filled, sure)
    )
    lows = [value.ends[0] for value in inner if value.ends is not None]
    highs = [value.ends[1] for value in outer if value.ends is not None]
    return Possible((_end(chosen, lows, low=True), _end(chosen, highs, low=False)))


def _end(chosen: Callable[..., Fraction], ends: Sequence[End], *, low: bool) -> End:
    """Return the greatest or least end; a missing low end lies below all others, a missing high one above."""
    known = [end for end in ends if end is not None]
    decisive = (chosen is max) != low
    if not known or (len(known) < len(ends) and decisive):
        return None
    return chosen(known)


def _compared(operator: written.Operator, left: Possible, right: Possible) -> Possible:
    if left.ends is None or right.ends is None:
        if (left.ends and right.others) or (left.others and right.ends):
            return _truths(surely=False, never=False)  # a moment that was released beside one written down
        found = {apply(operator, pair) for pair in product(left.others, right.others)}
        return Possible(others=frozenset(found))
    (a, b), (c, d) = left.ends, right.ends
    if operator is written.Operator.EQUAL:
        same = a is not None and a == b == c == d
        apart = (b is not None and c is not None and b < c) or (a is not None and d is not None and d < a)
        return _truths(surely=same, never=apart)
    strictly = operator is written.Operator.LESS
    surely = b is not None and c is not None and (b < c if strictly else b <= c)
    never = a is not None and d is not None and (a >= d if strictly else a > d)
    return _truths(surely=surely, never=never)


def _truths(*, surely: bool, never: bool) -> Possible:
    return Possible(others=frozenset({True} if surely else {False} if never else {True, False}))


def _hull(left: Ends | None, right: Ends | None) -> Ends | None:
    if left is None or right is None:
        return left or right
    (a, b), (c, d) = left, right
    return (
        None if a is None or c is None else min(a, c),
        None if b is None or d is None else max(b, d),
    )
