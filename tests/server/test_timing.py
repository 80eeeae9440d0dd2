"""What time tells: really timed, on neighbours with and without a hub, in random order.

The best threshold on the times tells with and without apart in some share of the questions. By chance it does
so too: how well, shuffled labels say. With slots it must do no better than they. The twin has no slots, and
it must do better: else the test could not tell.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
from dataclasses import replace

import numpy as np

from recuse.errors import RecuseError
from recuse.ledger import Role
from recuse.server.http.problems import problem
from recuse.server.http.shown import shown_job
from recuse.server.inquiry import Holder, Inquiry
from recuse.server.service import Service
from recuse.server.settings import Answers, ServedDataset
from support.serving import TRIANGLES, make_school

QUESTIONS, ROUNDS = 24, 8
SLOT = 1.2
SHUFFLES = 2_000
CHANCE = 0.999
SAID = [
    TRIANGLES,
    "SELECT COUNT(*) AS n FROM friendship WHERE a = 0",
    "SELECT sex, COUNT(*) AS n FROM pupil GROUP BY sex ORDER BY sex",
    "SELECT COUNT(*) FROM friendships",
    "SELECT a FROM friendship",
    "SELECT name FROM town",
]


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


async def timed(services: dict[int, Service], role: Role, epsilon: int) -> tuple[np.ndarray, np.ndarray]:
    """Return how long each question took, and of which neighbour it was; every one has an ε of its own."""
    clock, labels = asyncio.get_running_loop().time, [0, 1] * (QUESTIONS // 2)
    random.shuffle(labels)
    times, who = [], {}
    for label, service in services.items():
        token, _ = await service.book.do(lambda ledger: ledger.tokens().create("cy", Role.CUSTODIAN))
        who[label] = Holder(replace(token, role=role), None)
    for number, label in enumerate(labels):
        before = clock()
        asked = Inquiry(TRIANGLES, f"{epsilon + number}/1000")
        job = await services[label].ask(who[label], asked)
        await asyncio.wait([job.done])
        times.append(clock() - before)
        assert not job.done.result().stored
    return np.array(times), np.array(labels)


async def compared(services: dict[int, Service]) -> list[tuple[str, str, str]]:
    """Return what is said of questions to both neighbours, but for numbers: an answer, or a refusal."""
    found = []
    for sql in SAID:
        told = []
        for service in services.values():
            token, _ = await service.book.do(lambda ledger: ledger.tokens().create("cy", Role.CUSTODIAN))
            try:
                job = await service.ask(Holder(token, None), Inquiry(sql, "1/7"))
                await asyncio.wait([job.done])
                shown = json.dumps(shown_job(job) | {"id": None})
            except RecuseError as error:
                shown = json.dumps(problem(error))
            shown = re.sub(r'"cautions": \[.*?\]', '"cautions": #', shown)  # they follow from the numbers
            told.append(re.sub(r"-?\d[\d,]*(/\d+)?(\.\d+)?(, )?(at least )?|null|unbounded", "#", shown))
        found.append((sql, *told))
    return found


def test_times_tell_nothing_with_slots_and_all_without(tmp_path):
    async def run():
        services = {}
        for label, hub in ((0, 0), (1, 450)):
            folder = tmp_path / str(label)
            folder.mkdir()
            make_school(folder, pupils=500, hub=hub)
            dataset = ServedDataset("school", str(folder / "school.duckdb"), str(folder / "school.toml"))
            services[label] = Service(dataset, Answers(slot=SLOT, deadline=10, workers=1))
            await services[label].start()
        try:
            for service in services.values():  # the twin: an answer leaves when it is there
                service.seats.looked = lambda seat, message: seat.ask(message)
            bare = await timed(services, Role.ANALYST, 1_000)
            while not is_caught(bare) and len(bare[0]) < ROUNDS * QUESTIONS:  # a busy machine blurs times
                more = await timed(services, Role.ANALYST, 1_000 + len(bare[0]))
                bare = np.concatenate([bare[0], more[0]]), np.concatenate([bare[1], more[1]])
            for service in services.values():
                del service.seats.looked
            slotted = await timed(services, Role.ANALYST, 2_000)
            alike = await compared(services)
        finally:
            for service in services.values():
                await service.stop()
        return bare, slotted, alike

    bare, slotted, alike = asyncio.run(run())
    assert alike, "nothing was compared"
    for sql, first, second in alike:
        assert first == second, sql
    assert is_caught(bare), "the twin without slots is caught"
    assert told_apart(*slotted) <= by_chance(*slotted), np.round(slotted, 3)
    assert slotted[0].min() >= SLOT
