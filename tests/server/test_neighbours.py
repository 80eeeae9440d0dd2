"""What a server says depends on rows by numbers alone: without a person, with an extreme one, of nobody.

What one analyst asks is not in the times of another.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

import duckdb
import numpy as np
import pytest

from recuse.ledger import Role
from recuse.server.inquiry import Holder, Inquiry
from recuse.server.service import Service
from recuse.server.settings import Answers, ServedDataset
from support.serving import COUNT, TRIANGLES, make_school
from support.told import by_chance, compared, is_caught, told_apart

QUESTIONS = [
    COUNT,
    "SELECT AVG(age) AS a, SUM(age) AS s, MAX(born) AS b, MEDIAN(age) AS m FROM pupil",
    "SELECT sex, COUNT(*) AS n FROM pupil GROUP BY sex ORDER BY sex",
    "SELECT COUNT(*) FROM pupil WHERE age * age * 9999 > 7 AND born + INTERVAL 9999 DAY > DATE '2020-01-01'",
    "SELECT COUNT(*) FROM pupil p WHERE (SELECT COUNT(*) FROM friendship f WHERE f.a = p.id) > 1",
    "SELECT COUNT(*) FROM pupil WHERE CAST(name AS INTEGER) / (age - 6) > 3",
    "SELECT name FROM pupil",
    "SELECT name FROM town",
]
CHANGES = {
    "as it is": "",
    "without a person": "DELETE FROM friendship WHERE a = 3 OR b = 3; DELETE FROM pupil WHERE id = 3",
    "with an extreme one": "INSERT INTO pupil "
    "VALUES (-9223372036854775808, -2147483648, 'q', chr(0) || '1e999', 'infinity')",
    "of nobody": "DELETE FROM friendship; DELETE FROM pupil",
}


def dataset(folder, change: str = "", **made: int) -> ServedDataset:
    folder.mkdir()
    path = make_school(folder, **made)
    with duckdb.connect(str(path)) as connection:
        if change:
            connection.execute(change)
    return ServedDataset("school", str(path), str(folder / "school.toml"))


def test_neighbours_are_told_the_same_but_for_numbers(tmp_path):
    async def run():
        services = {}
        for number, (name, change) in enumerate(CHANGES.items()):
            services[name] = Service(dataset(tmp_path / str(number), change), Answers(slot=0.05, workers=1))
            await services[name].start()
        try:
            return await compared(services, QUESTIONS)
        finally:
            for service in services.values():
                await service.stop()

    found = asyncio.run(run())
    assert len(found) == len(QUESTIONS)
    for sql, *told in found:
        for name, words in zip(CHANGES, told, strict=True):
            assert words == told[0], (sql, name)


SLOT, ROUNDS = 1.5, 20


@pytest.mark.slow
def test_another_analysts_question_is_not_in_the_time_of_ones_own(tmp_path):
    """Ada asks about a graph with or without a hub; bob's question waits behind hers, and is timed."""

    async def timed(services, number):
        loop, labels, times = asyncio.get_running_loop(), [0, 1] * (ROUNDS // 2), []
        np.random.default_rng(number).shuffle(labels)
        for turn, label in enumerate(labels):
            service, epsilon = services[label], f"{number + turn}/1000"
            who = {}
            for name in ("ada", "bob"):
                token, _ = await service.book.do(
                    lambda ledger, name=name: ledger.tokens().create(name, Role.CUSTODIAN)
                )
                who[name] = Holder(replace(token, role=Role.ANALYST), None)
            first = await service.ask(who["ada"], Inquiry(TRIANGLES, epsilon))
            began = loop.time()
            second = await service.ask(who["bob"], Inquiry(COUNT, epsilon))
            await asyncio.wait([second.done])
            times.append(loop.time() - began)
            await asyncio.wait([first.done])
        return np.array(times), np.array(labels)

    async def run():
        services = {}
        for label, hub in ((0, 0), (1, 450)):
            served = dataset(tmp_path / str(label), pupils=500, hub=hub)
            services[label] = Service(served, Answers(slot=SLOT, deadline=10, workers=1))
            await services[label].start()
        try:
            for service in services.values():  # the twin: a seat is free when its answer is there
                service.seats.looked = lambda seat, message: seat.ask(message)
            bare = await timed(services, 1_000)
            for service in services.values():
                del service.seats.looked
            return bare, await timed(services, 2_000)
        finally:
            for service in services.values():
                await service.stop()

    bare, slotted = asyncio.run(run())
    assert is_caught(bare), "the twin without slots is caught"
    assert told_apart(*slotted) <= by_chance(*slotted), np.round(slotted, 3)
