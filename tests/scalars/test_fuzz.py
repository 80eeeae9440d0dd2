"""Random expressions in every clause over every extreme: none raises, none differs from its meaning.

Guarantee: proofs.md, section 11. The seeds are fresh in every run and printed where something fails;
RECUSE_SEED=n repeats a run.
"""

from __future__ import annotations

import os
import random
import secrets
from collections import Counter
from pathlib import Path

import pytest

from recuse.scalars import build
from recuse.scalars.expression import parts
from recuse.scalars.function import Function
from recuse.scalars.table import ROWS, TABLE
from recuse.scalars.types import Text
from support.profiles import examples
from support.scalars import check, generate, twins
from support.scalars.check import Bench

FORMS = ("table", "parquet", "csv")
A_STATEMENT = 6


def seed() -> int:
    """Return a fresh seed, or the one that is asked for."""
    return int(os.environ.get("RECUSE_SEED") or secrets.randbits(32))


def run(bench: Bench, rng: random.Random, expressions: int) -> Counter[Function]:
    """Check so many expressions, several a statement; return how often each function was accepted."""
    generator = generate.Generator(rng)
    while bench.expressions < expressions:
        generator.forget()
        bench.statement([generator.expression() for _ in range(A_STATEMENT)], rng)
    return generator.accepted


def told(bench: Bench, number: int) -> str:
    """Return what is said of a run that failed."""
    return f"RECUSE_SEED={number}: {len(bench.wrong)} of {bench.expressions}\n" + "\n".join(bench.wrong[:3])


@pytest.mark.parametrize("form", FORMS)
def test_nothing_raises_and_every_value_is_the_references(form: str, tmp_path: Path):
    number = seed()
    rng = random.Random(number)
    bench = check.bench(rng, tmp_path, form)
    accepted = run(bench, rng, examples(500))
    assert not bench.wrong, told(bench, number)
    assert sum(accepted.values()) > examples(700)


def test_every_row_of_the_table_is_generated_and_accepted_often():
    generator = generate.Generator(random.Random(seed()))
    for _ in range(40):
        for name in TABLE:
            generator.forget()
            generator.apply(name, 1)
    rare = [f"{row.name}: {row.about}" for row in ROWS if generator.accepted[row] < 3]
    assert not rare


def test_several_threads_over_several_row_groups(tmp_path: Path):
    number = seed()
    rng = random.Random(number)
    bench = check.bench(rng, tmp_path, "table", threads=4)
    bench.con.execute("CREATE TABLE many AS SELECT t.* FROM t, range(3000)")
    bench.con.execute("DROP TABLE t; ALTER TABLE many RENAME TO t")
    generator = generate.Generator(rng, most=12)
    while bench.expressions < 8:
        generator.forget()
        made = generator.expression()
        if not any(isinstance(part.type, Text) for part in parts(made)):  # long text takes long
            bench.grouped([made])
    assert not bench.wrong, told(bench, number)


def caught(bench: Bench, rng: random.Random, most: int = 1_500) -> list[str]:
    """Return what the fuzz finds, soon."""
    generator = generate.Generator(rng)
    while not bench.wrong and bench.expressions < most:
        generator.forget()
        bench.statement([generator.expression() for _ in range(A_STATEMENT)], rng)
    return bench.wrong


def test_the_twin_of_plain_operators_in_try_is_caught():
    rng = random.Random(seed())
    bench = check.bench(rng, None, "table")
    bench.compiled = twins.Naive().sql
    raised: list[str] = []
    while not raised and bench.expressions < 3_000:
        bench.wrong.clear()
        caught(bench, rng)
        raised = [wrong for wrong in bench.wrong if "raised" in wrong]
    assert raised, "plain operators in TRY were not caught"


@pytest.mark.parametrize("twin", [twins.guarded_around, twins.too_narrow, twins.not_narrowed])
def test_a_fault_in_one_function_is_caught(twin, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(build, "TABLE", twin())
    changed = next(name for name, rows in build.TABLE.items() if rows is not TABLE[name])
    rng = random.Random(seed())
    bench = check.bench(rng, None, "table")
    generator = generate.Generator(rng)
    while not bench.wrong and bench.expressions < 3_000:
        generator.forget()
        made = [generator.apply(changed, 1) for _ in range(A_STATEMENT)]
        twice = [build.apply("+", one, one) for one in made if one is not None and generate.is_open(one)]
        bench.statement([one for one in twice if generate.is_open(one)], rng)
    assert bench.wrong, f"the twin of {changed} was not caught"


def test_a_compiler_that_leaves_both_zeros_is_caught():
    rng = random.Random(seed())
    bench = check.bench(rng, None, "table")
    bench.compiled = twins.signed_zero().sql
    assert caught(bench, rng, most=12_000)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(12))
def test_a_hundred_thousand_expressions(part: int, tmp_path: Path):
    number = seed()
    rng = random.Random(number)
    bench = check.bench(rng, tmp_path, FORMS[part % 3], threads=1 + part % 2)
    accepted = run(bench, rng, 8_500)
    print(
        f"part {part}: {bench.expressions} expressions, {bench.values} values, {bench.statements} statements"
    )
    if bench.wrong:
        print(told(bench, number))  # now, not when all parts are through
    assert not bench.wrong, told(bench, number)
    rare = [f"{row.name}: {row.about}" for row in ROWS if accepted[row] < 20]
    assert not rare
