"""Twenty analysts at once, while workers and the front process are killed: every sum is exact afterwards.

Slow, since it lasts: RECUSE_LOAD_MINUTES (ten unless said) of real time.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import threading
import time
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import pytest

from recuse.ledger import Bill, Charged
from recuse.policy import Policy
from recuse.privacy import Epsilon
from recuse.server.book import Book
from recuse.session.place import LedgerLocation
from support.serving import POLICY, serving, waited

httpx = pytest.importorskip("httpx")
ANALYSTS = 20
MINUTES = float(os.environ.get("RECUSE_LOAD_MINUTES", "10"))
QUESTIONS = [
    "SELECT COUNT(*) AS n FROM pupil",
    "SELECT COUNT(*) AS n FROM pupil WHERE age > 9",
    "SELECT sex, COUNT(*) AS n FROM pupil GROUP BY sex",
    "SELECT COUNT(*) AS n FROM friendship x JOIN friendship y ON x.b = y.a",
    "SELECT SUM(age) AS s FROM pupil WHERE age BETWEEN 0 AND 20",
]
GONE = (httpx.HTTPError, ValueError, KeyError)


class Asking(threading.Thread):
    """An analyst who asks until the time is over, whatever becomes of the server."""

    def __init__(self, server, name, until):
        super().__init__(daemon=True)
        self.server, self.called, self.until = server, name, until
        self.token = server.token(name, grant="50")
        self.answers = {}
        self.outcomes = {}
        self.stored_took = []

    def run(self):
        chance = random.Random(self.called)
        while time.monotonic() < self.until:
            sql, epsilon = chance.choice(QUESTIONS), f"1/{chance.randint(2, 60)}"
            with suppress(*GONE), self.server.http(self.token) as client:
                began = time.monotonic()
                found = client.post("/questions", json={"sql": sql, "epsilon": epsilon}).json()
                if found.get("answer", {}).get("stored"):
                    self.stored_took.append(time.monotonic() - began)
                while found.get("state") == "waiting":
                    time.sleep(0.1)
                    found = client.get(f"/questions/{found['id']}").json()
                word = found.get("state") or found.get("code", "gone")
                self.outcomes[word] = self.outcomes.get(word, 0) + 1
                if word == "done":
                    rows = found["answer"]["rows"]
                    assert self.answers.setdefault((sql, epsilon), rows) == rows, "one question, one answer"
            time.sleep(chance.uniform(0, 0.5))


def killing(server, until, blows):
    """Kill a worker every few seconds, and the front process every minute; start it anew."""
    chance, front = random.Random(1), time.monotonic() + 45
    while time.monotonic() < until - 5:
        time.sleep(chance.uniform(3, 9))
        if time.monotonic() > front:
            server.kill(signal.SIGKILL)
            server.start()
            blows["front"] += 1
            front = time.monotonic() + chance.uniform(30, 75)
        else:
            workers = server.workers()
            if workers:
                with suppress(ProcessLookupError):
                    os.kill(chance.choice(workers), signal.SIGKILL)
                blows["workers"] += 1


@pytest.mark.slow
def test_sums_are_exact_and_nothing_is_lost_when_processes_are_killed(tmp_path):
    server = serving(tmp_path, "http", slot=0.3, deadline=40, workers=2)
    until, blows = time.monotonic() + 60 * MINUTES, {"workers": 0, "front": 0}
    analysts = [Asking(server, f"a{n:02}", until) for n in range(ANALYSTS)]
    for analyst in analysts:
        analyst.start()
    killing(server, until, blows)
    for analyst in analysts:
        analyst.join(120)
    book = server.book()  # opening adds all charges up, exactly
    charges, balances = book.history(), {one.name: one.balance.spent for one in book.analysts()}
    whole = book.balance().spent
    book.close()
    for analyst in analysts:
        own = [charge for charge in charges if charge.analyst == analyst.called]
        assert balances[analyst.called] == sum((charge.epsilon for charge in own), Fraction(0))
        paid = {(charge.query, charge.epsilon) for charge in own if charge.answer is not None}
        assert {(sql, Fraction(epsilon)) for sql, epsilon in analyst.answers} <= paid, (
            "no answer without a charge"
        )
    assert whole == sum(balances.values())
    again = [(analyst, *asked) for analyst in analysts for asked in sorted(analyst.answers)][::7]
    for analyst, sql, epsilon in again:
        with server.http(analyst.token) as client:
            found = client.post("/questions", json={"sql": sql, "epsilon": epsilon}).json()
        assert (found["answer"]["stored"], found["answer"]["rows"]) == (True, analyst.answers[sql, epsilon])
    outcomes = {}
    for analyst in analysts:
        for word, count in analyst.outcomes.items():
            outcomes[word] = outcomes.get(word, 0) + count
    stored = sorted(took for analyst in analysts for took in analyst.stored_took)
    unanswered = sum(charge.answer is None for charge in charges)
    print(
        f"{MINUTES:g} minutes, {ANALYSTS} analysts: {len(charges)} charges"
        f" ({len(charges) / MINUTES:.0f} a minute), {unanswered} of them not answered, epsilon {whole};"
        f" killed {blows['workers']} workers and {blows['front']} fronts; outcomes {outcomes};"
        f" {len(again)} answers asked again were there;"
        f" {len(stored)} stored answers, median {1000 * (stored or [0.0])[len(stored) // 2]:.0f} ms"
    )
    server.kill(signal.SIGTERM)
    assert blows["front"] >= 1
    assert len(charges) > 20 * MINUTES


@pytest.mark.slow
def test_no_charge_waits_long(tmp_path):
    """Twenty ask at once, again and again, with two seats: one writer, so that nobody waits for a lock."""
    (tmp_path / "school.toml").write_text(POLICY)
    place = LedgerLocation.of(Path(tmp_path / "school.duckdb"), None, tmp_path / "school.toml")

    async def charging() -> list[float]:
        book = Book(place, Policy.read(tmp_path / "school.toml"))
        await book.open()
        took, seats = [], asyncio.Semaphore(2)  # a question is charged when it has a seat

        async def one(name: int) -> None:
            for number in range(25):
                bill = Bill("q", Epsilon.of("1/100"), f"{name}-{number}", "p", None, "school.duckdb")
                await book.do(lambda ledger: (ledger.tokens().all(), ledger.analysts()))
                await book.do(lambda ledger: ledger.stored(bill))  # noqa: B023 - awaited here
                async with seats:
                    began = time.monotonic()
                    assert isinstance(await book.charge(bill), Charged)
                    took.append(time.monotonic() - began)

        await asyncio.gather(*(one(name) for name in range(ANALYSTS)))
        book.close()
        return took

    took = asyncio.run(charging())
    print(f"{len(took)} charges by {ANALYSTS} at once: median {1000 * sorted(took)[len(took) // 2]:.0f} ms,"
          f" worst {1000 * max(took):.0f} ms")  # fmt: skip
    assert max(took) < 0.25


@pytest.mark.slow
def test_explaining_and_stored_answers_are_quick(tmp_path):
    server, took = serving(tmp_path, "http", slot=0.3), {"explain": [], "stored": []}
    with server.http(server.token("ada")) as client:
        asked = {"sql": QUESTIONS[0], "epsilon": "1/2"}
        waited(client, *asked.values())
        for number in range(40):
            body = {"sql": QUESTIONS[number % len(QUESTIONS)] + " " * number}
            for name, path, sent in (("explain", "/explain", body), ("stored", "/questions", asked)):
                began = time.monotonic()
                assert client.post(path, json=sent).status_code == 200
                took[name].append(time.monotonic() - began)
    server.kill(signal.SIGTERM)
    for name, times in took.items():
        print(f"{name}: median {1000 * sorted(times)[20]:.0f} ms, worst {1000 * max(times):.0f} ms")
    assert sorted(took["explain"])[20] < 0.2
    assert sorted(took["stored"])[20] < 0.05
