"""A small grammar of positive queries over the shop: random sources, conditions, subqueries and sets.

Every text is one that Recuse must answer, and that DuckDB answers too.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import strategies as st

COLUMNS = {
    "customer": {"c_id": "number", "c_nation": "number", "c_name": "text"},
    "supplier": {"s_id": "text", "s_nation": "number"},
    "orders": {"o_id": "number", "o_customer": "number", "o_date": "date", "o_total": "decimal"},
    "item": {"i_order": "number", "i_supplier": "text", "i_count": "number", "i_price": "float"},
    "edges": {"src": "number", "dst": "number"},
    "gift": {"g_from": "number", "g_to": "number", "g_order": "number"},
    "nation": {"n_id": "number", "n_name": "text"},
}
CONSTANTS = {
    "number": ["0", "1", "2", "3"],
    "text": ["'a'", "'b'", "''"],
    "date": ["DATE '1997-06-15'", "DATE '1999-12-31'"],
    "decimal": ["0.00", "0.01", "99.99"],
    "float": ["0.5", "3.0"],
}
COMPARABLE = ({"number", "decimal", "float"}, {"text"}, {"date"})


@dataclass
class Writer:
    """Writes one query; `aliases` counts up, so that every source has a name of its own."""

    draw: st.DrawFn
    aliases: int = 0
    budget: int = 6
    views: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    def pick(self, options):
        return self.draw(st.sampled_from(list(options)))

    def fresh(self) -> str:
        self.aliases += 1
        return f"t{self.aliases}"

    # ------------------------------------------------------------------ sources

    def source(self) -> tuple[str, dict[str, str]]:
        """Return an item of FROM, and the types of its columns by their qualified names."""
        self.budget -= 1
        alias = self.fresh()
        kind = self.pick(["table"] * 5 + (["derived", "set", "cte"] if self.budget > 0 else []))
        if kind == "table" or (kind == "cte" and not self.views):
            table = self.pick(COLUMNS)
            return f"{table} {alias}", {f"{alias}.{name}": t for name, t in COLUMNS[table].items()}
        if kind == "cte":
            name, columns = self.pick(self.views)
            return f"{name} {alias}", {f"{alias}.{column}": t for column, t in columns.items()}
        text, types = self.derived() if kind == "derived" else self.set_query()
        return f"({text}) {alias}", {f"{alias}.{name}": t for name, t in types.items()}

    def from_where(self, outer: dict[str, str]) -> tuple[str, dict[str, str]]:
        """Return FROM … WHERE …, and the columns that it makes visible."""
        text, columns = self.source()
        for _ in range(self.draw(st.integers(0, 1 if self.budget > 0 else 0))):
            other, more = self.source()
            joined = {**columns, **more}
            style = self.pick([",", "JOIN", "CROSS JOIN", "JOIN"])
            on = f" ON {self.comparison(joined)}" if style == "JOIN" else ""
            text, columns = f"{text}{',' if style == ',' else ' ' + style} {other}{on}", joined
        if self.draw(st.integers(0, 5)) == 0:
            alias = self.fresh()
            number = next((name for name, t in columns.items() if t == "number"), None)
            if number is not None:
                text = f"{text} LEFT JOIN nation {alias} ON {alias}.n_id = {number}"
                columns = {**columns, f"{alias}.n_name": "text"}
        if self.draw(st.booleans()):
            text = f"{text} WHERE {self.condition({**outer, **columns}, 2)}"
        return text, columns

    def derived(self) -> tuple[str, dict[str, str]]:
        body, columns = self.from_where({})
        chosen = self.draw(st.lists(st.sampled_from(sorted(columns)), min_size=1, max_size=3, unique=True))
        once = self.pick(["", "", "DISTINCT "])
        outputs = ", ".join(f"{name} AS x{i}" for i, name in enumerate(chosen))
        return f"SELECT {once}{outputs} FROM {body}", {f"x{i}": columns[n] for i, n in enumerate(chosen)}

    def set_query(self) -> tuple[str, dict[str, str]]:
        branches = []
        for _ in range(2):
            body, columns = self.from_where({})
            numbers = [name for name, t in columns.items() if t == "number"]
            value = self.pick(numbers) if numbers else "1"
            branches.append(f"SELECT {value} AS x0 FROM {body}")
        return f" {self.pick(['UNION', 'UNION ALL', 'INTERSECT'])} ".join(branches), {"x0": "number"}

    # ------------------------------------------------------------------ conditions

    def comparison(self, columns: dict[str, str]) -> str:
        left = self.pick(sorted(columns))
        family = next(f for f in COMPARABLE if columns[left] in f)
        others = sorted(name for name, t in columns.items() if t in family and name != left)
        right = self.pick([*others, *others, *CONSTANTS[columns[left]]])
        return f"{left} {self.pick(['=', '=', '=', '<', '>=', '<>'])} {right}"

    def condition(self, columns: dict[str, str], depth: int) -> str:
        kinds = ["comparison"] * 3 + (["and", "or", "not"] if depth else [])
        kinds += ["exists", "in", "any", "public"] if self.budget > 0 and depth else []
        match self.pick(kinds):
            case "and":
                return f"({self.condition(columns, depth - 1)} AND {self.condition(columns, depth - 1)})"
            case "or":
                return f"({self.condition(columns, depth - 1)} OR {self.condition(columns, depth - 1)})"
            case "not":
                return f"NOT ({self.comparison(columns)})"
            case "exists":
                body, _ = self.from_where(columns)
                return f"EXISTS (SELECT 1 FROM {body})"
            case "in":
                return self.membership(columns, "IN")
            case "any":
                return self.membership(columns, self.pick(["= ANY", "> ANY"]))
            case "public":
                number = next((name for name, t in columns.items() if t == "number"), "1")
                alias = self.fresh()
                inside = f"SELECT {alias}.n_id FROM nation {alias} WHERE {alias}.n_name <> 'b'"
                return f"{number} {self.pick(['IN', 'NOT IN'])} ({inside})"
        return self.comparison(columns)

    def membership(self, columns: dict[str, str], how: str) -> str:
        body, inner = self.from_where(columns)
        pairs = [(a, b) for a in sorted(columns) for b in sorted(inner) if columns[a] == inner[b] != "float"]
        if not pairs:
            return f"EXISTS (SELECT 1 FROM {body})"
        left, right = self.pick(pairs)
        return f"{left} {how} (SELECT {right} FROM {body})"

    # ------------------------------------------------------------------ questions

    def question(self) -> str:
        """Return a query for one number."""
        names = []
        for _ in range(self.draw(st.integers(0, 1))):
            text, columns = self.derived()
            self.views.append((f"v{len(names)}", columns))
            names.append(f"v{len(names)} AS ({text})")
        body, columns = self.from_where({})
        column = self.pick(sorted(columns))
        aggregates = ["COUNT(*)", "COUNT(*)", f"COUNT({column})", f"COUNT(DISTINCT {column})"]
        if columns[column] in ("number", "decimal"):
            aggregates += [f"SUM({column})", f"SUM(DISTINCT {column})", f"SUM({column} - 1)"]
        aggregate = self.pick(aggregates)
        if self.draw(st.integers(0, 4)) == 0:
            aggregate = f"{aggregate} FILTER (WHERE {self.comparison(columns)})"
        heading = f"WITH {', '.join(names)} " if names else ""
        return f"{heading}SELECT {aggregate} FROM {body}"


@st.composite
def questions(draw: st.DrawFn) -> str:
    """Return the text of a positive query for one number."""
    return Writer(draw).question()
