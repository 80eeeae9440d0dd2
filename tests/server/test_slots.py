"""Answers leave at ends of slots; failures of every kind at the deadline; a seat is occupied until then."""

from __future__ import annotations

import asyncio

import pytest

from recuse.errors import RecuseError
from recuse.server.process import WorkerFailed
from recuse.server.seats import Seat, Seats
from recuse.server.settings import Answers
from support.clockwork import run_by_clockwork

SLOT = 0.2


class Acting(Seat):
    """A seat whose worker takes so long, and then gives, fails or refuses."""

    def __init__(self, seconds: float, outcome: object) -> None:
        super().__init__({})
        self.seconds, self.outcome, self.cleared = seconds, outcome, 0

    async def ready(self) -> None:
        pass

    async def ask(self, message):
        await asyncio.sleep(self.seconds)
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome

    async def clear(self) -> None:
        self.cleared += 1


def looked(seat: Seat, deadline: int = 4) -> tuple[object, float]:
    async def run():
        seats = Seats({}, Answers(slot=SLOT, deadline=deadline))
        began = asyncio.get_running_loop().time()
        found = await seats.looked(seat, {})
        return found, asyncio.get_running_loop().time() - began

    return run_by_clockwork(run())


@pytest.mark.parametrize(("seconds", "slots"), [(0.0, 1), (0.08, 1), (0.28, 2), (0.48, 3)])
def test_an_answer_leaves_at_the_end_of_its_slot(seconds, slots):
    found, taken = looked(Acting(seconds, "text"))
    assert found == "text"
    assert taken == pytest.approx(slots * SLOT)


@pytest.mark.parametrize(
    ("seconds", "outcome"),
    [
        (0.0, WorkerFailed()),
        (0.3, WorkerFailed()),
        (0.0, RecuseError("no")),
        (5.0, WorkerFailed()),
        (5.0, "text"),
    ],
)
def test_failures_of_every_kind_leave_at_the_deadline_and_not_before(seconds, outcome):
    found, taken = looked(Acting(seconds, outcome))
    assert found is None
    assert taken == pytest.approx(4 * SLOT)


@pytest.mark.parametrize(
    ("seconds", "outcome"), [(0.0, WorkerFailed()), (0.3, RecuseError("no")), (5.0, "text")]
)
def test_who_comes_next_is_not_told_what_failed(seconds, outcome):
    """Its worker is another one, and has it at the end of a slot, whether the one before died or was late."""

    class Slow(Acting):
        async def ready(self):
            await asyncio.sleep(0.7 * self.cleared)

    async def run():
        seats, seat = Seats({}, Answers(slot=SLOT, deadline=4, workers=1)), Slow(seconds, outcome)
        seats._free.get_nowait()
        seats._free.put_nowait(seat)
        async with seats.taken() as taken:
            assert await seats.looked(taken, {}) is None
        async with seats.taken():
            return asyncio.get_running_loop().time(), seat.cleared

    assert run_by_clockwork(run()) == pytest.approx((4 * SLOT + 4 * SLOT, 1))


@pytest.mark.parametrize("way", ["looked", "at_once"])
def test_a_seat_is_occupied_to_the_end_of_a_slot_whoever_asks(way):
    async def run():
        seats = Seats({}, Answers(slot=SLOT, workers=1, queue=1))
        clock = asyncio.get_running_loop().time
        began, entered = clock(), []

        async def question():
            async with seats.taken() as seat:
                entered.append(clock() - began)
                seat.ask = Acting(0, "x").ask
                await getattr(seats, way)(seat, {})

        await asyncio.gather(question(), question())
        return entered

    first, second = run_by_clockwork(run())
    assert (first, second) == pytest.approx((0, SLOT))


def test_a_bounded_number_waits():
    async def run():
        seats = Seats({}, Answers(slot=SLOT, workers=1, queue=1))
        found, tasks = [], []

        async def question():
            async with seats.taken():
                await asyncio.sleep(0.05)

        for _ in range(2):
            found.append(seats.is_full)
            tasks.append(asyncio.ensure_future(question()))
            await asyncio.sleep(0)
        found.append(seats.is_full)
        await asyncio.gather(*tasks)
        return [*found, seats.is_full]

    assert run_by_clockwork(run()) == [False, False, True, False]
