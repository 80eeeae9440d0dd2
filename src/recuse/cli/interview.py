"""What `recuse init` asks on a terminal: who is protected, what hangs together, what is about nobody."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from recuse.engines.propose import Contained
from recuse.errors import RecuseError
from recuse.fold import fold
from recuse.sql.catalogue import Catalogue, ForeignKey, Table
from recuse.sql.draft import linked, wanted

PEOPLE = (
    "person",
    "people",
    "customer",
    "user",
    "patient",
    "pupil",
    "student",
    "member",
    "employee",
    "client",
)
"""how tables of participants are often called, in the singular"""


@dataclass(frozen=True, slots=True)
class Decided:
    """What a custodian has said: tables to protect, tables about nobody, and what the rest is like."""

    catalogue: Catalogue
    protect: tuple[str, ...]
    public: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Talk:
    """The two sides of a terminal: what is said, and a question with its default answer."""

    say: Callable[[str], None]
    ask: Callable[[str, str], str]

    def agree(self, question: str, *, default: bool) -> bool:
        """Return whether the custodian says yes."""
        said = self.ask(f"{question} (yes or no)", "yes" if default else "no")
        return said.strip().lower() in ("y", "yes")


def interview(
    talk: Talk, catalogue: Catalogue, contained: Callable[[Catalogue, str], Sequence[Contained]]
) -> Decided:
    """Return what the custodian decides; `contained` says which columns may name rows of a table."""
    for table in _tables(catalogue):
        talk.say(f"  {table.name} ({', '.join(f'{c.name} {c.type}' for c in table.columns)})")
    catalogue = _types(talk, catalogue)
    catalogue, protect = _protected(talk, catalogue)
    catalogue = _references(talk, catalogue, contained(catalogue, protect.partition(".")[0]))
    chosen = {entry.table.name: entry for entry in [wanted(protect, catalogue)]}
    reached = {table.name for table, _ in linked(_tables(catalogue), chosen)} | set(chosen)
    left = [table.name for table in _tables(catalogue) if table.name not in reached]
    if left:
        talk.say(f"These are left: {', '.join(left)}. No question may touch a table that is left open.")
    public = tuple(name for name in left if talk.agree(f"Is {name} about nobody?", default=False))
    return Decided(catalogue, (protect,), public)


def _tables(catalogue: Catalogue) -> list[Table]:
    return [table for table in catalogue.tables if table.view is None]


def _protected(talk: Talk, catalogue: Catalogue) -> tuple[Catalogue, str]:
    """Return who is protected, asked until it is a table with a key; a key that is said is kept."""
    likely = next(_likely(_tables(catalogue)), "")
    while True:
        said = talk.ask("Who is protected? The table in which each of them has a row", likely).strip()
        try:
            found = wanted(said, catalogue)
        except RecuseError as error:
            talk.say(str(error))
            continue
        table = replace(found.table, keys=(found.key, *(key for key in found.table.keys if key != found.key)))
        return _with(catalogue, table), said


def _likely(tables: Sequence[Table]) -> Iterator[str]:
    for table in tables:
        if any(fold(table.name) in (name, f"{name}s") for name in PEOPLE):
            yield table.name
    yield from (table.name for table in tables if table.keys)


def _references(talk: Talk, catalogue: Catalogue, found: Sequence[Contained]) -> Catalogue:
    """Return the catalogue with the references that the custodian confirms."""
    for table in _tables(catalogue):
        kept = [key for key in table.foreign_keys if _confirmed(talk, table.name, key)]
        if len(kept) < len(table.foreign_keys):
            catalogue = _with(catalogue, replace(table, foreign_keys=tuple(kept)))
    for one in found:
        said = [key for key in one.keys if _confirmed(talk, one.table, key)]
        there = catalogue.table(one.table)
        if there is not None and said:
            catalogue = _with(catalogue, replace(there, foreign_keys=(*there.foreign_keys, *said)))
    return catalogue


def _confirmed(talk: Talk, table: str, key: ForeignKey) -> bool:
    return talk.agree(f"Does {table}({', '.join(key.columns)}) name a row of {key.target}?", default=True)


def _types(talk: Talk, catalogue: Catalogue) -> Catalogue:
    """Return the catalogue with the types that the custodian corrects, one after another."""
    while catalogue.untyped:
        said = talk.ask("Is a type wrong? TABLE.COLUMN TYPE, or nothing to go on", "").strip()
        if not said:
            break
        place, _, kind = said.partition(" ")
        name, _, column = place.partition(".")
        table = catalogue.table(name)
        known = None if table is None else table.column(column)
        if table is None or known is None or not kind.strip():
            talk.say("Write it so: orders.day DATE")
            continue
        columns = tuple(replace(c, type=kind.strip()) if c is known else c for c in table.columns)
        catalogue = _with(catalogue, replace(table, columns=columns))
    return catalogue


def _with(catalogue: Catalogue, table: Table) -> Catalogue:
    tables = tuple(table if other.name == table.name else other for other in catalogue.tables)
    return replace(catalogue, tables=tables)
