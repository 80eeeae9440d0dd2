"""Medians, 95th percentiles, the largest total, its deviation: how far off they are. NOT PRIVATE, made data.

    python -m recuse.lab.experiments.values [--people 1000] [--runs 10]

An oracle stands beside each: for a quantile and a maximum the exponential mechanism that is told the smallest
and the largest value and how many rows a person has at most; for a deviation Laplace noise that is told the
largest deviation. It is no mechanism: what it is told is private.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pyarrow
from numpy.typing import NDArray

from recuse.engines.bare import bare
from recuse.policy import Link, Policy, Protect
from recuse.privacy import Epsilon
from recuse.session.session import connect

PlacedNumbers = NDArray[np.float64]
Oracle = Callable[[PlacedNumbers, float, np.random.Generator], float]
SEGMENTS = 3
ROWS_EACH = 3
EPSILONS = (Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(2))
GROSS = 2.0
"""an answer is a gross failure if it is more than double or less than half of the truth"""

POLICY = Policy(
    (Protect.rows("customer", "id"),),
    (Link.all("orders", "customer", to="customer"),),
    granularity=Fraction(1, 100),
    budget=Epsilon.of(1000),
)

BY_SEGMENT = (
    "FROM orders o JOIN customer c ON c.id = o.customer WHERE c.segment IN (0, 1, 2) GROUP BY c.segment"
)
TOTALS = "FROM (SELECT SUM(price) AS total FROM orders GROUP BY customer) t"


def told_range(rank: float, rows: int) -> Oracle:
    """Return the exponential mechanism that knows the ends of the values and how many rows a person has."""

    def drawn(values: PlacedNumbers, epsilon: float, draws: np.random.Generator) -> float:
        ends = np.sort(values)
        below = np.arange(1, len(ends))
        balance = (1 - rank) * below - rank * (len(ends) - below)
        widths = np.log(np.maximum(np.diff(ends), 1e-12))
        scores = widths - epsilon * np.abs(balance) / (2 * rows * max(rank, 1 - rank))
        place = int(np.argmax(scores + draws.gumbel(size=len(scores))))
        return float(draws.uniform(ends[place], ends[place + 1]))

    return drawn


def told_deviation(values: PlacedNumbers, epsilon: float, draws: np.random.Generator) -> float:
    """Return the deviation, given the mean and the largest deviation: Laplace noise on count and squares."""
    squares = (values - values.mean()) ** 2
    count = len(values) + draws.laplace(scale=2 / epsilon)
    return float(np.sqrt(max(0.0, squares.sum() + draws.laplace(scale=2 * squares.max() / epsilon)) / count))


@dataclass(frozen=True, slots=True)
class ValueQuestion:
    """A question, the values that it is about, and who is told more."""

    words: str
    sql: str
    values: str
    truth: Callable[[PlacedNumbers], float]
    oracle: Oracle


QUESTIONS = (
    ValueQuestion(
        "median price by segment",
        f"SELECT c.segment, MEDIAN(o.price) {BY_SEGMENT}",
        "SELECT c.segment, o.price FROM orders o JOIN customer c ON c.id = o.customer",
        lambda values: float(np.median(values)),
        told_range(0.5, ROWS_EACH),
    ),
    ValueQuestion(
        "95th percentile of prices by segment",
        f"SELECT c.segment, QUANTILE_CONT(o.price, 0.95) {BY_SEGMENT}",
        "SELECT c.segment, o.price FROM orders o JOIN customer c ON c.id = o.customer",
        lambda values: float(np.quantile(values, 0.95)),
        told_range(0.95, ROWS_EACH),
    ),
    ValueQuestion(
        "largest total of a customer",
        f"SELECT MAX(total) {TOTALS}",
        f"SELECT 0, total {TOTALS}",
        lambda values: float(values.max()),
        told_range(1.0, 1),
    ),
    ValueQuestion(
        "deviation of the totals",
        f"SELECT STDDEV(total) {TOTALS}",
        f"SELECT 0, total {TOTALS}",
        lambda values: float(values.std(ddof=1)),
        told_deviation,
    ),
)


def errors(found: Sequence[float | None], truth: Sequence[float]) -> str:
    """Return the median and the 90th percentile of the errors, how many are gross, and how many are NULL."""
    given = [(value, exact) for value, exact in zip(found, truth, strict=True) if value is not None]
    if not given:
        return "no number"
    off = [abs(value / exact - 1) for value, exact in given]
    gross = sum(not 1 / GROSS <= value / exact <= GROSS for value, exact in given) / len(given)
    nulls = 1 - len(given) / len(found)
    more = "".join([f", gross {gross:.0%}" if gross else "", f", NULL {nulls:.0%}" if nulls else ""])
    return f"{np.median(off):.1%} / {np.quantile(off, 0.9):.1%}{more}"


def rows(people: int, runs: int) -> Iterator[str]:
    """Yield the table: a question and an ε a line."""
    draws = np.random.default_rng(11)
    with closing(bare()) as connection:
        segment = np.arange(people) % SEGMENTS
        level = np.exp(draws.normal(3.5 + 0.4 * segment, 0.6))
        owner = np.repeat(np.arange(people), ROWS_EACH)
        price = np.round(level[owner] * np.exp(draws.normal(0, 0.7, len(owner))), 2)
        connection.register("people", pyarrow.table({"id": np.arange(people), "segment": segment}))
        connection.register("prices", pyarrow.table({"customer": owner, "price": price}))
        connection.execute("CREATE TABLE customer (id BIGINT PRIMARY KEY, segment BIGINT)")
        connection.execute("INSERT INTO customer SELECT * FROM people")
        connection.execute(
            "CREATE TABLE orders AS SELECT customer, CAST(price AS DECIMAL(12, 2)) AS price FROM prices"
        )
        yield "| question | ε | error: median / p90 | oracle's |"
        yield "|---|---:|---:|---:|"
        for question in QUESTIONS:
            held = connection.execute(question.values).fetchall()
            groups = sorted({int(group) for group, _ in held})
            values = {g: np.array([float(v) for key, v in held if key == g]) for g in groups}
            true = {group: question.truth(values[group]) for group in groups}
            for epsilon in EPSILONS:
                found, told, truth = [], [], []
                for _ in range(runs):
                    with connect(connection, POLICY) as session:
                        answer = session.ask(question.sql, epsilon)
                    given = sorted(answer, key=lambda row: row.keys)
                    for group, row in zip(groups, given, strict=True):
                        value = row.cells[0].value
                        found.append(None if value is None else float(value))
                        told.append(question.oracle(values[group], float(epsilon), draws))
                        truth.append(true[group])
                line = [question.words, f"{float(epsilon):g}", errors(found, truth), errors(told, truth)]
                yield f"| {' | '.join(line)} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--people", type=int, default=1_000)
    parser.add_argument("--runs", type=int, default=10)
    options = parser.parse_args()
    for line in rows(options.people, options.runs):
        print(line, flush=True)


if __name__ == "__main__":
    main()
