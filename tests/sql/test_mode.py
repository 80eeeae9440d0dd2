"""MODE of listed values: what it means, what is refused, and that its draw costs what it says."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given, settings

from recuse.engines.collect import collect, collect_domain
from recuse.errors import QueryError
from recuse.mechanism.parameters import SLACK
from recuse.mechanism.pick import pick
from recuse.privacy import Epsilon
from recuse.session.parts import Parts
from recuse.session.session import connect
from recuse.session.sql_question import SqlQuestion
from recuse.solver.fast import fast_programs
from recuse.sql.compile import compile_query
from support.noise import Seeded
from support.profiles import examples
from support.shop import make_shop
from support.sql.shop import CATALOGUE, POLICY, full_databases

COUNTED = "SELECT c_nation, COUNT(*) FROM customer WHERE c_nation IN (2, 0, 1) GROUP BY c_nation"
LISTED = "SELECT MODE(c_nation) FROM customer WHERE c_nation IN (2, 0, 1)"


@settings(max_examples=examples(12))
@given(full_databases())
def test_without_noise_it_is_a_most_frequent_value(database):
    engine = database.load()
    plan = compile_query(LISTED, POLICY, engine.catalogue())
    question = SqlQuestion.of(plan, engine, Epsilon.of(1), "selective", "")
    ((found,),) = [groups.true_answers() for groups in question.read_private_rows(fast_programs)]
    counting = compile_query(COUNTED, POLICY, engine.catalogue())
    domain = collect_domain(engine, counting.grouping)
    counts = [relation.true_answer() for relation in collect(engine, counting, domain)[0]]
    assert (found is None) is (max(counts) == 0)
    assert found is None or counts[found] == max(counts)


def test_values_that_nobody_listed_are_refused():
    with pytest.raises(QueryError, match="values that are listed"):
        compile_query("SELECT MODE(o_total) FROM orders", POLICY, CATALOGUE)
    with pytest.raises(QueryError):
        compile_query(
            "SELECT MODE(DISTINCT c_nation) FROM customer WHERE c_nation IN (1, 2)", POLICY, CATALOGUE
        )


def test_an_answer_is_the_value_itself_and_of_groups_too(tmp_path):
    database, policy = make_shop(tmp_path)
    policy.write_text(policy.read_text().replace("epsilon = 2", "epsilon = 1000"))
    with connect(database, policy, parts=Parts(noise=Seeded(3))) as session:
        text = "SELECT MODE(nation) FROM customer WHERE nation IN (0, 1, 2, 3, 4)"
        assert session.ask(text, 1).value in range(5)
        truth = session.ask("SELECT MODE(nation > 2) FROM customer", 100)
        assert [row.keys for row in truth] in ([(True,)], [(False,)])
        assert "the most frequent of 5 values" in "\n".join(session.explain(text).lines())


def probabilities(counts, rate) -> list[float]:
    weights = [math.exp(float(rate * count)) for count in counts]
    return [weight / sum(weights) for weight in weights]


@pytest.mark.parametrize(("factor", "safe"), [(1, True), (2, False)])
def test_neighbours_pick_alike_exactly(factor, safe):
    """The audit: people bring up to τ rows to each value; a twin of twice the rate is caught."""
    tau, epsilon = Fraction(2), Fraction(1)
    rate = factor * epsilon / (tau * (1 + 2 * SLACK))
    people = [{0: 2}, {1: 2}, {0: 1, 2: 5}, {2: 3}, {0: 2, 1: 2, 2: 2}]

    def counts(some):
        return [sum(min(Fraction(held.get(value, 0)), tau) for held in some) for value in range(3)]

    whole = probabilities(counts(people), rate)
    losses = [
        abs(math.log(one / other))
        for leaver in range(5)
        for one, other in zip(
            whole, probabilities(counts(people[:leaver] + people[leaver + 1 :]), rate), strict=True
        )
    ]
    assert (max(losses) <= epsilon) is safe


def test_the_draw_has_these_probabilities():
    noise, scores, draws = Seeded(5), [Fraction(3, 2), Fraction(1), Fraction(0)], 2_000
    found = Counter(pick([Fraction(1)] * 3, [max(scores) - s for s in scores], noise) for _ in range(draws))
    for value, p in enumerate(probabilities(scores, Fraction(1))):
        assert abs(found[value] - draws * p) < 5 * math.sqrt(draws * p * (1 - p))
    assert abs(found[0] - draws / 3) > 5 * math.sqrt(draws / 3), "not uniform"
