"""What was understood, in words: the tables and their owners, the joins added, the query that will run.

Everything comes from the SQL, the policy and the catalogue; no data is touched.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from recuse.privacy import decimal_text
from recuse.sql.ownership import Linked, Owned, Protected, Public
from recuse.sql.query import Aggregate, Query, Schema, plain, readable


@dataclass(frozen=True, slots=True)
class TableNote:
    """One table of the query: its alias, its name, and how its rows are owned."""

    alias: str
    table: str
    ownership: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """The answer to "what would you do with this query?"."""

    question: str
    understood: str
    tables: tuple[TableNote, ...]
    owners: tuple[str, ...]
    completed: tuple[str, ...]
    derivations: str

    def lines(self) -> Iterator[str]:
        """Yield the explanation for a terminal."""
        yield f"question    {self.question}"
        yield f"understood  {self.understood}"
        for note in self.tables:
            alias = "" if note.alias.lower() == note.table.lower() else f" as {note.alias}"
            yield f"table       {note.table}{alias}: {note.ownership}"
        for line in self.completed:
            yield f"completed   {line}"
        for owner in self.owners or ("nobody: all tables are public",):
            yield f"owner       {owner}"
        yield f"derivations {self.derivations}"


def explain(asked: Query, query: Query, schema: Schema, sql: str) -> Explanation:
    """Return the explanation of a query as asked, and as the passes left it."""
    if query.aggregate is Aggregate.COUNT:
        question = "how many rows there are"
    else:
        question = f"a signed sum, in units of {decimal_text(schema.granularity)}"
    return Explanation(
        question=question,
        understood=readable(plain(asked)),
        tables=tuple(
            TableNote(scan.alias, scan.table.name, describe(schema.ownership.of(scan.table.name)))
            for scan in query.sources
        ),
        owners=tuple(
            f"{owner.kind} {', '.join(readable(value) for value in owner.values)}" for owner in query.owners
        ),
        completed=query.completed,
        derivations=sql,
    )


def describe(owned: Owned | None) -> str:
    """Return in words how the rows of a table are owned."""
    if isinstance(owned, Protected):
        return f"each ({', '.join(map(str, owned.key))}) is one participant"
    if isinstance(owned, Linked):
        parts = []
        for hop in owned.hops:
            columns = " or ".join(f"({', '.join(names)})" for names in hop.alternatives)
            parts.append(f"{columns} → {hop.target}")
        return "a row belongs to " + " and ".join(parts)
    if isinstance(owned, Public):
        return "public"
    return "not mentioned in the policy, so no query may touch it"
