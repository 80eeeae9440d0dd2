"""Noise-scale channel: the printed scale tells nothing but which τ was chosen, and τ was chosen privately.

If the scale were computed from the largest load, whoever reads it would know what the heaviest participant
contributes, for nothing. So every scale must be on a list that can be written before seeing data, and the
width of an interval must follow from it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

import duckdb
import pytest

from recuse.annotation import Participant, conjunction, disjunction
from recuse.krelation.build import from_expressions
from recuse.krelation.relation import KRelation, Shape
from recuse.mechanism.levels import as_double
from recuse.mechanism.mechanisms import NAMES, mechanism_for
from recuse.mechanism.parameters import ANSWER_GRID, INDEX_GRID, SLACK
from recuse.mechanism.prepared import Prepared, prepare
from recuse.mechanism.racing import Racing
from recuse.mechanism.release import Release
from recuse.mechanism.selective import Selective
from recuse.mechanism.truncating import Truncating
from recuse.noise import Noise, SecureNoise
from recuse.policy import Policy
from recuse.privacy import Epsilon
from recuse.session.session import connect
from recuse.solver.fast import fast_programs
from recuse.solver.memo import memoising
from support.mechanisms import run
from support.profiles import examples, some

LOADS = (1, 3, 7, 100, 12_345, 10**9 + 7)
RUNS = examples(16)
EPSILON = Epsilon.of("0.7")

Mechanism = Callable[[Prepared, Truncating, Noise], Release]


def relations(shape: Shape, *, signed: bool) -> Iterator[KRelation]:
    """Yield relations whose heaviest participant contributes each of the awkward loads."""
    for load in LOADS:
        rows = [(conjunction(Participant(i), Participant("hub")), 1) for i in range(9)]
        rows.append((conjunction(Participant("heavy")), -load if signed else load))
        if shape is Shape.CLAUSES:
            rows.append((disjunction(Participant("heavy"), Participant(0)), 1))
        yield from_expressions(rows, shape, signed=signed)


def scaled_to_the_largest_load(prepared: Prepared, parameters: Truncating, noise: Noise) -> Release:
    """The broken twin: as if the largest load could be used as it is."""
    load = max(Fraction(part.largest_load()) for part in prepared.signs)
    return replace(run(prepared, parameters, noise), noise_scale=load / parameters.epsilon)


def is_listed(scale: Fraction, parameters: Truncating, *, signed: bool) -> bool:
    """Return whether a noise scale is one of those that public numbers give."""
    sensitivity = ANSWER_GRID + math.ceil(ANSWER_GRID * (2 * SLACK if signed else SLACK))
    if isinstance(parameters, Racing):
        tau = scale * ANSWER_GRID / parameters.cell(parameters.epsilon, sensitivity).spread()
        return tau in parameters.levels.ladder.taus
    tau = scale * ANSWER_GRID / parameters.cell(parameters.answer_epsilon, sensitivity).spread()
    rule = parameters
    if isinstance(rule, Selective):
        return tau in {as_double(rule.stretch * listed) for listed in rule.levels.ladder.taus}
    step = round((math.log(tau / parameters.theta) - float(rule.mu)) / float(rule.beta) * INDEX_GRID)
    return tau == parameters.bound(Fraction(step, INDEX_GRID))


def leaks(mechanism: Mechanism, name: str, shape: Shape, *, signed: bool) -> bool:
    """Return whether a scale is printed that is not on the list, or two widths for one scale."""
    parameters = mechanism_for(name, EPSILON, shape)
    widths: dict[Fraction, set[Fraction]] = defaultdict(set)
    for relation in relations(shape, signed=signed):
        prepared = prepare(relation, memoising(fast_programs))
        for _ in range(RUNS):
            found = mechanism(prepared, parameters, SecureNoise())
            widths[found.noise_scale].add(found.interval[1] - found.interval[0])
    listed = all(is_listed(scale, parameters, signed=signed) for scale in widths)
    return not listed or any(len(seen) > 1 for seen in widths.values())


KINDS = [(name, shape) for name in NAMES for shape in (Shape.CONJUNCTIONS, Shape.CLAUSES)]


@pytest.mark.parametrize(("name", "shape"), some(KINDS, 0.4))
@pytest.mark.parametrize("signed", [False, True])
def test_scales_and_widths_come_from_a_public_list(name, shape, signed):
    assert not leaks(run, name, shape, signed=signed)


@pytest.mark.parametrize("signed", [False, True])
def test_the_twin_that_uses_the_largest_load_is_caught(signed):
    assert leaks(scaled_to_the_largest_load, "selective", Shape.CONJUNCTIONS, signed=signed)


def test_a_table_prints_scales_from_the_list_and_one_for_all_groups():
    data = duckdb.connect()
    data.execute("CREATE TABLE t AS SELECT i % 5 AS who, i % 3 AS k FROM range(200) r(i)")
    data.execute("INSERT INTO t SELECT 99, 1 FROM range(777)")
    policy = Policy.parse(
        '[[protect]]\nkind = "person"\n[[link]]\ntable = "t"\ncolumn = ["who"]\nto = "person"\n'
        "[budget]\nepsilon = 10\n"
    )
    with connect(data, policy) as session:
        answer = session.ask("SELECT k, COUNT(*) FROM t WHERE k IN (0, 1, 2) GROUP BY k", "0.7")
        alone = session.ask("SELECT COUNT(*) FROM t", "0.7")
    scales = {cell.noise_scale for row in answer for cell in row.cells}
    assert len(scales) == 1
    parameters = mechanism_for("selective", EPSILON, Shape.CONJUNCTIONS)
    assert is_listed(alone.number.noise_scale, parameters, signed=False)
