"""Groups of rows with one owner, beside OpenDP and PipelineDP that are told a bound. NOT PRIVATE, made data.

    python -m recuse.lab.experiments.told [--epsilon 0.1 0.5 1 2] [--runs 5] [--pipeline-dp SITE_PACKAGES]

Others must be told how much one person brings at most. The right bound is the largest that there is, which is
private; a guess is ten times too large or too small. OpenDP adds Laplace noise to groups of which everybody's
rows beyond the bound were left out; PipelineDP does both itself, where its packages are (in a Python of the
same version). An error is the mean of |answer - truth| over all groups and runs.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import opendp.prelude as dp
import pyarrow
from numpy.typing import NDArray

from recuse.engines.bare import bare
from recuse.policy import Link, Policy, Protect, Public
from recuse.privacy import Epsilon
from recuse.session.session import connect

GroupCounts = NDArray[np.int64]
SEED = 18
POLICY = Policy(
    protect=(Protect.rows("person", "id"),),
    links=(Link.all("buys", "person", to="person"),),
    public=(Public("product"),),
    budget=Epsilon.of(1000),
)
ASKED = (
    "SELECT product.id, {what} FROM buys JOIN product ON buys.product = product.id "
    "GROUP BY product.id ORDER BY product.id"
)


@dataclass(frozen=True, slots=True)
class Bought:
    """Who bought which product for how much, and what is asked of it."""

    name: str
    what: str
    people: int
    groups: int
    person: GroupCounts
    product: GroupCounts
    price: GroupCounts

    def weights(self) -> GroupCounts:
        """Return what each row counts for."""
        return np.ones_like(self.price) if self.what == "COUNT(*)" else self.price

    def truth(self, kept: NDArray[np.bool_] | None = None) -> GroupCounts:
        """Return the number of every group, of some rows if they are named."""
        some = np.ones(len(self.person), bool) if kept is None else kept
        found = np.bincount(self.product[some], self.weights()[some], self.groups)
        return found.astype(np.int64)

    def right_bound(self) -> int:
        """Return the most that one person brings to all groups."""
        return int(np.bincount(self.person, self.weights(), self.people).max())

    def within(self, bound: int, draws: np.random.Generator) -> NDArray[np.bool_]:
        """Return rows of which nobody's are worth more than a bound, those that are left out by chance."""
        order = np.lexsort((draws.random(len(self.person)), self.person))
        person, weights = self.person[order], self.weights()[order]
        sums = np.cumsum(weights)
        first = np.flatnonzero(np.diff(person, prepend=-1))
        before = np.repeat(sums[first] - weights[first], np.diff(np.append(first, len(person))))
        kept = np.zeros(len(person), bool)
        kept[order] = sums - before <= bound
        return kept


def bought(name: str, what: str, people: int, groups: int, spread: float) -> Bought:
    """Return made data: nine rows a person on average, lognormal with a spread; products by Zipf."""
    draws = np.random.default_rng(SEED)
    rows = np.maximum(1, np.round(draws.lognormal(np.log(9) - spread**2 / 2, spread, people))).astype(int)
    person = np.repeat(np.arange(people), rows)
    popular = 1 / np.arange(1, groups + 1)
    product = draws.choice(groups, len(person), p=popular / popular.sum())
    price = np.round(draws.lognormal(3, 0.5, len(person))).astype(int) + 1
    return Bought(name, what, people, groups, person, product, price)


def questions(people: int) -> list[Bought]:
    """Return what is asked."""
    return [
        bought("2,000 products", "COUNT(*)", people, 2000, 0.4),
        bought("2,000 products, heavy tail", "COUNT(*)", people, 2000, 1.2),
        bought("12 months", "COUNT(*)", people, 12, 0.4),
        bought("revenue of 12 months", "SUM(price)", people, 12, 0.4),
    ]


def ours(data: Bought, epsilon: Fraction, runs: int) -> Iterator[NDArray[np.float64]]:
    """Yield answers that are told nothing."""
    with closing(bare()) as connection:
        connection.register("people", pyarrow.table({"id": np.arange(data.people)}))
        connection.register("products", pyarrow.table({"id": np.arange(data.groups)}))
        rows = {"person": data.person, "product": data.product, "price": data.price}
        connection.register("sold", pyarrow.table(rows))
        for table, source in (("person", "people"), ("product", "products"), ("buys", "sold")):
            connection.execute(f"CREATE TABLE {table} AS SELECT * FROM {source}")
        for _ in range(runs):
            with connect(connection, POLICY) as session:
                answer = session.ask(ASKED.format(what=data.what), epsilon)
            yield np.array([float(row.cells[0].value or 0) for row in answer])


ToldMechanism = Callable[[Bought, Fraction, Fraction, np.random.Generator], NDArray[np.float64]]
"""(data, ε, what the right bound is multiplied by, draws) → an answer"""


def with_opendp(
    data: Bought, epsilon: Fraction, factor: Fraction, draws: np.random.Generator
) -> NDArray[np.float64]:
    """Return groups with Laplace noise, for a bound on the whole of a person."""
    bound = _times(factor, data.right_bound())
    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    noisy = dp.m.make_laplace(*domain, scale=bound / float(epsilon))
    return np.array(noisy(data.truth(data.within(bound, draws)).tolist()), float)


def with_pipeline_dp(
    data: Bought, epsilon: Fraction, factor: Fraction, _: np.random.Generator
) -> NDArray[np.float64]:
    """Return what PipelineDP answers, with all groups public: for sums its bounds are by partition."""
    pipeline: Any = import_module("pipeline_dp")
    budget = pipeline.NaiveBudgetAccountant(total_epsilon=float(epsilon), total_delta=0)
    engine = pipeline.DPEngine(budget, pipeline.LocalBackend())
    if data.what == "COUNT(*)":
        metric, told = pipeline.Metrics.COUNT, {"max_contributions": _times(factor, data.right_bound())}
    else:
        pairs, place = np.unique(data.person * data.groups + data.product, return_inverse=True)
        most = int(np.bincount(place, data.weights()).max())
        metric = pipeline.Metrics.SUM
        told = {
            "max_partitions_contributed": int(np.bincount(pairs // data.groups).max()),
            "max_contributions_per_partition": len(data.person),
            "min_sum_per_partition": 0,
            "max_sum_per_partition": _times(factor, most),
        }
    parameters = pipeline.AggregateParams(noise_kind=pipeline.NoiseKind.LAPLACE, metrics=[metric], **told)
    extractors = pipeline.DataExtractors(
        privacy_id_extractor=lambda row: row[0],
        partition_extractor=lambda row: row[1],
        value_extractor=lambda row: row[2],
    )
    rows = list(zip(data.person.tolist(), data.product.tolist(), data.weights().tolist(), strict=True))
    result = engine.aggregate(rows, parameters, extractors, public_partitions=list(range(data.groups)))
    budget.compute_budgets()
    found = dict(result)
    return np.array([float(next(iter(found[group]))) for group in range(data.groups)])


def _times(factor: Fraction, bound: int) -> int:
    return max(1, round(factor * bound))


FACTORS = (Fraction(1), Fraction(10), Fraction(1, 10))


def rows(epsilons: Sequence[Fraction], runs: int, people: int) -> Iterator[str]:
    """Yield the table: a question and an ε a line."""
    contestants: dict[str, tuple[ToldMechanism, int]] = {"OpenDP": (with_opendp, runs)}
    if find_spec("pipeline_dp") is not None:
        contestants["PipelineDP"] = (with_pipeline_dp, 1)
    heads = [f"{name}, {words}" for name in contestants for words in ("told", "10 × too large", "too small")]
    yield f"| question | ε | mean group | ours, median | ours, mean | {' | '.join(heads)} |"
    yield "|---|---:|---:|" + "---:|" * (2 + len(heads))
    draws = np.random.default_rng(SEED)
    for data in questions(people):
        truth = data.truth()
        for epsilon in epsilons:
            mine = np.abs(np.array(list(ours(data, epsilon, runs))) - truth)
            cells = [f"{np.median(mine):,.0f}", f"{mine.mean():,.0f}"]
            for contestant, repeats in contestants.values():
                for factor in FACTORS:
                    found = [contestant(data, epsilon, factor, draws) for _ in range(repeats)]
                    off = float(np.abs(np.array(found) - truth).mean())
                    cells.append(f"{off:,.0f} ({mine.mean() / off:.2f})")
            yield f"| {data.name} | {float(epsilon):g} | {truth.mean():,.0f} | {' | '.join(cells)} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--epsilon", type=Fraction, nargs="+", default=[Fraction(1)])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--people", type=int, default=20_000)
    parser.add_argument("--pipeline-dp", metavar="SITE_PACKAGES", default=None)
    options = parser.parse_args()
    if options.pipeline_dp is not None:
        sys.path.append(options.pipeline_dp)
    for line in rows(options.epsilon, options.runs, options.people):
        print(line, flush=True)


if __name__ == "__main__":
    main()
