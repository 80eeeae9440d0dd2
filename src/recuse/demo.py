"""The demonstration: a made social network and shop, and three questions that plain SQL asks of them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from recuse.engines.bare import bare, fill
from recuse.policy import Policy
from recuse.privacy import decimal_text
from recuse.session.answer import Answer
from recuse.session.session import connect
from recuse.session.table import drawing
from recuse.session.words import noise_text, truth_text

POLICY = """
[[protect]]                  # every person is one participant
table = "person"
key = ["id"]

[[link]]                     # a friendship belongs to both friends
table = "friendship"
column = ["a"]
to = "person"

[[link]]
table = "friendship"
column = ["b"]
to = "person"

[[link]]                     # an order belongs to the person who placed it
table = "orders"
column = ["customer"]
to = "person"

[[link]]                     # a line of an order reaches that person through the order
table = "line"
column = ["order_id"]
to = "orders"

[budget]
epsilon = 10
"""


@dataclass(frozen=True, slots=True)
class Example:
    """A question in words and in SQL."""

    words: str
    sql: str


QUESTIONS = (
    Example(
        "How many triangles of friends are there? (a three-way self-join, every person protected)",
        """SELECT COUNT(*)
FROM friendship x JOIN friendship y ON x.b = y.a JOIN friendship z ON y.b = z.b AND x.a = z.a""",
    ),
    Example(
        "How many orders have customers placed? (a foreign-key join, no bound on orders per customer)",
        "SELECT COUNT(*) FROM person JOIN orders ON orders.customer = person.id",
    ),
    Example(
        "How often did two customers buy the same product? (rows owned by pairs of people)",
        """SELECT COUNT(*)
FROM line l JOIN orders o ON l.order_id = o.id
JOIN line m ON m.product = l.product JOIN orders p ON m.order_id = p.id
WHERE o.customer < p.customer""",
    ),
)

EPSILON = "1"
PEOPLE, GROUP, PRODUCTS = 1_200, 12, 400


def make_database(path: Path) -> None:
    """Write the made data: people in groups of friends, orders with a long tail, lines of products."""
    random = np.random.default_rng(2013)
    ids = np.arange(PEOPLE)
    first, second = np.triu_indices(PEOPLE, 1)
    close = first // GROUP == second // GROUP
    friends = random.random(len(first)) < np.where(close, 0.5, 0.002)
    orders = np.minimum(random.zipf(2.2, PEOPLE), 15)
    customer = np.repeat(ids, orders)
    lines = random.integers(1, 4, len(customer))
    order_id = np.repeat(np.arange(len(customer)), lines)
    product = random.integers(0, PRODUCTS, len(order_id))
    with bare(path) as connection:
        connection.execute("CREATE TABLE person (id BIGINT PRIMARY KEY)")
        connection.execute("CREATE TABLE friendship (a BIGINT, b BIGINT)")
        connection.execute("CREATE TABLE orders (id BIGINT PRIMARY KEY, customer BIGINT)")
        connection.execute("CREATE TABLE line (order_id BIGINT, product BIGINT)")
        for table, columns in {
            "person": (ids,),
            "friendship": (first[friends], second[friends]),
            "orders": (np.arange(len(customer)), customer),
            "line": (order_id, product),
        }.items():
            made = {f"c{i}": column for i, column in enumerate(columns)}
            fill(connection, f"INSERT INTO {table} SELECT * FROM made", made)


@dataclass(frozen=True, slots=True)
class Told:
    """A question with its private answer, and the true one, which only made data may show."""

    question: Example
    answer: Answer
    truth: int


def demonstrated() -> Iterator[Told]:
    """Yield the questions with their answers, as they are given."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "demo.duckdb"
        make_database(path)
        with connect(path, Policy.parse(POLICY)) as session:
            for question in QUESTIONS:
                answer = session.ask_number(question.sql, EPSILON)
                yield Told(question, answer, true_answer(path, question.sql))


def run_demo() -> Iterator[str]:
    """Yield the demonstration, line by line."""
    yield f"Made data: {PEOPLE:,} people, their friendships and their orders. Each person is protected."
    spent = Fraction(0)
    for told in demonstrated():
        yield ""
        yield told.question.words
        yield from ("    " + line for line in told.question.sql.splitlines())
        yield f"private answer   {told.answer:>9,}   {truth_text(told.answer.number)}"
        yield f"true answer      {told.truth:>9,}   shown only because the data is made"
        yield f"noise, from 0    {drawing(told.answer.number)}   {noise_text(told.answer.number)}"
        spent += told.answer.epsilon
    granted = spent + (told.answer.remaining or 0)
    yield ""
    yield f"Budget: {decimal_text(spent)} of {decimal_text(granted)} epsilon spent."


def true_answer(path: Path, sql: str) -> int:
    """Return the exact answer, which only a demonstration on made data may show."""
    with bare(path, read_only=True) as connection:
        ((answer,),) = connection.execute(sql).fetchall()
    return int(answer)
