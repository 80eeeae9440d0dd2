"""GROUP BY on TPC-H: how far groups are off, beside an oracle. NOT PRIVATE, made data.

    python -m recuse.lab.experiments.groups tpch.duckdb [--epsilon 0.1 0.5 1 2] [--runs 11] [--only Q9]

`tpch load` (of `lab.experiments.tpch`) makes the database. An error is the mean of |answer - truth| over
groups and runs. The oracle knows the data: it takes the best doubling for τ in hindsight, for the same form
of release and with all of ε for its noise, and its error is the mean expected.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from pathlib import Path
from statistics import fmean

from recuse.engines.open import open_engine
from recuse.lab.experiments.tpch_written import policy_with
from recuse.mechanism.cell import Staircase
from recuse.mechanism.grid import Releasable
from recuse.mechanism.groups import Groups, OneOwner, SideBySide, Together
from recuse.mechanism.hull import HullGroups
from recuse.mechanism.mechanisms import DEFAULT
from recuse.noise import SecureNoise
from recuse.policy import Policy
from recuse.privacy import Epsilon
from recuse.session.sql_question import SqlQuestion
from recuse.solver.fast import fast_programs
from recuse.sql.compile import compile_query

ITEMS = (
    "FROM customer, orders, lineitem, supplier, nation WHERE c_custkey = o_custkey "
    "AND l_orderkey = o_orderkey AND l_suppkey = s_suppkey"
)
YEARS = "extract(year FROM o_orderdate) IN (1992, 1993, 1994, 1995, 1996, 1997, 1998)"
MONTHS = "extract(month FROM o_orderdate) IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)"
BOTH = ("customer", "supplier")
TAUS = [Fraction(2) ** k for k in range(42)]


@dataclass(frozen=True, slots=True)
class GroupedQuestion:
    """A question with groups, and who is protected."""

    name: str
    sql: str
    protected: tuple[str, ...] = ("customer",)


QUESTIONS = (
    GroupedQuestion(
        "orders by month",
        f"SELECT extract(month FROM o_orderdate), COUNT(*) FROM orders WHERE {MONTHS} GROUP BY 1",
    ),
    GroupedQuestion(
        "revenue by region and month",
        "SELECT r_name, extract(month FROM o_orderdate), SUM(o_totalprice) "
        "FROM orders, customer, nation, region "
        "WHERE o_custkey = c_custkey AND c_nationkey = n_nationkey AND n_regionkey = r_regionkey "
        f"AND {MONTHS} GROUP BY 1, 2",
    ),
    GroupedQuestion(
        "2,000 products",
        "SELECT p_partkey, COUNT(*) FROM lineitem, part "
        "WHERE l_partkey = p_partkey AND p_partkey <= 2000 GROUP BY 1",
    ),
    GroupedQuestion(
        "Q1 as a count, by flag and status",
        "SELECT l_returnflag, l_linestatus, COUNT(*) FROM lineitem WHERE l_shipdate <= DATE '1998-09-02' "
        "AND l_returnflag IN ('A', 'N', 'R') AND l_linestatus IN ('F', 'O') GROUP BY 1, 2",
    ),
    GroupedQuestion(
        "Q13, customers by how many orders they have",
        "SELECT n, COUNT(*) FROM (SELECT c_custkey, COUNT(o_orderkey) AS n FROM customer LEFT JOIN orders "
        "ON c_custkey = o_custkey AND o_comment NOT LIKE '%special%requests%' GROUP BY c_custkey) AS each "
        "WHERE n BETWEEN 0 AND 45 GROUP BY n",
    ),
    GroupedQuestion(
        "Q5 as a count, by nation",
        f"SELECT n_name, COUNT(*) {ITEMS} AND c_nationkey = s_nationkey "
        "AND s_nationkey = n_nationkey GROUP BY 1",
        BOTH,
    ),
    GroupedQuestion(
        "Q7 as a count, by nation of the supplier and year",
        f"SELECT n_name, extract(year FROM l_shipdate), COUNT(*) {ITEMS} AND s_nationkey = n_nationkey "
        "AND extract(year FROM l_shipdate) IN (1995, 1996) GROUP BY 1, 2",
        BOTH,
    ),
    GroupedQuestion(
        "Q8 as a count, by year",
        f"SELECT extract(year FROM o_orderdate), COUNT(*) {ITEMS} AND s_nationkey = n_nationkey "
        "AND n_name = 'BRAZIL' AND extract(year FROM o_orderdate) IN (1995, 1996) GROUP BY 1",
        BOTH,
    ),
    GroupedQuestion(
        "Q9 as a count, by nation and year",
        "SELECT n_name, extract(year FROM o_orderdate), COUNT(*) "
        "FROM part, supplier, lineitem, orders, nation "
        "WHERE s_suppkey = l_suppkey AND p_partkey = l_partkey AND o_orderkey = l_orderkey "
        f"AND s_nationkey = n_nationkey AND p_name LIKE '%green%' AND {YEARS} GROUP BY 1, 2",
        BOTH,
    ),
    GroupedQuestion(
        "Q10 as a count, by nation of the customer",
        f"SELECT n_name, COUNT(*) {ITEMS} AND c_nationkey = n_nationkey AND l_returnflag = 'R' GROUP BY 1",
        BOTH,
    ),
    GroupedQuestion(
        "items of both kinds by month",
        f"SELECT extract(month FROM o_orderdate), COUNT(*) {ITEMS} AND s_nationkey = n_nationkey "
        f"AND {MONTHS} AND o_orderdate >= DATE '1994-01-01' AND o_orderdate < DATE '1995-01-01' GROUP BY 1",
        BOTH,
    ),
)


@dataclass(frozen=True, slots=True)
class GroupedError:
    """A question at an ε: its form, its groups, a typical truth, how far answers and the oracle's are off."""

    form: str
    groups: int
    truth: float
    error: float
    oracle: float


def form_of(groups: Groups) -> str:
    """Return the name of a form of release."""
    if isinstance(groups, Together):
        norm = "hull" if isinstance(groups.subject, HullGroups) else "priced"
        return "cube" if norm == "hull" and groups.signed else norm
    return "one owner" if isinstance(groups, OneOwner) else "side by side"


def parts_of(groups: Groups) -> Sequence[Releasable]:
    """Return what is released with one noise each."""
    if isinstance(groups, SideBySide):
        return groups.relations
    if isinstance(groups, OneOwner):
        return [groups.vectors]
    if isinstance(groups, Together):
        return [groups.subject]
    raise TypeError("groups of another making")


def oracle(groups: Groups, truth: Sequence[int], epsilon: Fraction) -> float:
    """Return the mean error of a group where every part has its best τ, in hindsight."""
    total, start = 0.0, 0
    for part in parts_of(groups):
        mine = truth[start : start + len(part.constants)]
        start += len(mine)
        total += _least(part, mine, epsilon)
    return total / max(1, len(truth))


def _least(part: Releasable, truth: Sequence[int], epsilon: Fraction) -> float:
    """Return the least error of a part over all τ but those whose noise alone is larger."""
    best = inf
    for tau in TAUS:
        step, constants = part.grid(tau).step, part.constants
        noise = float(part.noise(epsilon, tau, Staircase).spread() * step)
        if noise * len(truth) >= best:
            break
        found = zip(part.at(tau), constants, truth, strict=True)
        best = min(best, sum(abs(float(place * step + c - exact)) + noise for place, c, exact in found))
    return best


def errors(
    database: Path, policy: Policy, asked: GroupedQuestion, epsilons: Sequence[Fraction], runs: int
) -> Iterator[GroupedError]:
    """Yield the errors of a question, one a time for every ε; it is read once."""
    with closing(open_engine(database)) as engine:
        plan = compile_query(asked.sql, policy, engine.catalogue())
        questions = [SqlQuestion.of(plan, engine, Epsilon(one), DEFAULT, "") for one in epsilons]
        (groups,) = questions[0].read_private_rows(fast_programs)
    truth = [int(answer or 0) for answer in groups.true_answers()]
    unit = float(plan.measures[0].granularity)
    for epsilon, question in zip(epsilons, questions, strict=True):
        mechanism = question.parts[0].mechanism
        if mechanism is None:
            continue
        found = [
            abs(float(release.value) - exact)
            for _ in range(runs)
            for release, exact in zip(groups.release(mechanism, SecureNoise()), truth, strict=True)
        ]
        best = oracle(groups, truth, epsilon)
        yield GroupedError(form_of(groups), len(truth), unit * fmean(truth), unit * fmean(found), unit * best)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("database", type=Path)
    parser.add_argument("--epsilon", type=Fraction, nargs="+", default=[Fraction(1)])
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    policies: dict[tuple[str, ...], Policy] = {
        who: policy_with(options.database, who, "") for who in (("customer",), BOTH)
    }
    print(
        "| question | protected | form | groups | mean group | "
        + " | ".join(f"ε = {float(e):g}" for e in options.epsilon)
        + " |"
    )
    print("|---|---|---|---:|---:|" + "---:|" * len(options.epsilon))
    for asked in QUESTIONS:
        if options.only not in asked.name:
            continue
        found = list(
            errors(options.database, policies[asked.protected], asked, options.epsilon, options.runs)
        )
        cells = " | ".join(f"{one.error:,.0f} ({one.oracle:,.0f})" for one in found)
        first, who = found[0], "c+s" if asked.protected == BOTH else "c"
        print(
            f"| {asked.name} | {who} | {first.form} | {first.groups} | {first.truth:,.0f} | {cells} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
