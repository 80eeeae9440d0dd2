"""Processes that ask one database at once: run with `python -m support.racing …`, alone in its process.

    ask DATABASE POLICY PROCESSES QUESTIONS EPSILON    prints how many each got answered
    kill DATABASE POLICY KILLS EPSILON                 prints how many answers were seen in all

Children are forked before anything is opened: importing takes longer than asking.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from recuse.errors import BudgetError
from recuse.session.session import connect


def child(work: Callable[[int], None]) -> tuple[int, int]:
    """Return the process that does the work, and the end of a pipe on which it reports answers."""
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(reading)
        try:
            work(writing)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    os.close(writing)
    return process, reading


def heard(reading: int) -> int:
    """Return how many answers were reported until the process ended."""
    count = 0
    while found := os.read(reading, 4096):
        count += len(found)
    os.close(reading)
    return count


def questions(number: int) -> str:
    return f"SELECT COUNT(*) FROM orders WHERE id <> {number}"


def ask(database: Path, policy: Path, processes: int, each: int, epsilon: str) -> None:
    def work(place: int, writing: int) -> None:
        with connect(database, policy) as session:
            for number in range(each):
                try:
                    session.ask(questions(place * each + number), epsilon)
                except BudgetError:
                    continue
                os.write(writing, b".")

    started = [child(lambda writing, place=place: work(place, writing)) for place in range(processes)]
    print(*(heard(reading) for _, reading in started))
    print(*(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) for process, _ in started))


def kill(database: Path, policy: Path, kills: int, epsilon: str) -> None:
    def work(start: int, writing: int) -> None:
        with connect(database, policy) as session:
            for number in range(start, start + 10**6):
                session.ask(questions(number), epsilon)
                os.write(writing, b".")

    answered = 0
    for turn in range(kills):
        process, reading = child(lambda writing, start=turn * 10**6: work(start, writing))
        if turn % 4:  # most die while they ask, some while they open the ledger
            answered += len(os.read(reading, 1))
        time.sleep(random.uniform(0, 0.1))
        os.kill(process, signal.SIGKILL)
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        if code != -signal.SIGKILL:
            sys.exit(f"a child ended by itself: {code}")
        answered += heard(reading)
    print(answered)


if __name__ == "__main__":
    mode, database, policy, *rest = sys.argv[1:]
    if mode == "ask":
        ask(Path(database), Path(policy), int(rest[0]), int(rest[1]), rest[2])
    else:
        kill(Path(database), Path(policy), int(rest[0]), rest[1])
