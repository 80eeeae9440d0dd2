"""Policies of data whose rows name persons: nobody has a table of their own."""

from __future__ import annotations

from dataclasses import replace

from recuse.policy import Link, Policy, Protect
from recuse.privacy import Epsilon


def about_people(*links: tuple[str, str], epsilon: int | None = None) -> Policy:
    """Return the policy in which each (table, column) names a person who owns the row, with all others."""
    found = Policy(
        protect=(Protect.virtual("person"),),
        links=tuple(Link.all(table, column, to="person") for table, column in links),
    )
    return found if epsilon is None else replace(found, budget=Epsilon.of(epsilon))
