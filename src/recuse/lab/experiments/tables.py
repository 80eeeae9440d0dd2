"""All that the errors of mechanisms depend on, solved once a relation: X(τ), N_s(τ) and the paper's index.

With such a table a mechanism is replayed thousands of times in numpy (`replay`), whatever its parameters. X
is solved for at quarters of a doubling and at the levels of every table of τ that is tried, N_s at levels. A
table is a file; what a stopped run has found is kept. NOT PRIVATE.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Self

import numpy as np

from recuse.krelation.relation import Floats, KRelation, Shape
from recuse.lab.experiments.oracle import Line
from recuse.mechanism.prepared import Prepared
from recuse.privacy import Epsilon
from recuse.solver.programs import Programs, TruncationPrograms

EPSILONS = ("0.1", "0.25", "0.5", "0.8", "1", "2")
QUARTERS = 4
LOWEST = -8
"""with OR τ far below 1 is useful: doublings"""
HOPELESS = 40.0
"""A level that so many times 1/ε would have to leave wins at no ε here."""
BEYOND_HOPE = 401.0
"""what stands for a count that was not found"""
CLOSE, ROUGH, FAR_OFF = 1 / 20, 0.002, 0.9
"""How closely X is known in units of τ; as a share of the truth, where X is less than that share of it."""
SHARE, LEAST = 0.03, 0.05
"""How closely N_s is known, as a share of itself, and at least."""
INDEX_WIDTH, INDEX_SHARE = 0.2, 0.1
"""How closely an index is known, and as a share of 1/ε: its noise has a scale of 2/ε."""
SAMPLES = 2001


@dataclass(slots=True)
class SignTable:
    """What is known of the tuples of one sign."""

    whole: float
    largest: float
    answers: dict[str, float] = field(default_factory=dict)
    counts: dict[str, float] = field(default_factory=dict)
    indices: dict[str, int] = field(default_factory=dict)

    def points(self) -> tuple[Floats, Floats]:
        """Return the τ at which X is known, growing, and X there."""
        known = sorted(
            (float(tau), answer) for tau, answer in self.answers.items() if float(tau) < self.largest
        )
        taus = [0.0, *(tau for tau, _ in known), max(self.largest, 1e-9)]
        return np.array(taus), np.array([0.0, *(answer for _, answer in known), self.whole])

    def at(self, taus: Floats) -> Floats:
        """Return X: chords between the points, which lie a quarter of a doubling apart."""
        found: Floats = np.interp(taus, *self.points())
        return found

    def count(self, tau: float) -> float:
        """Return N_s of a level, or more than is worth finding."""
        return 0.0 if tau >= self.largest else self.counts.get(repr(tau), BEYOND_HOPE)


@dataclass(slots=True)
class Tabled:
    """A relation's numbers, and whether all of them have been found."""

    name: str
    protect: str
    truth: float
    constant: float
    tuples: int
    participants: int
    conjunctions: bool
    signed: bool
    bound: int | None
    signs: list[SignTable]
    whole: bool = False

    @classmethod
    def of(cls, name: str, protect: str, prepared: Prepared, bound: int | None = None) -> Self:
        """Return a table in which nothing is solved for yet."""
        relation = prepared.relation
        sizes = (len(relation.positive), relation.participants) if isinstance(relation, KRelation) else (0, 0)
        signs = [
            SignTable(part.truncated(part.largest_load(), 1.0).high, part.largest_load())
            for part in prepared.signs
        ]
        return cls(
            name,
            protect,
            float(relation.true_answer()),
            float(relation.constant),
            *sizes,
            relation.shape is Shape.CONJUNCTIONS,
            relation.signed,
            bound,
            signs,
        )

    @classmethod
    def of_loads(cls, name: str, loads: Floats, protect: str = "owner") -> Self:
        """Return the table of rows with one owner: N_s counts the loads above τ, X adds up what is below."""
        owned = np.sort(loads[loads > 0])
        sums = np.concatenate(([0.0], np.cumsum(owned)))
        sign = SignTable(float(sums[-1]), float(owned[-1]))
        for tau in (*quarters(sign.largest, 0), *rungs(sign.largest)):
            below = int(np.searchsorted(owned, tau, side="right"))
            sign.answers[repr(tau)] = float(sums[below] + tau * (len(owned) - below))
            sign.counts[repr(tau)] = float(len(owned) - below)
        return cls(
            name, protect, float(sums[-1]), 0.0, len(owned), len(owned), True, False, None, [sign], whole=True
        )

    @classmethod
    def read(cls, path: Path) -> Self:
        """Return a table that was written."""
        found = json.loads(path.read_text())
        return cls(**{**found, "signs": [SignTable(**sign) for sign in found["signs"]]})

    def write(self, path: Path) -> None:
        """Write the table, at once or not at all."""
        beside = path.with_suffix(".part")
        beside.write_text(json.dumps(asdict(self)))
        os.replace(beside, path)


def quarters(largest: float, lowest: int) -> list[float]:
    """Return quarters of doublings up to a load, growing."""
    top = math.floor(QUARTERS * math.log2(max(1.0, largest)))
    return [2.0 ** (step / QUARTERS) for step in range(QUARTERS * lowest, top + 1)]


def rungs(largest: float) -> list[float]:
    """Return the levels of the tables that are tried: doublings, and 3, 24, 192, …"""
    doublings = [2.0**k for k in range(max(0, math.ceil(math.log2(max(1.0, largest)))) + 1)]
    threes = [3.0 * 8.0**k for k in range(len(doublings) // 3 + 1)]
    return sorted({*doublings, *threes})


def fill(table: Tabled, prepared: Prepared, epsilons: Sequence[str] = EPSILONS) -> Iterator[None]:
    """Solve for what a table lacks that matters at some ε, yielding after each number."""
    parts = list(zip(table.signs, prepared.signs, strict=True))
    least = min(map(float, epsilons))
    hopeless = HOPELESS / least
    if table.conjunctions:
        for sign, programs in parts:
            if isinstance(programs, Programs):
                yield from _counts(sign, programs, hopeless)
    needed = {float(tau) for sign in table.signs for tau, n in sign.counts.items() if n <= hopeless}
    yield from _answers(table, [programs for _, programs in parts], needed, least)
    if table.conjunctions and not table.signed:
        for sign, programs in parts:
            if isinstance(programs, Programs):
                yield from _indices(sign, programs, epsilons)
    table.whole = True


def _counts(sign: SignTable, programs: Programs, hopeless: float) -> Iterator[None]:
    for tau in reversed(rungs(sign.largest)):
        key = repr(tau)
        if tau >= sign.largest:
            continue
        if key not in sign.counts:
            seen = programs.strict_withdrawals(tau, SHARE * hopeless, hopeless)  # no more is ever needed
            if seen.low <= hopeless and seen.width > max(LEAST, SHARE * seen.low):
                seen = programs.strict_withdrawals(tau, max(LEAST, SHARE * seen.low), hopeless)
            sign.counts[key] = seen.low if seen.low > hopeless else (seen.low + seen.high) / 2
            yield
        if sign.counts[key] > hopeless:
            return


def _answers(
    table: Tabled, programs: Sequence[TruncationPrograms], needed: set[float], epsilon: float
) -> Iterator[None]:
    """Solve for X from the largest load down: where an answer is needed, and until no oracle would go on."""
    lowest = 0 if table.conjunctions else LOWEST
    largest = max(sign.largest for sign in table.signs)
    taus = sorted({*quarters(largest, lowest), *needed}, reverse=True)
    quantiles = (np.arange(SAMPLES) + 0.5) / SAMPLES
    noise = np.sign(quantiles - 0.5) * -np.log(1 - 2 * np.abs(quantiles - 0.5)) / epsilon
    least, above, whole = math.inf, Line(math.inf, math.inf), table.truth - table.constant
    for tau in taus:
        over = not table.signed and whole - above.at_most(tau) >= least
        if over and tau not in needed:
            if not needed or tau < min(needed):
                return
            continue
        for sign, part in zip(table.signs, programs, strict=True):
            if repr(tau) not in sign.answers and tau < sign.largest:
                sign.answers[repr(tau)] = _answer(part, sign.whole, tau)
                yield
        kept = [float(sign.at(np.array([tau]))[0]) for sign in table.signs]
        bias = kept[0] - sum(kept[1:]) - whole
        least = min(least, float(np.median(np.abs(bias + noise * tau))))
        above = Line(
            tau,
            kept[0],
            max(0.0, (above.low - kept[0]) / (above.tau - tau)) if math.isfinite(above.tau) else 0.0,
            kept[0],
        )


def _answer(programs: TruncationPrograms, whole: float, tau: float) -> float:
    found = programs.truncated(tau, max(CLOSE * tau, ROUGH * whole))
    if found.high > FAR_OFF * whole and found.width > CLOSE * tau:  # near the truth a small error counts
        found = programs.truncated(tau, CLOSE * tau)
    return (found.low + found.high) / 2


def _indices(sign: SignTable, programs: Programs, epsilons: Sequence[str]) -> Iterator[None]:
    """Solve for the paper's index, of every ε: θ = 1, β = ε/5, and a factor of 2."""
    for epsilon in epsilons:
        if epsilon not in sign.indices:
            beta = float(Epsilon.of(epsilon).value / 5)
            width = max(INDEX_WIDTH, INDEX_SHARE / float(epsilon))
            sign.indices[epsilon] = math.ceil(programs.index(float(Fraction(1, 2)), beta, width).low)
            yield
