"""Questions that faults are injected into: every way to a release has one, and asks nothing twice.

ask = asking(session, "sum")        ask() → an answer, the same way every time
forms(ask, session, faults) → all that leaves when each of the calls fails
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from unittest.mock import patch

import duckdb
import networkx
import pytest

from recuse.errors import UNANSWERED, UnansweredError
from recuse.policy import Policy
from recuse.session import spine
from recuse.session.cdf_question import CdfQuestion
from recuse.session.graph import GraphSession, graph
from recuse.session.parts import Parts
from recuse.session.session import Session, connect
from support.fault_injection import Call, Fault, errors, form_of, left_by, left_one_by_one
from support.noise import Seeded

POLICY_TEXT = """
[[protect]]
table = "person"
key = ["id"]

[[link]]
table = "visit"
column = ["person"]
to = "person"

[[protect]]
table = "patient"
key = ["id"]

[[public]]
table = "town"

[[domain]]
table = "visit"
column = "day"
query = "SELECT id FROM town"

[budget]
epsilon = 1000
delta = 0.001
"""
POLICY = Policy.parse(POLICY_TEXT)

Asking = Callable[[], object]


@dataclass(frozen=True)
class Case:
    """A question, how it is asked, and the ε of it: one may be asked as often as the budget has room."""

    sql: str
    epsilon: Fraction = Fraction(1, 4)
    delta: str | None = None
    mechanism: str = "selective"
    cumulative: bool = False


NUMBER, GROUPS = (
    "SELECT COUNT(*) FROM visit",
    "SELECT town.name, COUNT(*) FROM person JOIN town ON person.town = town.id GROUP BY town.name",
)
JOINED = "SELECT COUNT(*) FROM visit v JOIN visit w ON v.cost = w.cost"
OF_DAYS = "SELECT v.day, COUNT(*) FROM visit v JOIN visit w ON v.cost = w.cost WHERE v.day < 4 GROUP BY v.day"
CASES = {
    "number": Case(NUMBER),
    "sum": Case("SELECT SUM(cost - 3) FROM visit JOIN person ON person = id WHERE day < 2"),
    "split": Case(JOINED, mechanism="split"),
    "tuned": Case(JOINED, mechanism="tuned"),
    "paper": Case(JOINED, mechanism="paper"),
    "groups": Case(GROUPS),
    "formula": Case("SELECT AVG(cost), 2 * COUNT(*) FROM visit"),
    "distinct": Case("SELECT COUNT(DISTINCT day) FROM visit"),
    "or": Case(
        "SELECT COUNT(*) FROM person p WHERE EXISTS (SELECT 1 FROM visit v WHERE v.day = p.id)"
        " OR p.id IN (SELECT cost FROM visit)"
    ),
    "absent": Case(
        "SELECT COUNT(*) FROM person p WHERE NOT EXISTS (SELECT 1 FROM visit v WHERE v.day = p.id)"
    ),
    "threshold": Case(
        "SELECT COUNT(*) FROM (SELECT day FROM visit WHERE person < 3 GROUP BY day HAVING COUNT(*) > 1)"
    ),
    "sum above": Case(
        "SELECT COUNT(*) FROM (SELECT day FROM visit WHERE person < 3 GROUP BY day"
        " HAVING SUM(greatest(cost, 0)) > 3)"
    ),
    "groups of thresholds": Case(
        "SELECT day, COUNT(*) FROM (SELECT day, cost FROM visit WHERE person < 2 GROUP BY day, cost"
        " HAVING COUNT(*) > 1) GROUP BY day"
    ),
    "own": Case(
        "SELECT COUNT(*) FROM (SELECT cost, LAG(cost) OVER (PARTITION BY person ORDER BY day, cost) AS c"
        " FROM visit) WHERE cost > c"
    ),
    "scalar": Case("SELECT COUNT(*) FROM visit WHERE cost > (SELECT AVG(cost) FROM visit)"),
    "variance": Case("SELECT VAR_POP(cost) FROM visit"),
    "line": Case("SELECT CORR(cost, day), REGR_SLOPE(cost, day) FROM visit"),
    "median": Case("SELECT MEDIAN(cost) FROM visit"),
    "quantile of dates": Case(
        "SELECT quantile_cont(DATE '2020-01-01' + CAST(age AS INTEGER), 0.3) FROM patient", Fraction(3, 2)
    ),
    "mode": Case("SELECT MODE(cost) FROM visit WHERE cost IN (0, 1, 2)"),
    "largest": Case("SELECT MAX(age), MIN(age) FROM patient", Fraction(3, 2)),
    "largest of groups": Case(
        "SELECT town.name, MAX(cost) FROM person JOIN town ON person.town = town.id"
        " JOIN visit ON visit.person = person.id GROUP BY town.name"
    ),
    "ends": Case("SELECT age // 10, COUNT(*) FROM patient GROUP BY 1", Fraction(3, 2)),
    "largest groups": Case(
        OF_DAYS.replace("v.day < 4", "v.day IN (0, 1, 2, 3, 4, 5, 6, 7)") + " ORDER BY COUNT(*) DESC LIMIT 1"
    ),
    "histogram": Case("SELECT HISTOGRAM(age, 3, 0, 90) FROM patient"),
    "histogram between found ends": Case("SELECT HISTOGRAM(age, 3) FROM patient", Fraction(3, 2)),
    "distribution": Case("SELECT HISTOGRAM(age, 3, 0, 90) FROM patient", cumulative=True),
    "found": Case("SELECT 'cost ' || cost, COUNT(*) FROM visit GROUP BY 1", delta="1e-7"),
    "found together": Case(
        "SELECT 'cost ' || v.cost, COUNT(*) FROM visit v JOIN visit w ON v.day = w.day GROUP BY 1",
        delta="1e-7",
    ),
    "window": Case(
        "SELECT town.name, RANK() OVER (ORDER BY COUNT(*)) FROM person JOIN town"
        " ON person.town = town.id GROUP BY town.name"
    ),
    "qualify": Case(
        "SELECT day, COUNT(*) FROM visit GROUP BY day QUALIFY RANK() OVER (ORDER BY COUNT(*) DESC) <= 2"
    ),
    "one owner": Case("SELECT day, COUNT(*) FROM visit WHERE day IN (0, 1, 2, 3) GROUP BY day"),
    "priced": Case(
        "SELECT town.name, v.day, COUNT(*) FROM visit v JOIN person p ON v.person = p.id"
        " JOIN town ON p.town = town.id JOIN visit w ON v.cost = w.cost GROUP BY 1, 2"
    ),
    "hull": Case(OF_DAYS.replace("v.day < 4", "v.day IN (0, 1, 2)")),
}
COUNTS: dict[str, Callable[[GraphSession], object]] = {
    "triangle": lambda session: session.count("triangle", protect="node", epsilon="1/4"),
    "star": lambda session: session.count("star(3)", protect="node", epsilon="1/4"),
    "books": lambda session: session.count("k-triangle(2)", protect="edge", epsilon="1/4"),
    "transitivity": lambda session: session.transitivity(protect="edge", epsilon="1/4"),
    "degrees": lambda session: session.degrees(protect="edge", epsilon="1/4"),
    "degrees of nodes": lambda session: session.degrees(protect="node", epsilon="1/4", tails=(2, 4, 7)),
    "motifs": lambda session: session.motifs(
        protect="edge", epsilon="1/4", patterns=("triangle", "rectangle")
    ),
}

_keys = map(str, itertools.count())
_losses = (Fraction(number, 10**9) for number in itertools.count(4_000_000))


def loss() -> str:
    """Return an ε that no question has had: what is stored for another is not found."""
    return str(next(_losses))


class SameNoise(Seeded):
    """The same noise for every question, so that it takes the same way."""

    def again(self) -> None:
        self.random = Random(7)


NOISE = SameNoise(7)
PARTS = Parts(noise=NOISE)


def made() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(":memory:", config={"threads": 1})
    fill(connection)
    return connection


def fill(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("CREATE TABLE person AS SELECT i AS id, i % 3 AS town FROM range(9) r(i)")
    columns = "i % 9 AS person, i % 4 AS day, i % 5 AS cost"
    connection.execute(f"CREATE TABLE visit AS SELECT {columns} FROM range(30) r(i)")
    connection.execute("CREATE TABLE patient AS SELECT i AS id, i * 7 % 90 AS age FROM range(300) r(i)")
    connection.execute("CREATE TABLE town AS SELECT i AS id, 'town-' || i AS name FROM range(3) r(i)")


def opened(name: str, database: duckdb.DuckDBPyConnection) -> Session | GraphSession:
    """Return a session with a budget of its own for the case of a name."""
    if name in CASES:
        return connect(database, POLICY, parts=PARTS)
    return graph(networkx.karate_club_graph().subgraph(range(9)), budget=1000, parts=PARTS)


def asking(session: Session | GraphSession, name: str) -> Asking:
    """Return what asks the case of a name, ever anew: no two have the same key.

    The question is made once. What comes before the charge is not what is made to fail here.
    """
    if isinstance(session, Session):
        case = CASES[name]
        question = session.question(case.sql, case.epsilon, delta=case.delta, mechanism=case.mechanism)

    def ask() -> object:
        NOISE.again()
        with patch.object(spine, "question_key", lambda _: next(_keys)):
            if isinstance(session, GraphSession):
                return COUNTS[name](session)
            return session.settle(CdfQuestion.of(question)) if case.cumulative else session.reply(question)

    return ask


def forms(ask: Asking, session: Session | GraphSession, faults: Iterable[Fault]) -> set[str]:
    """Return all that leaves when each of the calls fails. Every one is charged, answered or not."""
    spent = session.budget.spent

    def charged() -> bool:
        nonlocal spent
        before, spent = spent, session.budget.spent
        return spent > before

    by = left_one_by_one if isinstance(session, GraphSession) else left_by
    return by(ask, faults, charged)


def form_of_one_failure(ask: Asking) -> str:
    with (
        patch.object(spine, "Answer", lambda *_, **__: 1 // 0),
        pytest.raises(UnansweredError) as caught,
    ):
        ask()
    assert (str(caught.value), caught.value.__cause__, caught.value.__context__) == (UNANSWERED, None, None)
    return repr(form_of(caught.value))


def _all_kinds() -> Iterator[BaseException]:
    while True:
        yield from errors()


_errors = _all_kinds()


def in_turn(calls: Iterable[tuple[Call, int]]) -> Iterator[Fault]:
    """Return a fault for each of the calls, all kinds of errors in turn."""
    return (Fault(call, time, next(_errors)) for call, time in calls)


def at_first(calls: Iterable[Call]) -> Iterator[Fault]:
    return in_turn((call, 1) for call in calls)


def at_first_and_last(calls: Counter[Call]) -> Iterator[Fault]:
    """Return faults at the first and the last time of each call, and once between where there is one."""
    for call, times in calls.items():
        chosen = {1, times} if times < 3 else {1, times, Random().randint(2, times - 1)}
        yield from in_turn((call, time) for time in sorted(chosen))
