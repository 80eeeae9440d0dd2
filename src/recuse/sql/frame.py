"""FROM as far as it has been read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from recuse.sql.query import Block
from recuse.sql.scope import Entry, Scope


@dataclass(frozen=True, slots=True)
class Frame:
    """FROM as far as it has been read: a block, what names mean in it, and the blocks around it."""

    block: Block
    scope: Scope
    around: tuple[Block, ...] = ()
    """outermost first; the names of their columns are those of `scope.outer`"""

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks whose columns can be used here, outermost first, this one last."""
        return (*self.around, self.block)

    def joined(self, block: Block, *entries: Entry) -> Frame:
        """Return the frame with the rows of one more item: all pairs."""
        scope = replace(self.scope, entries=(*self.scope.entries, *entries))
        return replace(self, block=self.block.joined(block), scope=scope)

    def narrowed(self, case: Block) -> Frame:
        """Return the frame with what must hold besides."""
        return replace(self, block=self.block.joined(case))

    def cases(self, cases: Iterable[Block]) -> list[Frame]:
        """Return a frame for each case; no row is in two of them."""
        return [self.narrowed(case) for case in cases]
