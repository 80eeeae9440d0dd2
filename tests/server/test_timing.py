"""What time tells: really timed, on neighbours with and without a hub, in random order.

The best threshold on the times tells with and without apart in some share of the questions. By chance it does
so too: how well, shuffled labels say. With slots it must do no better than they. Without, as a custodian
is answered, it must do better: else the test could not tell.
"""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace

import numpy as np

from recuse.ledger import Role
from recuse.server.inquiry import Holder, Inquiry
from recuse.server.service import Service
from recuse.server.settings import Answers, ServedDataset
from support.serving import TRIANGLES, make_school

QUESTIONS = 24
SLOT = 1.2
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
            bare = await timed(services, Role.CUSTODIAN, 1_000)
            slotted = await timed(services, Role.ANALYST, 2_000)
        finally:
            for service in services.values():
                await service.stop()
        return bare, slotted

    bare, slotted = asyncio.run(run())
    assert told_apart(*bare) > by_chance(*bare), "the twin without slots is caught"
    assert told_apart(*slotted) <= by_chance(*slotted), np.round(slotted, 3)
    assert slotted[0].min() >= SLOT
