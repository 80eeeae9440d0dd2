"""How many examples the laws are given: fresh ones in every run, fewer where somebody waits.

    quick     10 examples a law, a share of the cases     `make test`
    whole     15, of all cases      `make coverage`: what is reached must not depend on chance
    ci       100
    nightly 1000                    `make test-slow`

HYPOTHESIS_PROFILE names the profile. No profile repeats the examples of the run before: what a run finds is
kept in .hypothesis and tried first in the next.
"""

from __future__ import annotations

import math
import os
import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TypeVar

from hypothesis import HealthCheck, settings

EXAMPLES = {"quick": 10, "whole": 15, "ci": 100, "nightly": 1000}
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "quick")
RUN = os.environ.get("PYTEST_XDIST_TESTRUNUID", "")
"""one word for all workers of a run, which must collect the same tests; none where one process tests"""
T = TypeVar("T")
_USUAL = EXAMPLES["ci"]
_FEWEST, _SHARE = 4, 0.5
_LEAST = 2
"""of a law with examples of its own number; a law that names fewer gets what it names"""


def load_profile() -> None:
    """Load the profile that the environment names; without deadlines, as machines are noisy."""
    if PROFILE not in EXAMPLES:
        raise ValueError(f"HYPOTHESIS_PROFILE is {PROFILE!r}; accepted are {', '.join(EXAMPLES)}")
    plain = settings.get_profile("default")  # under CI, Hypothesis itself would repeat its examples
    for name, count in EXAMPLES.items():
        settings.register_profile(
            name,
            plain,
            max_examples=count,
            deadline=None,
            derandomize=False,
            suppress_health_check=[HealthCheck.too_slow],  # a busy machine is no fault of a law
        )
    settings.load_profile(PROFILE)


def examples(usual: int, profile: str = PROFILE, *, least: int = _LEAST) -> int:
    """Return how many examples a law gets that wants `usual` of them where others get a hundred.

    A law of which one example takes long, and says much, names fewer than the usual `least`.
    """
    return max(min(usual, least), math.ceil(usual * EXAMPLES[profile] / _USUAL))


def some(cases: Sequence[T], share: float, profile: str = PROFILE, run: str = RUN) -> list[T]:
    """Return a share of many cases that are alike: others in every quick run, all in any other profile.

    One process, which somebody started for a few tests, gets all of them too.
    """
    if profile != "quick" or not run:
        return list(cases)
    chosen = random.Random(run).sample(range(len(cases)), math.ceil(share * len(cases)))
    return [cases[place] for place in sorted(chosen)]


def chosen(tests: Iterable[tuple[str, T]], profile: str = PROFILE, run: str = RUN) -> list[T]:
    """Return cases, each given beside the name of its test, without those that are left to other runs.

    A test of many cases gets half of them in a quick run, others in every one, and never fewer than four.
    """
    cases, of = list(tests), defaultdict[str, list[int]](list)
    for place, (test, _) in enumerate(cases):
        of[test].append(place)
    kept = set[int]()
    for test, places in of.items():
        share = max(_SHARE, min(1.0, _FEWEST / len(places)))
        kept.update(some(places, share, profile, run and f"{run} {test}"))
    return [case for place, (_, case) in enumerate(cases) if place in kept]
