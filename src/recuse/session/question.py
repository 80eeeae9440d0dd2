"""Question: what was asked, once everything that could be refused has been looked at.

SQL (`sql_question`) and subgraph counts (`graph_question`) are two makers of it; `spine` charges and
answers it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from recuse.mechanism.groups import Groups
from recuse.mechanism.release import Release
from recuse.mechanism.truncating import Mechanism
from recuse.noise import Noise
from recuse.privacy import Delta, Epsilon
from recuse.session.cells import Row, StandIn
from recuse.session.formulas import Keys
from recuse.solver.programs import Solver

Subjects = list[Groups]
"""For every part of a question its groups with their rows, in the form in which they are released."""

Releases = list[list[Release]]
"""For every part of a question what was released of each group, in the question's own units."""


@dataclass(frozen=True, slots=True)
class Part:
    """One number a group: how it is released, and the unit that it is counted in."""

    mechanism: Mechanism | None
    """None: nobody owns its rows, so it is public"""
    unit: Fraction = Fraction(1)
    counted: bool = True
    """whether it counts rows, so that it cannot be negative"""


@dataclass(frozen=True, slots=True)
class Arrangement:
    """The rows of an answer and the names of their columns: keys first."""

    key_names: tuple[str, ...]
    names: tuple[str, ...]
    rows: tuple[Row, ...]
    stand_ins: tuple[StandIn, ...] = ()
    """the numbers that were released first and stand in the question"""
    notes: tuple[str, ...] = ()
    """what was released of the groups themselves"""
    cautions: tuple[str, ...] = ()
    """which columns lost nearly all to truncation"""


def exactly(total: int | None, part: Part) -> Release:
    """Return a number of granules as it is: of rows that nobody owns, or of data that is public."""
    value, zero = None if total is None else total * part.unit, Fraction(0)
    ends = (value, value)
    return Release(value or zero, ends, zero, zero, "public", counted=part.counted, undefined=value is None)


class Question(Protocol):
    """All that the spine needs of a question. Nothing but `read_private_rows` looks at private rows."""

    @property
    def text(self) -> str:
        """The question as it was asked, for the ledger."""

    @property
    def loss(self) -> Epsilon:
        """What it costs."""

    @property
    def delta(self) -> Delta | None:
        """What it costs of δ; None: nothing."""

    @property
    def policy(self) -> str:
        """The hash of what it was asked under."""

    @property
    def parts(self) -> Sequence[Part]:
        """What is released; with those of `firsts`, the parts' ε add up to the loss."""

    @property
    def keys(self) -> Sequence[Keys]:
        """The groups; one without keys if there are none."""

    @property
    def firsts(self) -> Sequence[Question]:
        """The numbers that are released first, in order, with their share of the loss: each is a question."""

    def given(self, firsts: Sequence[Releases]) -> Question:
        """Return the question with what was released first in its place: post-processing of it."""

    def found(self, solver: Solver, noise: Noise) -> Question:
        """Return the question with the keys that are found among private rows, if any are: paid with δ."""

    def identity(self) -> Any:
        """Return what the question means, as JSON can write it.

        Questions with the same identity, parts and policy have one answer: all that the distribution of what
        is released depends on, the data excepted, must be in one of the three.
        """

    def read_private_rows(self, solver: Solver) -> Subjects:
        """Return the groups of the question. This is the one moment at which private rows are read."""

    def arrange(self, keys: Sequence[Keys], releases: Releases) -> Arrangement:
        """Return the answer's rows, made of what was released and of nothing else."""
