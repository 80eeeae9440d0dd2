"""Who is protected, and how rows belong to them: `Policy`, read from TOML or made in Python.

    [[protect]]  table + key     every key value is one participant; its kind is the table's name
    [[protect]]  kind            a virtual kind of participant that needs no table
    [[link]]     table, column, to      a row is present iff the row it links to is
    [[link]]     table, any, to         … iff any of several is
    [[public]]   table           a table that is about nobody
    [[key]]      table, column   a unique key that the catalogue does not enforce
    [[nonnegative]] table, column   numbers that are not below 0
    [[typical]]  table, column, value   about how large one number is, which everybody may know
    [[domain]]   table, column, values   the groups of a GROUP BY over a private column
    [[domain]]   … from, to, step | query   … all between two, or what a query over public tables returns
    [columns.T]  column = "TYPE" types of a CSV file's columns
    [budget]     epsilon, delta  what all answers together may cost
    [sum]        granularity     the unit in which sums are counted, e.g. 0.01
    [log]        failures        a private file for details of failures after a charge
    [engine]     memory, threads, temp, temp_limit   what the database may use of the machine

A table that the policy does not mention is an error as soon as a query touches it, never silently public.
Names are compared without regard to case, as SQL does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Self

from recuse.errors import PolicyError
from recuse.fold import fold, same
from recuse.policy.engine import EngineLimits
from recuse.policy.sections import fields_of, refuse_unusable_granularity
from recuse.policy.terms import (
    ColumnType,
    Domain,
    DomainValues,
    Key,
    Link,
    NonNegative,
    Protect,
    Public,
    Typical,
)
from recuse.policy.toml import did_you_mean
from recuse.privacy import Delta, Epsilon


@dataclass(frozen=True, slots=True)
class Policy:
    """A policy that contradicts itself nowhere: links end at participants, tables have one role.

    >>> policy = Policy(protect=(Protect.virtual("person"),),
    ...                 links=(Link.all("edges", "src", to="person"), Link.all("edges", "dst", to="person")))
    >>> [str(link) for link in policy.links_of("EDGES")]
    ['edges(src) → person', 'edges(dst) → person']
    """

    protect: tuple[Protect, ...]
    links: tuple[Link, ...] = ()
    public: tuple[Public, ...] = ()
    keys: tuple[Key, ...] = ()
    nonnegative: tuple[NonNegative, ...] = ()
    typical: tuple[Typical, ...] = ()
    columns: tuple[ColumnType, ...] = ()
    domains: tuple[Domain, ...] = ()
    budget: Epsilon | None = None
    delta: Delta | None = None
    """what all answers together may cost of δ: without it no key is found among private rows"""
    granularity: Fraction = field(default=Fraction(1))
    rows: tuple[tuple[str, int], ...] = field(default=(), compare=False)
    """about how many rows tables have, which the custodian states: for warnings, and no answer"""
    failure_log: Path | None = field(default=None, compare=False)
    """where details of failures after a charge are written; nowhere unless the custodian names a file"""
    engine: EngineLimits = field(default=EngineLimits(), compare=False)
    """no part of what makes two policies the same: it changes no answer"""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the policy that a TOML text writes down; an error names the line and the fix."""
        return cls(**fields_of(text))

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Self:
        """Return the policy in a TOML file; a log that it names lies beside it, unless the path is whole."""
        try:
            text = Path(path).read_text(encoding="utf-8")
        except OSError as error:
            raise PolicyError(
                f"cannot read the policy file {path}",
                found=error.strerror or "unreadable",
                hint="name a TOML file that says who is protected",
            ) from None
        except ValueError:
            raise PolicyError(f"the policy file {path} is not UTF-8 text") from None
        found = cls.parse(text)
        if found.failure_log is None:
            return found
        return replace(found, failure_log=Path(path).absolute().parent / found.failure_log)

    def __post_init__(self) -> None:
        if not self.protect:
            raise PolicyError(
                "the policy protects nobody",
                hint='begin with [[protect]], then table = "person" and key = ["id"]',
            )
        _unique_kinds(self)
        _one_role(self)
        _links_end_at_participants(self)
        _virtual_widths(self)
        _no_duplicates(self)
        refuse_unusable_granularity(self.granularity)

    # ------------------------------------------------------------------ looking up, case-insensitively

    def protected_table(self, table: str) -> Protect | None:
        """Return the protection of a table's own rows."""
        return next((p for p in self.protect if p.table is not None and same(p.table, table)), None)

    def virtual_kind(self, name: str) -> Protect | None:
        """Return the virtual kind of that name."""
        return next((p for p in self.protect if p.table is None and same(p.kind, name)), None)

    def links_of(self, table: str) -> tuple[Link, ...]:
        """Return the links that a table's rows follow."""
        return tuple(link for link in self.links if same(link.table, table))

    def is_public(self, table: str) -> bool:
        """Return whether the policy says that the table is about nobody."""
        return any(same(entry.table, table) for entry in self.public)

    def keys_of(self, table: str) -> tuple[tuple[str, ...], ...]:
        """Return the unique keys that the policy declares for a table."""
        return tuple(key.columns for key in self.keys if same(key.table, table))

    def rows_of(self, table: str) -> int | None:
        """Return how many rows the custodian says that a table has."""
        return next((number for name, number in self.rows if same(name, table)), None)

    def types_of(self, table: str) -> dict[str, str]:
        """Return the declared SQL types by lower-case column name."""
        return {fold(c.column): c.type for c in self.columns if same(c.table, table)}

    def domain_values(self) -> dict[tuple[str, str], DomainValues]:
        """Return the values that the policy states, by (table, column) in lower case."""
        return {(fold(d.table), fold(d.column)): d.values for d in self.domains}

    def tables(self) -> Iterator[tuple[str, int | None]]:
        """Yield every table that has a role, with the line that first says so."""
        seen: set[str] = set()
        entries = [(p.table, p.line) for p in self.protect]
        entries += [(entry.table, entry.line) for group in (self.links, self.public) for entry in group]
        for table, line in entries:
            if table is not None and fold(table) not in seen:
                seen.add(fold(table))
                yield table, line


# ------------------------------------------------------------------ one contradiction each


def _unique_kinds(policy: Policy) -> None:
    seen: set[str] = set()
    for entry in policy.protect:
        if fold(entry.kind) in seen:
            raise PolicyError(f"{entry.kind} is protected twice", line=entry.line, hint="keep one of the two")
        seen.add(fold(entry.kind))


def _one_role(policy: Policy) -> None:
    for entry in policy.public:
        if policy.protected_table(entry.table) or policy.links_of(entry.table):
            raise PolicyError(
                f"table {entry.table} is both public and about participants",
                line=entry.line,
                hint="remove [[public]], or its [[protect]] and [[link]] entries",
            )
    for link in policy.links:
        if policy.protected_table(link.table):
            raise PolicyError(
                f"table {link.table} is protected and has a link",
                line=link.line,
                hint="choose one: its rows are participants ([[protect]]), or belong to some ([[link]])",
            )
    for table, line in policy.tables():
        if policy.virtual_kind(table):
            raise PolicyError(
                f"{table} is a table and a virtual kind",
                line=line,
                hint=f'protect the table itself (table = "{table}" and its key), or rename the kind',
            )


def _links_end_at_participants(policy: Policy) -> None:
    names = tuple(p.kind for p in policy.protect) + tuple(link.table for link in policy.links)
    for link in policy.links:
        if fold(link.to) not in {fold(name) for name in names}:
            raise PolicyError(
                f"{link.table} links to {link.to}, which is neither protected nor linked",
                line=link.line,
                hint=did_you_mean(link.to, names) or f"add a [[protect]] or a [[link]] for {link.to}",
            )
    done: set[str] = set()
    for link in policy.links:
        _follow(policy, link.table, (), done)


def _follow(policy: Policy, table: str, path: tuple[str, ...], done: set[str]) -> None:
    name = fold(table)
    if name in path:
        circle = " → ".join([*path[path.index(name) :], name])
        raise PolicyError(
            "the links go round in a circle",
            line=policy.links_of(table)[0].line,
            found=circle,
            hint="a chain of links must end at a protected table: remove one of them",
        )
    if name not in done:
        for link in policy.links_of(table):
            _follow(policy, link.to, (*path, name), done)
        done.add(name)


def _virtual_widths(policy: Policy) -> None:
    widths: dict[str, int] = {}
    for link in policy.links:
        target = policy.protected_table(link.to)
        width = len(target.key) if target else link.width
        if target is None and policy.virtual_kind(link.to):
            width = widths.setdefault(fold(link.to), link.width)
        if width != link.width:
            raise PolicyError(
                f"the link {link.table} → {link.to} has {link.width} columns, the key there has {width}",
                line=link.line,
                hint="name one column for each column of the key, in its order",
            )


def _no_duplicates(policy: Policy) -> None:
    seen: set[object] = set()
    entries: tuple[Link | Public | Key | NonNegative | Typical | Domain, ...] = (
        *policy.links,
        *policy.public,
        *policy.keys,
        *policy.nonnegative,
        *policy.typical,
        *policy.domains,
    )
    for entry in entries:
        if entry in seen:
            raise PolicyError(
                "the same entry stands twice", line=entry.line, found=str(entry), hint="keep one"
            )
        seen.add(entry)
    typed: set[tuple[str, str]] = set()
    for column in policy.columns:
        name = fold(column.table), fold(column.column)
        if name in typed:
            raise PolicyError(f"column {column.column} of {column.table} has two types", line=column.line)
        typed.add(name)
