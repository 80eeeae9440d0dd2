"""Solvers always answer: 100,000 relations made to torment them, others in every run, and hubs of stars.

Beside it the twins that must be caught: a solver without its last resort, and one that believes doubles.
"""

from __future__ import annotations

import itertools
import random
import time
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from recuse.annotation import Participant, conjunction
from recuse.graphs.choices import k_stars
from recuse.graphs.protect import Protected
from recuse.krelation.build import from_expressions, without
from recuse.krelation.choices import Choices
from recuse.krelation.evaluate import Evaluation
from recuse.krelation.relation import KRelation, Shape
from recuse.mechanism.mechanisms import NAMES, mechanism_for
from recuse.mechanism.prepared import Prepared, prepare
from recuse.privacy import Epsilon
from recuse.solver.choices.programs import choice_programs
from recuse.solver.exact.programs import ExactPrograms
from recuse.solver.fast import fast_programs
from recuse.solver.interval import Interval
from recuse.solver.lp.extended import FullPrograms
from recuse.solver.lp.program import solve
from recuse.solver.memo import memoising
from recuse.solver.reference import Reference, reference
from support.judges.choices import graph_of
from support.mechanisms import run
from support.noise import Seeded
from support.profiles import examples, some
from support.torture import LONGEST, WIDTH, Torment, agrees, answered, asked, made, narrow, torment

CHUNK = 500


def owned(rows: list[tuple[tuple[int, ...], int]], *, signed: bool = True) -> KRelation:
    pairs = [(conjunction(*map(Participant, owners)), x) for owners, x in rows]
    return from_expressions(pairs, Shape.CONJUNCTIONS, signed=signed)


ODD = 2**25 + 1
SEVEN_ROWS = owned(
    [
        ((2, 6, 9), ODD),
        ((5,), 2),
        ((6,), ODD),
        ((0, 8), 10**12),
        ((5, 8, 9), 2**40),
        ((9,), ODD),
        ((0, 6), 2**40),
    ]
)
SMALLEST = owned([((1,), 2**24 + 1), ((0, 1, 2), 2 * 10**10)])
STALLED = owned([((1, 2), 1), ((3, 3), 1), ((1, 3), 10**11)])


@pytest.mark.parametrize("chunk", some(range(2), 0.5))
def test_others_of_the_hundred_thousand_are_answered_in_every_run(chunk):
    """A failure names its seed. All are for the night."""
    start = random.SystemRandom().randrange(100) * CHUNK + chunk * 100 * CHUNK
    assert max(map(torment, range(start, start + examples(CHUNK)))) < LONGEST


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(200))
def test_a_hundred_thousand_relations_are_answered(chunk):
    assert max(map(torment, range(chunk * CHUNK, (chunk + 1) * CHUNK))) < LONGEST


@pytest.mark.parametrize("seed", some(range(60), 0.2))
def test_the_reference_answers_too(seed):
    torment(seed, reference)


# ------------------------------------------------------------------ what was found


@pytest.mark.parametrize("leaver", [None, 0, 2, 5, 6, 8, 9])
def test_the_seven_rows_are_answered_with_and_without_anybody(leaver):
    relation = SEVEN_ROWS if leaver is None else without(SEVEN_ROWS, leaver)
    parameters = mechanism_for("selective", Epsilon.of("0.1"), relation.shape)
    subject = prepare(relation, memoising(fast_programs))  # what a level needs is solved once
    for seed in range(40 if leaver is None else 4):
        assert run(subject, parameters, Seeded(seed)).epsilon == parameters.epsilon


@pytest.mark.parametrize("solver", [fast_programs, reference])
@pytest.mark.parametrize("relation", [SEVEN_ROWS, SMALLEST], ids=["seven rows", "two rows"])
def test_every_level_of_the_seven_rows_has_a_count(solver, relation):
    programs = solver(relation.positive, relation.participants)
    for level in some(range(61), 0.4):
        for program in ("X", "N", "N_s"):
            question = Torment(relation, 2.0**level, program, "1", 0)
            found = asked(question, programs)
            assert narrow(question, found)
            assert agrees(question, found)


def test_a_load_one_granule_above_the_level_withdraws_wholly():
    for solver in (fast_programs, reference):
        found = solver(SMALLEST.positive, 3).strict_withdrawals(2.0**24, WIDTH)
        assert found.low <= 1.0 <= found.high


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("leaver", [None, 1, 2])
def test_the_integer_index_of_the_stalled_refinement_is_found(name, leaver):
    relation = STALLED if leaver is None else without(STALLED, leaver)
    subject = prepare(relation, memoising(fast_programs))
    for epsilon in ("0.001", "0.1", "1", "1000"):
        parameters = mechanism_for(name, Epsilon.of(epsilon), relation.shape)
        assert run(subject, parameters, Seeded(1)).epsilon == parameters.epsilon


def test_weights_beyond_all_doubles_are_answered():
    relation = owned([((1,), 10**400), ((1, 2), 2**1024), ((2,), 5), ((3,), 3)])
    for solver in (fast_programs, reference):
        programs = solver(relation.positive, relation.participants)
        for tau in (0.5, 4.0, 2.0**80, 2.0**1000):
            assert programs.truncated(tau, tau * WIDTH).width <= tau * WIDTH
            assert programs.withdrawals(tau, WIDTH).width <= WIDTH
            assert programs.strict_withdrawals(tau, WIDTH).width <= WIDTH
        assert programs.index(1.0, 0.1, WIDTH).width <= WIDTH
        assert programs.integer_index(Fraction(1), Fraction(1, 10), 2) > 0


def test_clauses_longer_than_a_double_can_number_are_answered():
    """A key of all the members of a clause overflowed where 150 people shared a tuple."""
    everybody = tuple(range(200))
    relation = owned([(everybody, 7), *(((p,), 3) for p in range(200))])
    programs = fast_programs(relation.positive, 200)
    for ask in (programs.withdrawals, programs.strict_withdrawals):
        assert ask(2.0, WIDTH).width <= WIDTH
    assert programs.truncated(2.0, WIDTH).width <= WIDTH


@pytest.mark.parametrize("tau", [0.0, 5e-324, 1e-300, 2.0**-20, 1e300])
def test_levels_at_the_ends_of_doubles(tau):
    programs = fast_programs(SMALLEST.positive, 3)
    assert programs.withdrawals(tau, WIDTH).width <= WIDTH
    assert programs.strict_withdrawals(tau, WIDTH).width <= WIDTH
    assert programs.truncated(tau, max(tau * WIDTH, 5e-324)).high <= SMALLEST.true_answer()


@pytest.mark.parametrize("beta", [1e-15, 1e-9, 200.0, 1e4])
def test_the_index_of_any_rate(beta):
    for solver in (fast_programs, reference):
        assert solver(SEVEN_ROWS.positive, 6).index(1.0, beta, WIDTH).width <= WIDTH
        assert solver(SEVEN_ROWS.positive, 6).integer_index(Fraction(1), Fraction(beta), 2) >= 1


# ------------------------------------------------------------------ stars


def hub(degree: int, k: int, protect: Protected, hubs: int = 1) -> Choices:
    edges = [(centre, hubs + leaf) for centre in range(hubs) for leaf in range(degree)]
    return k_stars(graph_of(hubs + degree, edges), k, protect)


def answers(aggregate: Choices, epsilon: str, seed: int = 1) -> bool:
    parameters, start = mechanism_for("selective", Epsilon.of(epsilon), aggregate.shape), time.process_time()
    found = run(Prepared(aggregate, choice_programs(aggregate)), parameters, Seeded(seed))
    return found.epsilon == parameters.epsilon and time.process_time() - start < LONGEST


@pytest.mark.parametrize("protect", some([*Protected], 0.5))
def test_hundred_stars_of_a_hub_of_degree_forty_thousand(protect):
    assert answers(hub(40_000, 100, protect), "1")


@pytest.mark.parametrize("protect", Protected)
@pytest.mark.parametrize(("degree", "k"), [(300, 200), (2_000, 30), (3_000, 5)])
def test_stars_of_any_size_are_answered(degree, k, protect):
    programs = choice_programs(hub(degree, k, protect, hubs=2))
    for level in (0, 1, 7, 60, 200, 1000):
        tau = 2.0**level
        assert programs.truncated(tau, tau * WIDTH).width <= tau * WIDTH


@pytest.mark.slow
@pytest.mark.parametrize("protect", Protected)
@pytest.mark.parametrize("seed", range(30))
def test_stars_of_hubs_of_degree_a_hundred_thousand(seed, protect):
    source = random.Random(seed)
    degree, k = int(10 ** source.uniform(1, 5)), source.randint(2, 200)
    make = source.choice((hub, lambda *asked: joined(source.randint(2, 5), *asked)))
    assert answers(make(degree, k, protect), source.choice(("0.001", "0.1", "1", "10")), seed)


def joined(hubs: int, degree: int, k: int, protect: Protected) -> Choices:
    """Return hubs that all know each other, each with leaves of its own."""
    edges = list(itertools.combinations(range(hubs), 2))
    edges += [(centre, hubs + centre * degree + leaf) for centre in range(hubs) for leaf in range(degree)]
    return k_stars(graph_of(hubs * (degree + 1), edges), k, protect)


@pytest.mark.parametrize("protect", Protected)
@pytest.mark.parametrize(
    ("hubs", "degree", "k"),
    [
        (2, 500, 50),
        (5, 6_000, 50),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in ((2, 6_000, 200), (2, 20_000, 200), (5, 20_000, 50), (2, 100_000, 3))
        ),
    ],
)
def test_hubs_that_know_each_other_are_answered(hubs, degree, k, protect):
    assert answers(joined(hubs, degree, k, protect), "0.1")


@pytest.mark.parametrize(("hubs", "degree", "k"), [(2, 20_000, 2), (10, 2_000, 5)])
def test_hubs_that_share_all_their_leaves_are_answered(hubs, degree, k):
    programs = choice_programs(hub(degree, k, Protected.EDGE, hubs))
    for level in (0, 3, 10, 20):
        start, tau = time.process_time(), 2.0**level
        assert programs.truncated(tau, tau * WIDTH).width <= tau * WIDTH
        assert time.process_time() - start < LONGEST


# ------------------------------------------------------------------ twins


def gives_up(*_):
    raise RuntimeError


def fails(question: Torment, solver=fast_programs) -> bool:
    """Return whether a question is not answered as it should be."""
    try:
        return not answered(question, solver)
    except RuntimeError:
        return True


STRICT = Torment(SMALLEST, 2.0**24, "N_s", "1", 0)


def test_the_twin_without_a_last_resort_is_caught(monkeypatch):
    stalled = Torment(STALLED, 1.0, "integer", "1", 0)
    assert not fails(STRICT, reference)
    assert not fails(stalled)
    monkeypatch.setattr(ExactPrograms, "withdrawals", gives_up)
    assert fails(STRICT, reference)
    monkeypatch.setattr(ExactPrograms, "low_enough", gives_up)
    assert fails(stalled)
    assert any(fails(made(seed)) for seed in range(300))


@dataclass(frozen=True, slots=True, eq=False)
class Trusting:
    """The broken twin that believes what HiGHS says of its optimum."""

    programs: Reference

    def strict_withdrawals(self, tau: float, width: float, stop_above: float = np.inf) -> Interval:
        evaluation = self.programs.evaluation
        found = solve(FullPrograms(evaluation).strict_withdrawals(tau))
        value = float(found.x[: evaluation.participants].sum())
        return Interval(max(0.0, value - width / 2), value + width / 2)


def test_the_twin_that_believes_doubles_is_caught():
    def trusting(tuples, participants):
        return Trusting(reference(tuples, participants))

    beside = (made(seed) for seed in range(1000))
    asked_for = [q for q in beside if q.program == "N_s" and q.relation.participants <= 6][:60]
    assert any(fails(question, trusting) for question in asked_for)
    assert not any(fails(question) for question in asked_for)


def test_relations_of_nobody_and_of_one():
    nobody = from_expressions([], Shape.CONJUNCTIONS, signed=True)
    alone = owned([((0,), 2**62), ((0,), 1)])
    for relation in (nobody, alone):
        assert Evaluation.of(relation.positive, relation.participants).participants == relation.participants
        for name in NAMES:
            for epsilon in ("0.001", "100"):
                parameters = mechanism_for(name, Epsilon.of(epsilon), relation.shape)
                assert (
                    run(prepare(relation, fast_programs), parameters, Seeded(3)).epsilon == parameters.epsilon
                )
