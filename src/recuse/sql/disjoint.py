"""Whether every participant touches one group only, so that the groups can be answered side by side.

Guarantee: true only if, for every participant of every kind, all rows of the query that belong to them
have one and the same group key: then the groups are about disjoint people, and answering each with the
full ε is ε-private (proofs.md, theorem R7). It follows from the query, the policy and the
unique keys that the catalogue enforces or the policy declares; if in doubt it is false.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from recuse.policy import Key, Policy
from recuse.policy.terms import LinkChoice
from recuse.sql.elaborate import Lookup
from recuse.sql.equalities import Equalities, Name
from recuse.sql.measure import Measure
from recuse.sql.query import Block, BlockSource, Own, Owner, Scalar, Scan, SetOf
from recuse.sql.walk import sources_of


def groups_are_disjoint(measure: Measure, policy: Policy) -> bool:
    """Return whether no participant can contribute to two groups."""
    if len(measure.blocks) != 1:
        return False
    (block,) = measure.blocks
    if block.choices or any(isinstance(source, SetOf) for source in block.sources):
        return False  # an owner below an OR may support rows of any group
    kinds: dict[str, list[Owner]] = {}
    for owner in block.owners:
        kinds.setdefault(owner.kind, []).append(owner)
    facts = BlockFacts.of(block, policy, measure.lookup())
    return all(facts.decided(owners, block.keys) for owners in kinds.values())


def undeclared_keys(measures: Iterable[Measure], policy: Policy) -> tuple[Key, ...]:
    """Return the keys of protected tables in the query that nothing says are unique."""
    blocks = [block for measure in measures for block in measure.blocks]
    tables = {source.table.name: source.table for source in sources_of(blocks) if isinstance(source, Scan)}
    found = []
    for table in tables.values():
        protect = policy.protected_table(table.name)
        if protect is not None and all(item.choice is LinkChoice.ITSELF for item in protect.key):
            key = tuple(item.columns[0] for item in protect.key)
            if key not in (*table.keys, *policy.keys_of(table.name)):
                found.append(Key(table.name, key))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class BlockFacts:
    """What holds for every row of a block: equal columns, and which columns fix all others of a source."""

    sources: tuple[BlockSource, ...]
    equal: Equalities
    keys: dict[str, list[tuple[str, ...]]]

    @classmethod
    def of(cls, block: Block, policy: Policy, lookup: Lookup) -> BlockFacts:
        equal = Equalities.of(block.conditions, lookup)
        keys: dict[str, list[tuple[str, ...]]] = {
            source.alias: [*source.table.keys, *policy.keys_of(source.table.name)]
            for source in block.sources
            if isinstance(source, Scan) and source.preserving is None
        }
        for source in block.sources:
            if isinstance(source, Own) and source.unique is not None:
                keys[source.alias] = [source.unique]
        return cls(block.sources, equal, keys)

    def decided(self, owners: Sequence[Owner], keys: Iterable[Scalar]) -> bool:
        """Return whether the owners of one kind decide all keys, by one rule if there are several.

        Somebody who stands in two places of a row type could decide two groups by two rules.
        """
        wanted = {(part.table, part.name) for key in keys for part in key.find_all(exp.Column)}
        if len(owners) == 1:
            return wanted <= self._fixed(owners[0])
        rules = [self._rules(owner, wanted) for owner in owners]
        return all(set.intersection(*(rule[name] for rule in rules)) for name in wanted)

    def has_one_row(self, owner: Owner) -> bool:
        """Return whether an owner's values fix a unique key of every source: they have one row at most."""
        fixed = self._fixed(owner)
        return all(
            any(all((source.alias, part) in fixed for part in key) for key in self.keys.get(source.alias, []))
            for source in self.sources
        )

    def named(self, owner: Owner, columns: Sequence[Scalar]) -> bool:
        """Return whether the values of some columns name the owner: two that differ in it differ in them."""
        told = {self.equal.leader((c.table, c.name)) for c in columns if isinstance(c, exp.Column)}
        names = [(v.table, v.name) if isinstance(v, exp.Column) else None for v in owner.values]
        return all(name is not None and self.equal.leader(name) in told for name in names)

    def _fixed(self, owner: Owner) -> set[Name]:
        """Return all columns whose value follows from the owner."""
        columns = {source.alias: [(source.alias, n) for n in _columns(source)] for source in self.sources}
        classes = self.equal.classes()
        fixed: set[Name] = set()
        more = {(value.table, value.name) for value in owner.values if isinstance(value, exp.Column)}
        while not more <= fixed:
            equal = {other for name in more - fixed for other in classes.get(self.equal.leader(name), ())}
            fixed |= more | {name for name in equal if name in columns.get(name[0], ())}
            more = {
                name
                for alias, keys in self.keys.items()
                if any(all((alias, part) in fixed for part in key) for key in keys)
                for name in columns[alias]
            }
        return fixed

    def _rules(self, owner: Owner, wanted: set[Name]) -> dict[Name, set[object]]:
        """Return for every wanted column the rules by which the owner's own values decide it directly."""
        values = [(v.table, v.name) if isinstance(v, exp.Column) else None for v in owner.values]
        leaders = [None if value is None else self.equal.leader(value) for value in values]
        rules: dict[Name, set[object]] = {name: set() for name in wanted}
        for name in wanted:
            same = self.equal.leader(name)
            rules[name] |= {("itself", place) for place, leader in enumerate(leaders) if leader == same}
            for source in self.sources:
                if not isinstance(source, Scan):
                    continue
                for key in self.keys.get(source.alias, []):
                    places = tuple(self.equal.leader((source.alias, part)) for part in key)
                    if None in leaders or sorted(places) != sorted(x for x in leaders if x is not None):
                        continue
                    order = tuple(leaders.index(place) for place in places)
                    rules[name] |= {
                        (source.table.name, key, order, known.name)
                        for known in source.table.columns
                        if self.equal.leader((source.alias, known.name)) == same
                    }
        return rules


def _columns(source: BlockSource) -> list[str]:
    """Return the columns of a table, or of what is run as it is."""
    if isinstance(source, Scan):
        return [known.name for known in source.table.columns]
    return list(source.names) if isinstance(source, Own) else []
