"""Touch: how many groups a participant of a kind can touch. It follows from query, policy and public keys.

An owner who decides some of the keys can touch the groups that agree on those, and no others. One who stands
below an OR may support rows of any group.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from recuse.policy import Policy
from recuse.sql.derivation import DerivationTable
from recuse.sql.disjoint import BlockFacts
from recuse.sql.measure import Measure
from recuse.sql.query import Block, Owner

Places = tuple[tuple[int, ...], ...]
"""for every place at which a kind of participant stands in the rows, which keys it decides there"""


@dataclass(frozen=True, slots=True)
class Touch:
    """What a kind of participant decides, in one or two ways to see it: each bounds what one can touch."""

    kind: str
    ways: tuple[Places, ...]

    def most(self, keys: Sequence[tuple[Any, ...]]) -> int:
        """Return m, the most groups that one participant of the kind can touch.

        Guarantee: no participant contributes to more of the groups, in any database in which declared keys
        are unique (proofs.md, lemma U): in one place at most to those that agree on what is decided there,
        and in several places to all of these together.
        """
        found = (sum(most_alike(keys, decided) for decided in places) for places in self.ways)
        return max(1, min(len(keys), *found))


def most_alike(keys: Sequence[tuple[Any, ...]], decided: Sequence[int]) -> int:
    """Return the most groups that agree on some of their keys."""
    same = Counter(tuple(_identity(key[place]) for place in decided) for key in keys)
    return max(same.values(), default=0)


def _identity(value: Any) -> Any:
    """Return a value that equals itself: not a number does not."""
    return value if value == value else "not a number"


def touches_of(measure: Measure, tables: Iterable[DerivationTable], policy: Policy) -> tuple[Touch, ...]:
    """Return what every kind of owner of a measure's rows decides; of a kind that is not at the top nothing.

    Several owners of one kind in a row either decide a key by one rule, and then stand in one place, or are
    counted apart: whichever is less, once the groups are known.
    """
    together: dict[str, list[tuple[int, ...]]] = {}
    apart: dict[str, list[tuple[int, ...]]] = {}
    for block in measure.blocks:
        facts = BlockFacts.of(block, policy, measure.lookup())
        for kind, owners in _kinds(block).items():
            together.setdefault(kind, []).append(_decided(facts, owners, block))
            apart.setdefault(kind, []).extend(_decided(facts, [owner], block) for owner in owners)
    top = list(tables)
    anywhere = set(_kinds_below(top)) | {o.kind for table in top for o in table.owners} - set(together)
    return tuple(
        Touch(kind, (((),),))
        if kind in anywhere
        else Touch(kind, tuple(dict.fromkeys((tuple(together[kind]), tuple(apart[kind])))))
        for kind in sorted(anywhere | set(together))
    )


def _kinds(block: Block) -> dict[str, list[Owner]]:
    kinds: dict[str, list[Owner]] = {}
    for owner in block.owners:
        kinds.setdefault(owner.kind, []).append(owner)
    return kinds


def _decided(facts: BlockFacts, owners: Sequence[Owner], block: Block) -> tuple[int, ...]:
    """Return the places of the keys that the owners decide, by one rule if they are several."""
    return tuple(place for place, key in enumerate(block.keys) if facts.decided(owners, [key]))


def _kinds_below(tables: Iterable[DerivationTable]) -> Iterator[str]:
    """Yield the kinds of owners that stand below an OR."""
    for table in tables:
        for below in table.below:
            for inner in below.group.tables:
                yield from (owner.kind for owner in inner.owners)
            yield from _kinds_below(below.group.tables)
