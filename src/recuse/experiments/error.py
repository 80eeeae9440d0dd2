"""The error of a mechanism on data that the researcher may see: NOT PRIVATE, for comparison only."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from recuse.comparators.r2t import R2T
from recuse.errors import ParameterError
from recuse.krelation.relation import Floats, KRelation
from recuse.mechanism import presets
from recuse.mechanism.mechanisms import NAMES as OURS
from recuse.mechanism.mechanisms import chosen, run
from recuse.mechanism.prepared import Prepared, prepare
from recuse.mechanism.release import Release
from recuse.noise import Noise, SecureNoise
from recuse.privacy import Epsilon
from recuse.solver.programs import Solver
from recuse.solver.remember import remembering

MECHANISMS = (*OURS, "paper-node", "r2t", "r2t-5.5")
"""Ours; the paper's with its μ for node privacy; R2T with GS guessed as 10⁶, base 2 and its authors' 5.5."""

Answering = Callable[[Prepared, Noise], Release]


@dataclass(frozen=True, slots=True)
class ErrorSummary:
    """How far the answers of many runs lie from the truth, as fractions of it."""

    true_value: float
    median_relative_error: float
    p90_relative_error: float
    mean_relative_error: float
    trimmed_relative_error: float
    seconds: float

    @classmethod
    def of(cls, truth: float, answers: Floats, seconds: float) -> ErrorSummary:
        """Return the summary; the trimmed mean drops the best and worst fifth, a truth of 0 counts as 1."""
        errors = np.sort(np.abs(answers - truth)) / max(1.0, abs(truth))
        fifth = len(errors) // 5
        kept = errors[fifth : len(errors) - fifth]
        return cls(
            truth,
            float(np.median(errors)),
            float(np.quantile(errors, 0.9)),
            float(errors.mean()),
            float(kept.mean()),
            seconds,
        )


def answering(mechanism: str, epsilon: Epsilon, relation: KRelation) -> Answering:
    """Return the mechanism of a name as a function of a prepared relation and noise."""
    if mechanism in OURS:
        parameters = chosen(mechanism, epsilon, relation.shape)
        return lambda prepared, noise: run(prepared, parameters, noise)
    if mechanism == "paper-node":
        of_paper = presets.paper(epsilon, mu=Fraction(1))
        return lambda prepared, noise: run(prepared, of_paper, noise)
    if mechanism in ("r2t", "r2t-5.5"):
        return R2T(epsilon, base=5.5 if mechanism.endswith("5.5") else 2.0).release
    raise ParameterError("there is no such mechanism", found=mechanism, accepted=", ".join(MECHANISMS))


def measure(
    relation: KRelation,
    mechanism: str,
    epsilon: Epsilon,
    runs: int,
    solver: Solver,
    noise: Noise | None = None,
) -> ErrorSummary:
    """Return the error over many runs; what is solved once is reused by all of them."""
    if runs < 1:
        raise ParameterError("at least one run is needed", found=str(runs))
    release = answering(mechanism, epsilon, relation)
    source = noise or SecureNoise()
    started = time.perf_counter()
    prepared = prepare(relation, remembering(solver))
    answers = np.array([float(tidy(release(prepared, source), relation)) for _ in range(runs)])
    return ErrorSummary.of(float(relation.true_answer()), answers, time.perf_counter() - started)


def tidy(answer: Release, relation: KRelation) -> Fraction:
    """Return the number a user would see: rounded to whole granules, a count not below zero."""
    return answer.rounded(signed=relation.signed).value
