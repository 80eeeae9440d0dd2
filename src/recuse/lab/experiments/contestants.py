"""Every mechanism by name: ours, and those that we are compared with.

A comparator that must guess something takes it after an equals sign: `r2t=1024`, `lp=64`, `naive=32`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from recuse.errors import ParameterError
from recuse.krelation.relation import KRelation
from recuse.lab.comparators.comparator import Comparator, Privacy
from recuse.lab.comparators.fixed_truncation import FixedTruncation
from recuse.lab.comparators.global_sensitivity import GlobalSensitivity
from recuse.lab.comparators.k_triangles import KTriangles
from recuse.lab.comparators.ladder import Ladder
from recuse.lab.comparators.naive_truncation import NaiveTruncation
from recuse.lab.comparators.opt2 import OPT2
from recuse.lab.comparators.r2t import R2T
from recuse.lab.comparators.rhms import RHMS
from recuse.lab.comparators.smooth_sensitivity import OF_2007, SmoothSensitivity
from recuse.lab.comparators.subgraphs import SubgraphCount
from recuse.mechanism import presets
from recuse.mechanism.mechanisms import NAMES as OURS
from recuse.mechanism.mechanisms import mechanism_for
from recuse.mechanism.prepared import Prepared
from recuse.mechanism.release import Release
from recuse.noise import Noise
from recuse.privacy import Epsilon

ON_RELATIONS: dict[str, Callable[[Epsilon, float | None], Comparator[Prepared]]] = {
    "r2t": lambda epsilon, guess: R2T(epsilon, guess or 1e6),
    "r2t-5.5": lambda epsilon, guess: R2T.of_authors(epsilon, guess or 1e6),
    "opt2": lambda epsilon, _: OPT2(epsilon),
    "lp": lambda epsilon, guess: FixedTruncation(epsilon, guess or 64.0),
}
ON_GRAPHS: dict[str, Callable[[Epsilon, float | None], Comparator[SubgraphCount]]] = {
    "smooth": lambda epsilon, _: SmoothSensitivity(epsilon, divisor=OF_2007),
    "smooth-tight": lambda epsilon, _: SmoothSensitivity(epsilon),
    "ladder": lambda epsilon, _: Ladder(epsilon),
    "k-triangle": lambda epsilon, guess: KTriangles(epsilon, guess or 0.1),
    "naive": lambda epsilon, guess: NaiveTruncation(epsilon, round(guess or 32)),
    "rhms": lambda epsilon, _: RHMS(epsilon),
}
GLOBAL = "global"
MECHANISMS = (*OURS, "paper-node", *ON_RELATIONS, GLOBAL, *ON_GRAPHS)
"""Ours; the paper's with its μ for node privacy; all others with their guesses."""

Contestant = Callable[[Prepared, Noise], Release]


@dataclass(frozen=True, slots=True)
class Asked:
    """What is known of a question besides its relation.

    Which subgraphs are counted, how many rows a participant has, and how many granules make up a unit of the
    answer: guesses are in units.
    """

    subgraphs: SubgraphCount | None = None
    rows: int | None = None
    unit: Fraction = Fraction(1)


NOTHING_MORE = Asked()


def answering(
    mechanism: str, epsilon: Epsilon, relation: KRelation, asked: Asked = NOTHING_MORE
) -> Contestant:
    """Return the mechanism of a name as a function of a prepared relation and noise."""
    name, guess = _guessed(mechanism)
    if name in OURS:
        return mechanism_for(name, epsilon, relation.shape).release
    if name == "paper-node":
        return presets.paper(epsilon, mu=Fraction(1)).release
    if name in ON_GRAPHS:
        on_graph, subgraphs = ON_GRAPHS[name](epsilon, guess), asked.subgraphs
        if subgraphs is None:
            raise ParameterError(f"{name} counts subgraphs of a graph only", hint="use lp or r2t")
        return lambda _, noise: on_graph.release(subgraphs, noise)
    return comparator(name, epsilon, guess, asked).release


def comparator(name: str, epsilon: Epsilon, guess: float | None, asked: Asked) -> Comparator[Prepared]:
    """Return the mechanism for relations of a name."""
    if name == GLOBAL:
        return GlobalSensitivity(epsilon, asked.rows)
    if name in ON_RELATIONS:
        return in_units(ON_RELATIONS[name](epsilon, guess), asked.unit)
    raise ParameterError("there is no such mechanism", found=name, accepted=", ".join(MECHANISMS))


def in_units(found: Comparator[Prepared], unit: Fraction) -> Comparator[Prepared]:
    """Return the mechanism with its guess in units of the answer, where it guesses how much one counts."""
    if isinstance(found, R2T):
        return replace(found, unit=unit)
    if isinstance(found, FixedTruncation):
        return replace(found, tau=found.tau * float(unit))
    return found


def _guessed(mechanism: str) -> tuple[str, float | None]:
    """Return the name and what is guessed."""
    name, equals, text = mechanism.partition("=")
    if not equals:
        return name, None
    try:
        guess = float(text)
    except ValueError:
        guess = 0.0
    if not 0 < guess < float("inf") or name not in (*ON_RELATIONS, *ON_GRAPHS):
        raise ParameterError(
            "a guess is a positive number after the name", found=mechanism, accepted="r2t=1024"
        )
    return name, guess


@dataclass(frozen=True, slots=True)
class Terms:
    """What a mechanism promises, and what its user must know beforehand."""

    privacy: str
    guesses: str


def terms(mechanism: str) -> Terms:
    """Return the terms of a mechanism by its name."""
    name, guess = _guessed(mechanism)
    if name in (*OURS, "paper-node"):
        return Terms(Privacy.PURE.value, "nothing")
    asked, epsilon = Asked(rows=1), Epsilon.of(1)
    found: Comparator[SubgraphCount] | Comparator[Prepared] = (
        ON_GRAPHS[name](epsilon, guess) if name in ON_GRAPHS else comparator(name, epsilon, guess, asked)
    )
    return Terms(found.privacy.value, "; ".join(found.guesses) or "nothing")
