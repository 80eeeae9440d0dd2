"""Texts whose subqueries look at what belongs to the owners of the row around: any SQL may stand in them.

Whether a text is *own* depends on who is protected, too: items of a customer's orders are not while their
suppliers are. The texts are written all the same; what the compiler makes of them is its affair.
"""

from __future__ import annotations

from collections.abc import Sequence

from support.sql.words import COMPARISONS, Column, Words


class Belonging(Words):
    """Writes own subqueries and own derived tables."""

    def belongings(self, customer: str) -> tuple[str, list[Column], list[str]]:
        """Return FROM of rows of one customer, their columns, and the condition that they are theirs."""
        match self.chance.randrange(6):
            case 0 | 1 | 2:
                text, columns = self.table("orders")
            case 3:
                text, columns = self.table("gift")
            case 4:
                orders, columns = self.table("orders")
                items, more = self.table("item")
                join = self.pick(["JOIN", "LEFT JOIN"])
                text = f"{orders} {join} {items} ON {more[0][0]} = {columns[0][0]}"
                return text, [*columns, *more], [f"{columns[1][0]} = {customer}"]
            case _:
                text, columns = self.table("customer")
        return text, columns, [f"{self.pick(self.of(columns, 'customer'))} = {customer}"]

    def of_row(self, around: Sequence[Column]) -> tuple[str, list[Column], list[str]] | None:
        """Return rows of the customer, or of the order, that the row around names."""
        customers, orders = self.of(around, "customer"), self.of(around, "order")
        if customers and not (orders and self.coin(3)):
            return self.belongings(self.pick(customers))
        if orders:
            text, columns = self.table("item")
            return text, columns, [f"{columns[0][0]} = {self.pick(orders)}"]
        return None

    def own_value(self, around: Sequence[Column]) -> tuple[str, str] | None:
        """Return a subquery for one value, and what the value means."""
        rows = self.of_row(around)
        if rows is None:
            return None
        self.parts.add("own")
        text, columns, mine = rows
        body = f"FROM {text}{self.filtered(columns, *mine)}"
        name, meaning = self.chance.choice(columns)
        numbers = self.of(columns, "count", "money")
        found = [
            ("SELECT COUNT(*)", "count"),
            (f"SELECT COUNT(DISTINCT {name})", "count"),
            (f"SELECT MIN({name})", meaning),
            (f"SELECT MAX({name})", meaning),
        ]
        if numbers:
            number = self.pick(numbers)
            found += [
                (f"SELECT SUM({number})", "money"),
                (f"SELECT AVG({number})", "average"),
                (f"SELECT COUNT(*) FILTER (WHERE {number} > 0)", "count"),
            ]
        heading, kind = self.chance.choice(found)
        if self.coin(6):
            order = ", ".join(f"{column} DESC" if self.coin() else column for column, _ in columns)
            return f"(SELECT {name} {body} ORDER BY {name}, {order} LIMIT 1)", meaning
        return f"({heading} {body})", kind

    def own(self, around: Sequence[Column]) -> str:
        """Return a condition with an own subquery; a plain one where the row has no owner to ask for."""
        rows = self.of_row(around)
        if rows is None:
            return self.plain(around)
        self.parts.add("own")
        text, columns, mine = rows
        where = self.filtered(columns, *mine, one_in=2)
        same = self.pairs(around, columns)
        match self.chance.randrange(7):
            case 0:
                return f"{self.pick(['', 'NOT '])}EXISTS (SELECT 1 FROM {text}{where})"
            case 1 if same:
                left, right = self.chance.choice(same)
                return f"{left} {self.pick(['IN', 'NOT IN'])} (SELECT {right} FROM {text}{where})"
            case 2:
                key = self.chance.choice(columns)[0]
                having = f"HAVING COUNT(*) {self.pick(COMPARISONS)} {self.pick(['1', '2'])}"
                inside = f"SELECT {key} FROM {text}{where} GROUP BY {key} {having}"
                return f"{self.pick(['', 'NOT '])}EXISTS ({inside})"
            case 3:
                other, more, theirs = self.of_row(around) or rows
                pairs = self.pairs(columns, more)
                if pairs and other != text:
                    left, right = self.chance.choice(pairs)
                    word = self.pick(["EXCEPT", "INTERSECT", "UNION"])
                    second = f"SELECT {right} FROM {other}{self.filtered(more, *theirs)}"
                    inside = f"SELECT {left} FROM {text}{where} {word} {second}"
                    return f"{self.pick(['', 'NOT '])}EXISTS ({inside})"
            case 4 if self.coin():  # one level deeper
                return f"EXISTS (SELECT 1 FROM {text}{where} AND {self.own(columns)})"
        value = self.own_value(around)
        if value is None:
            return self.plain(around)
        subquery, kind = value
        meaning = "money" if kind == "average" else kind
        others = self.of(around, meaning)
        right = self.pick([*others, *others, self.constant(meaning)])
        return f"{right} {self.pick(COMPARISONS)} {subquery}"

    # ------------------------------------------------------------------ derived tables

    def own_table(self, depth: int = 1) -> tuple[str, list[Column]]:
        """Return a derived table whose groups or partitions fix the owners, and its columns."""
        self.parts.add("own")
        alias = self.alias()
        match self.chance.randrange(8):
            case 7:
                text, columns = self._of_one_customer()
            case 0 | 1:
                text, columns = self._grouped("orders", "o_customer", "customer")
            case 2:
                text, columns = self._of_all_customers()
            case 3:
                text, columns = self._grouped("item", self.pick(["i_order", "i_order, i_supplier"]), "order")
            case 4 | 5:
                text, columns = self._windowed()
            case _:
                if depth:
                    inner, below = self.own_table(depth - 1)
                    key, meaning = below[0]
                    text = f"SELECT {key} AS k, COUNT(*) AS n FROM {inner} GROUP BY {key}"
                    columns = [("k", meaning), ("n", "count")]
                else:
                    source, all_columns = self.table("orders")
                    (o, _), (c, _), (d, _), _ = all_columns
                    heading = f"DISTINCT ON ({c}) {c} AS k, {d} AS d, {o} AS o"
                    text = f"SELECT {heading} FROM {source} ORDER BY {c}, {d}, {o}"
                    columns = [("k", "customer"), ("d", "date"), ("o", "order")]
        return f"({text}) {alias}", [(f"{alias}.{name}", meaning) for name, meaning in columns]

    def _of_one_customer(self) -> tuple[str, list[Column]]:
        """Return the first rows of a customer who is named: whoever else withdraws, they stay the same."""
        source, ((o, _), (c, _), (d, _), (t, _)) = self.table("orders")
        order = self.pick([f"{d}, {o}, {t}", f"{t} DESC, {o}, {d}"])
        text = f"SELECT {o} AS o, {d} AS d, {t} AS t FROM {source} WHERE {c} = {self.pick(['0', '1'])}"
        return f"{text} ORDER BY {order} LIMIT {self.pick(['1', '2'])}", [
            ("o", "order"), ("d", "date"), ("t", "money"),
        ]  # fmt: skip

    def _grouped(self, table: str, key: str, meaning: str) -> tuple[str, list[Column]]:
        source, columns = self.table(table)
        number = self.pick(self.of(columns, "count", "money"))
        kind = dict(columns)[number]
        having = f" HAVING COUNT(*) {self.pick(COMPARISONS)} {self.pick(['1', '2'])}" if self.coin(3) else ""
        first = key.split(",")[0]
        other, other_kind = self.chance.choice(columns)
        text = (
            f"SELECT {first} AS k, COUNT(*) AS n, SUM({number}) AS s,"
            f" {self.pick(['MIN', 'MAX'])}({other}) AS e"
            f" FROM {source}{self.filtered(columns)} GROUP BY {key}{having}"
        )
        return text, [("k", meaning), ("n", "count"), ("s", kind), ("e", other_kind)]

    def _of_all_customers(self) -> tuple[str, list[Column]]:
        customer, around = self.table("customer")
        orders, columns = self.table("orders")
        extra = f" AND {self.plain(columns)}" if self.coin(3) else ""
        text = (
            f"SELECT {around[0][0]} AS k, COUNT({columns[0][0]}) AS n, MIN({columns[2][0]}) AS d"
            f" FROM {customer} LEFT JOIN {orders} ON {columns[1][0]} = {around[0][0]}{extra}"
            f" GROUP BY {around[0][0]}"
        )
        return text, [("k", "customer"), ("n", "count"), ("d", "date")]

    def _windowed(self) -> tuple[str, list[Column]]:
        orders, columns = self.table("orders")
        (o, _), (c, _), (d, _), (total, _) = columns
        over = f"OVER (PARTITION BY {c} ORDER BY {d}{self.pick(['', ' DESC'])}, {o})"
        value, meaning = self.chance.choice(
            [
                (f"ROW_NUMBER() {over}", "count"),
                (f"LAG({d}) {over}", "date"),
                (f"SUM({total}) {over}", "money"),
                (f"COUNT(*) OVER (PARTITION BY {c})", "count"),
                (f"MAX({total}) OVER (PARTITION BY {c})", "money"),
                (f"FIRST_VALUE({d}) {over}", "date"),
            ]
        )
        last = f" QUALIFY ROW_NUMBER() {over} <= {self.pick(['1', '2'])}" if self.coin(3) else ""
        heading = f"{c} AS k, {o} AS o, {d} AS d, {total} AS m, {value} AS w"
        text = f"SELECT {heading} FROM {orders}{self.filtered(columns)}{last}"
        return text, [("k", "customer"), ("o", "order"), ("d", "date"), ("m", "money"), ("w", meaning)]
