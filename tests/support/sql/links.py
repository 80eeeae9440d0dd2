"""Links of every kind, databases in which owners are missing, questions that join them, and who is there.

Whose a row is, is worked out once more, from the links alone: the judge shares nothing with what it judges.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from recuse.policy import Link, Policy
from recuse.policy.terms import KeyItem, LinkChoice

POLICY = Policy.parse("""
[[protect]]                  # not unique: rows that share a key are one participant
table = "person"
key = ["id"]

[[protect]]
table = "pair"
key = ["least(u, v)", "greatest(u, v)"]

[[protect]]
table = "seat"
key = ["row", "number"]

[[protect]]
kind = "phone"

[[link]]
table = "gift"
any = [["a"], ["b"]]
to = "person"

[[link]]
table = "club"
any = [["boss"], ["vice"]]
to = "person"

[[link]]
table = "visit"              # over several hops, each with alternatives
any = [["first"], ["second"]]
to = "club"

[[link]]
table = "visit"
column = ["guest"]
to = "person"

[[link]]
table = "note"
any = [["u", "v"], ["w", "v"]]
to = "pair"

[[link]]
table = "ticket"
any = [["r1", "n1"], ["r2", "n2"]]
to = "seat"

[[link]]
table = "ring"
any = [["caller"], ["called"]]
to = "phone"

[[link]]
table = "ring"
column = ["owner"]
to = "person"

[[public]]
table = "town"

[[key]]
table = "club"
column = ["id"]
""")


TABLES = {
    "person": ("id", "x"),
    "pair": ("u", "v"),
    "seat": ("row", "number"),
    "club": ("id", "boss", "vice"),
    "gift": ("a", "b", "x"),
    "visit": ("first", "second", "guest"),
    "note": ("u", "v", "w"),
    "ticket": ("r1", "n1", "r2", "n2"),
    "ring": ("caller", "called", "owner"),
    "town": ("id", "x"),
}


TYPES = ("INTEGER", "VARCHAR")


ENFORCED = """
CREATE TABLE person (id {0} PRIMARY KEY, x {0});
CREATE TABLE pair (u {0}, v {0});
CREATE TABLE seat (row {0}, number {0}, PRIMARY KEY (row, number));
CREATE TABLE club (id {0} PRIMARY KEY, boss {0} REFERENCES person (id), vice {0} REFERENCES person (id));
CREATE TABLE gift (a {0} REFERENCES person (id), b {0}, x {0});
CREATE TABLE visit (first {0} REFERENCES club (id), second {0} REFERENCES club (id), guest {0});
CREATE TABLE note (u {0}, v {0}, w {0});
CREATE TABLE ticket (r1 {0}, n1 {0}, r2 {0}, n2 {0}, FOREIGN KEY (r1, n1) REFERENCES seat (row, number));
CREATE TABLE ring (caller {0}, called {0}, owner {0} REFERENCES person (id));
CREATE TABLE town (id {0}, x {0});
"""
"""the same tables, some of whose references the database enforces"""


Row = tuple[Any, ...]


Rows = dict[str, list[Row]]


Name = tuple[Any, ...]


def plain_schema(kind: str) -> str:
    return "".join(
        f"CREATE TABLE {table} ({', '.join(f'{c} {kind}' for c in columns)});"
        for table, columns in TABLES.items()
    )


def named(row: dict[str, Any], items: tuple[KeyItem, ...]) -> Name | None:
    """Return the key of a protected row, None where a part of it is missing."""
    if any(row[column] is None for item in items for column in item.columns):
        return None
    pick = {LinkChoice.ITSELF: lambda v: v[0], LinkChoice.LEAST: min, LinkChoice.GREATEST: max}
    return tuple(pick[item.choice]([row[column] for column in item.columns]) for item in items)


@dataclass(frozen=True)
class Owned:
    """A database of which some participants are there."""

    rows: Rows
    there: frozenset[Name]

    def remaining(self) -> Rows:
        return {table: [row for row in rows if self.present(table, row)] for table, rows in self.rows.items()}

    def present(self, table: str, row: Row) -> bool:
        fields = dict(zip(TABLES[table], row, strict=True))
        protect = POLICY.protected_table(table)
        if protect is not None:
            name = named(fields, protect.key)
            return name is not None and (table, *name) in self.there
        return all(
            any(self._led(link, tuple(fields[c] for c in columns)) for columns in link.alternatives)
            for link in POLICY.links_of(table)
        )

    def _led(self, link: Link, values: Name) -> bool:
        if None in values:
            return False
        if POLICY.virtual_kind(link.to) or POLICY.protected_table(link.to):
            there = (link.to, *values) in self.there
            return there and (link.to == "phone" or (link.to, *values) in everybody(self.rows))
        return any(row[0] == values[0] and self.present(link.to, row) for row in self.rows[link.to])


def everybody(rows: Rows) -> frozenset[Name]:
    """Return all participants of a database."""
    found = set()
    for protect in POLICY.protect:
        for row in rows[protect.table] if protect.table else ():
            name = named(dict(zip(TABLES[protect.kind], row, strict=True)), protect.key)
            if name is not None:
                found.add((protect.kind, *name))
    phones = {value for row in rows["ring"] for value in row[:2] if value is not None}
    return frozenset(found | {("phone", value) for value in phones})


def databases(kind: str, *, whole: bool) -> st.SearchStrategy[Rows]:
    """Return small databases, with NULL and dangling values unless they are `whole`."""

    def value(*numbers: int | None) -> st.SearchStrategy[Any]:
        return st.sampled_from([n if n is None or kind == "INTEGER" else f"v{n}" for n in numbers])

    sometimes = value(None, 1, 2, 3) if whole else value(None, 1, 2, 9)
    keys = value(1, 2, 3) if whole else value(None, 1, 2)

    def rows(table: str, most: int) -> st.SearchStrategy[list[Row]]:
        key = table in ("person", "seat", "club")
        columns = [
            keys if key and (table == "seat" or i == 0) else sometimes for i in range(len(TABLES[table]))
        ]
        unique = table == "club" or (whole and key)
        by = (lambda row: row[:2] if table == "seat" else row[:1]) if unique else None
        found = st.lists(st.tuples(*columns), max_size=most, unique_by=by)
        return found.map(lambda made: [row for row in made if not (unique and None in row[:1])])

    return st.fixed_dictionaries(
        {table: rows(table, 3 if table in ("person", "club") else 2) for table in TABLES}
    )


def intact(rows: Rows) -> Rows:
    """Return the database without values that dangle where the database enforces a reference."""
    people = {row[0] for row in rows["person"]}
    seats = set(rows["seat"])
    clubs = [(row[0], *(v if v in people else None for v in row[1:])) for row in rows["club"]]
    names = {row[0] for row in clubs}
    return rows | {
        "club": clubs,
        "gift": [(row[0] if row[0] in people else None, *row[1:]) for row in rows["gift"]],
        "visit": [(*(v if v in names else None for v in row[:2]), row[2]) for row in rows["visit"]],
        "ticket": [(*(row[:2] if row[:2] in seats else (None, row[1])), *row[2:]) for row in rows["ticket"]],
        "ring": [(*row[:2], row[2] if row[2] in people else None) for row in rows["ring"]],
    }


JOINS: dict[str, tuple[str, ...]] = {
    "gift g": (
        *("JOIN person p ON g.a = p.id", "JOIN person q ON q.id = g.b", "JOIN gift h ON h.b = g.a"),
        *("LEFT JOIN town t ON t.id = g.x", "JOIN person r ON r.x = g.x"),
        "JOIN (SELECT DISTINCT a FROM gift) d ON d.a = g.b",
    ),
    "visit g": (
        *(
            "JOIN club k ON k.id = g.first",
            "JOIN club l ON g.second = l.id",
            "JOIN person p ON p.id = g.guest",
        ),
        *("LEFT JOIN town t ON t.id = g.guest", "JOIN person q ON q.id = g.first"),
        "JOIN (SELECT c.id FROM club c JOIN person o ON o.id = c.boss) d ON d.id = g.second",
    ),
    "club g": ("JOIN person p ON g.boss = p.id", "JOIN person q ON g.vice = q.id AND q.x IS NOT NULL"),
    "note g": (
        *("JOIN pair p ON g.u = p.u AND g.v = p.v", "JOIN pair q ON q.u = g.w", "JOIN note h ON h.w = g.u"),
    ),
    "ticket g": (
        *("JOIN seat p ON p.row = g.r1 AND p.number = g.n1", "JOIN seat q ON g.r2 = q.row"),
        "JOIN seat r ON g.r2 = r.row AND r.number = g.n2",
    ),
    "ring g": ("JOIN person p ON p.id = g.owner", "JOIN ring h ON h.caller = g.called"),
    "person g": ("JOIN gift h ON h.a = g.id", "LEFT JOIN town t ON t.id = g.x"),
}


FIRST = {
    "gift g": "a",
    "visit g": "first",
    "club g": "boss",
    "note g": "u",
    "ticket g": "r1",
    "ring g": "called",
}


CONDITIONS = (
    *("EXISTS (SELECT 1 FROM person e WHERE e.id = g.{})", "g.{} IN (SELECT b FROM gift)", "g.{} IS NULL"),
    "EXISTS (SELECT 1 FROM gift i WHERE i.a = g.{})",
    "EXISTS (SELECT 1 FROM gift i JOIN person f ON i.a = f.id WHERE i.b = g.{})",
    "(g.{} IN (SELECT boss FROM club) OR EXISTS (SELECT 1 FROM person e WHERE e.id = g.{} AND e.x IS NULL))",
    "EXISTS (SELECT 1 FROM visit w, club c WHERE c.id = w.first AND c.boss = g.{})",
    "g.{} IN (SELECT id FROM town)",
)


HEADS = ("SELECT COUNT(*) FROM {}", "SELECT COUNT(DISTINCT g.{c}) FROM {}", "SELECT COUNT(g.{c}) FROM {}")


SETS = (
    "SELECT COUNT(*) FROM (SELECT g.{c} AS y FROM {} UNION SELECT b FROM gift) z",
    "SELECT COUNT(*) FROM (SELECT g.{c} AS y FROM {} UNION ALL"
    " SELECT j.b FROM gift j JOIN person o ON j.a = o.id) z",
    "SELECT COUNT(*) FROM (SELECT g.{c} AS y FROM {} INTERSECT SELECT id FROM person) z",
    "SELECT COUNT(*) FROM person outer_ WHERE EXISTS (SELECT 1 FROM {} {and} g.{c} = outer_.id)",
)


@st.composite
def questions(draw: st.DrawFn) -> str:
    base = draw(st.sampled_from(list(JOINS)))
    column = FIRST.get(base, "id")
    joins = draw(st.lists(st.sampled_from(JOINS[base]), max_size=2, unique=True))
    where = draw(st.lists(st.sampled_from(CONDITIONS), max_size=1))
    text = " ".join([base, *joins])
    if where:
        text += f" WHERE {where[0].replace('{}', column)}"
    head = draw(st.sampled_from((*HEADS, *HEADS, *SETS)))
    return head.replace("{and}", "AND" if where else "WHERE").replace("{c}", column).replace("{}", text)
