"""A grammar of questions about the market, layer by layer: public, own, positive, signed, threshold, mixed.

`question(chance, layer)` writes one. Every text means one thing: ties are broken, no sum is of floats, and
no uncorrelated aggregate of private rows stands for a value, which would be released first.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from support.sql.belonging import Belonging
from support.sql.words import COMPARISONS, NUMERIC, Column

LAYERS = ("public", "own", "positive", "signed", "threshold", "mixed")
PRIVATE = ("customer", "orders", "orders", "item", "item", "gift", "meeting", "supplier")


class Writer(Belonging):
    """Writes questions of all layers."""

    # ------------------------------------------------------------------ rows of anybody

    def related(self, around: Sequence[Column]) -> tuple[str, list[Column], str]:
        """Return rows that have something in common with the row around: FROM, columns, the condition."""
        while True:
            text, columns = self.table(self.pick(PRIVATE))
            if self.coin(4):
                other, more = self.table(self.pick(("customer", "orders", "item")))
                on = self.pairs(columns, more)
                if on:
                    left, right = self.chance.choice(on)
                    text, columns = f"{text} JOIN {other} ON {left} = {right}", [*columns, *more]
            same = [
                pair for pair in self.pairs(around, columns) if pair[0].split(".")[1] not in ("c_id", "k")
            ] or self.pairs(around, columns)
            if same:
                left, right = self.chance.choice(same)
                op = "=" if self.coin(3) else self.pick(["=", "=", "<>", "<"])
                return text, columns, f"{right} {op} {left}"

    def positive(self, around: Sequence[Column], depth: int = 2) -> str:
        """Return a condition that more rows can only make true."""
        self.parts.add("positive")
        text, columns, condition = self.related(around)
        same = self.pairs(around, columns)
        match self.chance.randrange(5 if depth else 4):
            case 0 | 1:
                return f"EXISTS (SELECT 1 FROM {text}{self.filtered(columns, condition)})"
            case 2:
                left, right = self.chance.choice(same)
                return f"{left} IN (SELECT {right} FROM {text}{self.filtered(columns)})"
            case 3:
                left, right = self.chance.choice(same)
                inside = f"SELECT {right} FROM {text}{self.filtered(columns)}"
                return f"{left} {self.pick(COMPARISONS)} ANY ({inside})"
        first = self.positive(around, depth - 1)
        second = self.positive(around, depth - 1) if self.coin() else self.plain(around)
        return f"({first} {self.pick(['OR', 'AND'])} {second})"

    def signed(self, around: Sequence[Column], depth: int = 2) -> str:
        """Return a condition that more rows can make false."""
        self.parts.add("signed")
        text, columns, condition = self.related(around)
        same = self.pairs(around, columns)
        left, right = self.chance.choice(same)
        where = self.filtered(columns)
        match self.chance.randrange(9 if depth else 6):
            case 0 | 1:
                return f"NOT EXISTS (SELECT 1 FROM {text}{self.filtered(columns, condition)})"
            case 2:
                return f"{left} NOT IN (SELECT {right} FROM {text}{where})"
            case 3:
                return f"{left} {self.pick(COMPARISONS)} ALL (SELECT {right} FROM {text}{where})"
            case 4 | 5:
                inside = f"SELECT {self.pick(['MIN', 'MAX'])}({right}) FROM {text}{where}"
                return f"{left} {self.pick(COMPARISONS)} ({inside})"
            case 6:
                parts = [self.signed(around, depth - 1), self.positive(around)]
                self.chance.shuffle(parts)
                return f"({parts[0]} {self.pick(['OR', 'AND'])} {parts[1]})"
            case 7:
                return f"NOT ({self.positive(around)} {self.pick(['OR', 'AND'])} {self.plain(around)})"
        then = self.pick([self.plain(around), "TRUE", "FALSE"])
        return f"CASE WHEN {self.positive(around)} THEN {then} ELSE {self.signed(around, depth - 1)} END"

    def threshold(self, around: Sequence[Column]) -> str:
        """Return a condition on how much there is of something."""
        self.parts.add("threshold")
        text, columns, condition = self.related(around)
        left, right = self.chance.choice(self.pairs(around, columns))
        op, bound = self.pick(COMPARISONS), self.pick(["1", "2", "2", "3"])
        measured = self.measured(columns)
        if self.coin():
            groups = f"{text}{self.filtered(columns)} GROUP BY {right}"
            return f"{left} IN (SELECT {right} FROM {groups} HAVING {measured} {op} {bound})"
        return f"(SELECT {measured} FROM {text}{self.filtered(columns, condition)}) {op} {bound}"

    def measured(self, columns: Sequence[Column]) -> str:
        name, _ = self.chance.choice(list(columns))
        counts = [column for column in self.of(columns, "count") if column.endswith("i_count")]
        sums = [f"SUM({counts[0]})", f"COALESCE(SUM({counts[0]}), 0)"] if counts else []
        return self.pick(["COUNT(*)", "COUNT(*)", f"COUNT({name})", f"COUNT(DISTINCT {name})", *sums])

    def condition(self, layer: str, around: Sequence[Column]) -> str:
        """Return a condition of a layer."""
        match layer:
            case "public":
                return self.public(around)
            case "own":
                return self.own(around)
            case "positive":
                return self.positive(around)
            case "signed":
                return self.signed(around)
            case "threshold":
                return self.threshold(around)
        return self.condition(self.pick(LAYERS[1:5]), around)

    # ------------------------------------------------------------------ FROM

    def source(self, layer: str) -> tuple[str, list[Column]]:
        """Return one item of FROM: a table, or a query of the layer."""
        if layer == "mixed":
            layer = self.pick(LAYERS[1:5])
        if layer == "public":
            return self.table(self.pick(["nation", "product"]))
        if layer == "own" and self.coin():
            return self.own_table()
        if layer in ("threshold", "signed", "positive") and self.coin(4):
            return getattr(self, f"{layer}_table")()
        return self.table(self.pick(PRIVATE[:5] if layer == "own" else PRIVATE))

    def threshold_table(self) -> tuple[str, list[Column]]:
        self.parts.add("threshold")
        alias = self.alias()
        text, columns = self.table(self.pick(["item", "item", "orders", "gift", "meeting"]))
        key, meaning = self.chance.choice([column for column in columns if column[1] not in NUMERIC])
        total = self.measured(columns)
        told = "IN (1, 3)" if self.coin(4) else f"{self.pick(COMPARISONS)} {self.pick(['1', '2', '3'])}"
        if self.coin():  # the same by a condition on what the groups show
            inside = f"SELECT {key} AS k, {total} AS t FROM {text}{self.filtered(columns)} GROUP BY {key}"
            self.asides.append(f"{alias}.t {told}")
            return f"({inside}) {alias}", [(f"{alias}.k", meaning)]
        having = f"{total} {told}"
        inside = f"SELECT {key} AS k FROM {text}{self.filtered(columns)} GROUP BY {key} HAVING {having}"
        return f"({inside}) {alias}", [(f"{alias}.k", meaning)]

    def signed_table(self) -> tuple[str, list[Column]]:
        self.parts.add("signed")
        return self._sets("EXCEPT")

    def positive_table(self) -> tuple[str, list[Column]]:
        self.parts.add("positive")
        return self._sets(self.pick(["UNION", "UNION ALL", "INTERSECT"]))

    def _sets(self, word: str) -> tuple[str, list[Column]]:
        alias = self.alias()
        while True:
            (left, mine), (right, theirs) = self.table(self.pick(PRIVATE)), self.table(self.pick(PRIVATE))
            same = self.pairs(mine, theirs)
            if same:
                break
        a, b = self.chance.choice(same)
        second = f"SELECT {b} FROM {right}{self.filtered(theirs)}"
        inside = f"SELECT {a} AS k FROM {left}{self.filtered(mine)} {word} {second}"
        return f"({inside}) {alias}", [(f"{alias}.k", dict(mine)[a])]

    def joined(self, layer: str) -> tuple[str, list[Column]]:
        """Return FROM with one to three items."""
        text, columns = self.source(layer)
        for _ in range(self.chance.choice([0, 0, 0, 1, 1, 2])):
            other, more = self.source(layer if self.coin(3) or layer == "public" else "positive")
            same = self.pairs(columns, more)
            if not same:
                continue
            left, right = self.chance.choice(same)
            kinds = ["JOIN"]
            if layer in ("signed", "mixed"):
                kinds += ["LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"]
            if layer in ("own", "public"):
                kinds += ["LEFT JOIN"]
            kind = self.pick(kinds)
            if kind != "JOIN":
                self.parts.add("own" if layer == "own" else "signed")
            extra = f" AND {self.plain(more)}" if self.coin(4) else ""
            text, columns = f"{text} {kind} {other} ON {right} = {left}{extra}", [*columns, *more]
            if layer == "signed" and kind == "JOIN" and self.coin(4):
                gone, hidden = self.table(self.pick(PRIVATE))
                pairs = self.pairs(columns, hidden)
                if pairs:
                    a, b = self.chance.choice(pairs)
                    self.parts.add("signed")
                    text = f"{text} ANTI JOIN {gone} ON {b} = {a}"
        return text, columns

    # ------------------------------------------------------------------ questions

    def aggregate(self, layer: str, columns: Sequence[Column]) -> str:
        name, _ = self.chance.choice(list(columns))
        numbers = self.of(columns, *NUMERIC)
        found = ["COUNT(*)", "COUNT(*)", f"COUNT({name})", f"COUNT(DISTINCT {name})"]
        if numbers:
            found += [f"SUM({self.pick(numbers)})"] * 2
        chosen = self.pick(found)
        if self.coin(6):
            chosen = f"{chosen} FILTER (WHERE {self.condition(layer, columns)})"
        elif layer in ("own", "mixed") and self.coin(6):
            value = self.own_value(columns)
            if value is not None and value[1] in NUMERIC:
                chosen = f"SUM({value[0]})"
        return chosen

    def question(self, layer: str) -> str:
        """Return a question for one number, or for one of each group of public keys."""
        text, columns = self.joined(layer)
        conditions = [
            self.condition(layer, columns)
            for _ in range(self.chance.choice([0, 0, 1, 1, 2] if self.parts & {layer} else [1, 1, 1, 2]))
        ]
        if self.coin(5):
            conditions.append(self.plain(columns))
        conditions += [aside for aside in self.asides if f") {aside.split('.')[0]} " in f"{text} "]
        self.chance.shuffle(conditions)
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        aggregate = self.aggregate(layer, columns)
        key = self.key(columns)
        if key is not None and self.coin(4):
            return f"SELECT {key}, {aggregate} FROM {text}{where} GROUP BY {key}"
        return f"SELECT {aggregate} FROM {text}{where}"

    def key(self, columns: Sequence[Column]) -> str | None:
        """Return a column whose values are public: by a declared list, or by a public table."""
        public = ("c_name", "i_product", "n_name", "p_kind")
        found = [name for name, _ in columns if name.split(".")[1] in public]
        return self.pick(found) if found else None


def question(chance: random.Random, layer: str) -> str:
    """Return a text in which a construct of the layer stands; of `mixed`, constructs of two layers."""
    while True:
        writer = Writer(chance)
        text = writer.question(layer)
        private = writer.parts - {"public"}
        wanted = (
            len(private) > 1 if layer == "mixed" else not private if layer == "public" else layer in private
        )
        if wanted and len(text) < 1500:
            return text
