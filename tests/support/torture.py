"""Relations made to torment solvers: loads within a granule of τ, weights to 2^62, levels from 0 to 200.

    relation, tau, program = made(seed)      torment(seed) → how long the program took

Everything follows from the seed. What is found must be as narrow as asked for; `agrees` also compares it with
the exact programs.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from recuse.annotation import Annotation, Participant, conjunction, disjunction
from recuse.krelation.build import from_expressions
from recuse.krelation.evaluate import Evaluation
from recuse.krelation.relation import KRelation, Shape
from recuse.mechanism.general import general
from recuse.mechanism.mechanisms import NAMES, mechanism_for
from recuse.mechanism.prepared import prepare
from recuse.mechanism.presets import paper
from recuse.privacy import Epsilon
from recuse.solver.certificate import Checker
from recuse.solver.exact.programs import ExactPrograms
from recuse.solver.fast import fast_programs
from recuse.solver.interval import Interval
from recuse.solver.programs import Programs
from support.mechanisms import run
from support.noise import Seeded
from support.strategies import LOADED

PEOPLE, TUPLES, HEAVIEST, LAST_LEVEL = 30, 200, 2**62, 200
WIDTH = 0.01
LONGEST = 60.0
"""Seconds that a call may take."""
EPSILONS = ("0.000001", "0.001", "0.1", "0.5", "1", "3", "10", "100")
TOSSES = Fraction(1, 1000)
"""The least ε of a whole mechanism: below, drawing the noise takes seconds, and the solver nothing."""
INTERVALS = ("X", "N", "N_s", "r")
PROGRAMS = (*INTERVALS, "integer", *NAMES, "general")
CHANCES = (30, 20, 40, 8, 3, 2, 1, 1, 1, 1)
SMALL = {"X": 8, "N": 8, "N_s": 8, "integer": 8, "r": 4}
"""People up to which an answer is compared with the exact one."""


@dataclass(frozen=True)
class Torment:
    """A relation with a question about it."""

    relation: KRelation
    tau: float
    program: str
    epsilon: str
    seed: int


def made(seed: int) -> Torment:
    """Return the relation and the question of a seed."""
    source = random.Random(seed)
    people = min(PEOPLE, 1 + int(source.expovariate(1 / 7)))
    count = min(TUPLES - people, 1 + int(source.expovariate(1 / 14)))
    shape = source.choices(LOADED, (6, 2, 1))[0]
    level = source.choice([source.randint(0, 12), source.randint(0, 40), source.randint(0, 62)])
    rows = [(annotation(source, people, shape), weight(source, level)) for _ in range(count)]
    if source.random() < 0.8:
        rows += beside(source, rows, people, 2**level, shape)
    if signed := source.random() < 0.2:
        rows = [(k, source.choice((-1, 1)) * q) for k, q in rows]
    tau = 2.0 ** (level if source.random() < 0.7 else source.randint(0, LAST_LEVEL))
    program = source.choices(PROGRAMS, CHANCES)[0]
    relation = from_expressions(rows, shape, signed=signed)
    return Torment(relation, tau, program, source.choice(EPSILONS), seed)


def weight(source: random.Random, level: int) -> int:
    """Return a weight: beside a power of two, beside τ, of any size, or small."""
    power = 2 ** source.randint(0, 62)
    near = [power + source.randint(-1, 1), 2**level + source.randint(-1, 1), source.randint(1, power)]
    return max(1, min(HEAVIEST, source.choice([*near, source.randint(1, 3), 10 ** source.randint(0, 18)])))


def clause(source: random.Random, people: int) -> Annotation:
    size = people if source.random() < 0.05 else min(people, 1 + int(source.expovariate(0.8)))
    return conjunction(*map(Participant, source.sample(range(people), size)))


def annotation(source: random.Random, people: int, shape: Shape) -> Annotation:
    if shape is Shape.CONJUNCTIONS:
        return clause(source, people)
    either = disjunction(*(clause(source, people) for _ in range(source.randint(1, 3))))
    if shape is Shape.CLAUSES:
        return either
    other = disjunction(*(Participant(source.randrange(people)) for _ in range(source.randint(1, 3))))
    return conjunction(either, other)


def beside(
    source: random.Random, rows: list[tuple[Annotation, int]], people: int, tau: int, shape: Shape
) -> list[tuple[Annotation, int]]:
    """Return a tuple of one's own for some, such that their loads are within a granule of τ."""
    relation = from_expressions(rows, shape, signed=False)
    evaluation = Evaluation.of(relation.positive, relation.participants)
    usage = evaluation.usages(np.zeros(evaluation.participants, np.int64)).tolist()
    weights, loads = relation.positive.weights.tolist(), dict.fromkeys(range(people), 0)
    for p, t, times in zip(evaluation.entry_member, evaluation.entry_tuple, usage, strict=True):
        loads[relation.names[int(p)]] += weights[int(t)] * times
    more = {p: tau + source.randint(-1, 1) - load for p, load in loads.items() if source.random() < 0.6}
    return [(Participant(p), min(HEAVIEST, lacking)) for p, lacking in more.items() if lacking > 0]


def asked(torment: Torment, programs: Programs) -> Interval:
    """Return the interval that a program is asked for."""
    tau = torment.tau
    match torment.program:
        case "X":
            return programs.truncated(tau, tau * WIDTH)
        case "N":
            return programs.withdrawals(tau, WIDTH)
        case "N_s":
            return programs.strict_withdrawals(tau, WIDTH)
        case _:
            return programs.index(1.0, float(Fraction(torment.epsilon) / 5), WIDTH)


def exactly(torment: Torment) -> Interval:
    """Return the same from the exact programs."""
    evaluation = Evaluation.of(torment.relation.positive, torment.relation.participants)
    exact = ExactPrograms(evaluation, Checker.of(evaluation).initial_loads())
    tau = Fraction(torment.tau)
    match torment.program:
        case "X":
            return exact.truncated(tau)
        case "N":
            return exact.withdrawals(tau, 0)
        case "N_s":
            return exact.withdrawals(tau, 1)
        case _:
            beta = Fraction(float(Fraction(torment.epsilon) / 5))
            return exact.index(Fraction(1), beta, WIDTH, Interval(0.0, float("inf")))


def narrow(torment: Torment, found: Interval) -> bool:
    """Return whether an interval is as narrow as it was asked to be, and finite."""
    unit = torment.tau if torment.program == "X" else 1.0
    return 0.0 <= found.low <= found.high < float("inf") and found.width <= WIDTH * unit


def agrees(torment: Torment, found: Interval) -> bool:
    """Return whether it can hold what the exact programs find: trusted without a proof, it might not."""
    truth = exactly(torment)
    return found.low <= truth.high and truth.low <= found.high


def answered(torment: Torment, solver: Callable[..., Programs] = fast_programs) -> bool:
    """Return whether the question is answered as it should be; whatever is raised is raised."""
    relation, epsilon = torment.relation, Epsilon.of(max(TOSSES, Fraction(torment.epsilon)))
    match torment.program:
        case "integer":
            programs = solver(relation.positive, relation.participants)
            beta = Fraction(torment.epsilon) / 5
            s = programs.integer_index(Fraction(1), beta, 2)
            return relation.participants > SMALL["integer"] or right_index(relation, beta, s)
        case "general":
            people = range(min(6, relation.participants))
            sizes = relation.positive.weights.tolist()[: len(people)]

            def query(here: frozenset[int]) -> float:
                return float(sum(q for p, q in zip(people, sizes, strict=False) if p in here))

            return general(query, list(people), paper(epsilon), Seeded(torment.seed)).epsilon == epsilon.value
        case name if name in NAMES:
            parameters = mechanism_for(name, epsilon, relation.shape)
            return run(prepare(relation, solver), parameters, Seeded(torment.seed)).epsilon == epsilon.value
    found = asked(torment, solver(relation.positive, relation.participants))
    compared = relation.participants <= SMALL[torment.program]
    return narrow(torment, found) and (not compared or agrees(torment, found))


def right_index(relation: KRelation, beta: Fraction, s: int) -> bool:
    """Return whether s is the least with 2Γ(s) ≤ e^{βs}, by the definition."""
    evaluation = Evaluation.of(relation.positive, relation.participants)
    exact = ExactPrograms(evaluation, Checker.of(evaluation).initial_loads())
    holds = [exact.low_enough(Fraction(at), Fraction(1, 2), beta * at) for at in range(max(0, s - 1), s + 1)]
    return holds[-1] and all(not before for before, _ in pairwise(holds))


def torment(seed: int, solver: Callable[..., Programs] = fast_programs) -> float:
    """Return the seconds that the seed's question takes; fail if it is not answered as it should be."""
    question = made(seed)
    start = time.process_time()
    assert answered(question, solver), f"seed {seed}: {question.program} at {question.tau}"
    return time.process_time() - start
