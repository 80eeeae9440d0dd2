"""What holds of every row of a query: who owns it, which columns are equal, of which rows it is made.

Of a group it holds for each of its rows, so that any of them can stand for it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from recuse.sql.elaborate import Lookup
from recuse.sql.equalities import (
    Equalities,
    Name,
    UniqueKey,
    constant_column,
    equal_columns,
    is_identity,
    is_never,
)
from recuse.sql.query import Owner, Scalar, Scan, column


@dataclass(frozen=True, slots=True)
class Clause:
    """What keeps a row: one of the alternatives, each with all its owners.

    A `certain` one has a single alternative; of an `any` link those are left out that prove nothing.
    """

    alternatives: tuple[tuple[Owner, ...], ...]
    certain: bool = True

    @property
    def owners(self) -> tuple[Owner, ...]:
        """The owners of all alternatives."""
        return tuple(owner for owners in self.alternatives for owner in owners)


@dataclass(frozen=True, slots=True)
class Proved:
    """The clauses that are left, and the enforced keys that prove the others."""

    left: tuple[Clause, ...] = ()
    keys: tuple[UniqueKey, ...] = ()


@dataclass(frozen=True, slots=True)
class Facts:
    """Owners that a row surely has, conditions that hold, columns that are the same, rows of tables."""

    owners: tuple[Owner, ...] = ()
    conditions: tuple[Scalar, ...] = ()
    same: tuple[tuple[Name, Name], ...] = ()
    scans: tuple[Scan, ...] = ()

    def __add__(self, other: Facts) -> Facts:
        return Facts(
            self.owners + other.owners,
            self.conditions + other.conditions,
            self.same + other.same,
            self.scans + other.scans,
        )

    def equalities(self, lookup: Lookup) -> Equalities:
        """Return which columns are equal in every row."""
        return Equalities.of(self.conditions, lookup).joined(self.same).chased(self.scans)

    def uncovered(self, clauses: Sequence[Clause], lookup: Lookup) -> Proved:
        """Return the clauses that the owners known here do not imply, and what proves the others."""
        if any(map(is_never, self.conditions)):
            return Proved()  # there are no rows
        equal = self.equalities(lookup)
        left = self._left(clauses, equal)
        if not equal.ones or len(left) == len(clauses):
            return Proved(tuple(left))
        alone = Equalities.of(self.conditions, lookup).joined(self.same)
        needed = len(self._left(clauses, alone)) > len(left)
        return Proved(tuple(left), tuple(dict.fromkeys(equal.ones)) if needed else ())

    def _left(self, clauses: Iterable[Clause], equal: Equalities) -> list[Clause]:
        known = {equal.identity(owner) for owner in self.owners}
        found: dict[object, Clause] = {}
        for clause in clauses:
            named = tuple(tuple(map(equal.identity, owners)) for owners in clause.alternatives)
            if not any(known.issuperset(names) for names in named):
                found.setdefault(named, clause)
        return list(found.values())

    def filled(self) -> set[Name]:
        """Return the columns that are never NULL: by the catalogue, by an equality, or as an owner's name."""
        found = {name for condition in self.conditions for pair in equal_columns(condition) for name in pair}
        found |= {(v.table, v.name) for o in self.owners for v in o.values if isinstance(v, exp.Column)}
        found |= {
            (s.alias, known.name) for s in self.scans for known in s.table.columns if not known.nullable
        }
        return found | {pair[1 - place] for pair in self.same for place in (0, 1) if pair[place] in found}

    def fixed(
        self, keys: Sequence[Scalar], clauses: Sequence[Clause], here: Collection[str], lookup: Lookup
    ) -> tuple[UniqueKey, ...] | None:
        """Return which unique keys prove that rows that agree on the keys, which may be NULL, have one owner.

        None if nothing does.

        `here` are the aliases of what the rows are made of: whatever else they use is the same for all of
        them, and so is a column that must be equal to a constant. A unique key fixes its row only if it is
        not NULL: NULLs are one group, and not one row.
        """
        equal, filled = self.equalities(lookup), self.filled()
        names = {name for clause in clauses for owner in clause.owners for name in _names(owner.values)}
        known = {equal.leader((key.table, key.name)) for key in keys if isinstance(key, exp.Column)}
        outside = (n for n in (*equal.leaders, *equal.leaders.values(), *names) if n[0] not in here)
        known |= set(map(equal.leader, outside))
        known |= set(map(equal.leader, self._constant(lookup)))
        wanted, used = {equal.leader(n) for n in names}, list[UniqueKey]()
        waiting = list(self.scans)
        while not wanted <= known:
            decided = [
                (scan, key)
                for scan in waiting
                for key in scan.table.keys
                if all(equal.leader((scan.alias, n)) in known and (scan.alias, n) in filled for n in key)
            ]
            if not decided:
                return None
            for scan, key in decided:
                known |= {equal.leader((scan.alias, held.name)) for held in scan.table.columns}
                used.append((scan.table.name, key))
            waiting = [scan for scan in waiting if all(scan is not one for one, _ in decided)]
        return tuple(dict.fromkeys(used)) if all(clause.certain for clause in clauses) else None

    def _constant(self, lookup: Lookup) -> list[Name]:
        """Return the columns that have one value in all rows, because a condition says which."""
        names = [name for condition in self.conditions if (name := constant_column(condition)) is not None]
        return [name for name in names if is_identity(lookup(column(*name)).type)]


def certain(clauses: Iterable[Clause]) -> Facts:
    """Return the owners that rows have in any case."""
    return Facts(owners=tuple(owner for clause in clauses if clause.certain for owner in clause.owners))


def _names(values: Iterable[Scalar]) -> list[Name]:
    return [(part.table, part.name) for value in values for part in value.find_all(exp.Column)]
