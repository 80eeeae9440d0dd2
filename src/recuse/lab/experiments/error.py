"""The error of a mechanism on data that the researcher may see: NOT PRIVATE, for comparison only."""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from recuse.errors import ParameterError
from recuse.krelation.relation import Floats, KRelation
from recuse.lab.experiments.contestants import NOTHING_MORE, Asked, answering
from recuse.mechanism.prepared import prepare
from recuse.mechanism.release import Release
from recuse.noise import Noise, SecureNoise
from recuse.privacy import Epsilon
from recuse.solver.memo import memoising
from recuse.solver.programs import Solver

__all__ = ["ErrorSummary", "answering", "measure", "tidy"]


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


def measure(
    relation: KRelation,
    mechanism: str,
    epsilon: Epsilon,
    runs: int,
    solver: Solver,
    noise: Noise | None = None,
    asked: Asked = NOTHING_MORE,
) -> ErrorSummary:
    """Return the error over many runs; what is solved once is reused by all of them."""
    if runs < 1:
        raise ParameterError("at least one run is needed", found=str(runs))
    release = answering(mechanism, epsilon, relation, asked)
    source = noise or SecureNoise()
    started = time.perf_counter()
    prepared = prepare(relation, memoising(solver))
    answers = np.array([float(tidy(release(prepared, source), relation)) for _ in range(runs)])
    return ErrorSummary.of(float(relation.true_answer()), answers, time.perf_counter() - started)


def tidy(answer: Release, relation: KRelation) -> Fraction:
    """Return the number a user would see: rounded to whole granules, a count not below zero."""
    return answer.rounded(signed=relation.signed).value
