"""Estimates from what one may state, beside measured errors. NOT PRIVATE, data one may see.

    python -m recuse.lab.experiments.estimates DATABASE POLICY "SELECT …" … [--epsilon 0.5 1 2]

The estimate is told the rows of every table and the most rows that link to one or share a reference, as
`--rows` and `--largest` would; the measured error is that of as many runs on the data themselves. Both are 9
of 10 errors, at most.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from fractions import Fraction

from recuse.engines.literals import name_literal
from recuse.session.session import Session, connect
from recuse.session.statistics import Statistics
from recuse.sql.ownership import Linked, own

EPSILONS = (Fraction(1, 2), Fraction(1), Fraction(2))


def stated(session: Session) -> Statistics:
    """Return what one would state of a database: rows, and the largest fan-outs of links."""
    catalogue, rows, largest = session.engine.catalogue(), dict[str, int](), dict[str, int]()
    ownership = own(session.policy, catalogue)
    for table in catalogue.tables:
        source = ".".join(map(name_literal, table.path or (table.name,)))
        rows[table.name] = max(1, _number(session, f"SELECT COUNT(*) AS n FROM {source}"))
        owned = ownership.of(table.name)
        for hop in owned.hops if isinstance(owned, Linked) else ():
            for columns in hop.alternatives:
                most = _most_alike(session, source, columns)
                largest[table.name] = max(most, largest.get(table.name, 1))
        for key in table.foreign_keys:
            if len(key.columns) == 1:
                largest[f"{table.name}.{key.columns[0]}"] = _most_alike(session, source, key.columns)
    return Statistics(rows, largest)


def _most_alike(session: Session, source: str, columns: Sequence[str]) -> int:
    """Return how many rows share what they have in some columns, at most."""
    named = ", ".join(map(name_literal, columns))
    each = f"SELECT COUNT(*) AS c FROM {source} GROUP BY {named}"
    return _number(session, f"SELECT COALESCE(MAX(c), 1) AS n FROM ({each}) AS fan")


def _number(session: Session, sql: str) -> int:
    (found,) = session.engine.run([sql])
    return int(found["n"][0].as_py())


def compared(
    session: Session, data: str, sql: str, epsilons: Sequence[Fraction], runs: int
) -> Iterator[tuple[Fraction, str, Fraction, Fraction]]:
    """Yield for every ε and column the estimated and the measured error."""
    told = session.estimates(sql, epsilons, like=stated(session), runs=runs)
    seen = session.estimates(sql, epsilons, like=data, runs=runs)
    for one, other in zip(told, seen, strict=True):
        for guess, error in zip(one.columns, other.columns, strict=True):
            yield one.epsilon, guess.name, guess.mostly, error.mostly


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("database")
    parser.add_argument("policy")
    parser.add_argument("sql", nargs="+")
    parser.add_argument("--epsilon", type=Fraction, nargs="+", default=EPSILONS)
    parser.add_argument("--runs", type=int, default=200)
    options = parser.parse_args()
    print("| question | ε | column | estimated | measured | ratio |\n|---|---:|---|---:|---:|---:|")
    with connect(options.database, options.policy) as session:
        for sql in options.sql:
            for epsilon, name, guess, error in compared(
                session, options.database, sql, options.epsilon, options.runs
            ):
                ratio = f"{float(guess / error):.2f}" if error else "–"
                shown = f"{float(guess):,.0f} | {float(error):,.0f} | {ratio}"
                print(f"| `{sql}` | {float(epsilon):g} | {name} | {shown} |", flush=True)


if __name__ == "__main__":
    main()
