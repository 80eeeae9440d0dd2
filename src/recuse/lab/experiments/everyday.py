"""The thirty questions of a shop: how far their answers are from the truth. NOT PRIVATE, on made data.

    python -m recuse.lab.experiments.everyday docs/tutorial/everyday.md [3 17 …] [--runs 20] [--epsilon 1]
    python -m recuse.lab.experiments.everyday docs/tutorial/everyday.md [3 17 …] --times

Questions, policy and the program that makes the data are read from the page itself.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from statistics import median

from recuse.engines.bare import Bare, bare
from recuse.engines.collect import collect, collect_domain
from recuse.engines.duckdb import DuckDB
from recuse.errors import QueryError
from recuse.policy import Policy
from recuse.privacy import Epsilon
from recuse.session.answer import Answer
from recuse.session.session import connect
from recuse.sql.compile import compile_query

FILE = re.compile(r"^```\w+ (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
QUESTION = re.compile(r"^### (\d+)\. ([^\n]*)\n+```sql\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EverydayKeys = tuple[object, ...]
EverydayNumbers = Mapping[EverydayKeys, Sequence[float]]


@dataclass(frozen=True, slots=True)
class EverydayQuestion:
    """A question of the page."""

    number: int
    words: str
    """as somebody would say it"""
    sql: str


def questions(page: str) -> list[EverydayQuestion]:
    """Return the questions of a page."""
    return [EverydayQuestion(int(number), words, sql) for number, words, sql in QUESTION.findall(page)]


@dataclass(frozen=True, slots=True)
class EverydayError:
    """How far the answers to a question were off: medians over its numbers and over the runs."""

    truth: float
    error: float
    numbers: int


def make_shop(page: str, folder: Path) -> tuple[Path, Policy]:
    """Return the database that the page's program makes in a folder, and the page's policy."""
    files = dict(FILE.findall(page))
    for name, text in files.items():
        (folder / name).write_text(text)
    subprocess.run([sys.executable, "make_everyday.py"], cwd=folder, check=True)
    return folder / "everyday.duckdb", Policy.parse(files["everyday.toml"])


def truth(connection: Bare, question: EverydayQuestion, keys: int) -> EverydayNumbers:
    """Return DuckDB's own numbers by their keys, which come first."""
    rows = connection.execute(question.sql).fetchall()
    return {row[:keys]: [float(value or 0) for value in row[keys:]] for row in rows}


def numbers(answer: Answer) -> EverydayNumbers:
    """Return an answer's numbers by their keys; one that is undefined is 0."""
    return {row.keys: [float(cell.value or 0) for cell in row.cells] for row in answer}


def measure(
    path: Path, policy: Policy, question: EverydayQuestion, epsilon: Fraction, runs: int
) -> EverydayError:
    """Return the error of a question over many runs, each with a budget of its own."""
    ample = replace(policy, budget=Epsilon(epsilon))
    with closing(bare(path, read_only=True)) as connection:
        off: dict[tuple[EverydayKeys, int], list[float]] = {}
        true: EverydayNumbers = {}
        for _ in range(runs):
            with connect(connection, ample) as session:
                answer = session.ask(question.sql, epsilon=epsilon)
            true = truth(connection, question, len(answer.key_names))
            given = numbers(answer)
            for keys, values in true.items():
                for place, value in enumerate(values):
                    found = given[keys][place] if keys in given else 0.0
                    off.setdefault((keys, place), []).append(abs(found - value))
    every = [value for values in true.values() for value in values]
    return EverydayError(median(every), median(median(errors) for errors in off.values()), len(every))


def rows(
    path: Path, policy: Policy, asked: Sequence[EverydayQuestion], epsilon: Fraction, runs: int
) -> Iterator[str]:
    """Yield the table, a question a line."""
    yield "| | question | truth | median error | |"
    yield "|---:|---|---:|---:|---:|"
    for question in asked:
        try:
            found = measure(path, policy, question, epsilon, runs)
        except QueryError as error:
            yield f"| {question.number} | {question.words} | refused: {error.problem} | | |"
            continue
        several = f" ({found.numbers} numbers)" if found.numbers > 1 else ""
        share = f"{100 * found.error / abs(found.truth):.2f} %" if found.truth else ""
        yield (
            f"| {question.number} | {question.words}{several} "
            f"| {found.truth:,.6g} | {found.error:,.3g} | {share} |"
        )


@dataclass(frozen=True, slots=True)
class EverydayTime:
    """Processor seconds: to compile a question, to read its relations, and to run its text plainly."""

    compiled: float
    read: float
    plain: float


def times(path: Path, policy: Policy, question: EverydayQuestion, repeats: int = 3) -> EverydayTime:
    """Return the shortest times of a question over a few repeats."""
    found: list[tuple[float, float, float]] = []
    with closing(bare(path, read_only=True)) as connection:
        engine = DuckDB.open(connection)
        catalogue = engine.catalogue()
        for _ in range(repeats):
            began = time.process_time()
            plan = compile_query(question.sql, policy, catalogue)
            compiled = time.process_time()
            for first in plan.firsts:
                collect(engine, first.plan)
            unknown = plan.filled([None] * len(plan.firsts))  # numbers that are not released here
            collect(engine, unknown, collect_domain(engine, plan.grouping))
            read = time.process_time()
            connection.execute(question.sql).fetchall()
            found.append((compiled - began, read - compiled, time.process_time() - read))
        engine.close()
    return EverydayTime(*map(min, zip(*found, strict=True)))


def time_rows(path: Path, policy: Policy, asked: Sequence[EverydayQuestion]) -> Iterator[str]:
    """Yield the table of times, a question a line."""
    yield "| | question | compiled | read | plain | read / plain |"
    yield "|---:|---|---:|---:|---:|---:|"
    for question in asked:
        try:
            found = times(path, policy, question)
        except QueryError as error:
            yield f"| {question.number} | {question.words} | refused: {error.problem} | | | |"
            continue
        seconds = " | ".join(f"{one:.3f} s" for one in (found.compiled, found.read, found.plain))
        yield f"| {question.number} | {question.words} | {seconds} | {found.read / found.plain:.1f} |"


def main() -> None:
    """Print the table of a page's questions."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("page", type=Path)
    parser.add_argument("chosen", nargs="*", type=int, help="questions by number; all if none is named")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--epsilon", type=Fraction, default=Fraction(1))
    parser.add_argument("--times", action="store_true", help="how long each takes, not how far it is off")
    options = parser.parse_args()
    page = options.page.read_text()
    asked = [q for q in questions(page) if not options.chosen or q.number in options.chosen]
    with tempfile.TemporaryDirectory() as folder:
        path, policy = make_shop(page, Path(folder))
        lines = rows(path, policy, asked, options.epsilon, options.runs)
        for line in time_rows(path, policy, asked) if options.times else lines:
            print(line, flush=True)


if __name__ == "__main__":
    main()
