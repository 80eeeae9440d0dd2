"""A relation that stays in an engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from recuse.krelation.encode import Owners
from recuse.krelation.relation import Shape
from recuse.solver.kept.grouped import kept_groups
from recuse.solver.kept.tuples import KeptTuples, kept_signs
from recuse.solver.kept.warehouse import Warehouse


@dataclass(frozen=True, slots=True)
class KeptRelation:
    """What mechanisms know of conjunctions that stay in an engine."""

    positive: KeptTuples
    negative: KeptTuples | None
    """of a relation that has a sign"""

    @classmethod
    def of(cls, warehouse: Warehouse, table: str, owners: Owners, *, signed: bool) -> Self:
        """Return the relation of a table whose rows have owners and a weight; as `krelation.encode`."""
        positive, *negative = kept_signs(warehouse, table, owners, signed=signed)
        return cls(positive, negative[0] if negative else None)

    @classmethod
    def groups(
        cls, warehouse: Warehouse, table: str, owners: Owners, count: int, *, signed: bool
    ) -> list[Self]:
        """Return the relations of `count` groups; `place` says of every row which it is in."""
        found = kept_groups(warehouse, table, owners, count, signed=signed)
        return [cls(positive, negative[0] if negative else None) for positive, *negative in found]

    @property
    def signed(self) -> bool:
        return self.negative is not None

    @property
    def shape(self) -> Shape:
        return Shape.CONJUNCTIONS

    @property
    def constant(self) -> int:
        return 0

    def true_answer(self) -> int:
        return self.positive.total - (self.negative.total if self.negative else 0)
