"""Random expressions over every extreme in PostgreSQL: none raises, none differs from its meaning.

Guarantee: proofs.md, section 11. RECUSE_SEED=n repeats a run.
"""

from __future__ import annotations

import os
import random
import secrets
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from recuse.engines.postgres import LOOKED_UP, SETTINGS, _read
from recuse.scalars.postgres import compiler
from recuse.scalars.postgres.own import INTEGER_QUOTIENT
from recuse.scalars.table import TABLE
from support.postgres import Server
from support.scalars.postgres import PostgresBench, PostgresGenerator, made, statements

pytestmark = pytest.mark.engine
A_STATEMENT = 5


def seed() -> int:
    return int(os.environ.get("RECUSE_SEED") or secrets.randbits(32))


@contextmanager
def bench(server: Server, rng: random.Random) -> Iterator[PostgresBench]:
    texts = made(rng)
    with server.connection(server.database(*statements(texts))) as cursor:
        for name, value in SETTINGS.items():
            cursor.execute(f"SET {name} = {value}")
        cursor.execute(f"SET search_path = {LOOKED_UP}")
        yield PostgresBench(cursor, _read, texts)


def run(server: Server, number: int, expressions: int) -> PostgresBench:
    rng = random.Random(number)
    with bench(server, rng) as found:
        generator = PostgresGenerator(rng)
        while found.expressions < expressions and len(found.wrong) < 5:
            generator.forget()
            found.statement([generator.expression() for _ in range(A_STATEMENT)], rng)
    return found


def told(found: PostgresBench, number: int) -> str:
    return f"RECUSE_SEED={number}: of {found.expressions}\n" + "\n".join(found.wrong[:3])


def test_nothing_raises_and_every_value_is_the_references(server: Server):
    number = seed()
    found = run(server, number, 2_000)
    assert not found.wrong, told(found, number)
    assert found.sure > 0.8 * found.values, "most values are compared"


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_twenty_thousand_expressions(server: Server, part: int):
    number = seed()
    found = run(server, number, 5_000)
    print(f"part {part}: {found.expressions} expressions, {found.values} values, {found.sure} compared")
    assert not found.wrong, told(found, number)


def caught(
    server: Server, name: str, monkeypatch: pytest.MonkeyPatch, row: object, form: object
) -> list[str]:
    """Return what the fuzz finds wrong if a function is compiled otherwise."""
    monkeypatch.setitem(compiler.FORMS, row, form)
    rng = random.Random(seed())
    with bench(server, rng) as found:
        generator = PostgresGenerator(rng, names=[name, name, "cast", "+", "case"])
        while not found.wrong and found.expressions < 1_500:
            generator.forget()
            found.statement([one for _ in range(5) if (one := generator.apply(name, 1)) is not None], rng)
    return found.wrong


def test_a_division_without_its_guard_is_caught(server: Server, monkeypatch: pytest.MonkeyPatch):
    wrong = caught(server, "pg /", monkeypatch, INTEGER_QUOTIENT, lambda _, x, y: f"({x} / {y})")
    assert any("raised" in one for one in wrong)


def test_a_guard_around_a_cast_instead_of_on_its_operand_is_caught(
    server: Server, monkeypatch: pytest.MonkeyPatch
):
    """PostgreSQL folds the cast of a constant before it looks at the CASE around it."""
    row = next(row for row in TABLE["length"])

    def form(_: object, x: str) -> str:
        tested = f"CASE WHEN {x} ~ '^[0-9]{{1,9}}$' THEN CAST({x} AS bigint)"
        return f"({tested} ELSE CAST(length({x}) AS bigint) END)"

    assert caught(server, "length", monkeypatch, row, form)


def test_a_clamp_that_ignores_null_is_caught(server: Server, monkeypatch: pytest.MonkeyPatch):
    row = next(row for row in TABLE["right"])

    def form(_: object, x: str, n: str) -> str:
        return f"right({x}, CAST(GREATEST({n}, -2147483647) AS integer))"

    assert caught(server, "right", monkeypatch, row, form)
