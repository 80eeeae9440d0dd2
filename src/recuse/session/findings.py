"""What a custodian should know of a policy on its data. NOT PRIVATE: what is said depends on single rows.

Tables that the policy does not mention, keys that are none, links that lead nowhere, and columns of public
tables that look as if they were about somebody.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

from sqlglot import exp

from recuse.engines.engine import Engine
from recuse.engines.open import Source, open_engine
from recuse.policy import Policy
from recuse.session.declared import false_keys
from recuse.sql.catalogue import Catalogue, Table
from recuse.sql.ownership import Hop, Linked, Ownership, PublicTable, own
from recuse.sql.query import Scan, column
from recuse.sql.render import table_reference

PERSONAL = re.compile(
    r"(^|_)(e_?mail|phone|mobile|surname|(first|last|full|given|family|birth|maiden)_?(name|day|date)|ssn|iban"
    r"|passport|address|street|social_security\w*|date_of_birth|dob)($|_)",
    re.IGNORECASE,
)
"""how columns are called that tell about somebody"""
LOOKS = {
    "e-mail addresses": re.compile(r"[^@\s]+@[^@\s]+\.[a-z]{2,}", re.IGNORECASE),
    "names of people": re.compile(r"[A-ZÀ-Þ][\w'-]+( [A-ZÀ-Þ]\.)? [A-ZÀ-Þ][\w'-]+"),
    "telephone numbers": re.compile(r"\+?\d[\d ()/-]{7,}\d"),
}
"""what values look like that tell about somebody"""
SAMPLE, LEAST, SHARE = 500, 20, 0.8
"""values that are looked at, how many there must be, and which share must look so"""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something to look into: of which table, and what."""

    table: str
    about: str
    said: str

    def __str__(self) -> str:
        return f"{self.about:<10}{self.table}: {self.said}"


def findings(source: Source, policy: Policy) -> Iterator[Finding]:
    """Yield what a custodian should look into before anybody asks.

    Guarantee: none; NOT PRIVATE. It is for whoever keeps the data.
    """
    with closing(open_engine(source, policy)) as engine:
        catalogue = engine.catalogue()
        ownership = own(policy, catalogue)
        for table in catalogue.tables:
            if table.view is None and ownership.of(table.name) is None:
                yield Finding(
                    table.name, "unsaid", "the policy does not mention it: no question may touch it"
                )
        yield from _dangling(engine, catalogue, ownership)
        yield from _personal(engine, catalogue, ownership)
    for key in false_keys(source, policy):
        yield Finding(key.table, "key", str(key).removeprefix(f"{key.table} "))


def _dangling(engine: Engine, catalogue: Catalogue, ownership: Ownership) -> Iterator[Finding]:
    """Yield links of rows that name nobody: these rows take part in no answer."""
    for table in catalogue.tables:
        owned = ownership.of(table.name)
        for hop in owned.hops if isinstance(owned, Linked) else ():
            for columns in hop.alternatives:
                count = 0 if hop.enforced else _unmatched(engine, catalogue, table, hop, columns)
                if count:
                    rows = "1 row names" if count == 1 else f"{count:,} rows name"
                    said = (
                        f"({', '.join(columns)}) → {hop.target}: {rows} nothing there, and count for nothing"
                    )
                    yield Finding(table.name, "link", said)


def _unmatched(engine: Engine, catalogue: Catalogue, table: Table, hop: Hop, columns: tuple[str, ...]) -> int:
    """Return how many rows name, by these columns, nothing in the table that a link leads to."""
    there = None if hop.table is None else catalogue.table(hop.table)
    named = [item.columns for item in hop.key]
    if there is None or any(len(names) != 1 for names in named):
        return 0
    here, target = Scan("here", table), Scan("there", there)
    pairs = [
        (column("here", name), column("there", key)) for name, (key,) in zip(columns, named, strict=True)
    ]
    same = exp.and_(*(exp.EQ(this=left.copy(), expression=right) for left, right in pairs))
    inside = exp.select("1").from_(table_reference(target)).where(same)
    query = exp.select(exp.alias_(exp.Count(this=exp.Star()), "n")).from_(table_reference(here))
    for left, _ in pairs:
        query = query.where(exp.Not(this=exp.Is(this=left, expression=exp.null())))
    query = query.where(exp.Not(this=exp.Exists(this=inside)))
    (found,) = engine.run([engine.dialect.statement(query)])
    return int(found["n"][0].as_py())


def _personal(engine: Engine, catalogue: Catalogue, ownership: Ownership) -> Iterator[Finding]:
    """Yield columns of public tables that are called, or look, as if they told about somebody."""
    for table in catalogue.tables:
        if not isinstance(ownership.of(table.name), PublicTable):
            continue
        for one in table.columns:
            if PERSONAL.search(one.name):
                yield Finding(table.name, "public", f"{one.name} is called as if it were about people")
            elif one.type.upper() in ("VARCHAR", "TEXT") and (kind := _looks(engine, table, one.name)):
                yield Finding(table.name, "public", f"{one.name} looks like {kind}")


def _looks(engine: Engine, table: Table, name: str) -> str | None:
    """Return what most values of a column look like, if they look like somebody's."""
    scan = Scan("here", table)
    query = (
        exp.select(exp.alias_(column("here", name), "v"))
        .distinct()
        .from_(table_reference(scan))
        .limit(SAMPLE)
    )
    (found,) = engine.run([engine.dialect.statement(query)])
    values = [value for value in found["v"].to_pylist() if value is not None]
    for kind, form in LOOKS.items():
        if len(values) >= LEAST and sum(bool(form.fullmatch(v)) for v in values) >= SHARE * len(values):
            return kind
    return None
