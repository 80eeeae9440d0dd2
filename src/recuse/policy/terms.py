"""The sentences a policy is made of: protect, link, public, key, column types.

`line` remembers where a sentence stands in the TOML text; two sentences are equal whatever their line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import Self

from recuse.errors import PolicyError


class LinkChoice(Enum):
    """How a key item is made of its columns."""

    ITSELF = "itself"
    LEAST = "least"
    GREATEST = "greatest"
    """LEAST and GREATEST make one participant of an edge that is stored both ways"""


_CHOICE = re.compile(r"\s*(least|greatest)\s*\(\s*([^(),]+?)\s*,\s*([^(),]+?)\s*\)\s*", re.IGNORECASE)


_NAME = re.compile(r"[^()\x00-\x1f\"]+")


@dataclass(frozen=True, slots=True)
class KeyItem:
    """One component of a key: a column, or the lesser or greater of two.

    >>> KeyItem.of("least(src, dst)")
    KeyItem(choice=<LinkChoice.LEAST: 'least'>, columns=('src', 'dst'))
    """

    choice: LinkChoice
    columns: tuple[str, ...]

    @classmethod
    def of(cls, text: str, *, line: int | None = None) -> Self:
        """Return the item that a policy writes as `column`, `least(a, b)` or `greatest(a, b)`."""
        if match := _CHOICE.fullmatch(text):
            return cls(LinkChoice(match[1].lower()), (match[2], match[3]))
        if not _NAME.fullmatch(text) or not text.strip():
            raise PolicyError(
                "a key is made of columns",
                line=line,
                found=text,
                accepted='"column", "least(a, b)", "greatest(a, b)"',
            )
        return cls(LinkChoice.ITSELF, (text,))

    def __str__(self) -> str:
        if self.choice is LinkChoice.ITSELF:
            return self.columns[0]
        return f"{self.choice.value}({', '.join(self.columns)})"


@dataclass(frozen=True, slots=True)
class Protect:
    """A kind of participant: every key value of a table, or a virtual kind that needs no table.

    >>> str(Protect.rows("customer", "c_custkey")), str(Protect.virtual("person"))
    ('customer(c_custkey)', 'person')
    """

    kind: str
    table: str | None = None
    key: tuple[KeyItem, ...] = ()
    line: int | None = field(default=None, compare=False)

    @classmethod
    def rows(cls, table: str, *key: str, line: int | None = None) -> Self:
        """Return the protection of a table's rows, one participant a key value; its name is the kind."""
        items = tuple(KeyItem.of(item, line=line) for item in key)
        return cls(table, table, items, line)

    @classmethod
    def virtual(cls, kind: str, *, line: int | None = None) -> Self:
        """Return a kind whose participants are whatever the links to it say."""
        return cls(kind, line=line)

    def __post_init__(self) -> None:
        if self.table is not None and not self.key:
            raise PolicyError(
                f"protected table {self.table} has no key",
                line=self.line,
                hint='say which columns name a participant: key = ["id"]',
            )
        repeated = len(set(self.key)) < len(self.key)
        if repeated:
            raise PolicyError(f"the key of {self.table} repeats a column", line=self.line, found=str(self))

    def __str__(self) -> str:
        return f"{self.table}({', '.join(map(str, self.key))})" if self.table else self.kind


@dataclass(frozen=True, slots=True)
class Link:
    """A row of `table` is present iff the row it links to is; with several alternatives, iff any of them is.

    Several links of one table must all hold.

    >>> str(Link.all("orders", "o_custkey", to="customer"))
    'orders(o_custkey) → customer'
    """

    table: str
    alternatives: tuple[tuple[str, ...], ...]
    to: str
    line: int | None = field(default=None, compare=False)

    @classmethod
    def all(cls, table: str, *columns: str, to: str, line: int | None = None) -> Self:
        """Return the link whose columns together hold the key of `to`."""
        return cls(table, (columns,), to, line)

    @classmethod
    def any(cls, table: str, *alternatives: tuple[str, ...], to: str, line: int | None = None) -> Self:
        """Return the link of a row that stays while any of its owners does."""
        return cls(table, alternatives, to, line)

    def __post_init__(self) -> None:
        if not self.alternatives or not all(self.alternatives):
            raise PolicyError(
                f"the link of {self.table} names no column",
                line=self.line,
                hint='write column = ["owner_id"]',
            )
        if len({len(columns) for columns in self.alternatives}) > 1:
            raise PolicyError(
                f"the alternatives of the link {self.table} → {self.to} have different numbers of columns",
                line=self.line,
                found=str(self),
                hint='give each alternative the columns of one key: any = [["a"], ["b"]]',
            )

    @property
    def width(self) -> int:
        """How many columns a key of the target has."""
        return len(self.alternatives[0])

    def __str__(self) -> str:
        return " or ".join(f"{self.table}({', '.join(a)})" for a in self.alternatives) + f" → {self.to}"


@dataclass(frozen=True, slots=True)
class Public:
    """A table that is about nobody."""

    table: str
    line: int | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return self.table


@dataclass(frozen=True, slots=True)
class OfColumns:
    """Something that is said of columns of a table."""

    table: str
    columns: tuple[str, ...]
    line: int | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return f"{self.table}({', '.join(self.columns)})"


@dataclass(frozen=True, slots=True)
class Key(OfColumns):
    """A unique key of a table whose catalogue enforces none, e.g. a CSV file."""

    def __post_init__(self) -> None:
        if not self.columns:
            raise PolicyError(f"the key of {self.table} names no column", line=self.line)


@dataclass(frozen=True, slots=True)
class NonNegative(OfColumns):
    """Columns whose values are not below 0; one that is all the same counts for nothing in a sum."""


@dataclass(frozen=True, slots=True)
class Typical:
    """About how large one value of some columns is, as all may know: it steers accuracy, not privacy."""

    table: str
    columns: tuple[str, ...]
    value: Fraction
    line: int | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.value <= 0:
            problem = "a typical value is a size, above 0"
            raise PolicyError(problem, line=self.line, found=str(self.value), hint="value = 50")

    def __str__(self) -> str:
        return f"{self.table}({', '.join(self.columns)}) about {self.value}"


@dataclass(frozen=True, slots=True)
class DomainQuery:
    """What a query over public tables returns."""

    text: str


Bound = str | int | Fraction
"""a value that a policy writes down; text for dates"""


@dataclass(frozen=True, slots=True)
class ColumnType:
    """The type of a column of a CSV file."""

    table: str
    column: str
    type: str
    """as SQL spells it"""
    line: int | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class DomainRange:
    """All values from one to another, one after another: whole numbers, or days."""

    low: Bound
    high: Bound
    """the last value: it belongs to the range"""


DomainValues = tuple[Bound, ...] | DomainRange | DomainQuery
"""how the values of a domain are said"""


@dataclass(frozen=True, slots=True)
class Domain:
    """The values that a column may have as a key of GROUP BY: public, whether or not any row has them.

    They are listed, lie between two, or come from a query over public tables.
    """

    table: str
    column: str
    values: DomainValues
    line: int | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if isinstance(self.values, tuple) and len(set(self.values)) < max(1, len(self.values)):
            raise PolicyError(
                f"the domain of {self.table}.{self.column} must list every value once",
                line=self.line,
                hint='write values = ["a", "b"]',
            )

    def __str__(self) -> str:
        return f"{self.table}.{self.column}"
