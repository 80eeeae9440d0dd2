"""What a server tells apart: by its words but for numbers, and by times, beside what chance would."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from recuse.errors import RecuseError
from recuse.ledger import Role
from recuse.server.http.problems import problem
from recuse.server.http.shown import shown_job
from recuse.server.inquiry import Holder, Inquiry
from recuse.server.service import Service

SHUFFLES = 2_000
CHANCE = 0.999


def told_apart(times: np.ndarray, labels: np.ndarray) -> float:
    """Return the share of questions that the best threshold puts on the right side."""
    ordered = labels[np.argsort(times, kind="stable")]
    ones_before = np.concatenate([[0], np.cumsum(ordered)])
    zeros_after = (ordered == 0).sum() - np.concatenate([[0], np.cumsum(ordered == 0)])
    right = (ones_before + zeros_after) / len(labels)
    return float(max(right.max(), 1 - right.min()))


def by_chance(times: np.ndarray, labels: np.ndarray) -> float:
    generator = np.random.default_rng(1)
    return float(
        np.quantile([told_apart(times, generator.permutation(labels)) for _ in range(SHUFFLES)], CHANCE)
    )


def is_caught(measured: tuple[np.ndarray, np.ndarray]) -> bool:
    return told_apart(*measured) > by_chance(*measured)


async def compared(services: Mapping[Any, Service], questions: Sequence[str]) -> list[tuple[str, ...]]:
    """Return what is said of questions to neighbours, but for numbers: an answer, or a refusal."""
    found = []
    for sql in questions:
        told = []
        for service in services.values():
            token, _ = await service.book.do(lambda ledger: ledger.tokens().create("cy", Role.CUSTODIAN))
            try:
                job = await service.ask(Holder(token, None), Inquiry(sql, "1/7"))
                await asyncio.wait([job.done])
                shown = shown_job(job) | {"id": None}
            except RecuseError as error:
                shown = problem(error)
            told.append(json.dumps(form(shown)))
        found.append((sql, *told))
    return found


def form(shown: Any) -> Any:
    """Return what is shown without its numbers, and without what follows from them: text and cautions.

    Whether a cell has a number, or a date, or is NULL for too few people, is drawn with it.

    >>> form({"n": [7, None, "1/3", "2026-01-31"], "state": "done", "text": "7 [6 to 9]"})
    {'n': ['#', '#', '#', '#'], 'state': 'done', 'text': '#'}
    >>> form([{"release": {"value": 7}}, {"value": None, "truth_confidence": 1}])
    ['#', '#']
    >>> form([{"date": "2026-01-31"}, None])
    ['#', '#']
    """
    match shown:
        case {"release": _} | {"truth_confidence": _}:
            return "#"
        case {"date": _} if len(shown) == 1:
            return "#"
        case dict():
            return {name: "#" if name in ("text", "cautions") else form(one) for name, one in shown.items()}
        case list() | tuple():
            return [form(one) for one in shown]
        case str() if re.search(r"[^-\d/.,: ]", shown):
            return shown
        case bool():
            return shown
    return "#"
