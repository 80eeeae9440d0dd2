"""The error of a mechanism on data that the researcher may see: NOT PRIVATE, for comparison only."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

import numpy as np

from recuse.errors import ParameterError
from recuse.graphs.count import Count
from recuse.graphs.graph import Graph, by_name
from recuse.krelation.relation import Floats, KRelation
from recuse.lab.experiments.contestants import NOTHING_MORE, Asked, Contestant, answering
from recuse.lab.progress import Progress
from recuse.mechanism.mechanisms import mechanism_for
from recuse.mechanism.prepared import Prepared, Relation, prepare
from recuse.mechanism.release import Release
from recuse.noise import Noise, SecureNoise
from recuse.privacy import Epsilon
from recuse.session.graph_question import choices_of
from recuse.solver.choices.programs import choice_programs
from recuse.solver.memo import Memoised, memoising
from recuse.solver.programs import Programs, Solver

__all__ = ["ErrorSummary", "answering", "measure", "measure_aggregated", "tidy"]


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
    progress: Progress | None = None,
) -> ErrorSummary:
    """Return the error over many runs; what is solved once is reused by all of them."""
    release = answering(mechanism, epsilon, relation, asked)
    return _summary(release, lambda: prepare(relation, memoising(solver)), relation, runs, noise, progress)


def measure_aggregated(
    graph: Graph,
    count: Count,
    mechanism: str,
    epsilon: Epsilon,
    runs: int,
    noise: Noise | None = None,
    progress: Progress | None = None,
) -> ErrorSummary:
    """Return the error of a count of stars or k-triangles, which are never listed, as it is asked for."""
    choices = choices_of(by_name(graph), count)
    release = mechanism_for(mechanism, epsilon, choices.shape).release

    def made() -> Prepared:
        # no index, which no mechanism asks of choices
        return Prepared(choices, Memoised(cast(Programs, choice_programs(choices))))

    return _summary(release, made, choices, runs, noise, progress)


def _summary(
    release: Contestant,
    preparing: Callable[[], Prepared],
    relation: Relation,
    runs: int,
    noise: Noise | None,
    progress: Progress | None,
) -> ErrorSummary:
    if runs < 1:
        raise ParameterError("at least one run is needed", found=str(runs))
    started = time.perf_counter()
    prepared = preparing()
    source, told, found = noise or SecureNoise(), progress or Progress(), []
    for run in range(runs):
        found.append(float(tidy(release(prepared, source), relation)))
        told.step("runs", run + 1, runs)
    return ErrorSummary.of(float(relation.true_answer()), np.array(found), time.perf_counter() - started)


def tidy(answer: Release, relation: Relation) -> Fraction:
    """Return the number a user would see: rounded to whole granules, a count not below zero."""
    return answer.rounded(signed=relation.signed).value
