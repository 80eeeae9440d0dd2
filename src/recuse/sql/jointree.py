"""A block → its join tree: which tables are joined with which, and how each can be added up on its own.

    JoinUnit    sources that stay together: a LEFT JOIN with its left side, a subquery that is run as it is
                with what it looks at
    JoinTree    a root, and below every unit those that are joined with it alone (GYO's ears, one by one)

Where units are joined in a circle they become one: the root, whose join is listed as it is written. All of it
follows from the query.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from recuse.sql.native.inner import Inner, NativeRows
from recuse.sql.query import Block, BlockSource, Own, Scalar, Scan
from recuse.sql.walk import aliases

RUN_INSIDE = (Inner, NativeRows)
"""queries inside of expressions: all that they use must be at hand where they are run"""


@dataclass(frozen=True, slots=True)
class JoinUnit:
    """Sources that stay together, and the conditions over them alone."""

    sources: tuple[BlockSource, ...]
    conditions: tuple[Scalar, ...] = ()

    @property
    def aliases(self) -> frozenset[str]:
        """The aliases of its sources."""
        return frozenset(source.alias for source in self.sources)


@dataclass(frozen=True, slots=True)
class JoinTree:
    """A unit, the trees below it, and the conditions that join it with the unit above."""

    unit: JoinUnit
    joined: tuple[Scalar, ...] = ()
    below: tuple[JoinTree, ...] = field(default=())

    def subtrees(self) -> Iterator[JoinTree]:
        """Yield the tree and all trees below it."""
        yield self
        for tree in self.below:
            yield from tree.subtrees()


def join_tree(block: Block, shown: Iterable[Scalar], weight: Scalar | None) -> JoinTree:
    """Return the join tree of a block; the sources that the weight of a row uses are in its root.

    `shown` is what is shown of every row.
    """
    known = frozenset(source.alias for source in block.sources)
    weighs = frozenset() if weight is None else frozenset(aliases([weight])) & known
    conditions = [(frozenset(aliases([part])) & known, part) for part in block.conditions]
    together = [weighs, *_inseparable(block)]
    together += [frozenset(aliases([part])) for part in (*block.conditions, *shown) if part.find(*RUN_INSIDE)]
    units = _merged([frozenset({alias}) for alias in known], together)
    while True:
        wide = [
            frozenset().union(*touched)
            for used, _ in conditions
            if len(touched := [unit for unit in units if unit & used]) > 2
        ]
        if not wide:
            break
        units = _merged(units, wide)
    order = {source.alias: place for place, source in enumerate(block.sources)}
    units = sorted(units, key=lambda unit: min(order[alias] for alias in unit))
    return _peeled(block, units, conditions, weighs)


def _inseparable(block: Block) -> Iterator[frozenset[str]]:
    """Yield the aliases of sources that mean something together only."""
    for place, source in enumerate(block.sources):
        if isinstance(source, Scan) and source.preserving is not None:
            left = {other.alias for other in block.sources[:place]}
            yield frozenset({source.alias, *(aliases([source.preserving]) & left or left)})
        elif isinstance(source, Own) and source.uses:
            yield frozenset({source.alias, *aliases(source.uses)})


def _merged(units: Iterable[frozenset[str]], together: Iterable[frozenset[str]]) -> list[frozenset[str]]:
    """Return the units, those that share something with one of the sets as one."""
    found = list(units)
    for wanted in together:
        touched = [unit for unit in found if unit & wanted]
        found = [unit for unit in found if not unit & wanted]
        if touched:
            found.append(frozenset().union(*touched))
    return found


def _peeled(
    block: Block,
    units: Sequence[frozenset[str]],
    conditions: Sequence[tuple[frozenset[str], Scalar]],
    weighs: frozenset[str],
) -> JoinTree:
    """Return the tree that is left when units that are joined with one other are taken off, last first."""
    alive = list(units)
    below: dict[frozenset[str], list[JoinTree]] = {unit: [] for unit in units}
    loose: list[JoinTree] = []

    def tree(names: frozenset[str], above: frozenset[str]) -> JoinTree:
        inside = [part for used, part in conditions if used and used <= names]
        joined = [part for used, part in conditions if used & names and used & above]
        return JoinTree(_unit(block, names, inside), tuple(joined), tuple(below[names]))

    while True:
        for unit in reversed(alive):
            near = [
                other
                for other in alive
                if other != unit and any(used & unit and used & other for used, _ in conditions)
            ]
            if len(alive) > 1 and len(near) <= 1 and not unit & weighs:
                break
        else:
            break
        alive.remove(unit)
        if near:
            below[near[0]].append(tree(unit, near[0]))
        else:
            loose.append(tree(unit, frozenset()))
    root = frozenset().union(*alive)
    inside = [part for used, part in conditions if used <= root]
    hanging = [one for unit in alive for one in below[unit]]
    return JoinTree(_unit(block, root, inside), (), (*hanging, *loose))


def _unit(block: Block, names: frozenset[str], conditions: Iterable[Scalar]) -> JoinUnit:
    return JoinUnit(tuple(source for source in block.sources if source.alias in names), tuple(conditions))
