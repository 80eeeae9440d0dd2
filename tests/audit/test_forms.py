"""The privacy audit of forms of SQL, exactly: what a question makes of tiny neighbouring databases.

Conditions on what groups show (`narrow`), averages over groups (`means`) and division by a public table are
rewritten before they are read; what is released is audited from the text on, by the default mechanism.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from recuse.engines.collect import collect, collect_domain
from recuse.krelation.relation import KRelation
from recuse.mechanism import presets
from recuse.privacy import Epsilon
from recuse.sql.compile import compile_query
from recuse.sql.plan import Plan
from support.races import joint_loss
from support.sql.market import MARKETS, Contents, close_engines

MARKET, ONE, ALLOWED = MARKETS[0], Epsilon.of(1), 1 + 1e-6
EMPTY: dict[str, tuple[tuple[object, ...], ...]] = dict.fromkeys(
    ("nation", "product", "customer", "supplier", "orders", "item", "gift", "meeting"), ()
)
MARKETPLACE = Contents(
    EMPTY
    | {
        "nation": ((0, "here"),),
        "product": ((0, "k", 1), (1, "k", 1)),
        "customer": tuple((n, 0, "a", None) for n in (1, 2, 3)),
        "supplier": (("x", 0),),
        "orders": tuple((n, n, "2020-01-01", None) for n in (1, 2, 3)),
        "item": ((1, "x", 0, 1), (2, "x", 0, 1), (3, "x", 0, 1), (3, "x", 1, 1), (2, "x", 1, 1)),
    }
)
GROUPS = "(SELECT i_product AS p, COUNT(*) AS n FROM item GROUP BY 1) g"
FORMS = {
    "narrow": f"SELECT COUNT(*) FROM {GROUPS} WHERE n >= 2",
    "narrow, joined": f"SELECT COUNT(*) FROM item JOIN {GROUPS} ON i_product = g.p WHERE g.n >= 3",
    "means": f"SELECT AVG(n) FROM {GROUPS}",
    "division": "SELECT COUNT(*) FROM nation WHERE NOT EXISTS (SELECT 1 FROM product WHERE NOT EXISTS "
    "(SELECT 1 FROM item JOIN orders ON o_id = i_order JOIN customer ON c_id = o_customer "
    "WHERE i_product = p_id AND c_nation = n_id))",
}


@pytest.fixture(autouse=True, scope="module")
def _close():
    yield
    close_engines()


def relations(plan: Plan, contents: Contents) -> Iterator[KRelation]:
    """Yield the relations of all numbers that a question releases, those that come first first."""
    engine = contents.load(MARKET)
    for asked in (*(first.plan for first in plan.firsts), plan):
        for groups in collect(engine, asked, collect_domain(engine, asked.grouping)):
            yield from groups


def losses(text: str, twin: str | None = None) -> Iterator[float]:
    """Yield the worst log-ratio of every number, whoever leaves; the `twin` is asked of what is left."""
    compiled = [compile_query(asked, MARKET.policy, MARKET.catalogue()) for asked in (text, twin or text)]
    ours = list(relations(compiled[0], MARKETPLACE))
    for name in MARKETPLACE.participants(MARKET):
        theirs = list(relations(compiled[1], MARKETPLACE.without(MARKET, name)))
        assert len(ours) == len(theirs) > 0
        pairs = zip(ours, theirs, strict=True)
        yield from (joint_loss(one, other, presets.race_by_deficit(ONE), 8) for one, other in pairs)


@pytest.mark.parametrize("form", FORMS)
def test_whoever_leaves_no_number_tells(form):
    found = list(losses(FORMS[form]))
    assert max(found) <= ALLOWED
    assert max(found) > 0.1, "somebody matters"


def test_a_condition_that_is_settled_on_the_data_is_caught():
    """The twin: which groups are large enough is read off the rows, and not what a withdrawal changes."""
    listed = "SELECT COUNT(*) FROM item WHERE i_product IN ({})"
    assert max(losses(listed.format("0"), listed.format("-1"))) > 2
