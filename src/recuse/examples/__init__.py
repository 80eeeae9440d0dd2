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
    """of the table, and of the file without its ending"""
    columns: tuple[str, ...]
    rows: MadeRows


def shop(random: np.random.Generator, people: int = 1_500) -> list[MadeTable]:
    """Return the tables of a shop: customers by region, their orders of a year, and what was on them."""
    products = 40
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


EXAMPLES: dict[str, Callable[[np.random.Generator], list[MadeTable]]] = {
    "shop": shop,
    "school": _school,
    "clinic": _clinic,
}
"""how the tables of each are made; its policy and its questions are files beside this one"""


def policy_text(name: str) -> str:
    """Return the policy of an example."""
    return _text(f"{name}.toml")


def _text(file: str) -> str:
    return Path(__file__).with_name(file).read_text(encoding="utf-8")


def write_example(name: str, folder: Path, seed: int = SEED) -> list[Path]:
    """Write a data set as NAME/, its policy as NAME.toml and its questions as NAME.sql; return what was.

    Another seed has other people of the same kind.
    """
    if name not in EXAMPLES:
        raise ParameterError("there is no such example", found=name, accepted=", ".join(EXAMPLES))
    data, policy, questions = written = [folder / file for file in (name, f"{name}.toml", f"{name}.sql")]
    for path in written:
        if path.exists():
            raise ParameterError(f"there is a {path} already", hint="remove it, or name another folder")
    try:
        data.mkdir(parents=True)
        for table in EXAMPLES[name](np.random.default_rng(seed)):
            with (data / f"{table.name}.csv").open("w", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(table.columns)
                writer.writerows(table.rows)
        policy.write_text(policy_text(name))
        questions.write_text(_text(questions.name))
    except OSError as error:
        raise ParameterError(f"{folder} cannot be written to", found=error.strerror) from None
    return written
