"""How processor time grows with rows whose owner sets stay as many: NOT PRIVATE.

    python -m recuse.lab.experiments.growth [--rows 1048576 8388608 134217728] [--runs 3] [--memory 4GB]

A made table of visits, each of one of 100 people to one of 100 clubs, is counted with both protected. Plain
is the same count without privacy. The slope is that of the logarithms of processor time and rows, from the
least to the most rows: 1 is in proportion. Which levels are asked for is drawn, and depends on where loads
lie between two of them: rows are multiplied by powers of two, and the median of some answers is taken.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from statistics import median

from recuse.engines.bare import bare
from recuse.engines.collect import Collected
from recuse.engines.engine import Engine
from recuse.engines.open import open_engine
from recuse.lab.experiments.passes import timed
from recuse.mechanism.mechanisms import DEFAULT, mechanism_for
from recuse.mechanism.prepared import prepare_kept
from recuse.noise import SecureNoise
from recuse.policy import Policy
from recuse.privacy import Epsilon
from recuse.sql.compile import compile_query

COUNTED = "SELECT COUNT(*) FROM visit WHERE person <> club"
PLAIN = "SELECT COUNT(*) AS n FROM data.main.visit WHERE person <> club"
OWNED = "".join(
    f'[[protect]]\nkind = "{kind}"\n[[link]]\ntable = "visit"\ncolumn = ["{kind}"]\nto = "{kind}"\n'
    for kind in ("person", "club")
)


def measured(rows: int, memory: str, runs: int) -> tuple[float, float]:
    """Return the processor time of the plain and of the private count of so many rows."""
    policy = Policy.parse(f'{OWNED}[engine]\nmemory = "{memory}"\nthreads = 2\n')
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made.duckdb"
        with bare(path) as connection:
            pairs = "hash(i) % 100 AS person, hash(i + 1) // 100 % 100 AS club"
            typed = "CAST(person AS INTEGER) AS person, CAST(club AS INTEGER) AS club"
            connection.execute(
                f"CREATE TABLE visit AS SELECT {typed} FROM (SELECT {pairs} FROM range({rows}) AS r(i)) AS m"
            )
        with closing(open_engine(path, policy)) as engine:
            _, plain = timed(lambda: engine.run([PLAIN]))
            return plain, median(timed(lambda: answer(engine, policy))[1] for _ in range(runs))


def answer(engine: Engine, policy: Policy) -> None:
    """Answer once."""
    plan = compile_query(COUNTED, policy, engine.catalogue())
    for relation in Collected.of(engine, plan).staying(plan.single) or ():
        mechanism = mechanism_for(DEFAULT, Epsilon.of("1"), relation.shape)
        mechanism.release(prepare_kept(relation), SecureNoise())


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line a number of rows, and the slope."""
    parser = argparse.ArgumentParser(description="How processor time grows with rows.")
    parser.add_argument("--rows", type=int, nargs="+", default=[2**20, 2**23, 2**27])
    parser.add_argument("--memory", default="4GB")
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args(arguments)
    found = []
    for rows in sorted(given.rows):
        plain, private = measured(rows, given.memory, given.runs)
        found.append((rows, private))
        print(f"{rows:>13,} rows{plain:9.2f} s plain{private:9.2f} s private", flush=True)
    (least, short), (most, long) = found[0], found[-1]
    if most > least:
        print(f"slope {math.log(long / short) / math.log(most / least):.2f}")


if __name__ == "__main__":
    main()
