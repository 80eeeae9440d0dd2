"""`Schema`: what a query is read against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from recuse.policy.terms import DomainValues
from recuse.sql.catalogue import Catalogue
from recuse.sql.ownership import Ownership, PublicTable
from recuse.sql.query import Block, Own, Scan, SetOf
from recuse.sql.walk import sources_of

if TYPE_CHECKING:
    from recuse.sql.native.question import PublicQuery


@dataclass(frozen=True, slots=True)
class Schema:
    """What a query is read against: catalogue, ownership, the unit of sums, and the text for messages."""

    catalogue: Catalogue
    ownership: Ownership
    granularity: Fraction
    text: str
    domains: Mapping[tuple[str, str], DomainValues] = field(default_factory=dict)
    """the values that the policy states for (table, column), in lower case"""
    domain_queries: Mapping[tuple[str, str], PublicQuery] = field(default_factory=dict)
    """those of them that queries over public tables return"""
    finds_keys: bool = False
    """whether the policy grants δ, so that keys may be found among private rows"""

    def is_public(self, block: Block) -> bool:
        """Return whether nobody owns any row that the block looks at."""
        return all(self._is_public(source) for source in sources_of([block]) if not isinstance(source, SetOf))

    def _is_public(self, source: Scan | Own) -> bool:
        if isinstance(source, Own):
            return source.public
        return isinstance(self.ownership.of(source.table.name), PublicTable)
