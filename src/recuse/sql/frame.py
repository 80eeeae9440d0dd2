"""FROM as far as it has been read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from recuse.sql.query import Block
from recuse.sql.scope import Entry, Scope


@dataclass(frozen=True, slots=True)
class Frame:
    """FROM as far as it has been read: a block, and what names mean in it."""

    block: Block
    names: Scope

    def joined(self, block: Block, *entries: Entry) -> Frame:
        """Return the frame with the rows of one more item: all pairs."""
        names = replace(self.names, entries=(*self.names.entries, *entries))
        return Frame(self.block.joined(block), names)

    def beside(self, block: Block, *entries: Entry) -> Frame:
        """Return the frame of a block whose rows are looked for beside every row of this one."""
        names = replace(
            self.names,
            entries=(*self.names.entries, *entries),
            beside=(*self.names.beside, self.block),
        )
        return Frame(block, names)

    def narrowed(self, case: Block) -> Frame:
        """Return the frame with what must hold besides."""
        return replace(self, block=self.block.joined(case))

    def cases(self, cases: Iterable[Block]) -> list[Frame]:
        """Return a frame for each case; no row is in two of them."""
        return [self.narrowed(case) for case in cases]

    @property
    def scope(self) -> Scope:
        """What names mean, to whoever has to know the rows too."""
        return replace(self.names, rows=self.block)
