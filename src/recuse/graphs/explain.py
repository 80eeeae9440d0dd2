"""What was understood of a count, in words and as a picture. No data is touched."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from recuse.graphs.compile import compile_pattern
from recuse.graphs.count import Count
from recuse.graphs.draw import as_svg, as_text
from recuse.graphs.names import name_of
from recuse.graphs.pattern import Pattern
from recuse.graphs.protect import Protected
from recuse.html import fields

OWNERS = {
    Protected.NODE: "all its nodes: withdrawing a node withdraws its edges and every copy it is in",
    Protected.EDGE: "all its edges: withdrawing an edge withdraws every copy it is in; nodes are public",
}


@dataclass(frozen=True, slots=True, repr=False)
class GraphExplanation:
    """The answer to "what would you count?"."""

    pattern: Pattern
    question: str
    owners: str
    where: str | None
    method: str
    sql: str | None

    def lines(self) -> Iterator[str]:
        """Yield the explanation for a terminal."""
        yield from as_text(self.pattern)
        for label, text in self._said():
            yield f"{label:<12}{text}"

    def _said(self) -> Iterator[tuple[str, str]]:
        name = name_of(self.pattern)
        yield "question", self.question
        yield "pattern", f"{name}: {self.pattern}" if name else str(self.pattern)
        if self.where is not None:
            yield "where", f"{self.where}, under any naming of the copy's nodes"
        yield "owners", f"a copy belongs to {self.owners}"
        yield "method", self.method
        if self.sql is not None:
            yield "derivations", self.sql

    def __repr__(self) -> str:
        return "\n".join(self.lines())

    def _repr_svg_(self) -> str:
        """Return the pattern as a picture for a notebook."""
        return as_svg(self.pattern)

    def _repr_html_(self) -> str:
        """Return the picture with the words below it, for a notebook."""
        return as_svg(self.pattern) + fields(self._said())


def explain(count: Count) -> GraphExplanation:
    """Return what a count asks for, who owns each copy, and the SELECT that lists the copies."""
    return GraphExplanation(
        pattern=count.pattern,
        question=str(count),
        owners=OWNERS[count.protect],
        where=count.condition.text if count.condition is not None else None,
        method="aggregated: counted without being listed, whatever k is"
        if count.aggregated
        else "enumerated: every copy once",
        sql=None
        if count.aggregated
        else compile_pattern(count.pattern, {count.protect}, count.condition, induced=count.induced),
    )
