"""TPC-H queries as they are written: how far their answers are off, beside an oracle. NOT PRIVATE, made data.

    python -m recuse.lab.experiments.tpch_written tpch.duckdb tests/sql/tpch Q4 Q13 Q16 Q22 \\
        [--counted Q21] [--protect customer supplier] [--epsilon 1] [--runs 20]

`tpch load` (of `lab.experiments.tpch`) makes the database. The folder holds `queries.sql`, `counted.sql`
(with individuals counted where a query lists them) and `domains.toml`. An error is Σ|error| / Σ|truth| over
the groups of an answer, its median over the runs. The oracle knows the data: for each group it takes the best
τ in hindsight, with all the ε that the group can have for the noise; it knows what others release first.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from statistics import median

from recuse.engines.bare import bare
from recuse.engines.collect import collect
from recuse.engines.open import open_engine
from recuse.errors import QueryError
from recuse.lab.experiments.acceptance import questions
from recuse.lab.experiments.oracle import signed_oracle_distance
from recuse.mechanism.mechanisms import DEFAULT
from recuse.mechanism.prepared import prepare
from recuse.policy import Policy
from recuse.privacy import Epsilon
from recuse.session.session import connect
from recuse.session.sql_question import SqlQuestion
from recuse.solver.fast import fast_programs
from recuse.sql.compile import compile_query
from recuse.sql.draft import draft

MOST_GROUPS = 40
"""for how many groups an oracle is asked: evenly taken from all of them"""
WrittenKeys = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class WrittenError:
    """One column of an answer: how many groups, the sum of the truths, the error and the oracle's."""

    column: str
    groups: int
    total: float
    error: float
    oracle: float | None


def policy_with(database: Path, protected: Sequence[str], domains: str) -> Policy:
    """Return the drafted policy, the marks of its undecided tables removed, with domains added."""
    with closing(open_engine(database)) as engine:
        text = "\n".join(draft(engine.catalogue(), protected))
    return Policy.parse(text.replace("# [[public]]\n# table", "[[public]]\ntable") + "\n" + domains)


def errors(database: Path, policy: Policy, sql: str, epsilon: Fraction, runs: int) -> list[WrittenError]:
    """Return the error of every column of a question that is not a key."""
    ample = replace(policy, budget=Epsilon(epsilon))
    found: dict[int, list[float]] = {}
    names: tuple[str, ...] = ()
    true: Mapping[WrittenKeys, Sequence[float]] = {}
    with closing(bare(database, read_only=True)) as connection:
        for _ in range(runs):
            with connect(connection, ample) as session:
                answer = session.ask(sql, epsilon=epsilon)
            names, keys = answer.names, len(answer.key_names)
            if not true:
                rows = connection.execute(sql).fetchall()
                true = {row[:keys]: [float(value or 0) for value in row[keys:]] for row in rows}
            given = {row.keys: [float(cell.value or 0) for cell in row.cells] for row in answer}
            for place in range(len(names)):
                off = sum(abs(given.get(k, [0.0] * len(names))[place] - v[place]) for k, v in true.items())
                off += sum(abs(values[place]) for k, values in given.items() if k not in true)
                found.setdefault(place, []).append(off)
    totals = [sum(abs(values[place]) for values in true.values()) for place in range(len(names))]
    oracles = oracle(database, policy, sql, epsilon)
    return [
        WrittenError(
            name,
            len(true),
            totals[place],
            median(found[place]) / max(1.0, totals[place]),
            oracles[place] / max(1.0, totals[place]) if len(oracles) == len(names) else None,
        )
        for place, name in enumerate(names)
    ]


def oracle(database: Path, policy: Policy, sql: str, epsilon: Fraction) -> list[float]:
    """Return for every measure the sum over its groups of the oracle's distance.

    Numbers that are released first it knows, and pays nothing for.
    """
    with closing(open_engine(database)) as engine:
        asked = SqlQuestion.of(
            compile_query(sql, policy, engine.catalogue()), engine, Epsilon(epsilon), DEFAULT, ""
        ).ready(fast_programs, lambda groups: groups.true_answers())
        plan, domain = asked.plan, asked.domain
        measures = collect(engine, plan, domain)
    if not measures:  # about public tables alone: nothing is off
        return [0.0] * len(plan.columns)
    disjoint = plan.grouping is None or plan.grouping.disjoint
    share = Epsilon(epsilon / len(measures) / (1 if disjoint else len(domain.keys)))
    sums = []
    for measure, groups in zip(plan.measures, measures, strict=True):
        chosen = groups[:: max(1, len(groups) // MOST_GROUPS)]
        distances = [signed_oracle_distance(prepare(group, fast_programs), share) for group in chosen]
        sums.append(float(measure.granularity) * sum(distances) * len(groups) / len(chosen))
    return sums


def table(
    database: Path, policy: Policy, asked: Sequence[tuple[str, str]], epsilon: Fraction, runs: int
) -> Iterator[str]:
    """Yield a line for every column of every question."""
    yield "| query | column | groups | total | error | oracle | error / oracle | seconds |"
    yield "|---|---|---:|---:|---:|---:|---:|---:|"
    for name, sql in asked:
        began = time.perf_counter()
        try:
            found = errors(database, policy, sql, epsilon, runs)
        except QueryError as error:
            yield f"| {name} | refused: {error.problem} | | | | | | |"
            continue
        seconds = time.perf_counter() - began
        for line in found:
            known = "" if line.oracle is None else f"{100 * line.oracle:.3g} %"
            ratio = "" if not line.oracle else f"{line.error / line.oracle:.1f}"
            yield (
                f"| {name} | {line.column} | {line.groups} | {line.total:,.0f} "
                f"| {100 * line.error:.3g} % | {known} | {ratio} | {seconds:.0f} |"
            )


def main() -> None:
    """Print the table for the queries that are named."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("database", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--counted", nargs="*", default=[])
    parser.add_argument("--protect", nargs="+", default=["customer"])
    parser.add_argument("--epsilon", type=Fraction, default=Fraction(1))
    parser.add_argument("--runs", type=int, default=20)
    options = parser.parse_args()
    written = dict(questions((options.folder / "queries.sql").read_text()))
    counted = dict(questions((options.folder / "counted.sql").read_text()))
    asked = [(name, written[name]) for name in options.names]
    asked += [(f"{name} counted", counted[name]) for name in options.counted]
    domains = (options.folder / "domains.toml").read_text()
    policy = policy_with(options.database, options.protect, domains)
    for line in table(options.database, policy, asked, options.epsilon, options.runs):
        print(line, flush=True)


if __name__ == "__main__":
    main()
