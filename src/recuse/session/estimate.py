"""How far an answer will lie from the truth, before anything is spent: from public inputs only.

    like = a database, folder, frames or connection that the user declares public, of the same schema
    like = Statistics(rows=…, largest=…), from which a database is made up
    like = an Answer to the same question, whose noise is scaled to the new ε

The private data is never read: of it only the catalogue is known, which is public.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from recuse.errors import ParameterError
from recuse.html import fields, interval_svg
from recuse.krelation.relation import Shape
from recuse.mechanism.mechanisms import DEFAULT
from recuse.mechanism.parameters import Score
from recuse.mechanism.prepared import truncated_high
from recuse.mechanism.racing import Racing
from recuse.mechanism.release import Release
from recuse.numerals import brief
from recuse.privacy import Epsilon, NumberLike, decimal_text, exact
from recuse.session.answer import Answer
from recuse.session.cells import Row
from recuse.session.parts import Parts
from recuse.session.question import Part, Subjects
from recuse.session.spine import release, release_firsts
from recuse.session.sql_question import SqlQuestion
from recuse.solver.memo import memoising
from recuse.solver.programs import Solver
from recuse.sql.plan import Plan

RUNS = 200
LADDER = tuple(
    Fraction(mantissa, 10) * Fraction(10) ** power
    for power in range(-2, 2)
    for mantissa in (10, 15, 20, 30, 50, 70)
)
"""the ε that are tried for a wanted error: from 0.01 to 70"""
WINNER = Fraction(13, 10)
"""how much larger the noise of a race is that won than before it took part: an estimate, not measured"""
MOST_ADAPTIVE = 20
"""runs of a question that reads its rows anew in each, since a number is released first"""
COLLAPSE = (
    "DISTINCT, UNION, EXISTS and IN need many owners: below about n·ε = 15 + 6·max(K, 0) answers collapse "
    "towards 0, where n is how many participants can be withdrawn before nothing is left and 2^K the largest "
    "share of one"
)


@dataclass(frozen=True, slots=True)
class Expected:
    """The expected error of one column: over all runs, and over all groups."""

    name: str
    typical: Fraction
    """the median distance between the answer and the truth"""
    mostly: Fraction
    """nine answers of ten are closer than this"""
    value: Fraction | None
    """what the column is about on the data of the estimate (in the middle of its groups)"""

    def __str__(self) -> str:
        often, mostly = self._size(self.typical), self._size(self.mostly)
        return f"{self.name}: typically off by {often}, 9 of 10 by less than {mostly}"

    def _size(self, error: Fraction) -> str:
        share = "" if not self.value else f" ({brief(100 * error / abs(self.value), 2)} %)"
        return brief(error, 3) + share


@dataclass(frozen=True, slots=True, repr=False)
class Estimate:
    """What to expect of a question at an ε, and what that is based on. Nothing was charged."""

    epsilon: Fraction
    basis: str
    columns: tuple[Expected, ...]
    cautions: tuple[str, ...]

    def lines(self) -> Iterator[str]:
        """Yield the estimate for people."""
        for head, text in self._said():
            yield f"{head:<10}{text}"

    def _said(self) -> Iterator[tuple[str, str]]:
        yield "estimate", f"for epsilon {decimal_text(self.epsilon)}, {self.basis}; nothing was charged"
        yield from (("error", str(column)) for column in self.columns)
        yield from (("caution", caution) for caution in self.cautions)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return the estimate for a notebook: where nine answers of ten would lie, drawn for each column."""
        return "".join(map(_drawn, self.columns)) + fields(self._said())


def _drawn(column: Expected) -> str:
    if column.value is None:
        return ""
    low, high = column.value - column.mostly, column.value + column.mostly
    scale = min(low, Fraction(0)), max(high, Fraction(0))
    ends = brief(low, 3), brief(high, 3)
    return f"<div>{ends[0]} {interval_svg(low, column.value, high, scale)} {ends[1]}</div>"


def from_data(questions: Sequence[SqlQuestion], runs: int, parts: Parts, basis: str) -> list[Estimate]:
    """Return the errors of many runs of the real mechanism on data that is public.

    The questions are one, asked with several ε: its rows are read, and its programs made, once.
    """
    if runs < 1:
        raise ParameterError("at least one run is needed", found=str(runs))
    solver = memoising(parts.solver)
    questions = [one.settled(solver, lambda groups: groups.true_answers()) for one in questions]
    first = questions[0]
    truth = first.exact_answer(solver, lambda groups: groups.true_answers())
    runs = min(runs, MOST_ADAPTIVE) if first.firsts else runs
    shared = None if first.firsts else first.read_private_rows(solver)
    return [_measured(question, truth, shared, runs, parts, basis, solver) for question in questions]


def _measured(
    question: SqlQuestion,
    truth: Answer,
    shared: Subjects | None,
    runs: int,
    parts: Parts,
    basis: str,
    solver: Solver,
) -> Estimate:
    """Return the errors of runs with one ε; without `shared` rows are read anew for every run."""
    subjects: Subjects = shared or []
    answers = []
    for _ in range(runs):
        asked = question.given(release_firsts(question, solver, parts.noise))
        if shared is None:  # with another number in its place, other rows are meant
            subjects = asked.read_private_rows(solver)
        answers.append(asked.arrange(question.keys, release(asked, subjects, parts.noise)).rows)
    columns = zip(truth.names, _by_column(truth.rows), *map(_by_column, answers), strict=True)
    return Estimate(
        question.loss.value,
        f"{basis}, {runs} runs",
        tuple(_expected(name, exact, found) for name, exact, *found in columns),
        tuple(_cautions(subjects, question.parts)),
    )


def wanted_error(error: str | NumberLike) -> tuple[Fraction, bool]:
    """Return an error as a user writes it, and whether it is a share of the answer.

    >>> wanted_error("2 %"), wanted_error(150)
    ((Fraction(1, 50), True), (Fraction(150, 1), False))
    """
    text = str(error).strip()
    relative = text.endswith("%")
    found = exact(text.removesuffix("%").strip() if relative else error, name="error")
    if found <= 0:
        raise ParameterError("an error is above 0", found=text, accepted="2% or 150")
    return (found / 100 if relative else found), relative


def enough(estimates: Sequence[Estimate], error: Fraction, *, relative: bool) -> Estimate:
    """Return the estimate of the smallest ε at which nine answers of ten are closer than an error.

    `relative` takes the error as a share of what a column is about. Estimates are sorted by ε.
    """
    for estimate in estimates:
        lids = [error * abs(c.value or Fraction(0)) if relative else error for c in estimate.columns]
        if all(column.mostly <= lid for column, lid in zip(estimate.columns, lids, strict=True)):
            return estimate
    largest = estimates[-1].epsilon
    raise ParameterError(
        "no such error can be had",
        found=f"with epsilon {decimal_text(largest)}: {'; '.join(map(str, estimates[-1].columns))}",
        hint="ask more broadly, or accept a larger error",
    )


def from_answer(plan: Plan, loss: Epsilon, answer: Answer) -> Estimate:
    """Return the noise that an earlier answer to the same question had, scaled to another ε.

    The rule: the mean absolute noise is in inverse proportion to ε, at the same truncation. What truncation
    takes is not in it.
    """
    if any(measure.aggregate.placed for measure in plan.measures):  # whether or not it was NULL
        raise ParameterError(
            "an earlier median, maximum or minimum says nothing of its error",
            hint="estimate with like= a public database",
        )
    prior = answer.number if plan.is_number and answer.is_number else None
    if not isinstance(prior, Release):
        raise ParameterError(
            "an earlier answer estimates one number", hint="estimate a table with like= a public database"
        )
    won = WINNER if prior.mechanism == DEFAULT else Fraction(1)
    scale = won * prior.noise_scale * prior.epsilon / loss.value
    (low, high), ratio = prior.interval, prior.epsilon / loss.value
    if low is None or high is None:
        raise TypeError("what is no value of a row has an interval")
    reach = max(high - prior.value, prior.value - low) * ratio
    with_or = plan.single.shape is not Shape.CONJUNCTIONS
    return Estimate(
        loss.value,
        f"scaled from an answer for epsilon {decimal_text(prior.epsilon)}",
        (Expected(answer.names[0], scale, reach, prior.value),),
        ("the noise only, at the same truncation", *([COLLAPSE] if with_or else [])),
    )


def _by_column(rows: Sequence[Row]) -> list[list[Fraction | None]]:
    """Return the values of each column that is no key, a group each."""
    return [[row.cells[place].value for row in rows] for place in range(len(rows[0].cells))]


Values = Sequence[Fraction | None]


def _expected(name: str, truth: Values, runs: Sequence[Values]) -> Expected:
    errors = sorted(
        abs(value - exact)
        for values in runs
        for value, exact in zip(values, truth, strict=True)
        if value is not None and exact is not None
    )
    middle = sorted(exact for exact in truth if exact is not None)
    if not errors:
        raise ParameterError(
            f"{name} is undefined on the data of the estimate", hint="state data in which it is not"
        )
    return Expected(name, errors[len(errors) // 2], errors[len(errors) * 9 // 10], middle[len(middle) // 2])


def _cautions(subjects: Subjects, parts: Sequence[Part]) -> Iterator[str]:
    """Yield that there are too few owners where the deficit is selected on (proofs.md, section 9)."""
    for groups, mechanism in zip(subjects, (part.mechanism for part in parts), strict=True):
        if not isinstance(mechanism, Racing) or mechanism.levels.score is not Score.DEFICIT:
            continue
        ladder = mechanism.levels.ladder
        least = ladder.tau(ladder.first)
        for programs in groups.signs:
            if not (load := programs.largest_load()):
                continue
            owners = truncated_high(programs, least) / least
            level = max(0, ladder.reaching(load))
            if owners * mechanism.epsilon < 15 + 6 * level:
                here = f"here n·ε is {brief(owners * mechanism.epsilon, 3)}, and 15 + 6·K is {15 + 6 * level}"
                yield f"{COLLAPSE}; {here}"
                return
