"""What time tells: really timed, on neighbours with and without a hub, in random order.

The best threshold on the times tells with and without apart in some share of the questions. By chance it does
so too: how well, shuffled labels say. With slots it must do no better than they. The twin has no slots, and
it must do better: else the test could not tell.
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
from support.told import by_chance, compared, is_caught, told_apart

QUESTIONS, ROUNDS = 24, 8
SLOT = 1.2
SAID = [
    TRIANGLES,
    "SELECT COUNT(*) AS n FROM friendship WHERE a = 0",
    "SELECT sex, COUNT(*) AS n FROM pupil GROUP BY sex ORDER BY sex",
    "SELECT COUNT(*) FROM friendships",
    "SELECT a FROM friendship",
    "SELECT name FROM town",
]


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
            for service in services.values():  # the twin: an answer leaves when it is there
                service.seats.looked = lambda seat, message: seat.ask(message)
            bare = await timed(services, Role.ANALYST, 1_000)
            while not is_caught(bare) and len(bare[0]) < ROUNDS * QUESTIONS:  # a busy machine blurs times
                more = await timed(services, Role.ANALYST, 1_000 + len(bare[0]))
                bare = np.concatenate([bare[0], more[0]]), np.concatenate([bare[1], more[1]])
            for service in services.values():
                del service.seats.looked
            slotted = await timed(services, Role.ANALYST, 2_000)
            alike = await compared(services, SAID)
        finally:
            for service in services.values():
                await service.stop()
        return bare, slotted, alike

    bare, slotted, alike = asyncio.run(run())
    assert alike, "nothing was compared"
    for sql, first, second in alike:
        assert first == second, sql
    assert is_caught(bare), "the twin without slots is caught"
    late = slotted[0] % SLOT, slotted[1]  # which slot it was is told: on a busy machine not always the first
    assert told_apart(*late) <= by_chance(*late), np.round(slotted, 3)
    assert slotted[0].min() >= SLOT
