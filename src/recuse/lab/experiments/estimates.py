"""Estimates from what one may state, beside measured errors. NOT PRIVATE, data one may see.

    python -m recuse.lab.experiments.estimates [--runs 1000]
    python -m recuse.lab.experiments.estimates DATABASE POLICY "SELECT …" … [--epsilon 0.5 1 2] [--like OTHER]

The estimate is told the rows of every table, the most rows that link to one or share a reference, the most
that those have of a decimal column together, and its mean, as `--rows`, `--largest` and `--typical` would; or
it is made on other data of the same schema. The measured error is that of as many runs on the data
themselves. Both are 9 of 10 errors, at most.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

from recuse.engines.literals import name_literal
from recuse.examples import write_example
from recuse.privacy import NumberLike
from recuse.scalars.types import Number, stored
from recuse.session.session import Session, connect
from recuse.session.statistics import Statistics
from recuse.sql.ownership import Linked, own

EPSILONS = (Fraction(1, 2), Fraction(1), Fraction(2))


def stated(session: Session) -> Statistics:
    """Return what one would state of a database: rows, and the largest fan-outs of links."""
    catalogue, rows, largest = session.engine.catalogue(), dict[str, int](), dict[str, int]()
    typical: dict[str, NumberLike] = {}
    ownership = own(session.policy, catalogue)
    for table in catalogue.tables:
        source = ".".join(map(name_literal, table.path or (table.name,)))
        rows[table.name] = max(1, _number(session, f"SELECT COUNT(*) AS n FROM {source}"))
        owned = ownership.of(table.name)
        hops = owned.hops if isinstance(owned, Linked) else ()
        links = [columns for hop in hops for columns in hop.alternatives]
        for columns in links:
            most = _most(session, source, columns)
            largest[table.name] = max(most, largest.get(table.name, 1))
        for key in table.foreign_keys:
            if len(key.columns) == 1:
                largest[f"{table.name}.{key.columns[0]}"] = _most(session, source, key.columns)
        for column in table.columns:
            if isinstance(kind := stored(column.type), Number) and kind.scale:
                mean = f"SELECT CEIL(AVG(ABS({name_literal(column.name)}))) AS n FROM {source}"
                typical[f"{table.name}.{column.name}"] = max(1, _number(session, mean))
                for columns in links[:1]:
                    total = f"CEIL(SUM(ABS({name_literal(column.name)})))"
                    largest[f"{table.name}.{column.name}"] = _most(session, source, columns, total)
    return Statistics(rows, largest, typical)


def _most(session: Session, source: str, columns: Sequence[str], what: str = "COUNT(*)") -> int:
    """Return how much rows that share what they have in some columns have together, at most."""
    named = ", ".join(map(name_literal, columns))
    each = f"SELECT {what} AS c FROM {source} GROUP BY {named}"
    return max(1, _number(session, f"SELECT COALESCE(MAX(c), 1) AS n FROM ({each}) AS fan"))


def _number(session: Session, sql: str) -> int:
    (found,) = session.engine.run([sql])
    return int(found["n"][0].as_py())


def compared(
    session: Session, data: str, sql: str, epsilons: Sequence[Fraction], runs: int, like: str | None = None
) -> Iterator[tuple[Fraction, str, Fraction, Fraction]]:
    """Yield for every ε and column the estimated and the measured error."""
    told = session.estimates(sql, epsilons, like=stated(session) if like is None else like, runs=runs)
    seen = session.estimates(sql, epsilons, like=data, runs=runs)
    for one, other in zip(told, seen, strict=True):
        for guess, error in zip(one.columns, other.columns, strict=True):
            yield one.epsilon, guess.name, guess.mostly, error.mostly


HEAD = "| data | question | ε | estimated | like others | measured | ratios |\n|---|---|" + 5 * "---:|"
REGIONS = "FROM orders JOIN customer ON customer = customer.id JOIN region ON region = region.id"
ASKED = {
    "shop": (
        "SELECT COUNT(*) FROM orders",
        "SELECT COUNT(*) FROM customer",
        f"SELECT region.name, COUNT(*) {REGIONS} GROUP BY region.name",
        "SELECT SUM(price) FROM line",
        "SELECT COUNT(*) FROM customer WHERE id NOT IN (SELECT customer FROM orders)",
    ),
    "clinic": (
        "SELECT COUNT(*) FROM visit",
        "SELECT SUM(cost) FROM visit",
        "SELECT reason, COUNT(*) FROM visit GROUP BY reason",
    ),
    "school": (
        "SELECT COUNT(*) FROM friendship",
        "SELECT COUNT(*) FROM friendship x JOIN friendship y ON x.b = y.a "
        "JOIN friendship z ON z.a = x.a AND z.b = y.b",
    ),
}
"""what is asked of the examples that `recuse examples` writes"""
OTHERS = 7
"""the seed of other people of the same kind"""


def of_examples(epsilons: Sequence[Fraction], runs: int) -> Iterator[str]:
    """Yield the table of the examples: beside what is stated, other data of the same kind."""
    yield HEAD
    for name, questions in ASKED.items():
        with TemporaryDirectory() as folder:
            data, policy, _ = write_example(name, Path(folder) / "these")
            like, _, _ = write_example(name, Path(folder) / "others", OTHERS)
            with connect(data, policy) as session:
                told = stated(session)
                for sql in questions:
                    found = [
                        session.estimates(sql, epsilons, like=one, runs=runs) for one in (told, like, data)
                    ]
                    for guess, other, seen in zip(*found, strict=True):
                        sizes = [one.columns[0].mostly for one in (guess, other, seen)]
                        ratios = ", ".join(f"{float(size / sizes[2]):.2f}" for size in sizes[:2])
                        shown = " | ".join(f"{float(size):,.0f}" for size in sizes)
                        yield f"| {name} | `{sql}` | {float(guess.epsilon):g} | {shown} | {ratios} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("database", nargs="?")
    parser.add_argument("policy", nargs="?")
    parser.add_argument("sql", nargs="*")
    parser.add_argument("--epsilon", type=Fraction, nargs="+", default=EPSILONS)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--like")
    options = parser.parse_args()
    if options.database is None:
        for line in of_examples(options.epsilon, options.runs):
            print(line, flush=True)
        return
    print("| question | ε | column | estimated | measured | ratio |\n|---|---:|---|---:|---:|---:|")
    with connect(options.database, options.policy) as session:
        for sql in options.sql:
            for epsilon, name, guess, error in compared(
                session, options.database, sql, options.epsilon, options.runs, options.like
            ):
                ratio = f"{float(guess / error):.2f}" if error else "–"
                shown = f"{float(guess):,.0f} | {float(error):,.0f} | {ratio}"
                print(f"| `{sql}` | {float(epsilon):g} | {name} | {shown} |", flush=True)


if __name__ == "__main__":
    main()
