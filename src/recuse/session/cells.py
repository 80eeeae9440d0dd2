"""The cells of an answer: a released number, or a formula over released numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction

from recuse.mechanism.release import CONFIDENCE, Release
from recuse.numerals import magnitude
from recuse.session.formulas import Given, Keys, value_of
from recuse.session.intervals import UNBOUNDED, Ends
from recuse.session.possible import GivenRanges, in_noise, in_truth, possible
from recuse.session.truth import UNKNOWN, TrueAnswer, truth_of
from recuse.sql.formula import Formula, Term, in_row, measures_in, scalars_in
from recuse.sql.placeholder import PlaceType, fitted


@dataclass(frozen=True, slots=True)
class Combined:
    """A number computed from released ones, such as an average: post-processing, so it costs nothing more.

    `value` is None where the formula is NULL, as where it divides by a released zero; an end of `interval`
    where it is unbounded.
    The interval holds the same formula of the truncated answers with probability `confidence` at least: 1
    minus the sum of what each released number may be wrong (Bonferroni). `truth` is about the formula of the
    true answers, in the same way.
    """

    value: Fraction | None
    interval: Ends
    confidence: float
    epsilon: Fraction
    truth: TrueAnswer = UNKNOWN


Cell = Release | Combined


def confidence(cell: Cell) -> float:
    """Return the probability with which the cell's interval holds its truncated value, at least."""
    if isinstance(cell, Combined):
        return round(cell.confidence, 6)
    return CONFIDENCE if cell.noise_scale else 1.0


def truth(cell: Cell) -> TrueAnswer:
    """Return what a cell says of the truth."""
    return cell.truth if isinstance(cell, Combined) else truth_of(cell)


def step_of(cell: Cell) -> Fraction | None:
    """Return what a cell is printed to: its unit; a formula to a hundredth of its noise, or as it comes."""
    if isinstance(cell, Release):
        return cell.unit
    low, high = cell.interval
    if low is None or high is None or low == high:
        return None
    return Fraction(10) ** (magnitude(high - low) - 2)


@dataclass(frozen=True, slots=True)
class StandIn:
    """A number that was released first and stands in the question."""

    text: str
    """how the question writes it"""
    cell: Cell
    moment: date | None = None
    """the date or timestamp that it stands for as one, the cell being days or seconds"""
    picked: bool = False
    """whether it is one of the rows' values"""


def standing_in(cell: Cell, kind: PlaceType) -> Combined:
    """Return a released number as it stands in a question: rounded and bounded as its place is."""
    low, high = cell.interval
    level = confidence(cell)
    return Combined(fitted(cell.value, kind), (fitted(low, kind), fitted(high, kind)), level, cell.epsilon)


@dataclass(frozen=True, slots=True)
class Row:
    """One group."""

    keys: Keys
    cells: tuple[Cell, ...]
    """one for every column that is not a key"""


def evaluate(formula: Formula, given: Given, scalars: Sequence[Cell] = ()) -> Cell:
    """Return the number that a formula makes of what was released: the release itself where it is one."""
    formula = in_row(formula, given.place)
    if isinstance(formula, Term) and not given.releases[formula.measure].undefined:
        return given.releases[formula.measure]
    used = [given.releases[measure] for measure in sorted(set(measures_in(formula)))]
    first = [scalars[number] for number in sorted(set(scalars_in(formula)))]
    doubt = sum(1 - confidence(cell) for cell in (*used, *first))
    noisy = GivenRanges(
        list(map(in_noise, given.releases)), given.keys, [scalar.interval for scalar in scalars]
    )
    return Combined(
        value=value_of(formula, given),
        interval=possible(formula, noisy).ends or UNBOUNDED,
        confidence=max(0.0, 1 - doubt),
        epsilon=sum((cell.epsilon for cell in (*used, *first)), start=Fraction(0)),
        truth=_true(formula, given, used, len(scalars)),
    )


def _true(formula: Formula, given: Given, used: Sequence[Release], scalars: int) -> TrueAnswer:
    """Return where the formula of the true answers lies; a number that stands in it is not a true one."""
    ranges = GivenRanges(list(map(in_truth, given.releases)), given.keys, [UNBOUNDED] * scalars)
    doubt = sum(1 - truth_of(release).confidence for release in used)
    return TrueAnswer(possible(formula, ranges).ends or UNBOUNDED, max(0.0, 1 - doubt))


def within(cell: Combined, least: Fraction, most: Fraction) -> Combined:
    """Return a cell whose number is known to lie between two ends, clamped to them: post-processing."""

    def clamped(value: Fraction | None, otherwise: Fraction | None) -> Fraction | None:
        return otherwise if value is None else min(max(value, least), most)

    def both(ends: Ends) -> Ends:
        return clamped(ends[0], least), clamped(ends[1], most)

    true = replace(cell.truth, ends=both(cell.truth.ends))
    return replace(cell, value=clamped(cell.value, None), interval=both(cell.interval), truth=true)
