"""Torment for programs with prices and for groups that are released together; everything follows from a seed.

priced_torment(seed)     X, N and N_s with a price for every participant, beside the exact programs
vector_torment(seed)     two to four relations of the same people, by the hull, the cube or prices
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from recuse.annotation import Participant, conjunction
from recuse.krelation.build import from_expressions
from recuse.krelation.evaluate import Evaluation
from recuse.krelation.prices import Prices
from recuse.krelation.relation import KRelation, Shape
from recuse.mechanism.groups import Together
from recuse.mechanism.hull import HullGroups
from recuse.mechanism.mechanisms import mechanism_for
from recuse.mechanism.prepared import prepare
from recuse.mechanism.priced import PARTS, PriceList, priced
from recuse.privacy import Epsilon
from recuse.solver.certificate import Checker
from recuse.solver.exact.programs import ExactPrograms
from recuse.solver.fast import fast_programs
from recuse.solver.interval import Interval
from recuse.solver.programs import Programs
from support.noise import Seeded
from support.torture import SMALL, asked, made, narrow, weight

MOST_GROUPS = 200


def prices_for(source: random.Random, participants: int) -> Prices:
    """Return prices in eighths of τ, of up to three kinds of participants."""
    table = tuple(
        Fraction(source.randint(PARTS, source.choice((2, 9, MOST_GROUPS)) * PARTS), PARTS)
        for _ in range(source.randint(1, 3))
    )
    return Prices(table, np.array([source.randrange(len(table)) for _ in range(participants)], np.int64))


def priced_torment(seed: int, solver: Callable[..., Programs] = fast_programs) -> float:
    """Return the seconds that it takes; fail if it is not answered as it should be."""
    source, question = random.Random(f"prices {seed}"), made(seed)
    relation, tau = question.relation, Fraction(question.tau)
    prices = prices_for(source, relation.participants)
    start = time.process_time()
    programs = solver(relation.positive, relation.participants, prices)
    for program in ("X", "N", "N_s"):
        one = type(question)(relation, question.tau, program, question.epsilon, seed)
        found = asked(one, programs)
        assert narrow(one, found), f"seed {seed}: {program}"
        if relation.participants <= SMALL[program]:
            truth = exactly(relation, prices, program, tau)
            assert found.low <= truth.high, f"seed {seed}: {program}"
            assert truth.low <= found.high, f"seed {seed}: {program}"
    return time.process_time() - start


def exactly(relation: KRelation, prices: Prices, program: str, tau: Fraction) -> Interval:
    """Return an interval from the exact programs."""
    evaluation = Evaluation.of(relation.positive, relation.participants, prices)
    exact = ExactPrograms(evaluation, Checker.of(evaluation).initial_loads())
    return exact.truncated(tau) if program == "X" else exact.withdrawals(tau, int(program == "N_s"))


def vector_torment(seed: int, solver: Callable[..., Programs] = fast_programs) -> float:
    """Return the seconds that a release of several groups takes."""
    source = random.Random(f"vectors {seed}")
    people, level = source.randint(1, 10), source.randint(0, 62)
    signed = source.random() < 0.3
    relations = [grouped(source, people, level, signed=signed) for _ in range(source.randint(2, 4))]
    touched = {kind: source.randint(1, len(relations)) for kind in ("a", "b")}
    epsilon = Epsilon.of(source.choice(("0.01", "0.1", "1", "10", "100")))
    start = time.process_time()
    if source.random() < 0.5:
        subject = priced(relations, PriceList(len(relations), touched), solver)
    else:
        subject = HullGroups([prepare(one, solver) for one in relations])
    mechanism = mechanism_for("selective", epsilon, Shape.CONJUNCTIONS)
    found = Together(subject).release(mechanism, Seeded(seed))
    assert [one.epsilon for one in found] == [epsilon.value] * len(relations), f"seed {seed}"
    return time.process_time() - start


def grouped(source: random.Random, people: int, level: int, *, signed: bool) -> KRelation:
    """Return the rows of one group; participants are of two kinds."""
    everybody = [Participant(("ab"[p % 2], p)) for p in range(people)]
    rows = []
    for _ in range(source.randint(0, 8)):
        owners = source.sample(everybody, source.randint(1, min(people, 4)))
        sign = source.choice((-1, 1)) if signed else 1
        rows.append((conjunction(*owners), sign * weight(source, level)))
    return from_expressions(rows, Shape.CONJUNCTIONS, signed=signed)
