"""The cells of an answer: a released number, or a formula over released numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from recuse.mechanism.release import CONFIDENCE, Release
from recuse.scalars.types import Number
from recuse.session.formulas import Given, Keys, value_of
from recuse.session.intervals import UNBOUNDED, Ends
from recuse.session.possible import GivenRanges, possible
from recuse.sql.formula import Formula, Term, measures_in, scalars_in
from recuse.sql.placeholder import fitted


@dataclass(frozen=True, slots=True)
class Combined:
    """A number computed from released ones, such as an average: post-processing, so it costs nothing more.

    `value` is None where the formula is NULL, as where it divides by a released zero; an end of `interval`
    where it is unbounded.
    The interval holds the same formula of the truncated answers with probability `confidence` at least: 1
    minus the sum of what each released number may be wrong (Bonferroni).
    """

    value: Fraction | None
    interval: Ends
    confidence: float
    epsilon: Fraction


Cell = Release | Combined


def confidence(cell: Cell) -> float:
    """Return the probability with which the cell's interval holds its truncated value, at least."""
    if isinstance(cell, Combined):
        return round(cell.confidence, 6)
    return CONFIDENCE if cell.noise_scale else 1.0


@dataclass(frozen=True, slots=True)
class Row:
    """One group: its keys, and a cell for every column that is not a key."""

    keys: Keys
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class StandIn:
    """A number that was released first and stands in the question, and how the question writes it."""

    text: str
    cell: Cell


def standing_in(cell: Cell, kind: Number) -> Combined:
    """Return a released number as it stands in a question: rounded and bounded as its place is."""
    low, high = cell.interval
    level = confidence(cell)
    return Combined(fitted(cell.value, kind), (fitted(low, kind), fitted(high, kind)), level, cell.epsilon)


def evaluate(formula: Formula, given: Given, scalars: Sequence[Cell] = ()) -> Cell:
    """Return the number that a formula makes of what was released: the release itself where it is one."""
    if isinstance(formula, Term) and not given.releases[formula.measure].undefined:
        return given.releases[formula.measure]
    used = [given.releases[measure] for measure in sorted(set(measures_in(formula)))]
    first = [scalars[number] for number in sorted(set(scalars_in(formula)))]
    doubt = sum(1 - confidence(cell) for cell in (*used, *first))
    ranges = GivenRanges(given.releases, given.keys, [scalar.interval for scalar in scalars])
    return Combined(
        value=value_of(formula, given),
        interval=possible(formula, ranges).ends or UNBOUNDED,
        confidence=max(0.0, 1 - doubt),
        epsilon=sum((cell.epsilon for cell in (*used, *first)), start=Fraction(0)),
    )


def within(cell: Combined, least: Fraction, most: Fraction) -> Combined:
    """Return a cell whose number is known to lie between two ends, clamped to them: post-processing."""

    def clamped(value: Fraction | None, otherwise: Fraction | None) -> Fraction | None:
        return otherwise if value is None else min(max(value, least), most)

    low, high = cell.interval
    ends = (clamped(low, least), clamped(high, most))
    return replace(cell, value=clamped(cell.value, None), interval=ends)
