"""The tables of a session: what they hold, and whose their rows are. Catalogue and policy say it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from recuse.policy import Policy
from recuse.sql.catalogue import Catalogue
from recuse.sql.owned_words import describe
from recuse.sql.ownership import own


@dataclass(frozen=True, slots=True)
class DescribedTable:
    """A table as people are shown it."""

    name: str
    columns: tuple[str, ...]
    owned: str

    def __str__(self) -> str:
        return f"{self.name} ({', '.join(self.columns)}): {self.owned}"


def described_tables(policy: Policy, catalogue: Catalogue) -> Iterator[DescribedTable]:
    """Yield the tables of a catalogue; no row is read."""
    ownership = own(policy, catalogue)
    for table in catalogue.tables:
        columns = tuple(f"{column.name} {column.type}" for column in table.columns)
        yield DescribedTable(table.name, columns, describe(ownership.of(table.name)))
