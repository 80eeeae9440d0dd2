"""What generated questions about the market are made of: columns by what they mean, and plain conditions."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

Column = tuple[str, str]
"""a column as it is written, and what its values mean"""

MEANING = {
    "nation": {"n_id": "nation", "n_name": "word"},
    "product": {"p_id": "product", "p_kind": "word", "p_price": "count"},
    "customer": {"c_id": "customer", "c_nation": "nation", "c_name": "word", "c_balance": "money"},
    "supplier": {"s_id": "supplier", "s_nation": "nation"},
    "orders": {"o_id": "order", "o_customer": "customer", "o_date": "date", "o_total": "money"},
    "item": {"i_order": "order", "i_supplier": "supplier", "i_product": "product", "i_count": "count"},
    "gift": {"g_from": "customer", "g_to": "customer", "g_product": "product"},
    "meeting": {"m_one": "person", "m_two": "person", "m_date": "date"},
}
CONSTANTS = {
    "date": ["DATE '1997-01-31'", "DATE '1997-06-15'", "DATE '1998-02-01'"],
    "money": ["0.25", "0.50", "12.50", "0"],
    "word": ["'a'", "'b'", "'k'", "'p'"],
    "supplier": ["'x'", "'y'"],
}
NUMBERS = ["0", "1", "2"]
NUMERIC = ("count", "money")
COMPARISONS = ("=", "<", ">", "<=", ">=", "<>")


@dataclass
class Words:
    """Draws from one stream of chance; every source has an alias of its own."""

    chance: random.Random
    used: int = 0
    parts: set[str] = field(default_factory=set)
    """the layers whose constructs stand in the text"""
    asides: list[str] = field(default_factory=list)
    """conditions on items of FROM that must stand in WHERE"""

    def pick(self, options: Sequence[str]) -> str:
        return self.chance.choice(options)

    def coin(self, one_in: int = 2) -> bool:
        return self.chance.randrange(one_in) == 0

    def alias(self) -> str:
        self.used += 1
        return f"t{self.used}"

    def table(self, name: str) -> tuple[str, list[Column]]:
        """Return a table under a fresh alias, and its columns."""
        alias = self.alias()
        return f"{name} {alias}", [(f"{alias}.{c}", meaning) for c, meaning in MEANING[name].items()]

    def of(self, columns: Sequence[Column], *meanings: str) -> list[str]:
        """Return the columns that have one of the meanings."""
        return [name for name, meaning in columns if meaning in meanings]

    def constant(self, meaning: str) -> str:
        return self.pick(CONSTANTS.get(meaning, NUMBERS))

    def pairs(self, left: Sequence[Column], right: Sequence[Column]) -> list[tuple[str, str]]:
        """Return the columns of both sides that name the same things."""
        return [(a, b) for a, x in left for b, y in right if x == y and x not in NUMERIC]

    # ------------------------------------------------------------------ plain conditions

    def comparison(self, columns: Sequence[Column]) -> str:
        name, meaning = self.chance.choice(list(columns))
        if meaning == "word" and self.coin():
            return f"{name} >= {self.constant(meaning)}"
        others = [other for other in self.of(columns, meaning) if other != name]
        right = self.pick([*others, self.constant(meaning), self.constant(meaning)])
        return f"{name} {self.pick(COMPARISONS)} {right}"

    def plain(self, columns: Sequence[Column]) -> str:
        """Return a condition on a row alone, or on public tables."""
        name, meaning = self.chance.choice(list(columns))
        match self.chance.randrange(8):
            case 0:
                return f"{name} IS {self.pick(['', 'NOT '])}NULL"
            case 1:
                return f"({self.comparison(columns)} OR {self.comparison(columns)})"
            case 2:
                return f"NOT ({self.comparison(columns)})"
            case 3:
                return f"{name} IN ({self.constant(meaning)}, {self.constant(meaning)})"
            case 4:
                return self.public(columns)
        return self.comparison(columns)

    def public(self, columns: Sequence[Column]) -> str:
        """Return a condition with a subquery on public tables: any SQL."""
        alias = self.alias()
        nations, products = self.of(columns, "nation"), self.of(columns, "product")
        if nations:
            self.parts.add("public")
            inside = f"SELECT {alias}.n_id FROM nation {alias} WHERE {alias}.n_name <> 'p'"
            return f"{self.pick(nations)} {self.pick(['IN', 'NOT IN'])} ({inside})"
        if products:
            self.parts.add("public")
            rows = f"FROM product {alias} WHERE {alias}.p_id = {self.pick(products)}"
            return self.pick(
                [
                    f"NOT EXISTS (SELECT 1 {rows} AND {alias}.p_price > 1)",
                    f"(SELECT MAX({alias}.p_price) {rows}) {self.pick(COMPARISONS)} 1",
                    f"(SELECT COUNT(*) FROM product {alias} WHERE {alias}.p_price >= 1) > 1",
                ]
            )
        return self.comparison(columns)

    def filtered(self, columns: Sequence[Column], *conditions: str, one_in: int = 5) -> str:
        """Return WHERE with the conditions, and now and then a plain one more."""
        found = list(conditions)
        if self.coin(one_in):
            found.append(self.plain(columns))
        return f" WHERE {' AND '.join(found)}" if found else ""
