"""Texts are read in turn, and whose texts are slow keeps nobody else waiting."""

from __future__ import annotations

import asyncio
import threading
import time

import psycopg
import pytest

from recuse.server import process
from recuse.server.planners import MOST_WAITING, PATIENCE, REMEMBERED, SLOW, Planners
from recuse.server.process import WorkerFailed
from recuse.server.refusals import BusyError
from support.clockwork import run_by_clockwork
from support.serving import COUNT

ANALYST = "mal"
NESTED = "SELECT " + "ARRAY[" * 40 + "1" + "]" * 40
"""what keeps a parser for longer than anybody lives"""
LONG = 1e6


@pytest.fixture
def planners(monkeypatch):
    """Planners whose workers take as long as a text says."""
    texts = []

    class Acting:
        def __init__(self, opening):
            self.opening = opening

        async def start(self):
            await asyncio.sleep(0)

        async def ask(self, message):
            if message["do"] != "ready":
                texts.append((self, message["do"]))
                await asyncio.sleep(message["do"])
            return message["do"]

        async def stop(self):
            await asyncio.sleep(0)

    monkeypatch.setattr(process, "Worker", Acting)
    return lambda: (Planners({}), texts)


async def timed(planners, who, seconds):
    """Return when a text was read, or given up."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    try:
        assert await planners.ask(who, {"do": seconds}) == seconds
    except WorkerFailed:
        assert seconds > PATIENCE
    return loop.time() - began


def test_a_queue_of_ones_own_is_in_nobodys_way(planners):
    async def run():
        made, _ = planners()
        mine = [asyncio.ensure_future(timed(made, "mal", 0.5)) for _ in range(20)]
        await asyncio.sleep(0.1)
        others = await asyncio.gather(*(timed(made, f"vic{n}", 0.1) for n in range(3)))
        return others, [await one for one in mine]

    others, mine = run_by_clockwork(run())
    assert others == pytest.approx([0.1, 0.2, 0.3])
    assert mine == pytest.approx([0.5 * (n + 1) for n in range(20)])


def test_those_whose_texts_are_slow_leave_one_planner_to_the_others(planners):
    """Two at once keep both once, until they are given up; from then on they share one."""

    async def run():
        made, _ = planners()
        first = await asyncio.gather(*(timed(made, who, LONG) for who in ("mal", "moe")))
        bad = [asyncio.ensure_future(timed(made, who, LONG)) for who in ("mal", "moe") * 3]
        took = []
        for number in range(30):
            took.append(await timed(made, "vic", 0.1))
            await asyncio.sleep(0.9 + number / 1000)
        return first, took, [await one for one in bad]

    first, took, bad = run_by_clockwork(run())
    assert first == pytest.approx([PATIENCE, PATIENCE])
    assert took == pytest.approx([0.1] * 30)
    assert bad == pytest.approx([PATIENCE * (n + 1) for n in range(6)]), "all are read, one after another"


def test_slowness_is_forgotten(planners):
    async def run():
        made, _ = planners()
        await timed(made, "mal", 2 * SLOW)
        await asyncio.sleep(REMEMBERED)
        await asyncio.gather(timed(made, "moe", 2 * SLOW), timed(made, "mal", 3 * SLOW))
        return asyncio.get_running_loop().time()

    assert run_by_clockwork(run()) == pytest.approx(REMEMBERED + 5 * SLOW), "beside each other again"


def test_one_is_asked_again_where_one_was_before(planners):
    """It keeps what it understood."""

    async def run():
        made, texts = planners()
        for _ in range(3):
            await timed(made, "vic", 0.1)
            await timed(made, "ada", 0.2)
            await asyncio.gather(timed(made, "bob", 0.3), timed(made, "ada", 0.2))
        return [worker for worker, seconds in texts if seconds == 0.2]

    assert len(set(run_by_clockwork(run()))) == 1


def test_whoever_stops_waiting_stops_nothing_and_not_too_many_wait(planners):
    async def run():
        made, texts = planners()
        gone = asyncio.ensure_future(made.ask("mal", {"do": 0.5}))
        await asyncio.sleep(0.1)
        gone.cancel()
        waiting = [asyncio.ensure_future(made.ask("mal", {"do": 0.1})) for _ in range(MOST_WAITING)]
        await asyncio.sleep(0.1)
        with pytest.raises(BusyError, match="too many of your texts wait"):
            await made.ask("mal", {"do": 0.1})
        assert await made.ask("vic", {"do": 0.1}) == 0.1
        await asyncio.gather(*waiting)
        return texts, len(made._free)

    texts, free = run_by_clockwork(run())
    assert (len(texts), free) == (MOST_WAITING + 2, 2)


def test_a_text_that_no_parser_ends_with_keeps_nobody(school, place, ada):
    """A real one, twice at once: another's is explained while it is being read."""

    def send():
        with psycopg.connect(**place) as mal, pytest.raises(psycopg.Error) as found:
            mal.execute(NESTED)
        told.append(found.value.sqlstate)

    told: list[str | None] = []
    sending = [threading.Thread(target=send) for _ in range(2)]
    for thread in sending:
        thread.start()
    time.sleep(1)
    assert ada.post("/explain", json={"sql": COUNT + "  "}).status_code == 200
    assert not told, "it was still being read"
    for thread in sending:
        thread.join()
    assert told == ["57P03", "57P03"]
