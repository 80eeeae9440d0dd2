"""A policy drawn: every table and link of it is in the picture, participants on top."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from recuse.examples import EXAMPLES, policy_text
from recuse.policy import Policy
from recuse.policy.draw import as_lines, as_svg, levels


def test_tables_hang_below_whom_they_belong_to():
    assert as_lines(Policy.parse(policy_text("shop"))) == [
        "customer (id): each is one participant",
        "└─ orders (customer)",
        "   └─ line (order_id)",
        "about nobody: region, product",
    ]


def test_a_table_with_two_links_has_two_branches_and_a_kind_needs_no_table():
    text = '[[protect]]\nkind = "p"\n[[link]]\ntable = "f"\ncolumn = ["a"]\nto = "p"\n'
    policy = Policy.parse(
        text + text.partition("\n[[link]]")[1] + '\ntable = "f"\ncolumn = ["b"]\nto = "p"\n'
    )
    assert as_lines(policy) == ["p: each is one participant", "├─ f (a)", "└─ f (b)"]
    assert levels(policy) == [["p"], ["f"]]


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_picture_has_a_box_a_table_and_an_arrow_a_link(name):
    policy = Policy.parse(policy_text(name))
    drawn = ElementTree.fromstring(as_svg(policy))
    kind = "{http://www.w3.org/2000/svg}"
    named = {entry.table for entry in (*policy.protect, *policy.public, *policy.links)}
    assert len(drawn.findall(f"{kind}rect")) == len(named)
    assert len(drawn.findall(f"{kind}line")) == len(policy.links)
    for box in drawn.findall(f"{kind}rect"):
        assert 0 <= float(box.get("x")) <= float(drawn.get("width")) - float(box.get("width"))
        assert 0 <= float(box.get("y")) <= float(drawn.get("height")) - float(box.get("height"))
