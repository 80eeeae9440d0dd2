"""Random expressions over every extreme in Spark: none raises, none differs from its meaning.

With generated code and without. Guarantee: proofs.md, section 11. RECUSE_SEED=n repeats a run.
"""

from __future__ import annotations

import os
import random
import secrets
from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow.parquet
import pytest

from recuse.scalars.spark import compiler
from recuse.scalars.table import TABLE
from support.scalars.spark import SparkBench, SparkGenerator, made
from support.spark import Lab

SETTINGS = pytest.importorskip("recuse.engines.spark").SETTINGS
pytestmark = pytest.mark.engine
A_STATEMENT = 60
GENERATED = {"spark.sql.codegen.wholeStage": "true", "spark.sql.codegen.factoryMode": "FALLBACK"}
INTERPRETED = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}


def seed() -> int:
    return int(os.environ.get("RECUSE_SEED") or secrets.randbits(32))


@contextmanager
def bench(lab: Lab, rng: random.Random, code: dict[str, str]) -> Iterator[SparkBench]:
    session = lab.session.newSession()
    for name, value in {**SETTINGS, **code}.items():
        session.conf.set(name, value)
    path = lab.folder / f"extremes-{rng.getrandbits(32)}.parquet"
    pyarrow.parquet.write_table(made(rng), path)
    session.read.parquet(path.as_uri()).createOrReplaceTempView("t")
    yield SparkBench(lambda sql: session.sql(sql).toArrow())


def run(lab: Lab, number: int, expressions: int, code: dict[str, str]) -> SparkBench:
    rng = random.Random(number)
    with bench(lab, rng, code) as found:
        generator = SparkGenerator(rng)
        while found.expressions < expressions and len(found.wrong) < 5:
            generator.forget()
            found.statement([generator.expression() for _ in range(A_STATEMENT)], rng)
    return found


def told(found: SparkBench, number: int) -> str:
    return f"RECUSE_SEED={number}: of {found.expressions}\n" + "\n".join(found.wrong[:3])


@pytest.mark.parametrize("code", [GENERATED, INTERPRETED], ids=["generated", "interpreted"])
def test_nothing_raises_and_every_value_is_the_references(lab: Lab, code: dict[str, str]):
    number = seed()
    found = run(lab, number, 40, code)
    assert not found.wrong, told(found, number)
    assert found.sure > 0.7 * found.values, "most values are compared"


@pytest.mark.slow
@pytest.mark.parametrize("code", [GENERATED, INTERPRETED], ids=["generated", "interpreted"])
def test_two_thousand_expressions(lab: Lab, code: dict[str, str]):
    number = seed()
    found = run(lab, number, 1_000, code)
    print(f"{found.expressions} expressions, {found.values} values, {found.sure} compared")
    assert not found.wrong, told(found, number)


def test_spark_s_own_opposite_of_many_digits_is_caught(lab: Lab, monkeypatch: pytest.MonkeyPatch):
    """It keeps 34 digits, rounds the rest, and fails where that makes 39 of them."""
    row = next(row for row in TABLE["neg"])
    monkeypatch.setitem(compiler.FORMS, row, lambda _, x: f"(- {x})")
    rng = random.Random(seed())
    with bench(lab, rng, GENERATED) as found:
        generator = SparkGenerator(rng, names=["neg"])
        found.statement([one for _ in range(80) if (one := generator.apply("neg", 0)) is not None], rng)
    assert found.wrong
