"""Three small made data sets with policies and questions, to try things on: a shop, a school, a clinic."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from recuse.errors import ParameterError

MadeRows = Iterable[Sequence[Any]]
SEED = 2026


@dataclass(frozen=True, slots=True)
class MadeTable:
    """One CSV file."""

    name: str
    columns: tuple[str, ...]
    rows: MadeRows


@dataclass(frozen=True, slots=True)
class DataSet:
    """Made data: how its tables are made, what to ask of it, and who is protected."""

    tables: Callable[[np.random.Generator], list[MadeTable]]
    questions: tuple[str, ...]
    policy: str


def _shop(random: np.random.Generator) -> list[MadeTable]:
    people, products = 1_500, 40
    orders = np.repeat(np.arange(people), np.minimum(random.poisson(8, people), 20))
    lines = np.repeat(np.arange(len(orders)), random.integers(1, 4, len(orders)))
    prices = random.integers(200, 6_000, products) / 100
    bought = random.integers(0, products, len(lines))
    days = np.datetime64("2026-01-01") + random.integers(0, 365, len(orders))
    return [
        MadeTable("region", ("id", "name"), enumerate(("north", "south", "west"))),
        MadeTable("product", ("id", "price"), enumerate(prices)),
        MadeTable("customer", ("id", "region"), enumerate(random.integers(0, 3, people))),
        MadeTable("orders", ("id", "customer", "day"), zip(range(len(orders)), orders, days, strict=True)),
        MadeTable(
            "line",
            ("order_id", "product", "quantity", "price"),
            zip(lines, bought, random.integers(1, 4, len(lines)), prices[bought], strict=True),
        ),
    ]


def _school(random: np.random.Generator) -> list[MadeTable]:
    pupils = 600
    first, second = np.triu_indices(pupils, 1)
    close = random.random(len(first)) < np.where(first // 25 == second // 25, 0.3, 0.004)
    return [
        MadeTable("pupil", ("id", "year"), ((n, 5 + n // 100) for n in range(pupils))),
        MadeTable("friendship", ("a", "b"), zip(first[close], second[close], strict=True)),
    ]


def _clinic(random: np.random.Generator) -> list[MadeTable]:
    patients = 2_000
    visits = np.repeat(np.arange(patients), random.poisson(3, patients))
    days = np.datetime64("2026-01-01") + random.integers(0, 365, len(visits))
    kinds = np.array(("check", "illness", "injury"))[random.integers(0, 3, len(visits))]
    costs = np.round(random.gamma(2, 60, len(visits)), 2)
    years = random.integers(1940, 2020, patients)
    return [
        MadeTable("patient", ("id", "born"), enumerate(years)),
        MadeTable(
            "visit", ("patient", "day", "reason", "cost"), zip(visits, days, kinds, costs, strict=True)
        ),
    ]


_SHOP = """
[[protect]]                  # every customer is one participant
table = "customer"
key = ["id"]

[[key]]
table = "customer"
column = ["id"]

[[key]]
table = "orders"
column = ["id"]

[[link]]                     # an order belongs to its customer
table = "orders"
column = ["customer"]
to = "customer"

[[link]]                     # a line belongs to whose order it is on
table = "line"
column = ["order_id"]
to = "orders"

[[public]]
table = "region"

[[public]]
table = "product"

[[nonnegative]]              # so that sums are truncated from one side only
table = "line"
column = ["quantity", "price"]

[columns.region]
id = "BIGINT"
name = "VARCHAR"

[columns.product]
id = "BIGINT"
price = "DECIMAL(9, 2)"

[columns.customer]
id = "BIGINT"
region = "BIGINT"

[columns.orders]
id = "BIGINT"
customer = "BIGINT"
day = "DATE"

[columns.line]
order_id = "BIGINT"
product = "BIGINT"
quantity = "INTEGER"
price = "DECIMAL(9, 2)"

[budget]
epsilon = 20
"""
_SCHOOL = """
[[protect]]                  # every pupil is one participant
table = "pupil"
key = ["id"]

[[key]]
table = "pupil"
column = ["id"]

[[link]]                     # a friendship belongs to both
table = "friendship"
column = ["a"]
to = "pupil"

[[link]]
table = "friendship"
column = ["b"]
to = "pupil"

[[domain]]
table = "pupil"
column = "year"
from = 5
to = 10

[columns.pupil]
id = "BIGINT"
year = "INTEGER"

[columns.friendship]
a = "BIGINT"
b = "BIGINT"

[budget]
epsilon = 20
"""
_CLINIC = """
[[protect]]                  # every patient is one participant
table = "patient"
key = ["id"]

[[key]]
table = "patient"
column = ["id"]

[[link]]                     # a visit belongs to its patient
table = "visit"
column = ["patient"]
to = "patient"

[[domain]]
table = "visit"
column = "reason"
values = ["check", "illness", "injury"]

[[nonnegative]]
table = "visit"
column = ["cost"]

[columns.patient]
id = "BIGINT"
born = "INTEGER"

[columns.visit]
patient = "BIGINT"
day = "DATE"
reason = "VARCHAR"
cost = "DECIMAL(9, 2)"

[budget]
epsilon = 20
"""

EXAMPLES = {
    "shop": DataSet(
        _shop,
        (
            "SELECT COUNT(*) FROM orders",
            "SELECT r.name AS region, month(o.day) AS month, SUM(l.quantity * l.price) AS revenue "
            "FROM line l JOIN orders o ON l.order_id = o.id JOIN customer c ON o.customer = c.id "
            "JOIN region r ON c.region = r.id GROUP BY 1, 2 ORDER BY 2, 1",
            "SELECT COUNT(*) FROM customer c "
            "WHERE (SELECT COUNT(*) FROM orders o WHERE o.customer = c.id) > 5",
        ),
        _SHOP,
    ),
    "school": DataSet(
        _school,
        (
            "SELECT year, COUNT(*) AS friendships FROM friendship JOIN pupil ON a = id GROUP BY year",
            "SELECT COUNT(*) FROM friendship x JOIN friendship y ON x.b = y.a "
            "JOIN friendship z ON y.b = z.b AND x.a = z.a",
        ),
        _SCHOOL,
    ),
    "clinic": DataSet(
        _clinic,
        (
            "SELECT reason, COUNT(*) AS visits, AVG(cost) AS cost FROM visit GROUP BY reason",
            "SELECT month(day) AS month, COUNT(DISTINCT patient) AS patients FROM visit GROUP BY 1",
            "SELECT MEDIAN(cost) FROM visit",
        ),
        _CLINIC,
    ),
}


def write_example(name: str, folder: Path) -> list[Path]:
    """Write a data set as NAME/, its policy as NAME.toml and its questions as NAME.sql; return what was."""
    if name not in EXAMPLES:
        raise ParameterError("there is no such example", found=name, accepted=", ".join(EXAMPLES))
    example, data = EXAMPLES[name], folder / name
    policy, questions = folder / f"{name}.toml", folder / f"{name}.sql"
    for path in (data, policy, questions):
        if path.exists():
            raise ParameterError(f"there is a {path} already", hint="remove it, or name another folder")
    try:
        data.mkdir(parents=True)
        for table in example.tables(np.random.default_rng(SEED)):
            with (data / f"{table.name}.csv").open("w", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(table.columns)
                writer.writerows(table.rows)
        policy.write_text(example.policy.lstrip())
        questions.write_text(";\n\n".join(example.questions) + ";\n")
    except OSError as error:
        raise ParameterError(f"{folder} cannot be written to", found=error.strerror) from None
    return [data, policy, questions]
