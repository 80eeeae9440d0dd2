"""Random expressions wherever one can stand: nothing raises, and the neighbour law holds.

For every person, the relation with p→False is the relation of the rows without p's, whatever NaNs, zeros,
infinities and ends of types stand in keys, ties and sets.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import duckdb
import pytest

from recuse.engines.binding import check_plan
from recuse.engines.collect import collect
from recuse.engines.duckdb import DuckDB
from recuse.errors import QueryError
from recuse.krelation.build import canonical_rows, without
from recuse.krelation.relation import KRelation
from recuse.policy import Link, Policy, Protect
from recuse.sql.compile import compile_query
from recuse.sql.plan import Plan
from support.profiles import examples
from support.sql.written import question, rows, table

POLICY = Policy(
    protect=(Protect.virtual("person"),),
    links=(Link.all("t", "p", to="person"), Link.all("u", "p", to="person"), Link.all("u", "q", to="person")),
)
PEOPLE = range(1, 5)


class Databases:
    """One database, and for every person the same without them."""

    def __init__(self, chance: random.Random) -> None:
        # few rows have narrow statistics, from which DuckDB plans another way
        t, u = chance.choice([(7, 6), (7, 6), (2, 1), (1, 2)])
        self.whole = self._open(rows(chance, t), rows(chance, u), None)
        self.others = {person: self._open(self.t, self.u, person) for person in PEOPLE}

    def _open(self, t: list[str], u: list[str], leaver: int | None) -> DuckDB:
        self.t, self.u = t, u
        connection = duckdb.connect(":memory:")
        connection.execute(f"{table('t')}; {table('u')}")
        for name, listed in (("t", t), ("u", u)):
            connection.execute(f"INSERT INTO {name} VALUES {', '.join(listed)}")
        if leaver is not None:
            connection.execute(f"DELETE FROM t WHERE p = {leaver}; DELETE FROM u WHERE {leaver} IN (p, q)")
        return DuckDB.open(connection)


def accepted(chance: random.Random, database: DuckDB) -> Iterator[tuple[str, Plan]]:
    """Yield questions that are understood; what is refused is refused in our own words."""
    catalogue = database.catalogue()
    while True:
        text = question(chance)
        try:
            plan = compile_query(text, POLICY, catalogue)
        except QueryError:
            continue
        check_plan(plan, database)  # DuckDB refuses nothing that we understand
        yield text, plan


def relation(database: DuckDB, plan: Plan) -> KRelation:
    ((found,),) = collect(database, plan)
    return found


def obeys(seed: int, count: int) -> None:
    chance = random.Random(seed)
    databases = Databases(chance)
    questions = accepted(chance, databases.whole)
    for number in range(count):
        text, plan = next(questions)
        try:
            whole = relation(databases.whole, plan)
            for person, other in databases.others.items():
                left = canonical_rows(without(whole, ("person", person)))
                assert left == canonical_rows(relation(other, plan)), person
        except Exception as error:
            raise AssertionError(f"seed {seed}, question {number}: {text}") from error


def test_some_questions_raise_nothing_and_obey_the_neighbour_law():
    seed = random.SystemRandom().randrange(2**32)
    for database in range(examples(8, least=2)):
        obeys(seed + database, 12)


@pytest.mark.slow
def test_thousands_of_questions_raise_nothing_and_obey_the_neighbour_law():
    seed = random.SystemRandom().randrange(2**32)
    for database in range(40):
        obeys(seed + database, 125)
