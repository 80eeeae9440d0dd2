"""Processes die at any moment: nothing is answered without a charge, sums are exact, others are answered."""

from __future__ import annotations

import ast
import os
import random
import signal
import threading
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import httpx
import pytest

from support.serving import COUNT, TRIANGLES, Serving, gone, serving, waited
from support.sources import SOURCE, parsed


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    made = serving(tmp_path_factory.mktemp("killed"), workers=1, slot=0.3, deadline=6, pupils=500, hub=450)
    yield made
    if made.process.poll() is None:
        made.kill()


def opened(pid: int) -> set[str]:
    folder = f"/proc/{pid}/fd"
    return {os.path.realpath(f"{folder}/{one}") for one in os.listdir(folder)}


def test_the_front_process_never_opens_the_data(server):
    with server.http(server.token("ada")) as ada:
        assert waited(ada, COUNT, "1")["state"] == "done"
    data = str(server.folder / "school.duckdb")
    assert data not in opened(server.process.pid)
    assert any(data in opened(worker) for worker in server.workers()), "a worker has"


def test_nothing_but_the_worker_knows_how_to_open_data():
    """Of all modules of the server the worker's alone imports what opens a database."""
    opening = {("recuse.session.session", "connect"), ("recuse.engines.open", "open_engine")}
    found = set()
    for path in (SOURCE / "server").rglob("*.py"):
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.ImportFrom):
                found |= {path.stem for name in node.names if (node.module, name.name) in opening}
            if isinstance(node, ast.ImportFrom) and node.module == "recuse.server.worker":
                found.add(f"{path.stem} imports the worker")
    assert found == {"worker"}


def test_a_worker_that_dies_looks_like_one_that_is_late(server):
    with server.http(server.token("dan")) as ada:
        for epsilon in range(1, 30):
            job = ada.post("/questions", json={"sql": TRIANGLES, "epsilon": str(epsilon)}).json()
            while job["not_before"] is None:
                job = ada.get(f"/questions/{job['id']}").json()
            for worker in server.workers():
                os.kill(worker, signal.SIGKILL)
            while (found := ada.get(f"/questions/{job['id']}").json())["state"] == "waiting":
                time.sleep(0.02)
            if found["state"] != "done":  # it was found before the blow: the next one
                break
        deadline = datetime.fromisoformat(job["not_before"]) + timedelta(seconds=5 * 0.3)
        assert datetime.now(UTC) >= deadline, "not before"
        assert found["state"] == "unanswered"
        assert found["problem"]["detail"] == "the question could not be answered; its charge stays"
        assert ada.get("/budget").json()["spent"] == str(sum(range(1, epsilon + 1)))
        assert waited(ada, COUNT, "1/2")["state"] == "done", "and another is there"


def test_workers_end_when_the_front_process_does(server):
    workers = server.workers()
    assert workers
    server.kill()
    assert gone(workers)


@pytest.mark.parametrize("blows", [6, pytest.param(200, marks=pytest.mark.slow)])
def test_killed_at_any_moment_the_ledger_adds_up_and_no_answer_was_free(tmp_path, blows):
    """Analysts ask while workers and the front process are killed: charges are exactly what was asked."""
    server = serving(tmp_path, workers=2, slot=0.1, deadline=20)
    names = ["ada", "bob", "eve"]
    tokens = {name: server.token(name) for name in names}
    answers: dict[str, list[tuple[str, object]]] = {name: [] for name in names}
    stop = threading.Event()

    def analyst(name):
        number = 0
        with server.http(tokens[name]) as client:
            while not stop.is_set():
                number += 1
                epsilon = f"1/{number + 10}"
                try:
                    found = waited(client, COUNT, epsilon)
                except (httpx.HTTPError, ValueError):
                    time.sleep(0.2)
                    continue
                if found.get("state") == "done":
                    answers[name].append((epsilon, found["answer"]["exact"]["rows"]))
                else:
                    time.sleep(0.05)

    threads = [threading.Thread(target=analyst, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    generator = random.Random(7)
    for blow in range(blows):
        before, until = sum(map(len, answers.values())), time.monotonic() + (30 if blows < 10 else 1)
        while sum(map(len, answers.values())) < before + 3 and time.monotonic() < until:
            time.sleep(generator.uniform(0.01, 0.1))
        if blow % 7 == 3:
            server.kill()
            server = Serving(server.folder, server.settings, server.ports).start()
        else:
            with suppress(IndexError, ProcessLookupError):  # none is there, or it has just ended
                os.kill(generator.choice(server.workers()), signal.SIGKILL)
    stop.set()
    for thread in threads:
        thread.join()
    server.kill()
    book = server.book()  # refuses what does not add up, and what is below its mark
    assert sum(map(len, answers.values())) > 5, answers
    for name in names:
        charged = [charge for charge in book.history() if charge.analyst == name]
        assert book.balance(name).spent == sum((charge.epsilon for charge in charged), start=Fraction(0))
        paid = {charge.epsilon for charge in charged if charge.answer is not None}
        assert {Fraction(epsilon) for epsilon, _ in answers[name]} <= paid, "answered, so charged and stored"
    book.close()
