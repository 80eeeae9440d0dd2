"""Subgraph counts as a question: one count, or several and a formula over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from recuse.graphs.choices import growth, k_stars, k_triangles
from recuse.graphs.count import Count
from recuse.graphs.enumerate import count_copies
from recuse.graphs.graph import Graph, by_name
from recuse.graphs.protect import Protected
from recuse.krelation.choices import Choices
from recuse.krelation.relation import Growth, Shape
from recuse.mechanism.foreknown import Foreknown
from recuse.mechanism.groups import SideBySide
from recuse.mechanism.mechanisms import DEFAULT, mechanism_for
from recuse.mechanism.prepared import Prepared, prepare
from recuse.mechanism.release import Release
from recuse.noise import Noise
from recuse.privacy import Delta, Epsilon
from recuse.session.cells import Cell, Combined, Row, evaluate, within
from recuse.session.fingerprint import fingerprint
from recuse.session.formulas import Given, Keys
from recuse.session.question import Arrangement, Part, Question, Releases, Subjects
from recuse.solver.choices.programs import choice_programs
from recuse.solver.programs import Solver
from recuse.sql.formula import FixedNumber, Formula, Operator, Term, operation
from recuse.sql.render import render

RATIO = operation(Operator.DIVIDE, operation(Operator.MULTIPLY, FixedNumber(Fraction(3)), Term(0)), Term(1))
"""three times the triangles, divided by the 2-stars"""


@dataclass(frozen=True, slots=True)
class GraphColumn:
    """A column of the answer: its name, what it is made of, and whether that lies between 0 and 1."""

    name: str
    formula: Formula
    is_share: bool = False

    def cell(self, releases: Sequence[Release]) -> Cell:
        """Return the cell, made of what was released of the counts."""
        found = evaluate(self.formula, Given(releases))
        if self.is_share and isinstance(found, Combined):
            return within(found, Fraction(0), Fraction(1))
        return found


NUMBER = (GraphColumn("count", Term(0)),)
TRANSITIVITY = (
    GraphColumn("transitivity", RATIO, is_share=True),
    GraphColumn("triangles", Term(0)),
    GraphColumn("2-stars", Term(1)),
)


@dataclass(frozen=True, slots=True)
class GraphQuestion:
    """A `Question` about a graph. The counts share ε evenly."""

    graph: Graph
    counts: tuple[Count, ...]
    about: str
    """the file that says more of the nodes, as the ledger names it"""
    columns: tuple[GraphColumn, ...]
    text: str
    loss: Epsilon
    parts: tuple[Part, ...]
    motifs: tuple[str, ...] = ()
    """the names of the counts, where each is a row of its own"""

    keys: ClassVar[Sequence[Keys]] = ((),)
    firsts: ClassVar[Sequence[Question]] = ()
    delta: ClassVar[Delta | None] = None

    @classmethod
    def of_count(cls, graph: Graph, about: str, count: Count, loss: Epsilon, mechanism: str) -> Self:
        """Return the question how many copies there are."""
        part = Part(mechanism_for(mechanism, loss, _shape(count), _foreknown(count)))
        return cls(graph, (count,), about, NUMBER, str(count), loss, (part,))

    @classmethod
    def of_transitivity(cls, graph: Graph, about: str, counts: tuple[Count, ...], loss: Epsilon) -> Self:
        """Return the question for 3 × triangles / 2-stars, both counts beside it."""
        text = f"transitivity, protecting every {counts[0].protect.value}"
        return cls(graph, counts, about, TRANSITIVITY, text, loss, _shared(counts, loss))

    @classmethod
    def of_motifs(
        cls, graph: Graph, about: str, counts: tuple[Count, ...], motifs: tuple[str, ...], loss: Epsilon
    ) -> Self:
        """Return the question how many copies there are of each of several patterns."""
        text = f"{', '.join(motifs)}, protecting every {counts[0].protect.value}"
        return cls(graph, counts, about, NUMBER, text, loss, _shared(counts, loss), motifs)

    @property
    def policy(self) -> str:
        return fingerprint("graph policy", self.counts[0].protect.value)

    def identity(self) -> Any:
        return ["graph", self.graph.directed, self.about, [_meaning(count) for count in self.counts]]

    def given(self, _: Sequence[Releases]) -> Self:
        """Return the question as it is: nothing is released before a count."""
        return self

    def found(self, _solver: Solver, _noise: Noise) -> Self:
        return self

    def read_private_rows(self, solver: Solver) -> Subjects:
        graph = by_name(self.graph)
        return [SideBySide([subject(graph, count, solver)]) for count in self.counts]

    def arrange(self, keys: Sequence[Keys], releases: Releases) -> Arrangement:
        found = [found for (found,) in releases]
        if self.motifs:
            rows = (Row((name,), (count,)) for name, count in zip(self.motifs, found, strict=True))
            return Arrangement(("motif",), ("count",), tuple(rows))
        cells = tuple(column.cell(found) for column in self.columns)
        names = tuple(column.name for column in self.columns)
        return Arrangement((), names, tuple(Row(group, cells) for group in keys))


def subject(graph: Graph, count: Count, solver: Solver) -> Prepared:
    """Return the relation of a count with its programs: all copies listed, or choices that stand for them."""
    if not count.aggregated:
        copies = count_copies(graph, count.pattern, count.protect, count.condition, induced=count.induced)
        return prepare(copies, solver)
    choices = choices_of(graph, count)
    return Prepared(choices, choice_programs(choices))


def choices_of(graph: Graph, count: Count) -> Choices:
    """Return what stands for the copies of an aggregated count."""
    if count.pattern.star is not None:
        return k_stars(graph, count.pattern.star, count.protect)
    return k_triangles(graph, count.pattern.book or 0, count.protect)


def _shared(counts: Sequence[Count], loss: Epsilon) -> tuple[Part, ...]:
    """Return a part for every count.

    Guarantee: their ε add up to the loss.
    """
    share = Epsilon(loss.value / len(counts))
    return tuple(Part(mechanism_for(DEFAULT, share, _shape(one), _foreknown(one))) for one in counts)


def _shape(count: Count) -> Shape | Growth:
    """Return the form of the relation, which follows from the count alone."""
    if not count.aggregated:
        return Shape.CONJUNCTIONS
    return growth(count.pattern.star, count.pattern.book or 0, count.protect)


def _foreknown(count: Count) -> Foreknown:
    """Return what is public of loads: an edge that is protected is one row, and none links to it."""
    return Foreknown(_bound(count), single=count.protect is Protected.EDGE)


def _bound(count: Count) -> int | None:
    """Return how many copies an edge is in at most, where they are edges themselves."""
    plain = not count.aggregated and count.condition is None and len(count.pattern.edges) == 1
    return 1 if plain and count.protect is Protected.EDGE else None


def _meaning(count: Count) -> list[object]:
    """Return what the copies depend on: the pattern up to renaming, unless a condition names its nodes."""
    condition = None if count.condition is None else render(count.condition.scalar.copy())
    pattern = count.pattern if count.condition is not None else count.pattern.canonical()
    return [str(pattern), count.protect.value, condition, count.induced]
